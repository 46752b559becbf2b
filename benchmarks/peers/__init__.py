"""Other graders on the same notebooks: nbgrader and otter, in environments of their own."""
