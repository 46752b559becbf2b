"""Figures that answer to sliders: what is shown with a kernel, and what without."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable
from typing import Any

import ipywidgets
import pytest
from IPython.display import DisplayHandle

from corpus.readers.places import PROJECT
from grader.pictures import figures
from grader.pictures.figures.live import LivePicture
from grader.pictures.figures.sheet import BACKWARD

each = pytest.mark.parametrize(
    "make",
    [figures.batch_noise, figures.logit_forces, figures.step_delta],
    ids=lambda make: make.__name__,
)
Make = Callable[[], LivePicture]

WIDGET = "application/vnd.jupyter.widget-view+json"


class Screen:
    """What was displayed, and what took the place of the first."""

    def __init__(self) -> None:
        self.shown: list[Any] = []
        self.updates: list[tuple[Any, Any]] = []

    def display(self, thing: Any, **settings: Any) -> DisplayHandle | None:
        self.shown.append(thing)
        return self if settings.get("display_id") else None  # type: ignore[return-value]

    def update(self, thing: Any, *, raw: bool, metadata: Any) -> None:
        assert raw
        self.updates.append((thing, metadata))


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    screen = Screen()
    monkeypatch.setattr("IPython.display.display", screen.display)
    return screen


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.pictures.figures.live.is_live", lambda: True)


@pytest.mark.slow
@each
def test_the_still_has_words_and_every_place_of_the_sliders_can_be_drawn(make: Make) -> None:
    picture = make()
    still = picture.still()
    assert len(still.alt) > 60
    assert still.alt.endswith(".")
    for name, slider in picture.sliders.items():
        rest = {other: each.start for other, each in picture.sliders.items()}
        for end in (slider.low, slider.high):
            value = end if slider.base is None else float(slider.base) ** end
            drawn = picture.draw(**{**rest, name: value})
            assert drawn.alt != still.alt
            assert len(drawn.png()) > 5_000


@each
def test_without_a_person_the_still_stands_alone(make: Make, screen: Screen) -> None:
    make()._ipython_display_()
    (still,) = screen.shown
    assert isinstance(still, figures.Picture)


@pytest.mark.slow
@each
@pytest.mark.usefixtures("live")
def test_a_slider_replaces_the_picture_and_its_words(
    make: Make, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ipywidgets.VBox] = []

    class Box(ipywidgets.VBox):  # type: ignore[misc]
        def __init__(self, children: list[ipywidgets.Widget]) -> None:
            super().__init__(children)
            made.append(self)

    monkeypatch.setattr(ipywidgets, "VBox", Box)
    make()._ipython_display_()
    picture, view, names = screen.shown
    assert "aria-label" in names["text/html"]
    (box,) = made
    assert view[WIDGET]["model_id"] == box.model_id
    assert view["text/plain"] == "Run this cell to move the sliders."
    assert sorted(picture) == ["image/png", "text/html", "text/plain"]
    control = box.children[0]
    control.value = control.base**control.min if hasattr(control, "base") else control.min
    ((data, metadata),) = screen.updates
    assert data["image/png"] != picture["image/png"]
    assert ' alt="' in data["text/html"]
    assert metadata["image/png"]["alt"] in data["text/plain"]


@pytest.mark.slow
@pytest.mark.usefixtures("live")
def test_where_there_are_no_widgets_the_still_is_shown(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "ipywidgets":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    figures.step_delta()._ipython_display_()
    assert len(screen.shown) == 1


def test_no_notebook_of_the_course_holds_a_widget() -> None:
    """Without a kernel there is nothing to show for it."""
    notebooks = [*PROJECT.glob("notebooks/*.ipynb"), *PROJECT.glob("notebooks/solutions/*.ipynb")]
    assert len(notebooks) == 8
    for path in notebooks:
        document = json.loads(path.read_text(encoding="utf-8"))
        assert "widgets" not in document["metadata"], path
        outputs = [o for cell in document["cells"] for o in cell.get("outputs", ())]
        assert not any(WIDGET in output.get("data", {}) for output in outputs), path


def test_no_force_is_written_over_the_base_line_and_zero_has_no_sign() -> None:
    picture = figures.logit_forces()
    for moved in ({}, {"b": 4.0, "c": -4.0}, {"a": -0.2, "d": 0.1}):
        logits = {name: slider.start for name, slider in picture.sliders.items()} | moved
        figure = picture.draw(**logits).figure
        figure.draw_without_rendering()
        above, below = figure.axes
        base = above.transData.transform((0, 0))[1]
        orange = [text for text in above.texts if text.get_color() == BACKWARD]
        assert len(orange) == 4
        for text in orange:
            box = text.get_window_extent()
            assert not box.y0 < base < box.y1, text
        said = [text.get_text() for text in (*above.texts, *below.texts)]
        assert not {"+0.0", "−0.0", "+0.00", "−0.00"} & {*said}
    assert "−ln 0.2018 = 1.60" in picture.still().figure.axes[1].get_title(loc="left")
