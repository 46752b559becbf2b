"""The built-in course and its exercises, by the names that tests call them."""

from grader.program.course import built_in_course
from grader.program.exercises import exercises_of, load_exercises

COURSE = built_in_course()
EXERCISES = load_exercises(COURSE)
ATOMIC, FUSED_CROSS_ENTROPY, SMOOTHED_CROSS_ENTROPY, FUSED_BATCHNORM, TRAINING = EXERCISES
NOTEBOOKS = {notebook: exercises_of(COURSE, notebook) for notebook in COURSE.notebooks}
LECTURE_SIZES = ATOMIC.sizes
