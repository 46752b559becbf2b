"""Draws the README's picture: a board halfway through notebook 1."""

from pathlib import Path

from corpus.readers.exercise_text import read_cells, sample_submissions
from docs.building.samples import ATOMIC
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.program.references import prepare
from grader.reports.board import as_picture, draw_board, mark_board

HERE = Path(__file__).parent


def main() -> None:
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
