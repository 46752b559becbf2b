"""Results as one self-contained HTML page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence

from markupsafe import Markup

from grader.reports.result import Result
from grader.reports.templates import make_environment
from grader.verdict import Report, count_outcomes


def render(results: Sequence[Result], draw: Callable[[Report], str] | None = None) -> str:
    """Write one page for all files, without script or network, light or dark as the reader prefers.

    What students wrote (names, code, error messages) is escaped by the template. `draw` gives a
    report's picture as SVG text, "" for none; by default the board of its exercise.
    """
    draw = draw or board_svg
    pictures = [
        Markup(_with_own_ids(draw(result), f"n{number}-")) if isinstance(result, Report) else ""
        for number, result in enumerate(results, start=1)
    ]
    page = make_environment().get_template("report.html.jinja")
    shown = list(zip(results, pictures, strict=True))
    text = page.render(results=shown, count_outcomes=count_outcomes)
    return text.strip() + "\n"


def board_svg(report: Report) -> str:
    """Draw the board of a notebook as SVG text, each gradient in the colour of its verdict."""
    # matplotlib takes half a second to import: only pages wait for it
    import matplotlib as mpl

    from grader.pictures.board_picture import draw_board
    from grader.program.exercises import NOTEBOOKS
    from grader.program.forward_program import parse_program

    outcomes = {verdict.name: verdict.outcome for verdict in report.verdicts}
    drawings = []
    for exercise in NOTEBOOKS.get(report.notebook, ()):
        file = io.StringIO()
        # a fixed salt: the same verdicts give the same page
        with mpl.rc_context({"svg.hashsalt": exercise.prefix, "svg.fonttype": "path"}):
            figure = draw_board(parse_program(exercise.forward), outcomes, exercise.gradients)
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        drawings.append(_for_a_page(file.getvalue()))
    return "\n".join(drawings)


def _for_a_page(svg: str) -> str:
    """Make a drawing part of a page: without XML prologue, as wide as the page allows."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, count=1, flags=re.DOTALL)
    opening, rest = svg.split(">", 1)
    opening = re.sub(r' (width|height)="[^"]*"', "", opening)
    label = "The network as a graph, each gradient marked with its verdict as in the table"
    return f'{opening} role="img" aria-label="{label}">{rest}'


def _with_own_ids(svg: str, prefix: str) -> str:
    """Give the drawing ids of its own, so that several fit on one page."""
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    return re.sub(r'(url\(|href=")#', rf"\1#{prefix}", svg)
