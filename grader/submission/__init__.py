"""A notebook file becomes answer cells."""
