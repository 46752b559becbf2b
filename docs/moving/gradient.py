"""The moving picture of a gradient that runs back through a forward program, as SVG."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import jinja2

from grader.pictures.figures.sheet import BACKWARD, HAIRLINE
from grader.pictures.gradient_graph import assign_layers, drawn_graph
from grader.pictures.graph_layout import LETTER, NODE_HEIGHT, lay_out, svg_head, svg_path
from grader.program.course import built_in_course
from grader.program.exercises import exercise_called
from grader.program.forward_program import ForwardProgram
from grader.program.parse import parse_program

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True
)

_PADDING = 24.0
_EDGE = 12

_LOOP_SECONDS = 12
_WAVE_SECONDS = 6.5
"""How long the gradient takes from the loss to the inputs; for a moment all is lit, then all fades
in the order in which it was lit."""

COLUMNS_ON_A_TELEPHONE = 2

PAUSE = '<label><input type="checkbox"> Pause</label>'
PAUSED = ":has([type=checkbox]:checked) svg * { animation-play-state: paused; }"
"""What a moving picture has beside it, and what this does, behind the picture's class."""


_STYLE = (
    f"<style>.bpn-motion{PAUSED}"
    " .bpn-motion svg { display: block; max-width: 100%; height: auto; }"
    " .bpn-motion .narrow { display: none; }"
    " @media (max-width: 700px) {"
    " .bpn-motion .narrow { display: block; } .bpn-motion .wide { display: none; } }</style>"
)


def gradient_runs_back() -> str:
    """Notebook 1's network: a gradient runs from the loss back to every tensor."""
    wide, narrow = (draw_gradient(columns) for columns in (None, COLUMNS_ON_A_TELEPHONE))
    return (
        f'{_STYLE}<div class="bpn-motion"><div class="wide">{wide}</div>'
        f'<div class="narrow">{narrow}</div>{PAUSE}</div>'
    )


def draw_gradient(columns: int | None) -> str:
    """Notebook 1's network alone, as SVG."""
    exercise = exercise_called(built_in_course(), "ex1")
    return draw_motion(parse_program(exercise.forward), exercise.gradients, columns)


def in_words(program: ForwardProgram) -> str:
    """What is to be seen."""
    return (
        f"The graph of the network, its gradients in grey. From the {program.loss} an orange line "
        "runs back along the arrows. Each gradient that it reaches turns orange, until all of them "
        "are; then it begins again."
    )


def draw_motion(program: ForwardProgram, asked: Collection[str], columns: int | None) -> str:
    """Draw the graph of a program as SVG in which each gradient lights up when it arrives.

    A reader who asks for less motion sees all of them lit. The text has the colour of the page's.

    Args:
        program: the forward program.
        asked: the gradients to be drawn; other inputs are left out.
        columns: into how many columns the graph is broken, or None: as many as suit a screen.
    """
    readers, labels = drawn_graph(program, asked)
    widths = {name: LETTER * len(label) + _PADDING for name, label in labels.items()}
    layout = lay_out(readers, widths, columns)
    layers = assign_layers(readers, widths, sum(widths.values()))
    tick = _WAVE_SECONDS / max(layers.values())
    spans = {edge: layers[edge[1]] - layers[edge[0]] for edge in layout.routes}
    return TEMPLATES.get_template("gradient.svg.jinja").render(
        quiet=HAIRLINE,
        backward=BACKWARD,
        edge=_EDGE,
        width=round(layout.width),
        height=round(layout.height),
        node_height=NODE_HEIGHT,
        words=in_words(program),
        loop_seconds=_LOOP_SECONDS,
        tick=tick,
        shares={span: 100 * span * tick / _LOOP_SECONDS for span in sorted({*spans.values()})},
        edges="".join(map(svg_path, layout.routes.values())),
        heads="".join(map(svg_head, layout.routes.values())),
        flows=[
            (svg_path(route), layers[edge[0]], spans[edge]) for edge, route in layout.routes.items()
        ],
        nodes=[(labels[name], layers[name], box) for name, box in layout.boxes.items()],
    )
