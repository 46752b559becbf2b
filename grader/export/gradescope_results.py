"""A graded notebook as Gradescope's results.json."""

# Every text of a student's goes through `marked` or Markup's own escaping before it is part of
# HTML. Gradescope cleans what it shows as well; which elements it leaves is not published, so
# these are the plainest, and what is lost of them takes no word along.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from grader.bulk.line import Line
from grader.export.gradescope_settings import ExportSettings, Visibility
from grader.gradebook.course_facts import gradients_of
from grader.gradebook.points import points_text
from grader.gradebook.results_file import GradedFile, flags_of, graded_file
from grader.gradebook.rubric import ONE, Rubric
from grader.gradebook.student_page import FOR_STUDENTS
from grader.marked import marked
from grader.printable import printable, visible
from grader.reports import wording
from grader.verdict import Flag, Outcome, Report, Verdict

FORMAT_VERSION = 1
"""Version of what stands in `extra_data`; the rest has Gradescope's own format."""

STAFF = "For the staff"
NOTEBOOK = "The notebook"

Results = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is to be said beside the verdicts.

    `notes` are sentences for the student, `staff` is for the staff alone.
    """

    seconds: float = 0.0
    submitted: datetime | None = None
    late: bool = False
    notes: Sequence[str] = ()
    staff: Sequence[str] = ()


def results_of(
    line: Line, settings: ExportSettings, rubric: Rubric, about: Circumstances
) -> Results:
    """The results of a graded notebook: a test a gradient, from the loss down."""
    file = graded_file(line)
    prefixes = {gradient: prefix for prefix, gradient in gradients_of(file.report.notebook)}
    earned = [
        rubric.earned(prefixes[verdict.name], verdict.name, verdict.outcome)
        for verdict in file.report.verdicts
    ]
    tests = [
        _test(number, verdict, file, points, rubric.worth(prefixes[verdict.name], verdict.name))
        for number, (verdict, points) in enumerate(
            zip(file.report.verdicts, earned, strict=True), 1
        )
    ]
    score = rubric.total(sum(earned, Fraction(0)), about.late)
    return {
        "score": _number(score),
        **_frame(settings, about),
        "output": str(_output(line, file.report, settings, rubric, about)),
        "extra_data": _extra_data(line, about),
        "tests": [*tests, *_staff_tests(line, settings, about)],
        **_leaderboard(score, settings),
    }


def not_graded(
    sentence: str, settings: ExportSettings, rubric: Rubric, about: Circumstances
) -> Results:
    """The results of a submission that cannot be graded: no points, and one sentence why."""
    test = {
        "name": NOTEBOOK,
        "score": 0.0,
        "max_score": _number(max_points(settings.notebook, rubric)),
        "status": "failed",
        "output": str(Markup("<p>{}</p>").format(marked(sentence))),
        "output_format": "html",
        # It can be mended before the due date only by who reads it before.
        "visibility": Visibility.VISIBLE,
    }
    return {
        "score": 0.0,
        **_frame(settings, about),
        "output": str(Markup("").join([*_late(about, rubric), *map(_paragraph, about.notes)])),
        "extra_data": _extra_data({}, about),
        "tests": [test, *_staff_tests({}, settings, about)],
        **_leaderboard(Fraction(0), settings),
    }


def own_failure(
    settings: ExportSettings, rubric: Rubric, about: Circumstances | None = None
) -> Results:
    """The results of a submission that the autograder itself has failed."""
    return not_graded(
        "This notebook could not be graded, and not through its answers: the autograder did not "
        "finish. Nothing is lost: the staff can see why, and run it again.",
        settings,
        rubric,
        about or Circumstances(),
    )


def max_points(notebook: str, rubric: Rubric) -> Fraction:
    """What the assignment is worth: the points to give it on Gradescope."""
    worth = (rubric.worth(prefix, gradient) for prefix, gradient in gradients_of(notebook))
    return rubric.total(sum(worth, Fraction(0)), late=False)


def staff_lines(line: Line, about: Circumstances) -> list[str]:
    """What only the staff is to read: where it was graded, and every flag."""
    return [*about.staff, *map(_flag_line, flags_of(line))]


def _frame(settings: ExportSettings, about: Circumstances) -> Results:
    return {
        "execution_time": round(about.seconds, 2),
        "output_format": "html",
        "test_output_format": "html",
        "test_name_format": "text",
        "visibility": settings.visibility,
        "stdout_visibility": settings.stdout_visibility,
    }


def _test(
    number: int, verdict: Verdict, file: GradedFile, points: Fraction, worth: Fraction
) -> Results:
    right = verdict.outcome is Outcome.PASS
    carried_whole = verdict.outcome is Outcome.CARRIED and points == worth
    return {
        "name": verdict.name,
        "number": str(number),
        "score": _number(points),
        "max_score": _number(worth),
        # Said outright: a gradient that is worth nothing would pass whatever it is.
        "status": "passed" if right or carried_whole else "failed",
        "output": str(_explanation(verdict, file.code.get(verdict.name, ""))),
        "output_format": "html",
        "tags": [wording.word(verdict.outcome)],
        "extra_data": {
            "verdict": str(verdict.outcome),
            "diagnosis": [str(one.kind) for one in wording.diagnoses(verdict)],
        },
    }


def _explanation(verdict: Verdict, code: str) -> Markup:
    """The verdict, the student's own line, why it is wrong, the lecture's comparison."""
    outcome = f"{wording.SIGNS[verdict.outcome]} {wording.word(verdict.outcome)}"
    where = f" · {printable(wording.where(verdict.place))}" if verdict.place else ""
    parts = [Markup("<p><strong>{}</strong>{}</p>").format(outcome, where)]
    if code and verdict.outcome is not Outcome.PASS:
        parts.append(Markup("<pre>{}</pre>").format(visible(code)))
    if said := wording.note(verdict):
        parts.append(_paragraph(said))
    for place, diagnosis in enumerate(wording.diagnoses(verdict)):
        parts.append(_paragraph(f"{'Or: ' if place else ''}{diagnosis.message}"))
        if diagnosis.hint:
            parts.append(_paragraph(f"Hint: {diagnosis.hint}"))
    if verdict.outcome is Outcome.TODO and not said:
        parts.append(_paragraph(f"`{verdict.name}` is not written yet."))
    if verdict.outcome in {Outcome.FAIL, Outcome.CARRIED}:
        parts.append(_paragraph(_comparison(verdict)))
    return Markup("\n").join(parts)


def _comparison(verdict: Verdict) -> str:
    found = verdict.comparison
    shape = wording.shape(found.shape)
    if found.shape != found.expected_shape:
        shape += f", expected {wording.shape(found.expected_shape)}"
    return (
        f"As `cmp` shows it: exact: {wording.truth(found.exact)} | "
        f"approximate: {wording.truth(found.approximate)} | "
        f"maxdiff: {wording.difference(found.maxdiff)} | shape: {shape}"
    )


def _output(
    line: Line, report: Report, settings: ExportSettings, rubric: Rubric, about: Circumstances
) -> Markup:
    """What concerns the whole notebook.

    It is seen at once, whenever the tests are: where these wait, it tells no verdict.
    """
    parts = [_paragraph(f"Graded: `{line['file']}` as {report.notebook}.")]
    if settings.visibility is Visibility.VISIBLE:
        parts.append(_paragraph(f"{', '.join(wording.counts(report.verdicts).values())}."))
    parts += _late(about, rubric)
    parts += map(_paragraph, about.notes)
    flags = [flag for flag in wording.further_flags(report) if flag.kind in FOR_STUDENTS]
    if flags:
        items = Markup("").join(Markup("<li>{}</li>").format(_flag_text(flag)) for flag in flags)
        parts.append(Markup("<ul>{}</ul>").format(items))
    return Markup("\n").join(parts)


def _late(about: Circumstances, rubric: Rubric) -> list[Markup]:
    if not about.late:
        return []
    share = "" if rubric.late == ONE else f"{points_text(rubric.late * 100)} % of "
    return [_paragraph(f"This submission came in late; it keeps {share}its points.")]


def _paragraph(sentence: str) -> Markup:
    return Markup("<p>{}</p>").format(marked(sentence))


def _flag_text(flag: Flag) -> Markup:
    where = f" ({printable(wording.where(flag.place))})" if flag.place else ""
    return marked(flag.message) + where


def _flag_line(flag: Flag) -> str:
    where = f" ({wording.where(flag.place)})" if flag.place else ""
    return printable(f"{flag.kind}: {flag.message}{where}")


def _staff_tests(line: Line, settings: ExportSettings, about: Circumstances) -> list[Results]:
    """A hidden test for the staff, where standard output is for everybody.

    Only there, and only where there is something to look at: to a student with a hidden test
    Gradescope shows no total.
    """
    secret = any(flag.kind not in FOR_STUDENTS for flag in flags_of(line))
    if settings.stdout_visibility is Visibility.HIDDEN or not (secret or "gradients" not in line):
        return []
    return [
        {
            "name": STAFF,
            "status": "failed",
            "output": "\n".join(staff_lines(line, about)),
            "output_format": "text",
            "visibility": Visibility.HIDDEN,
        }
    ]


def _extra_data(line: Line, about: Circumstances) -> Results:
    """For programs of the staff's: nothing that a student could not know as well."""
    run = line.get("run") or {}
    return {
        "format": FORMAT_VERSION,
        "notebook": line.get("notebook"),
        "file": line.get("file"),
        "sha256": line.get("sha256"),
        "late": about.late,
        "submitted": about.submitted.isoformat() if about.submitted else None,
        "sandbox": run.get("sandbox"),
        "versions": run.get("versions"),
    }


def _leaderboard(score: Fraction, settings: ExportSettings) -> Results:
    if not settings.leaderboard:
        return {}
    return {"leaderboard": [{"name": "Points", "value": _number(score), "order": "desc"}]}


def _number(points: Fraction) -> float:
    return float(round(points, 6))
