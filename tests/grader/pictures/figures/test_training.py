from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from grader.pictures.figures import race_chart
from grader.pictures.figures.training import LossPlot, draw_losses
from makemore_data import begin_run


@pytest.mark.parametrize(("steps", "points"), [(0, 0), (99, 0), (250, 2), (200_000, 200)])
def test_a_point_is_the_mean_of_a_hundred_steps_or_more(steps: int, points: int) -> None:
    picture = draw_losses([3.0] * steps)
    (axes,) = picture.figure.axes
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [3.0] * points
    assert len(axes.lines) == (2 if steps > 100_000 else 1)
    assert picture.png().startswith(b"\x89PNG")
    assert picture.alt == f"The loss over {steps:,} training steps."


def test_one_picture_is_redrawn_and_not_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    updated: list[str] = []

    class Handle:
        def update(self, picture: object) -> None:
            updated.append(repr(picture))

    def display(picture: object, display_id: bool) -> Handle:
        shown.append(repr(picture))
        return Handle()

    monkeypatch.setattr("IPython.display.display", display)
    run = begin_run(4)
    plot = LossPlot(run)
    for losses in (100, 100, 100):
        run.losses.extend([2.0] * losses)
        plot(run)
    plot(run, last=True)
    plot(run, last=True)
    assert shown == ["<Picture: The loss over 0 training steps.>"]
    assert updated == ["<Picture: The loss over 300 training steps.>"]


def test_the_race_as_bars() -> None:
    picture = race_chart({"autograd": 1000.0, "the limit": 9000.0})
    (axes,) = picture.figure.axes
    assert [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)] == [
        1000.0,
        9000.0,
    ]
    assert [text.get_text().strip() for text in axes.texts] == ["1,000  (1.0 ×)", "9,000  (9.0 ×)"]
    assert picture.alt == "Steps per second: autograd 1,000; the limit 9,000."
