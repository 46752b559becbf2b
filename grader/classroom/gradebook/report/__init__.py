"""The pages: of the class, of each student, and to project."""
