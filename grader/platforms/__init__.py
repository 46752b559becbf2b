"""The course in the forms that nbgrader, otter and Gradescope need."""
