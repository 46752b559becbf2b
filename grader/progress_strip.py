"""The strip at the foot of the board: how far the student is in each notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from grader.card import INK, QUIET, RIM, font, line_height, wrap, write_lines

DONE = "#009e73"
"""The board's colour of what passes."""

_TITLE = "Your notebooks, as last checked on this machine"
_SMALL = 14.0
_GAP = 24.0
_ROW = 42.0
_BAR = 8.0
_NARROWEST = 150.0
_WIDEST = 250.0


@dataclass(frozen=True, slots=True)
class ProgressStrip:
    """A bar for each notebook, in as many rows as the width asks for.

    `course` has, for each notebook ("01_atomic_backprop"), how many gradients pass, of how many;
    lengths are in pixels. With no notebook there is no strip.
    """

    course: Mapping[str, tuple[int, int]]
    width: float

    @property
    def columns(self) -> int:
        fit = max(1, int((self.width + _GAP) // (_NARROWEST + _GAP)))
        # Two and two rather than three and one.
        rows = -(-len(self.course) // fit)
        return -(-len(self.course) // rows)

    @property
    def height(self) -> float:
        if not self.course:
            return 0.0
        rows = -(-len(self.course) // self.columns)
        return _GAP + line_height(_SMALL) * len(self._title) + _ROW * rows

    @property
    def _title(self) -> list[str]:
        return wrap(_TITLE, _SMALL, self.width)

    def draw(self, axes: Axes, left: float, top: float) -> None:
        """Draw the strip below the board, which ends at `top`."""
        if not self.course:
            return
        below = write_lines(axes, self._title, left, top + _GAP, _SMALL, colour=QUIET)
        cell = (self.width - _GAP * (self.columns - 1)) / self.columns
        bar = min(cell, _WIDEST)
        for number, (notebook, (passed, count)) in enumerate(self.course.items()):
            row, column = divmod(number, self.columns)
            x, y = left + column * (cell + _GAP), below + _ROW * row
            # "01_atomic_backprop" is notebook 1.
            label = f"{int(notebook.partition('_')[0])}   {passed} of {count}"
            axes.text(
                x,
                y + 8,
                label,
                va="top",
                color=INK,
                fontproperties=font(_SMALL, bold=passed == count),
                gid=f"progress {notebook}",
            )
            for width, colour in ((bar, RIM), (bar * passed / count, DONE)):
                axes.add_patch(
                    Rectangle((x, y + 30), width, _BAR, facecolor=colour, edgecolor="none")
                )
