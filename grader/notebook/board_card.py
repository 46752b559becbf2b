"""What `board()` shows: the graph with its verdicts, and how far the other notebooks are."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from grader.program.course import Course
from grader.program.exercises import Exercise
from grader.reports import wording
from grader.reports.board import as_picture, in_groups, in_words, is_wide, mark_board, title
from grader.reports.course_boards import read_boards
from grader.reports.templates import make_environment
from grader.verdict import Verdict


def in_forms(
    exercise: Exercise,
    verdicts: Mapping[str, Verdict],
    passed: Mapping[str, int],
    course: Course,
) -> dict[str, str]:
    """The board as a part of a page, dark where the page says that it is dark, and in words.

    Args:
        exercise: the exercise.
        verdicts: those on its gradients, by name.
        passed: how many gradients pass, by exercise, as it is remembered on this machine.
        course: the one that the exercise belongs to.
    """
    outcomes = {name: verdict.outcome for name, verdict in verdicts.items()}
    board = mark_board(read_boards(course)[exercise.prefix], outcomes)
    words, known = in_words(outcomes), by_notebook(passed, course)
    # What this notebook's own part of the course is like, the board itself shows.
    has_others = any(notebook != exercise.notebook for notebook in known)
    template = make_environment(Path(__file__).parent).get_template("board_card.html.jinja")
    html = template.render(
        title=title(outcomes),
        counts=wording.counts(list(verdicts.values())),
        # A front end that does not trust a notebook shows pictures, but no SVG among the HTML.
        picture=b64encode(as_picture(board).encode()).decode(),
        is_wide=is_wide(board),
        groups=in_groups(outcomes, "bpn-") if is_wide(board) else "",
        words=words,
        course=known if has_others else {},
    )
    return {"text/html": html, "text/plain": words}


def by_notebook(passed: Mapping[str, int], course: Course) -> dict[str, tuple[int, int]]:
    """How many gradients pass, of how many, in each notebook that anything is known of.

    >>> from grader.program.course import built_in_course
    >>> by_notebook({"ex2": 1}, built_in_course())
    {'02_fused_cross_entropy': (1, 2)}
    """
    found: dict[str, tuple[int, int]] = {}
    for notebook in course.notebooks:
        counts = {course.remembered(e.prefix): len(e.gradients) for e in course.outlines(notebook)}
        # The numbers may be an older course's, with more gradients than there are now.
        known = [passed[e] for e in counts if e in passed and 0 <= passed[e] <= counts[e]]
        if known:
            found[notebook] = sum(known), sum(counts.values())
    return found
