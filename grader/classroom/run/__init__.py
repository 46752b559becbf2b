"""Grades a class in one run."""
