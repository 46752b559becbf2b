"""The course as a Gradescope autograder."""
