"""A file of forward functions becomes a course that can be taught from: `grader new`."""
