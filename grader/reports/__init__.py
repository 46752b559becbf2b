"""Renderers: turn the results of graded files into text."""
