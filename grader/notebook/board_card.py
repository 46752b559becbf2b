"""What `board()` shows: the graph with its verdicts, and how far the other notebooks are."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from grader.program.exercises import EXERCISES, NOTEBOOKS, Exercise
from grader.program.references import prepare
from grader.reports import wording
from grader.reports.board import as_picture, draw_board, in_words, mark_board, title
from grader.reports.templates import make_environment
from grader.verdict import Verdict


def in_forms(
    exercise: Exercise, verdicts: Mapping[str, Verdict], passed: Mapping[str, int]
) -> dict[str, str]:
    """The board as a part of a page, dark where the page says that it is dark, and in words.

    Args:
        exercise: the exercise.
        verdicts: those on its gradients, by name.
        passed: how many gradients pass, by exercise, as it is remembered on this machine.
    """
    outcomes = {name: verdict.outcome for name, verdict in verdicts.items()}
    board = mark_board(draw_board(prepare(exercise).program, exercise.gradients), outcomes)
    words, course = in_words(outcomes), by_notebook(passed)
    # What this notebook's own part of the course is like, the board itself shows.
    has_others = any(notebook != exercise.notebook for notebook in course)
    template = make_environment(Path(__file__).parent).get_template("board_card.html.jinja")
    html = template.render(
        title=title(outcomes),
        counts=wording.counts(list(verdicts.values())),
        # A front end that does not trust a notebook shows pictures, but no SVG among the HTML.
        picture=b64encode(as_picture(board).encode()).decode(),
        is_wide='class="graph wide"' in board,
        words=words,
        course=course if has_others else {},
    )
    return {"text/html": html, "text/plain": words}


def by_notebook(passed: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """How many gradients pass, of how many, in each notebook that anything is known of.

    >>> by_notebook({"ex2": 1})
    {'02_fused_cross_entropy': (1, 2)}
    """
    counts = {exercise.prefix: len(exercise.gradients) for exercise in EXERCISES}
    # The numbers may be an older course's, with more gradients than there are now.
    known = {e: number for e, number in passed.items() if 0 <= number <= counts.get(e, -1)}
    notebooks = {name: [e.prefix for e in exercises] for name, exercises in NOTEBOOKS.items()}
    return {
        name: (sum(known.get(e, 0) for e in prefixes), sum(counts[e] for e in prefixes))
        for name, prefixes in notebooks.items()
        if known.keys() & prefixes
    }
