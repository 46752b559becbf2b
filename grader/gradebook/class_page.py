"""The class's page: everybody at a glance, and a table to search."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from grader.gradebook.class_data import class_data
from grader.gradebook.class_summary import (
    ClassSummary,
    Flagged,
    Gradient,
    distribution,
    figures,
    is_suspicion,
    sandboxes,
)
from grader.gradebook.pages import asset, environment, policy, style
from grader.gradebook.points import points_text
from grader.gradebook.student_page import versions_text
from grader.gradebook.table import Status, Table
from grader.verdict import Outcome

TEMPLATE = "class.html.jinja"
STYLES = ("look.css", "class.css")
SCRIPT = "class.js"

TOP = 10
"""Rows that are shown before the rest is folded away."""
FEW = 12
"""Flagged students likewise."""
MOST_GRADIENTS = 3
"""Gradients that are named beside a mistake."""


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A notebook with its gradients, the first of which has number `first` in the class."""

    notebook: str
    names: tuple[str, ...]
    first: int


@dataclass(frozen=True, slots=True)
class MissedView:
    """A gradient with the share that misses it, as a bar of all outcomes."""

    notebook: str
    gradient: str
    index: int
    missed: Fraction
    stack: Markup
    kind: str


@dataclass(frozen=True, slots=True)
class KindView:
    kind: str
    students: int
    gradients: Sequence[str]
    message: str


@dataclass(frozen=True, slots=True)
class ClassPage:
    """What the template shows."""

    title: str
    subtitle: str
    figures: Sequence[tuple[str, str]]
    warnings: Sequence[str]
    notices: Sequence[str]
    columns: Sequence[ColumnView]
    missed: Sequence[MissedView]
    kinds: Sequence[KindView]
    histogram: Markup
    histogram_note: str
    suspicious: Sequence[Flagged]
    noted: Sequence[Flagged]
    statuses: Sequence[str]
    versions: str


def class_page(table: Table, summary: ClassSummary, title: str, notices: Sequence[str] = ()) -> str:
    """The page: one file that needs no other but the students' pages it links to.

    It is the same for the same results; no seed, no times, no worker's name stands on it.
    """
    columns = _columns(table)
    page = ClassPage(
        title,
        _subtitle(table),
        figures(table, summary),
        _warnings(table),
        notices,
        columns,
        _missed(summary, columns),
        _kinds(summary),
        _histogram(table),
        _histogram_note(table),
        _only(summary.flagged, True),
        _only(summary.flagged, False),
        [str(status) for status in Status],
        versions_text(set(table.run)),
    )
    style_text, script_text = style(*STYLES), asset(SCRIPT)
    text = (
        environment()
        .get_template(TEMPLATE)
        .render(
            page=page,
            outcomes=list(Outcome),
            top=TOP,
            few=FEW,
            kinds_of=_kinds_of,
            style=style_text,
            script=script_text,
            policy=policy(style_text, script_text),
            data=_for_a_script_element(*class_data(table, summary)),
        )
    )
    return text.strip() + "\n"


def _for_a_script_element(once: object, rows: Iterable[object]) -> Markup:
    """JSON that cannot end the element it stands in, nor be taken for markup."""
    return Markup(f'{{"once":{_json(once)},"rows":[{",".join(map(_json, rows))}]}}')


def _json(value: object) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII only
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _columns(table: Table) -> list[ColumnView]:
    views, first = [], 0
    for column in table.columns:
        names = tuple(gradient for _, gradient in column.gradients)
        views.append(ColumnView(column.notebook, names, first))
        first += len(names)
    return views


def _subtitle(table: Table) -> str:
    files = sum(len(row.files) for row in table.rows)
    run = [f"{files:,} {'file' if files == 1 else 'files'} graded"]
    names = sandboxes(table)
    said = " and ".join("no sandbox" if name == "none" else f"sandbox {name}" for name, _ in names)
    if said.strip():
        run.append(said)
    return ", ".join(run)


def _warnings(table: Table) -> list[str]:
    sentences = []
    unsafe = dict(sandboxes(table)).get("none", 0)
    if unsafe:
        sentences.append(
            f"{unsafe:,} of the files were graded without a sandbox (`--sandbox none`): what their "
            "code did on this machine, nobody watched."
        )
    waiting = sum(len(row.waiting) for row in table.rows)
    if waiting:
        sentences.append(
            f"{waiting:,} {'file has' if waiting == 1 else 'files have'} not been graded yet: run "
            "`grader grade` again with the same `--out`, and it goes on where it stopped."
        )
    if table.gone:
        sentences.append(
            f"{table.gone:,} of the results {'is' if table.gone == 1 else 'are'} of files that are "
            "no longer in the folder. They count."
        )
    return sentences


def _only(flagged: Sequence[Flagged], suspicious: bool) -> list[Flagged]:
    """The students with flags of one sort, each with only those."""
    found = []
    for item in flagged:
        flags = tuple(pair for pair in item.flags if is_suspicion(pair[1]) is suspicious)
        if flags:
            found.append(Flagged(item.row, flags))
    return found


def _kinds_of(flagged: Sequence[Flagged]) -> list[tuple[str, int]]:
    """How often each kind of flag was raised, the most frequent first."""
    counts = Counter(flag.kind for item in flagged for _, flag in item.flags)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _missed(summary: ClassSummary, columns: Sequence[ColumnView]) -> list[MissedView]:
    index = {
        (column.notebook, name): column.first + position
        for column in columns
        for position, name in enumerate(column.names)
    }
    return [
        MissedView(
            *gradient,
            index[gradient],
            summary.missed(gradient),
            _stack(summary, gradient),
            min(
                summary.kinds_in[gradient].items(),
                key=lambda item: (-item[1], item[0]),
                default=("", 0),
            )[0],
        )
        for gradient in summary.most_missed()
        if gradient in index
    ]


def _stack(summary: ClassSummary, gradient: Gradient) -> Markup:
    outcomes = summary.outcomes[gradient]
    total, left, pieces, said = outcomes.total(), 0.0, [], []
    for outcome in Outcome:
        if number := outcomes[outcome]:
            width = 100 * number / total
            pieces.append(
                f'<rect class="f-{outcome}" x="{left:.2f}" width="{width:.2f}" height="1"/>'
            )
            said.append(f"{number:,} {outcome}")
            left += width
    return Markup(
        '<svg viewBox="0 0 100 1" preserveAspectRatio="none" role="img"'
        f' aria-label="{", ".join(said)}"><title>{", ".join(said)}</title>{"".join(pieces)}</svg>'
    )


def _kinds(summary: ClassSummary) -> list[KindView]:
    views = []
    for kind, count in summary.most_common_kinds():
        often = sorted(count.gradients.items(), key=lambda item: (-item[1], item[0]))
        names = list(dict.fromkeys(gradient for (_, gradient), _ in often))
        views.append(KindView(kind, count.students, names[:MOST_GRADIENTS], count.message))
    return views


def _histogram(table: Table) -> Markup:
    bins = distribution(table)
    if not bins:
        return Markup("")
    width, height, foot, head = 440, 300, 22, 14
    top = max(one.students for one in bins)
    highest = [one.students for one in bins].index(top)
    step = width / len(bins)
    pieces = [f'<line x1="0" x2="{width}" y1="{height - foot}" y2="{height - foot}"/>']
    for number, one in enumerate(bins):
        tall = (height - foot - head) * one.students / top
        span = f"{points_text(one.low)} to {points_text(one.high)} points"
        pieces.append(
            f'<rect x="{number * step + 1:.1f}" y="{height - foot - tall:.1f}"'
            f' width="{step - 2:.1f}" height="{tall:.1f}" rx="1.5">'
            f"<title>{span}: {one.students:,}</title></rect>"
        )
        if number == highest:
            pieces.append(
                f'<text x="{(number + 0.5) * step:.1f}" y="{head - 4}"'
                f' text-anchor="middle">{one.students:,}</text>'
            )
    most = bins[-1].high
    for value in _marks(most):
        x = width * value / most
        anchor = "start" if value == 0 else "end" if x > width - 10 else "middle"
        pieces.append(
            f'<text x="{float(x):.1f}" y="{height - 6}" text-anchor="{anchor}">{value}</text>'
        )
    return Markup(
        f'<svg class="histogram" viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="How many students have how many points">{"".join(pieces)}</svg>'
    )


def _marks(most: Fraction) -> range:
    """Round numbers from 0 up, six or so."""
    steps = (digit * 10**power for power in range(6) for digit in (1, 2, 5))
    return range(0, int(most) + 1, next(step for step in steps if step * 7 > most))


def _histogram_note(table: Table) -> str:
    without = sum(not row.graded for row in table.rows)
    said = "Points of all notebooks together."
    if without:
        who = "student" if without == 1 else "students"
        said += f" Left out: {without:,} {who} of whom nothing could be graded."
    return said
