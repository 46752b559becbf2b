"""The course as nbgrader, otter and Gradescope want it."""
