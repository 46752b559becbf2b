"""Gradient bugs that were made and mended in public repositories, restated as small functions."""
