"""What the course becomes for other systems."""
