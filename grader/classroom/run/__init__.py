"""A class graded in one run."""
