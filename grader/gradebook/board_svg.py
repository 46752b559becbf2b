"""The board of an exercise as a few lines of SVG, which take no time to draw."""

# `grader.board_picture` draws the same graph with matplotlib for one notebook in half a second:
# for a class that would be hours. The layout is the same, kept in `course.json`; colours are the
# page's own, light or dark.

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from markupsafe import Markup, escape

from grader.gradebook.course_facts import Board, ExerciseFacts, Node, read_course
from grader.reports import wording
from grader.verdict import Outcome

_MARGIN = 3
_BADGE = 10
_NARROW = 500
"""Wider boards are not made smaller than can be read: they scroll."""
_LETTERS = 5.5
"""From the middle of a box down to the baseline of its text."""


def board_svg(exercise: ExerciseFacts, outcomes: Mapping[str, Outcome]) -> Markup:
    """The gradients that flow from the loss down, each marked with its verdict."""
    opening, closing = _frame(exercise.prefix)
    nodes = "".join(
        _node(exercise.prefix, index, outcomes.get(node.label, Outcome.TODO))
        for index, node in enumerate(exercise.board.nodes)
        if node.label in exercise.gradients
    )
    return Markup(f"{opening}{nodes}{closing}")  # of the course's own names: nothing to escape


@cache
def _exercise(prefix: str) -> ExerciseFacts:
    return next(facts for facts in read_course() if facts.prefix == prefix)


@cache
def _frame(prefix: str) -> tuple[str, str]:
    """What is the same for all students: the arrows and what nobody asks for."""
    exercise = _exercise(prefix)
    board: Board = exercise.board
    box = f"-{_MARGIN} -{_MARGIN} {board.width + 2 * _MARGIN} {board.height + 2 * _MARGIN}"
    label = "The network as a graph, each gradient marked with its verdict as in the table"
    plain = "".join(
        f'<g class="box {"loss" if node.label == "loss" else "plain"}">{_rectangle(node)}'
        f'<text class="name" x="{node.left + node.width / 2:g}" y="{_baseline(node):g}"'
        f' text-anchor="middle">{escape(node.label)}</text></g>'
        for node in board.nodes
        if node.label not in exercise.gradients
    )
    opening = (
        f'<svg class="graph{" wide" if board.width > _NARROW else ""}" viewBox="{box}"'
        f' width="{board.width + 2 * _MARGIN}" role="img"'
        f' aria-label="{label}"><path class="edges" d="{board.edges}"/>'
        f'<path class="heads" d="{board.heads}"/>{plain}'
    )
    return opening, "</svg>"


@cache
def _node(prefix: str, index: int, outcome: Outcome) -> str:
    node = _exercise(prefix).board.nodes[index]
    x, y = node.left + 6 + _BADGE, node.top + node.height / 2
    return (
        f'<g class="box {outcome}"><title>{escape(node.label)}: {wording.word(outcome)}</title>'
        f'{_rectangle(node)}<circle cx="{x}" cy="{y:g}" r="{_BADGE}"/>'
        f'<text class="sign" x="{x}" y="{_baseline(node):g}">{wording.SIGNS[outcome]}</text>'
        f'<text class="name" x="{x + _BADGE + 6}" y="{_baseline(node):g}">{escape(node.label)}'
        "</text></g>"
    )


def _baseline(node: Node) -> float:
    return node.top + node.height / 2 + _LETTERS


def _rectangle(node: Node) -> str:
    return (
        f'<rect x="{node.left}" y="{node.top}" width="{node.width}" height="{node.height}" rx="8"/>'
    )
