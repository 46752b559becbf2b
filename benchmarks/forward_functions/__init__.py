"""Forward functions that no course contains, to measure how an exercise is made from one."""
