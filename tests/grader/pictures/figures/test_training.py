from __future__ import annotations

import numpy as np
import pytest
import torch
from matplotlib.patches import Rectangle

from grader.pictures.figures import letter_maps, race_chart
from grader.pictures.figures.training import LossPlot, apart, draw_losses, flat_map
from makemore_data import begin_run


@pytest.mark.parametrize(
    ("steps", "points"), [(0, 0), (7, 7), (99, 11), (250, 10), (3_000, 30), (200_000, 200)]
)
def test_a_point_is_the_mean_of_many_steps_and_soon_there_are_some(steps: int, points: int) -> None:
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


def test_a_map_keeps_the_two_directions_in_which_rows_differ_most() -> None:
    flat = torch.randn(9, 2, generator=torch.Generator().manual_seed(1)) * torch.tensor([5.0, 2.0])
    turned, _ = torch.linalg.qr(torch.randn(6, 6, generator=torch.Generator().manual_seed(2)))
    points = flat_map(flat @ turned[:2] + 3)
    assert torch.allclose(torch.cdist(points, points), torch.cdist(flat, flat), atol=1e-4)
    assert (points[1] <= 0).all()


def test_every_letter_is_on_every_map() -> None:
    itos = dict(enumerate(".abe"))
    rows = torch.tensor([[0.0, 2.0], [-9.0, 0.0], [3.0, 1.0], [6.0, 0.0]])
    picture = letter_maps({"before": rows, "after": rows[[2, 1, 0, 3]]}, itos)
    for axes in picture.figure.axes:
        assert [text.get_text() for text in axes.texts] == [*".abe"]
    assert picture.alt == (
        "Maps of the letters. From left to right, before (100% of the variance): a . b e;"
        " after (100% of the variance): a b . e."
    )


def test_no_letter_of_a_map_covers_another_and_the_others_stay() -> None:
    places = torch.tensor([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [10.0, 10.0]])
    moved = apart(places)
    assert float((moved[0] - moved[1]).norm()) >= 0.06 * 10
    assert torch.allclose(moved[:2].mean(0), places[:2].mean(0))
    assert torch.equal(moved[2:], places[2:])
