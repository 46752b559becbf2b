"""Forward and backward functions with mistakes in them, for the guide."""
