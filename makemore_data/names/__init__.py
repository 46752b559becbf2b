"""The names: found, checked, and cut into windows of characters."""
