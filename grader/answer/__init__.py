"""A student's code, read: its statements, and what each of them depends on."""
