"""The commands of `grader`, a module each."""
