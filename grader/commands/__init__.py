"""The commands of `grader`, each in a module of its own."""
