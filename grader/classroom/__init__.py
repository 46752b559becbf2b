"""A folder of submissions becomes a gradebook."""
