"""What a notebook's cells call."""
