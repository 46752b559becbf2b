"""The pages of a report: for the class, for each student, and for the projector."""
