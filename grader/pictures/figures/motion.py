"""The moving picture of a gradient that runs back through a forward program, as SVG."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

import jinja2

from grader.pictures.gradient_graph import assign_layers, drawn_graph
from grader.pictures.graph_layout import LETTER, NODE_HEIGHT, lay_out, svg_head, svg_path
from grader.program.course import built_in_course
from grader.program.exercises import exercise_called
from grader.program.forward_program import ForwardProgram
from grader.program.parse import parse_program

_PADDING = 24.0
_EDGE = 12

_LOOP_SECONDS = 12
_WAVE_SECONDS = 6.5
"""How long the gradient takes from the loss to the inputs; for a moment all is lit, then all fades
in the order in which it was lit."""

_COLUMNS_ON_A_TELEPHONE = 2

NARROW = "(max-width: 700px)"
STILL = "(prefers-reduced-motion: reduce)"


@dataclass(frozen=True, slots=True)
class MovingPicture:
    """A picture that moves, and stands still where a reader asks for less motion, with its words.

    `versions` are texts of SVG files, by the media query that asks for each; the last, asked for
    by nothing, is what most readers see.
    """

    versions: Mapping[str, str]
    alt: str

    def __repr__(self) -> str:
        return f"<Moving picture: {self.alt}>"

    def _repr_html_(self) -> str:
        """All versions in one element of a page, dark where the page says that it is dark."""
        addresses = {
            media: f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
            for media, svg in self.versions.items()
        }
        image = f'<img alt="{escape(self.alt)}" src="{addresses.pop("")}">'
        sources = "".join(
            f'<source media="{media}" srcset="{address}">' for media, address in addresses.items()
        )
        return (
            f'<div class="bpn-motion"><style>{_IN_A_PAGE}</style>'
            f"<picture>{sources}{image}</picture></div>"
        )


_IN_A_PAGE = (
    ".bpn-motion { color-scheme: light; }"
    ' [data-jp-theme-light="false"] .bpn-motion, [theme="dark"] .bpn-motion,'
    ' [data-theme="dark"] .bpn-motion, .vscode-dark .bpn-motion { color-scheme: dark; }'
    " .bpn-motion picture { display: block; }"
    " .bpn-motion img { max-width: 100%; border-radius: 12px; }"
)


@cache
def gradient_runs_back() -> MovingPicture:
    """Notebook 1's network: a gradient runs from the loss back to every tensor."""
    exercise = exercise_called(built_in_course(), "ex1")
    program = parse_program(exercise.forward)
    wide, narrow = (
        draw_motion(program, exercise.gradients, columns)
        for columns in (None, _COLUMNS_ON_A_TELEPHONE)
    )
    versions = {
        f"{STILL} and {NARROW}": without_motion(narrow),
        STILL: without_motion(wide),
        NARROW: narrow,
        "": wide,
    }
    return MovingPicture(versions, in_words(program))


def without_motion(svg: str) -> str:
    """The same picture standing still, every gradient lit.

    A browser may not tell a picture inside a page that its reader asks for less motion.
    """
    return re.sub(r"animation[\w-]*:[^;\"}]*;?", "", svg)


def in_words(program: ForwardProgram) -> str:
    """What is to be seen."""
    return (
        f"The graph of the network, its gradients in grey. From the {program.loss} an orange line "
        "runs back along the arrows. Each gradient that it reaches turns orange, until all of them "
        "are; then it begins again."
    )


def draw_motion(program: ForwardProgram, asked: Collection[str], columns: int | None) -> str:
    """Draw the graph of a program as SVG in which each gradient lights up when it arrives.

    A reader who asks for less motion sees all of them lit; on a dark page the picture is dark.

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
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("motion.svg.jinja").render(
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
