"""Training loops that contain the answers of notebook 4; a student release is without them."""
