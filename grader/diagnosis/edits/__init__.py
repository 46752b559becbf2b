"""Edits: the small changes of a student's statements that may turn a wrong gradient right."""
