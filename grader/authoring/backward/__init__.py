"""The backward of forward lines, as text."""
