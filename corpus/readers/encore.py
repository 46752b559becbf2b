"""The encore's course folder, and where its right answers are kept."""

from dataclasses import replace

from corpus.readers import places
from grader.authoring.course import Layout
from grader.program.course import read_course

ANSWERS = places.ANSWERS / "encore"
COURSE = read_course(places.NOTEBOOKS / "encore")
LAYOUT = replace(Layout.of(COURSE), answers=ANSWERS)
