"""Training by hand: the loops, and how to stop one."""
