"""Results as JSON, field by field as the documented format has it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from grader.reports import wording
from grader.reports.result import Result
from grader.verdict import FORMAT_VERSION, Flag, Report, Verdict

Json = dict[str, object]


def render(results: Sequence[Result]) -> str:
    """One object where one file was given, otherwise an array with one object a file, in order.

    A file that could not be graded keeps its place, so that the n-th object belongs to the n-th
    file: `{"format": 1, "path": "...", "error": "..."}`. Always strict JSON, and ASCII: a terminal
    or pipe of any encoding passes it on unharmed.
    """
    objects = [
        report_as_json(result)
        if isinstance(result, Report)
        else _strict({"format": FORMAT_VERSION, "path": str(result.path), "error": result.sentence})
        for result in results
    ]
    document = objects[0] if len(objects) == 1 else objects
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    return text.replace("##[", r"#\u0023[")  # as it stands, GitHub would take it for a command


def report_as_json(report: Report) -> Json:
    """A report's object; every field is always there."""
    return {
        "format": FORMAT_VERSION,
        "notebook": report.notebook,
        "score": report.score,
        "max_score": report.max_score,
        "gradients": _strict([_verdict(verdict) for verdict in report.verdicts]),
        "flags": [flag_as_json(flag) for flag in report.flags],
    }


def _verdict(verdict: Verdict) -> Json:
    comparison, place = verdict.comparison, verdict.place
    return {
        "name": verdict.name,
        "verdict": verdict.outcome,
        "exact": comparison.exact,
        "approximate": comparison.approximate,
        "maxdiff": comparison.maxdiff,
        "shape": comparison.shape,
        "expected_shape": comparison.expected_shape,
        "points": verdict.points,
        "max_points": verdict.max_points,
        "line": place.line if place else None,
        "diagnosis": [
            {"kind": one.kind, "message": one.message, "hint": one.hint}
            for one in verdict.diagnosis
        ],
        "note": wording.note(verdict),
        "reason": verdict.why,
        "cell": place.cell if place else None,
        "global_check": verdict.global_check,
        "local_check": verdict.local_check,
    }


def flag_as_json(flag: Flag) -> Json:
    """A flag's object."""
    line, cell = (flag.place.line, flag.place.cell) if flag.place else (None, None)
    document: Json = _strict(
        {"kind": flag.kind, "line": line, "message": flag.message, "cell": cell}
    )
    return document


def _strict(value: Any) -> Any:
    """The value for strict readers: NaN becomes null, which a note explains."""
    match value:
        case str():
            # half a surrogate pair is a string to Python and an error to others
            whole = value.isascii()
            return value if whole else value.encode("utf-8", "replace").decode("utf-8")
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _strict(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_strict(inner) for inner in value]
    return value
