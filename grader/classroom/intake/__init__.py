"""Finds out who is in a class, and what they handed in."""
