"""Finds out why a gradient is wrong."""
