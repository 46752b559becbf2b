"""Draws the README's picture: the board of somebody who is halfway through notebook 1."""

from pathlib import Path

from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.program.course import built_in_course
from grader.program.exercises import exercise_called
from grader.program.references import prepare
from grader.reports.board import as_picture, draw_board, mark_board
from tests.helpers.exercise_text import read_cells, sample_submissions

ATOMIC = exercise_called(built_in_course(), "ex1")

HERE = Path(__file__).parent


def main() -> None:
    """Grade the sample submission, with one contribution forgotten, and draw its verdicts."""
    source = sample_submissions()["half_done"].replace("dcounts += dcounts_sum\n", "")
    cells = [AnswerCell(*cell) for cell in read_cells(source)]
    with Runner() as runner:
        verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    board = mark_board(draw_board(prepare(ATOMIC).program, ATOMIC.gradients), outcomes)
    (HERE / "board.svg").write_text(f"{as_picture(board)}\n", "utf-8")


if __name__ == "__main__":
    main()
