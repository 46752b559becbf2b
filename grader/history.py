"""The answer cells a student has run, from a notebook's input history."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from grader.answer import AnswerCell

ANSWER_COMMENT = re.compile(r"\A\s*#\s*answer\s*:\s*([A-Za-z0-9_-]+)\s*$", re.MULTILINE)


def latest_answers(inputs: Iterable[str]) -> tuple[AnswerCell, ...]:
    """The answer cells among executed sources: of each its last text, in order of first run.

    A cell that was run again keeps its place, as it keeps it in the notebook.
    """
    answers: dict[str, AnswerCell] = {}
    for source in inputs:
        if match := ANSWER_COMMENT.match(source):
            answers[match[1]] = AnswerCell(match[1], source)
    return tuple(answers.values())


def executed_sources(shell: Any) -> list[str]:
    """What was run in an IPython shell so far, as it was typed."""
    return list(shell.history_manager.input_hist_raw)
