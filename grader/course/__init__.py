"""How the notebooks of the course are made from their sources."""
