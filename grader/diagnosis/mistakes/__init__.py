"""Mistakes: the formulas that differ from a right one in one place, each with its name."""
