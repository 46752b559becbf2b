"""Results for GitHub: a summary of the run, and points for GitHub Classroom."""

from __future__ import annotations

import json
from collections.abc import Sequence

from grader.reports.result import Result
from grader.reports.templates import make_environment
from grader.verdict import Report


def summary(results: Sequence[Result]) -> str:
    """Write a run's summary in Markdown: each notebook's points, and the gradients to mend."""
    return make_environment().get_template("summary.md.jinja").render(results=results)


def points(results: Sequence[Result]) -> str:
    """The workflow commands that tell GitHub Classroom the points; "" if some are unknown.

    A file that cannot be graded has no maximum, so a share of the others' points would flatter.

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
