"""Draws the README's pictures: a board halfway through notebook 1, and a gradient that moves."""

import re
from pathlib import Path

from corpus.readers.exercise_text import read_cells, sample_submissions
from docs.building.samples import ATOMIC
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.pictures.figures.motion import COLUMNS_ON_A_TELEPHONE, draw_motion
from grader.program.references import prepare
from grader.reports.board import as_picture, draw_board, mark_board

HERE = Path(__file__).parent

MOVING = {
    "gradient.svg": None,
    "gradient-narrow.svg": COLUMNS_ON_A_TELEPHONE,
    "gradient-still.svg": None,
    "gradient-still-narrow.svg": COLUMNS_ON_A_TELEPHONE,
}
"""The files of the moving picture, each with its number of columns."""


def main() -> None:
    """Draw both."""
    draw_moving(HERE)
    draw_half_done()


def draw_moving(folder: Path) -> None:
    """Write every version of the moving picture.

    In a still one every gradient is lit: a browser may not tell a picture inside a page that its
    reader asks for less motion.
    """
    for name, columns in MOVING.items():
        svg = draw_motion(prepare(ATOMIC).program, ATOMIC.gradients, columns)
        if "still" in name:
            svg = re.sub(r"animation[\w-]*:[^;\"}]*;?", "", svg)
        (folder / name).write_text(svg, "utf-8")


def draw_half_done() -> None:
    """Grade the sample submission, with one contribution forgotten, and draw its verdicts."""
    source = sample_submissions()["half_done"].replace("dcounts += dcounts_sum\n", "")
    cells = [AnswerCell(*cell) for cell in read_cells(source)]
    with Runner() as runner:
        verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    for name, columns in (("board.svg", None), ("board-narrow.svg", 2)):
        drawn = draw_board(prepare(ATOMIC).program, ATOMIC.gradients, columns)
        board = mark_board(drawn, outcomes)
        (HERE / name).write_text(f"{as_picture(board)}\n", "utf-8")


if __name__ == "__main__":
    main()
