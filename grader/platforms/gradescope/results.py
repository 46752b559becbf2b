"""A graded notebook as Gradescope's results.json."""

# The templates escape every text of a student's. Gradescope also removes elements, and it is not
# published which ones. Therefore the templates use the plainest elements, and no word is lost with
# one of them.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.classroom.gradebook.codes import FOR_STUDENTS
from grader.classroom.gradebook.rubric import ONE, Rubric, points_text
from grader.classroom.run.line import Line
from grader.platforms.gradescope.settings import ExportSettings, Visibility
from grader.printable import printable
from grader.reports import wording
from grader.reports.templates import make_environment, marked
from grader.verdict import Flag, Outcome, Verdict

FORMAT_VERSION = 1
"""The version of our data in `extra_data`. Everything else has Gradescope's own format."""

STAFF = "For the staff"
NOTEBOOK = "The notebook"
TEMPLATES = Path(__file__).parent

Results = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the results say besides the verdicts, with the settings and the rubric.

    `notes` are sentences for the student, and `staff` is for the staff alone.
    """

    settings: ExportSettings
    rubric: Rubric = field(default_factory=Rubric)
    seconds: float = 0.0
    submitted: datetime | None = None
    late: bool = False
    due: datetime | None = None
    notes: Sequence[str] = ()
    staff: Sequence[str] = ()

    @property
    def kept(self) -> Fraction:
        """The share of its points that a late notebook keeps."""
        return self.rubric.kept(self.submitted, self.due) if self.late else ONE


def results_of(line: Line, about: Circumstances) -> Results:
    """The results of a graded notebook, with a test for each gradient, from the loss down."""
    assert line.report is not None  # it was graded
    asked = about.rubric.course.gradients(line.report.notebook)
    prefixes = {gradient: prefix for prefix, gradient in asked}
    tests, earned = [], Fraction(0)
    for number, verdict in enumerate(line.report.verdicts, 1):
        prefix = prefixes[verdict.name]
        points = about.rubric.earned(prefix, verdict.name, verdict.outcome)
        worth = about.rubric.worth(prefix, verdict.name)
        tests.append(_test(number, verdict, points, worth))
        earned += points
    return _results(line, about.rubric.total(earned, about.kept), tests, about)


def not_graded(sentence: str, about: Circumstances) -> Results:
    """The results of a submission that cannot be graded: no points, and a sentence why."""
    test = {
        "name": NOTEBOOK,
        "score": 0.0,
        "max_score": _number(about.rubric.most(about.settings.notebook)),
        "status": "failed",
        "output": f"<p>{marked(sentence)}</p>",
        "output_format": "html",
        # A student who reads it before the due date can still mend it.
        "visibility": Visibility.VISIBLE,
    }
    return _results(None, Fraction(0), [test], about)


def own_failure(about: Circumstances) -> Results:
    """The results of a submission if the autograder itself has failed."""
    return not_graded(
        "This notebook could not be graded, and not through its answers: the autograder did not "
        "finish. Nothing is lost: the staff can see why, and run it again.",
        about,
    )


def staff_lines(line: Line | None, about: Circumstances) -> list[str]:
    """The lines for the staff alone: where the notebook was graded, and every flag."""
    return [*about.staff, *map(_flag_line, line.flags if line else ())]


def _results(
    line: Line | None, score: Fraction, tests: list[Results], about: Circumstances
) -> Results:
    settings = about.settings
    # Only if everybody sees the standard output, and if there is something to show, because
    # Gradescope shows no total to a student with a hidden test.
    secret = line is None or any(flag.kind not in FOR_STUDENTS for flag in line.flags)
    if secret and settings.stdout_visibility is not Visibility.HIDDEN:
        staff_test = {
            "name": STAFF,
            "status": "failed",
            "output": "\n".join(staff_lines(line, about)),
            "output_format": "text",
            "visibility": Visibility.HIDDEN,
        }
        tests = [*tests, staff_test]
    results = {
        "score": _number(score),
        "execution_time": round(about.seconds, 2),
        "output_format": "html",
        "test_output_format": "html",
        "test_name_format": "text",
        "visibility": settings.visibility,
        "stdout_visibility": settings.stdout_visibility,
        "output": _output(line, about),
        "extra_data": _extra_data(line, about),
        "tests": tests,
    }
    if settings.leaderboard:
        results["leaderboard"] = [{"name": "Points", "value": _number(score), "order": "desc"}]
    return results


def _test(number: int, verdict: Verdict, points: Fraction, worth: Fraction) -> Results:
    right = verdict.outcome is Outcome.PASS
    carried_whole = verdict.outcome is Outcome.CARRIED and points == worth
    return {
        "name": verdict.name,
        "number": str(number),
        "score": _number(points),
        "max_score": _number(worth),
        # Stated explicitly, because a test that is worth nothing would always pass.
        "status": "passed" if right or carried_whole else "failed",
        "output": _rendered("test.html.jinja", verdict=verdict),
        "output_format": "html",
        "tags": [wording.word(verdict.outcome)],
        "extra_data": {
            "verdict": str(verdict.outcome),
            "diagnosis": [str(one.kind) for one in wording.diagnoses(verdict)],
        },
    }


def _output(line: Line | None, about: Circumstances) -> str:
    """The text about the whole notebook, without verdicts if the tests are shown only later."""
    report = line.report if line else None
    shown = report and about.settings.visibility is Visibility.VISIBLE
    flags = wording.further_flags(report) if report else []
    return _rendered(
        "output.html.jinja",
        line=line,
        counts=wording.counts(report.verdicts).values() if report and shown else (),
        late=about.late,
        kept="" if about.kept == ONE else f"{points_text(about.kept * 100)} % of ",
        notes=about.notes,
        flags=[flag for flag in flags if flag.kind in FOR_STUDENTS],
    )


def _rendered(template: str, **values: object) -> str:
    return make_environment(TEMPLATES).get_template(template).render(values).strip()


def _flag_line(flag: Flag) -> str:
    return printable(f"{flag.kind}: {wording.flagged(flag)}")


def _extra_data(line: Line | None, about: Circumstances) -> Results:
    """Data for the staff's programs, without anything that students must not know."""
    return {
        "format": FORMAT_VERSION,
        "notebook": line.report.notebook if line and line.report else None,
        "file": line.file.path if line else None,
        "sha256": line.file.sha256 if line else None,
        "late": about.late,
        "submitted": about.submitted.isoformat() if about.submitted else None,
        "sandbox": line.run.sandbox if line else None,
        "versions": asdict(line.run.versions) if line else None,
    }


def _number(points: Fraction) -> float:
    return float(round(points, 6))
