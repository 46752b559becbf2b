"""Submitted work that earned nothing: why, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from grader.classroom.notices import Notice
from grader.classroom.run.line import Line, Outline
from grader.printable import listed
from grader.reports import wording
from grader.verdict import EARNS_POINTS, Outcome

_ELSEWHERE = ("in-another-cell", "mistyped")
"""The reasons for a gradient that is written, but not where or as it would count."""


def why_lost(gradients: Sequence[Outline]) -> str:
    """The code of the notice that says why a notebook has next to no points; "" if it has some.

    Either at least half of its gradients are in other cells, or nothing in it ran.
    """
    codes = Counter(one.reason for one in gradients if one.verdict not in EARNS_POINTS)
    for code in _ELSEWHERE:
        if 2 * codes[code] >= len(gradients) > 0:
            return code
    outcomes = {one.verdict for one in gradients}
    return "stopped" if Outcome.ERROR in outcomes <= {Outcome.ERROR, Outcome.TODO} else ""


def about_lost(file: Mapping[str, Any], line: Line | None) -> Notice:
    """The notice about such a file; `line` is its line of the results, if it was graded."""
    if line is None or line.report is None:
        return Notice("unreadable", said=file["error"])
    verdicts = line.report.verdicts
    if file["lost"] == "stopped":
        first = next(verdict for verdict in verdicts if verdict.outcome is Outcome.ERROR)
        return Notice(file["lost"], said=wording.in_short(first))
    reasons = [verdict.reasons[0] for verdict in verdicts if verdict.why == file["lost"]]
    cells = dict.fromkeys(str(reason["cell"]) for reason in reasons)
    return Notice(
        file["lost"],
        lost=len(reasons),
        of=len(verdicts),
        cells=listed(cells, most=3) if file["lost"] == "in-another-cell" else next(iter(cells)),
        name=dict(reasons[0].arguments).get("name"),
        meant=dict(reasons[0].arguments).get("meant"),
    )
