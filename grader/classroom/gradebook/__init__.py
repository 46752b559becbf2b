"""Makes the gradebook of a class from the results of its run."""
