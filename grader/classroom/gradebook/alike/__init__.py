"""Who wrote alike: a list for a human to read, never a verdict."""
