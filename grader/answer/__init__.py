"""Reads a student's code: its statements, and what each of them depends on."""
