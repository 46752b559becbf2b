"""The moving picture of a gradient that runs back through a forward program, as SVG."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from grader.pictures.gradient_graph import assign_layers, drawn_graph
from grader.pictures.graph_layout import LETTER, NODE_HEIGHT, lay_out, svg_head, svg_path
from grader.program.course import built_in_course
from grader.program.exercises import exercise_called
from grader.program.forward_program import ForwardProgram
from grader.program.parse import parse_program

_PADDING = 24.0
_EDGE = 12

_LOOP_SECONDS = 12.0
_WAVE_SECONDS = 6.5
"""How long the gradient takes from the loss to the inputs; for a moment all is lit, then all fades
in the order in which it was lit."""

_COLUMNS_ON_A_TELEPHONE = 2

_NODE = (
    '<g transform="translate({left:.0f},{top:.0f})" style="--at:{at:.2f}s">'
    '<rect width="{width:.0f}" height="{height:.0f}" rx="8"/>'
    '<text x="{middle:.0f}" y="{baseline:.0f}">{label}</text></g>'
)
_FLOW = '<path pathLength="1" d="{path}" style="--at:{at:.2f}s;animation-name:run{layers}"/>'
_KEYFRAMES = (
    "@keyframes run{layers} {{ 0% {{ stroke-dashoffset: 1; }}"
    " {share:.2f}% {{ stroke-dashoffset: 0; }}"
    " 60% {{ opacity: 1; }} 66%, 100% {{ stroke-dashoffset: 0; opacity: 0; }} }}\n"
)
_PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="{edge} {edge} {width} {height}" '
    'width="{width}" height="{height}" role="img" aria-label="{words}"><style>{style}</style>'
    '<path class="still" d="{still}"/><g class="flow">{flow}</g>'
    '<path class="heads" d="{heads}"/>{nodes}</svg>\n'
)


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
    keyframes = "".join(
        _KEYFRAMES.format(layers=span, share=100 * span * tick / _LOOP_SECONDS)
        for span in sorted(set(spans.values()))
    )
    style = (Path(__file__).parent / "motion.css").read_text("utf-8")
    routes = layout.routes.values()
    return _PICTURE.format(
        edge=-_EDGE,
        width=round(layout.width) + 2 * _EDGE,
        height=round(layout.height) + 2 * _EDGE,
        words=escape(in_words(program)),
        style=style.replace("LOOP", f"{_LOOP_SECONDS:.0f}s") + keyframes,
        still="".join(map(svg_path, routes)),
        heads="".join(map(svg_head, routes)),
        flow="".join(
            _FLOW.format(path=svg_path(route), at=layers[edge[0]] * tick, layers=spans[edge])
            for edge, route in layout.routes.items()
        ),
        nodes="".join(
            _NODE.format(
                left=box.left,
                top=box.top,
                width=box.width,
                height=NODE_HEIGHT,
                middle=box.width / 2,
                baseline=NODE_HEIGHT / 2 + 5,
                at=layers[name] * tick,
                label=labels[name],
            )
            for name, box in layout.boxes.items()
        ),
    )
