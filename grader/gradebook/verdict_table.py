"""The table of all gradients on a student's page: the lecture's comparison, a row a gradient."""

# Half of a large class's pages is this table, and most of its rows are the same for many students:
# a template would make it anew for each, and take three times as long as everything else.

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from markupsafe import Markup, escape

from grader.comparison import Comparison
from grader.printable import printable
from grader.reports import wording
from grader.verdict import Outcome, Verdict

_HEADINGS = ("exact", "approximate", "maxdiff", "shape", "place")

Shape = tuple[int, ...] | None


def verdict_table(
    verdicts: Sequence[Verdict],
    id_: str,
    linked: Collection[str],
    points: Mapping[str, str] | None = None,
) -> Markup:
    """The table; `linked` gradients lead to the text about them, `points` are a column if given."""
    headings = ("gradient", "verdict", *(["points"] if points is not None else []), *_HEADINGS)
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    rows = "\n".join(
        f"<tr>{_name(verdict.name, id_ if verdict.name in linked else '')}"
        f"{_outcome(verdict.outcome)}"
        f"{_points(points[verdict.name]) if points is not None else ''}"
        f"{_comparison(verdict.comparison)}{_place(wording.where(verdict.place))}</tr>"
        for verdict in verdicts
    )
    return Markup(
        f'<table class="gradients">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n'
        "</tbody>\n</table>"
    )


@lru_cache(maxsize=1_000)
def _name(name: str, id_: str) -> str:
    shown = escape(printable(name))
    code = f"<code>{shown}</code>"
    return f'<td><a href="#{id_}-{shown}">{code}</a></td>' if id_ else f"<td>{code}</td>"


@lru_cache
def _outcome(outcome: Outcome) -> str:
    return (
        f'<td><span class="verdict {outcome}"><span aria-hidden="true">{wording.SIGNS[outcome]}'
        f"</span> {wording.word(outcome)}</span></td>"
    )


def _points(text: str) -> str:
    return f'<td class="points" data-name="points">{escape(text)}</td>'


def _comparison(found: Comparison) -> str:
    return (
        f"{_truth('exact', found.exact)}{_truth('approximate', found.approximate)}"
        f'<td class="number" data-name="maxdiff">{wording.difference(found.maxdiff)}</td>'
        f"{_shape(found.shape, found.expected_shape)}"
    )


@lru_cache
def _truth(heading: str, value: bool | None) -> str:
    return f'<td class="number" data-name="{heading}">{wording.truth(value)}</td>'


@lru_cache(maxsize=1_000)
def _shape(shape: Shape, expected: Shape) -> str:
    wrong = " shape-wrong" if shape is not None and shape != expected else ""
    return f'<td class="number{wrong}" data-name="shape">{wording.shape(shape)}</td>'


@lru_cache(maxsize=1_000)
def _place(where: str) -> str:
    return f'<td class="quiet" data-name="place">{escape(printable(where)) or "–"}</td>'
