"""The board: the graph of a forward program as SVG, each gradient marked with its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from types import SimpleNamespace as Mark
from typing import TYPE_CHECKING

from markupsafe import Markup

from grader.pictures.gradient_graph import drawn_graph
from grader.pictures.graph_layout import LETTER, NODE_HEIGHT, lay_out, svg_head, svg_path
from grader.reports import wording
from grader.reports.templates import HERE, make_environment
from grader.verdict import EARNS_POINTS, TO_MEND, Outcome

if TYPE_CHECKING:
    from grader.program.forward_program import ForwardProgram

_BESIDE_NAME = 24.0
_BADGE = 20.0


def draw_board(program: ForwardProgram, asked: Collection[str], columns: int | None = None) -> str:
    """Draw the graph through which gradients flow, from the loss down, without verdicts.

    Nothing is run, because the place of a node depends on the program's text alone.

    Args:
        program: the forward program.
        asked: the gradients for which the exercise asks. Other steps are drawn quietly, and other
            inputs not at all.
        columns: the number of columns; by default as many as suit a screen.

    Returns:
        SVG in pixels, a text for `mark_board`.
    """
    readers, labels = drawn_graph(program, asked)
    widths = {
        name: LETTER * len(label) + _BESIDE_NAME + (_BADGE if label in asked else 0)
        for name, label in labels.items()
    }
    layout = lay_out(readers, widths, columns)
    routes = layout.routes.values()
    template = make_environment().get_template("board.svg.jinja")
    return template.render(
        width=round(layout.width),
        height=round(layout.height),
        node_height=round(NODE_HEIGHT),
        edges="".join(map(svg_path, routes)),
        heads="".join(map(svg_head, routes)),
        boxes=[(labels[name], box) for name, box in layout.boxes.items()],
        loss=program.loss,
        asked=asked,
    )


def mark_board(board: str, outcomes: Mapping[str, Outcome], worth: int = 1) -> Markup:
    """Put the verdicts on a board, and say them in words for readers who cannot see it.

    Args:
        board: what `draw_board` returned. It contains a course's own names, so nothing in it has
            to be escaped.
        outcomes: the outcome of every gradient for which the exercise asks, by name ("dlogits").
        worth: the points that each of them is worth.
    """
    marks = {
        name: Mark(outcome=outcome, word=wording.word(outcome), sign=wording.SIGNS[outcome])
        for name, outcome in outcomes.items()
    }
    return Markup(board.format(words=in_words(outcomes, worth), **marks))


def is_wide(board: str) -> bool:
    """True for a board that is too wide to read on a phone."""
    return 'class="graph wide"' in board


def in_groups(outcomes: Mapping[str, Outcome], prefix: str = "") -> Markup:
    """List the gradients by verdict, for a page that has no room for a board.

    Args:
        outcomes: by name of gradient, from the loss down.
        prefix: the prefix of the page's CSS classes.
    """
    template = make_environment().get_template("groups.html.jinja")
    return Markup(template.render(groups=_by_outcome(outcomes), prefix=prefix))


def _by_outcome(outcomes: Mapping[str, Outcome]) -> dict[Outcome, list[str]]:
    return {
        outcome: [name for name in outcomes if outcomes[name] is outcome]
        for outcome in Outcome
        if outcome in outcomes.values()
    }


def as_picture(board: Markup) -> str:
    """The board as an SVG file of its own, with the styles that a page would give it."""
    style = "".join((HERE / name).read_text("utf-8") for name in ("palette.css", "board.css"))
    start, end, rest = board.partition(">")
    return f"{start}{end}<style>{style}svg {{ background: var(--card); }}</style>{rest}"


def title(outcomes: Mapping[str, Outcome], worth: int = 1) -> str:
    """Count as `grader check` does: "24 of 26 points, 2 to mend".

    Args:
        outcomes: by name of gradient.
        worth: the points that each of them is worth.
    """
    found = Counter(outcomes.values())
    earned, mending = (sum(found[one] for one in kinds) for kinds in (EARNS_POINTS, TO_MEND))
    most = worth * len(outcomes)
    says = f"{worth * earned} of {most} {'point' if most == 1 else 'points'}"
    if found[Outcome.PASS] == len(outcomes):
        return f"{says}: {'the' if len(outcomes) == 1 else 'every'} gradient passes"
    return f"{says}, {mending} to mend" if mending else says


def in_words(outcomes: Mapping[str, Outcome], worth: int = 1) -> str:
    """Describe a board in words: "1 of 2 points, 1 to mend. pass: dh; fail: dlogits"."""
    groups = [
        f"{wording.word(outcome)}: {', '.join(names)}"
        for outcome, names in _by_outcome(outcomes).items()
    ]
    return f"{title(outcomes, worth)}. {'; '.join(groups)}"
