"""The rubric: the points that a right gradient earns, and the share that a late one keeps."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.close_names import did_you_mean
from grader.printable import printable
from grader.program.course import Course, built_in_course
from grader.user_error import UserError, reason
from grader.verdict import Outcome

ONE = Fraction(1)
MOST = 10_000
"""The most points of one gradient; more must be a typing error."""

PLACES = 6
"""The most decimals of points; a rubric cannot round to a finer step."""

_FINEST = Decimal("1e-9")
_SETTINGS = ("default", "carried", "late", "round", "notebooks")
_PER_DAY = ("per_day", "most")
_DAY = timedelta(days=1)


class UnusableRubric(UserError):
    """A rubric cannot be understood; the message is one sentence for the instructor."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """What gradients are worth. By default each is worth one point, even if it is carried or late.

    `points` are those of single gradients, by the exercise's prefix and the gradient's name.
    `defaults` are the points of an exercise's other gradients, by prefix, and `default` those of
    all others. `carried` and `late` are the shares that such work keeps. Instead of `late`, a late
    notebook may lose `per_day` for each day begun after it was `due`, for at most `most_days`. A
    notebook's points are rounded to a multiple of `step`, with halves up. `notebooks` are the
    columns of the gradebook; if there are none, the notebooks that the class handed in count.
    `course` is the course to which the gradients belong.
    """

    default: Fraction = ONE
    points: Mapping[tuple[str, str], Fraction] = field(default_factory=dict)
    defaults: Mapping[str, Fraction] = field(default_factory=dict)
    carried: Fraction = ONE
    late: Fraction = ONE
    per_day: Fraction = Fraction(0)
    most_days: int = 1
    due: datetime | None = None
    step: Fraction = Fraction(1, 100)
    notebooks: tuple[str, ...] = ()
    course: Course = field(default_factory=built_in_course)

    def worth(self, prefix: str, gradient: str) -> Fraction:
        """The most that a gradient can earn."""
        default = self.defaults.get(prefix, self.default)
        return self.points.get((prefix, gradient), default)

    def earned(self, prefix: str, gradient: str, outcome: Outcome) -> Fraction:
        """The points that a gradient earns if it is handed in on time."""
        share = {Outcome.PASS: ONE, Outcome.CARRIED: self.carried}.get(outcome, Fraction(0))
        return share * self.worth(prefix, gradient)

    def most(self, notebook: str, without: Collection[str] = ()) -> Fraction:
        """The most that a notebook can earn `without` some of its gradients."""
        asked = self.course.gradients(notebook)
        worth = (self.worth(*each) for each in asked if each[1] not in without)
        return self.total(sum(worth, Fraction(0)))

    def kept(self, submitted: datetime | None, due: datetime | None) -> Fraction:
        """The share of its points that a late notebook keeps.

        If it is unknown by how much it is late, one day counts as begun. A time without a zone is
        in this machine's zone.
        """
        late_by = submitted - due.astimezone() if submitted and due else _DAY
        days = max(math.ceil(late_by / _DAY), 1)
        return max(self.late - self.per_day * min(days, self.most_days), Fraction(0))

    def total(self, earned: Fraction, kept: Fraction = ONE) -> Fraction:
        """A notebook's points, from the points of its gradients and the share that it keeps."""
        return math.floor(earned * kept / self.step + Fraction(1, 2)) * self.step


def points_text(points: Fraction) -> str:
    """Write points without needless zeros, and exactly if a decimal can be exact.

    >>> points_text(Fraction(47, 2)), points_text(Fraction(26))
    ('23.5', '26')
    """
    if points.denominator == 1:
        return str(points.numerator)
    text = f"{float(round(points, PLACES)):.{PLACES}f}"
    return text.rstrip("0").rstrip(".")


def read_rubric(path: Path | None, course: Course) -> Rubric:
    """Read the rubric of a course from a TOML file; without a file, use the course's own.

    Raises:
        UnusableRubric: the file cannot be read, or says something that cannot be meant.
    """
    if path is None:
        return parse_rubric("", course)
    where = printable(str(path))
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for without end
            raise UnusableRubric("it is not a file.")
        return parse_rubric(path.read_bytes().decode("utf-8-sig"), course)
    except OSError as error:
        raise UnusableRubric(f"The rubric {where} cannot be read: {reason(error)}.") from error
    except UnicodeDecodeError as error:
        raise UnusableRubric(f"The rubric {where} is not UTF-8 text.") from error
    except UnusableRubric as error:
        raise UnusableRubric(f"The rubric {where} cannot be used: {error}") from error


def parse_rubric(text: str, course: Course) -> Rubric:
    """Read the rubric from a text in TOML; for errors see `read_rubric`."""
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:  # also a number of 5,000 digits
        said = printable(str(error)) or "nested too deeply"
        raise UnusableRubric(f"it is not TOML ({said}).") from error
    asked = {outline.prefix: outline.gradients for outline in course.exercises}
    tables = {
        name: value
        for name, value in document.items()
        if isinstance(value, dict) and name not in _SETTINGS
    }
    settings = {name: value for name, value in document.items() if name not in tables}
    for name in settings:
        if name in asked:
            raise UnusableRubric(f"{name} is an exercise: write it as a table, [{name}].")
        _refuse_unknown("setting", name, _SETTINGS)
    points: dict[tuple[str, str], Fraction] = {}
    own = course.exercises if "default" not in settings else ()
    defaults = {each.prefix: Fraction(each.points) for each in own if each.points > 1}
    for prefix, table in tables.items():
        _refuse_unknown("exercise", prefix, asked)
        for name, value in table.items():
            if name == "default":
                defaults[prefix] = _number(f"default of [{prefix}]", value)
                continue
            _refuse_unknown(f"gradient of [{prefix}]", name, asked[prefix])
            points[prefix, name] = _number(f"{name} of [{prefix}]", value)
    late = settings.get("late", 1)
    per_day, most_days = _per_day(late) if isinstance(late, dict) else (Fraction(0), 1)
    return Rubric(
        _number("default", settings.get("default", 1)),
        points,
        defaults,
        carried=_number("carried", settings.get("carried", 1), most=1),
        late=ONE if per_day else _number("late", late, most=1),
        per_day=per_day,
        most_days=most_days,
        step=_number("round", settings.get("round", Decimal("0.01")), "0.000001"),
        notebooks=_notebooks(settings.get("notebooks", []), course),
        course=course,
    )


def number_in(text: str) -> Fraction | None:
    """The number that a person or a platform has written; None if it is not a number.

    Numbers from 10**9 on, and those nearer to 0 than 10**-9, do not count either, because
    1e-999999999 would be an endless fraction.
    """
    try:
        number = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        return None
    if not number.is_finite() or (number and not -9 <= number.adjusted() < 9):
        return None
    return Fraction(number)


def example_rubric(course: Course) -> str:
    """A rubric to edit, which says what holds without a rubric."""
    from grader.reports.templates import make_environment  # Jinja2, for which nobody else waits

    template = make_environment(Path(__file__).parent).get_template("rubric.toml.jinja")
    return template.render(course=course.exercises, notebooks=course.notebooks)


def _refuse_unknown(what: str, name: str, known: Iterable[str]) -> None:
    known = list(known)
    if name in known:
        return
    meant = did_you_mean([name], known) or f"there are {', '.join(known)}."
    raise UnusableRubric(f"there is no {what} named {printable(name) or repr(name)}; {meant}")


def _number(what: str, value: Any, least: str = "0", most: int = MOST) -> Fraction:
    # to Python, true is the number 1
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = Decimal(value)
        if number.is_finite() and Decimal(least) <= number <= most:
            return Fraction(number.quantize(_FINEST))  # 1e-999999999 would never end
    said = printable(str(value))[:40]
    raise UnusableRubric(f"{what} is {said}, but has to be a number from {least} to {most}.")


def _notebooks(value: Any, course: Course) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise UnusableRubric('notebooks has to be a list of names, such as ["01_atomic_backprop"].')
    try:
        named = {course.notebook_called(name) for name in value}
    except ValueError as error:
        raise UnusableRubric(f"notebooks: {error}") from None
    return tuple(name for name in course.notebooks if name in named)


def _per_day(late: Mapping[str, Any]) -> tuple[Fraction, int]:
    for name in late:
        _refuse_unknown("part of late", name, _PER_DAY)
    if missing := [name for name in _PER_DAY if name not in late]:
        raise UnusableRubric(
            f"late has no {missing[0]}: write late = {{ per_day = 0.1, most = 5 }} to take away a "
            "tenth of the points for each day begun, for five days at most."
        )
    per_day = _number("per_day of late", late["per_day"], "0.000001", 1)
    most = _number("most of late", late["most"], "1", 365)
    return Fraction(per_day), math.ceil(most)
