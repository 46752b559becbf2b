"""Results as a run of GitHub Actions shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from grader.marked import marked
from grader.reports import wording
from grader.reports.result import Graded, Result, Ungraded
from grader.verdict import Outcome, Verdict


def summary(results: Sequence[Result]) -> str:
    """Markdown for the summary of a run: of each notebook its points and what does not pass.

    Tables are HTML, in which the characters of Markdown have no meaning: the sentences quote what
    students wrote.
    """
    blocks = [
        _notebook(result) if isinstance(result, Graded) else _ungraded(result) for result in results
    ]
    return "\n".join(f"{line}\n" for block in blocks for line in block)


def points(results: Sequence[Result]) -> str:
    """The workflow commands from which GitHub Classroom reads the points; "" if some are unknown.

    A file that cannot be graded has no maximum, and a share of the others' would flatter.

    Source: the notices of classroom-resources/autograding-grading-reporter, version 1.
    """
    reports = [result.report for result in results if isinstance(result, Graded)]
    if len(reports) < len(results):
        return ""
    earned, most = sum(r.score for r in reports), sum(r.max_score for r in reports)
    record = json.dumps({"totalPoints": earned, "maxPoints": most})
    return (
        f"::notice title=Autograding complete::Points {earned}/{most}\n"
        f"::notice title=Autograding report::{record}\n"
    )


def _notebook(result: Graded) -> Iterator[str]:
    report = result.report
    yield f"### {marked(report.notebook)}: {wording.points(report)}"
    counts = ", ".join(wording.counts(report.verdicts).values())
    yield f"<p>{marked(str(result.path))}: {counts}</p>"
    to_do = [v.name for v in report.verdicts if v.outcome is Outcome.TODO]
    if to_do:
        yield f"To do: {', '.join(map(_code, to_do))}"
    rows = [
        _row(verdict, result)
        for verdict in report.verdicts
        if verdict.outcome not in {Outcome.PASS, Outcome.TODO}
    ]
    if rows:
        yield "\n".join(["<table>", *rows, "</table>"])


def _row(verdict: Verdict, result: Graded) -> str:
    sign, word = wording.SIGNS[verdict.outcome], wording.word(verdict.outcome)
    line = result.line_at(verdict.place)
    said = [
        f"{wording.where(verdict.place)}{': ' if line else ''}{_code(line) if line else ''}",
        marked(wording.note(verdict)),
        *(
            marked(f"{diagnosis.message} {diagnosis.hint}".strip())
            for diagnosis in wording.diagnoses(verdict)
        ),
    ]
    why = "<br>".join(filter(None, said))
    return f"<tr><td>{_code(verdict.name)}</td><td>{sign}&nbsp;{word}</td><td>{why}</td></tr>"


def _ungraded(result: Ungraded) -> Iterator[str]:
    yield "### Not graded"
    yield f"<p>{marked(result.sentence)}</p>"


def _code(text: str) -> str:
    return f"<code>{marked(text.replace('`', '´'))}</code>"
