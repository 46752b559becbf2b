"""The worker: the one part of the grader that runs students' statements."""
