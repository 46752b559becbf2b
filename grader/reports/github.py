"""Results for GitHub: a summary of the run, points for the classroom."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from grader.reports import wording
from grader.reports.result import Result, Ungraded
from grader.reports.templates import marked
from grader.verdict import Outcome, Report, Verdict


def summary(results: Sequence[Result]) -> str:
    """Write a run's summary in Markdown: each notebook's points and what does not pass.

    Tables are HTML, in which the characters of Markdown have no meaning: the sentences quote what
    students wrote.
    """
    return "\n".join(f"{line}\n" for result in results for line in _summary(result))


def points(results: Sequence[Result]) -> str:
    """The workflow commands that tell GitHub Classroom the points; "" if some are unknown.

    A file that cannot be graded has no maximum, and a share of the others' would flatter.

    Source: the notices of classroom-resources/autograding-grading-reporter, version 1.
    """
    reports = [result for result in results if isinstance(result, Report)]
    if len(reports) < len(results):
        return ""
    earned, most = sum(r.score for r in reports), sum(r.max_score for r in reports)
    record = json.dumps({"totalPoints": earned, "maxPoints": most})
    return (
        f"::notice title=Autograding complete::Points {earned}/{most}\n"
        f"::notice title=Autograding report::{record}\n"
    )


def _summary(report: Result) -> Iterator[str]:
    if isinstance(report, Ungraded):
        yield "### Not graded"
        yield f"<p>{marked(report.sentence)}</p>"
        return
    yield f"### {marked(report.notebook)}: {wording.points(report)}"
    counts = ", ".join(wording.counts(report.verdicts).values())
    yield f"<p>{marked(str(report.path))}: {counts}</p>"
    to_do = [v.name for v in report.verdicts if v.outcome is Outcome.TODO]
    if to_do:
        yield f"To do: {', '.join(map(_code, to_do))}"
    rows = [
        _row(verdict)
        for verdict in report.verdicts
        if verdict.outcome not in {Outcome.PASS, Outcome.TODO}
    ]
    if rows:
        yield "\n".join(["<table>", *rows, "</table>"])


def _row(verdict: Verdict) -> str:
    sign, word = wording.SIGNS[verdict.outcome], wording.word(verdict.outcome)
    line = f": {_code(verdict.code)}" if verdict.code else ""
    said = [wording.where(verdict.place) + line]
    said.append(marked(verdict.note))
    said += [marked(f"{one.message} {one.hint}".strip()) for one in wording.diagnoses(verdict)]
    why = "<br>".join(filter(None, said))
    return f"<tr><td>{_code(verdict.name)}</td><td>{sign}&nbsp;{word}</td><td>{why}</td></tr>"


def _code(text: str) -> str:
    return f"<code>{marked(text.replace('`', '´'))}</code>"
