"""A picture that answers to sliders where a kernel runs, and stands still elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from grader.pictures.figures.sheet import Picture
from grader.pictures.front_end import is_live

_WIDGET = "application/vnd.jupyter.widget-view+json"
_WITHOUT_KERNEL = "Run this cell to move the sliders."
"""What stands for sliders in a notebook that was saved and is opened again."""

_NAMES = """<script>
for (const wait of [100, 500, 2000]) setTimeout(() => {
  for (const row of document.querySelectorAll(".widget-slider"))
    row.querySelector("[role=slider]")?.setAttribute(
      "aria-label", row.querySelector(".widget-label")?.textContent);
}, wait);
</script>"""
"""ipywidgets draws a label beside a slider, but gives the slider itself no name."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A number that the reader moves; with a `base`, its exponent moves and it is the power."""

    label: str
    low: float
    high: float
    step: float
    start: float
    base: int | None = None
    digits: str = ".1f"


@dataclass(frozen=True, slots=True, eq=False)
class LivePicture:
    """A picture drawn from numbers, with a slider for each of them.

    The picture is an output of its own, above the sliders, which they replace: a notebook that was
    saved shows the last one, whether or not a kernel runs.
    """

    draw: Callable[..., Picture]
    sliders: Mapping[str, Slider]

    def still(self) -> Picture:
        """The picture before anything is moved."""
        return self.draw(**{name: slider.start for name, slider in self.sliders.items()})

    def _ipython_display_(self) -> None:
        from IPython.display import display

        if not is_live():
            display(self.still())  # type: ignore[no-untyped-call]
            return
        data, metadata = self.still().forms()
        handle = display(data, metadata=metadata, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        try:
            import ipywidgets
        except ImportError:  # the still is worth having without it
            return
        controls = {name: _control(ipywidgets, each) for name, each in self.sliders.items()}

        def redraw(_: object) -> None:
            values = {name: control.value for name, control in controls.items()}
            data, metadata = self.draw(**values).forms()
            handle.update(data, metadata=metadata, raw=True)

        for control in controls.values():
            control.observe(redraw, "value")
        box = ipywidgets.VBox(list(controls.values()))
        view = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
        display({_WIDGET: view, "text/plain": _WITHOUT_KERNEL}, raw=True)  # type: ignore[no-untyped-call]
        display({"text/html": _NAMES, "text/plain": ""}, raw=True)  # type: ignore[no-untyped-call]


def _control(ipywidgets: Any, slider: Slider) -> Any:
    """The widget of a slider."""
    style = {"description_width": "6.5rem"}
    layout = {"width": "min(100%, 26rem)"}
    shared = {"description": slider.label, "min": slider.low, "max": slider.high}
    shared |= {"step": slider.step, "value": slider.start, "readout_format": slider.digits}
    if slider.base is None:
        return ipywidgets.FloatSlider(**shared, style=style, layout=layout)
    return ipywidgets.FloatLogSlider(base=slider.base, **shared, style=style, layout=layout)
