"""The built-in course, a folder like anybody's: exercises, forward functions, hints."""
