"""Results as JSON, field by field as the design's contract has it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from grader.reports.result import Graded, Result
from grader.verdict import FORMAT_VERSION, Diagnosis, Flag, Report, Verdict

Json = dict[str, object]


def render(results: Sequence[Result]) -> str:
    """One object where one file was given, otherwise an array with one object a file, in order.

    A file that could not be graded keeps its place, so that the n-th object belongs to the n-th
    file: `{"format": 1, "path": "...", "error": "..."}`. Always strict JSON, and ASCII: a terminal
    or pipe of any encoding passes it on unharmed.
    """
    objects = [result_as_json(result) for result in results]
    document = objects[0] if len(objects) == 1 else objects
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def result_as_json(result: Result) -> Json:
    if isinstance(result, Graded):
        return report_as_json(result.report)
    return {
        "format": FORMAT_VERSION,
        "path": _text(str(result.path)),
        "error": _text(result.sentence),
    }


def report_as_json(report: Report) -> Json:
    return {
        "format": FORMAT_VERSION,
        "notebook": report.notebook,
        "score": report.score,
        "max_score": report.max_score,
        "gradients": [_verdict(verdict) for verdict in report.verdicts],
        "flags": [_flag(flag) for flag in report.flags],
    }


def _verdict(verdict: Verdict) -> Json:
    comparison = verdict.comparison
    return {
        "name": verdict.name,
        "verdict": str(verdict.outcome),
        "exact": comparison.exact,
        "approximate": comparison.approximate,
        "maxdiff": _finite(comparison.maxdiff),
        "shape": _shape(comparison.shape),
        "expected_shape": _shape(comparison.expected_shape),
        "points": verdict.points,
        "max_points": verdict.max_points,
        "line": verdict.place.line if verdict.place else None,
        "diagnosis": [_diagnosis(diagnosis) for diagnosis in verdict.diagnosis],
        "note": _text(verdict.note),
        "cell": _text(verdict.place.cell) if verdict.place else None,
        "global_check": str(verdict.global_check),
        "local_check": str(verdict.local_check),
    }


def _diagnosis(diagnosis: Diagnosis) -> Json:
    return {
        "kind": diagnosis.kind,
        "message": _text(diagnosis.message),
        "hint": _text(diagnosis.hint),
    }


def _flag(flag: Flag) -> Json:
    return {
        "kind": flag.kind,
        "line": flag.place.line if flag.place else None,
        "message": _text(flag.message),
        "cell": _text(flag.place.cell) if flag.place else None,
    }


def _finite(number: float | None) -> float | None:
    # JSON has no NaN; that a gradient holds one, the note says
    return number if number is not None and math.isfinite(number) else None


def _shape(shape: tuple[int, ...] | None) -> list[int] | None:
    return None if shape is None else [int(size) for size in shape]


def _text(text: str) -> str:
    # half a surrogate pair is a string to Python and an error to strict readers
    return text.encode("utf-8", "replace").decode("utf-8")
