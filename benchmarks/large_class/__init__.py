"""A class of 100,000 that was never graded: the results of a few, repeated and varied."""
