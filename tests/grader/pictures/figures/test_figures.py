"""The teaching figures: a picture that can be drawn, and words for it."""

import io
from collections.abc import Callable

import matplotlib.image
import matplotlib.pyplot as plt
import pytest
import torch

from grader.pictures import figures
from grader.pictures.figures import Picture
from grader.pictures.figures.sheet import GREEN
from makemore_data import build_vocabulary, whole_run

RATES = {"autograd": 1966.0, "by hand": 2492.0, "six matrix products": 19789.0}
LETTERS = [".", "a", "b", "c"]
ROWS = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]])
CURVES: dict[float | str, list[float]] = {
    0.8: [0.8, 0.6, 0.5],
    1.0: [1.0, 0.9, 1.0],
    "factor 1.2": [1.2, 1.4, 1.7],
}
FIRING = torch.eye(4, 6, dtype=torch.bool)
PROBABILITIES = torch.tensor([0.02, 0.05, 0.4])


def _wrong_gradient() -> Picture:
    tensor = torch.zeros(3, 4, requires_grad=True)
    tensor.grad = torch.ones(3, 4)
    return figures.difference("dx", torch.eye(3, 4), tensor)


def _letter_maps() -> Picture:
    stored, (_, itos) = whole_run(), build_vocabulary()
    return figures.letter_maps({"C": stored.C, "C @ W1": stored.middle}, itos)


FROM_NUMBERS: dict[str, Callable[[], Picture]] = {
    "ahead_of_the_others": lambda: figures.ahead_of_the_others({"a": [1, 2], "b": [1, 1.5]}, 1.6),
    "batch_of_gradients": lambda: figures.batch_of_gradients(ROWS, torch.tensor([3, 0]), LETTERS),
    "beliefs": lambda: figures.beliefs({str(size): CURVES[size] for size in CURVES}, truth=0.5),
    "boosts": lambda: figures.boosts(PROBABILITIES, 1 / PROBABILITIES),
    "difference": _wrong_gradient,
    "firing": lambda: figures.firing(FIRING, FIRING.roll(1, 0)),
    "gates": lambda: figures.gates(torch.linspace(0, 1, 12).view(3, 4)),
    "lengths": lambda: figures.lengths(CURVES),
    "letter_maps": _letter_maps,
    "one_row": lambda: figures.one_row(ROWS[0], ROWS[1] - 1, 2, LETTERS),
    "output_afterwards": lambda: figures.output_afterwards(0.82),
    "pulled_and_pushed": lambda: figures.pulled_and_pushed(ROWS, 1, "a"),
    "race_chart": lambda: figures.race_chart(RATES),
    "rows_of_the_table": lambda: figures.rows_of_the_table("abc", PROBABILITIES, PROBABILITIES),
    "slopes_of_a_column": lambda: figures.slopes_of_a_column(torch.eye(3) - 0.3),
    "temperatures": lambda: figures.temperatures(5 * ROWS[0], 2, LETTERS, (0.5, 5)),
    "times_as_long": lambda: figures.times_as_long({"32 rows": (11, 9), "20,000 rows": (4, 3)}),
    "two_losses": lambda: figures.two_losses({"A": [3.0] * 100 + [2.0] * 100, "B": [2.5] * 200}),
    "variance_estimates": lambda: figures.variance_estimates([2, 8], [0.5, 0.9], [1.0, 1.0]),
    "which_gradient": lambda: figures.which_gradient(ROWS - 0.2, -ROWS),
}
"""The figures that are drawn from numbers, with some."""

LIVE = ("batch_noise", "logit_forces", "step_delta")
"""Figures with sliders: see test_sliders.py."""

OTHERS = ("Picture", "batchnorm_in_stages", "gradient_runs_back", "use_course_style", *LIVE)
NAMES = [name for name in figures.__all__ if name not in OTHERS]
each = pytest.mark.parametrize(
    "draw", [FROM_NUMBERS.get(name) or getattr(figures, name) for name in NAMES], ids=NAMES
)


@each
def test_a_figure_is_a_picture_with_words(draw: Callable[[], Picture]) -> None:
    before, style = plt.get_fignums(), dict(plt.rcParams)
    picture = draw()
    assert plt.get_fignums() == before
    assert dict(plt.rcParams) == style
    assert_has_words_in_whole_sentences(picture)
    # First, for the figure that is rendered has another size.
    assert_no_text_stands_outside(picture)
    assert_renders_at_twice_its_displayed_size(picture)


def assert_renders_at_twice_its_displayed_size(picture: Picture) -> None:
    png, shown = picture._repr_png_()
    pixels = matplotlib.image.imread(io.BytesIO(png), format="png")
    assert pixels.shape[1] == pytest.approx(2 * int(str(shown["width"])), abs=2)
    # Not an empty sheet.
    assert pixels.std() > 0.01


def assert_has_words_in_whole_sentences(picture: Picture) -> None:
    assert len(picture.alt) > 60
    assert picture.alt.endswith(".")
    assert "  " not in picture.alt
    assert "\n" not in picture.alt
    assert picture.alt in repr(picture)


def assert_no_text_stands_outside(picture: Picture) -> None:
    figure = picture.figure
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    for axes in figure.axes:
        for text in axes.texts:
            box = text.get_window_extent()
            assert box.x0 >= -1, text.get_text()
            assert box.y0 >= -1, text.get_text()
            assert box.x1 <= width + 1, text.get_text()
            assert box.y1 <= height + 1, text.get_text()


@pytest.mark.parametrize(("silent", "said"), [(1, "1 unit before"), (2, "2 units before")])
def test_one_dead_unit_is_no_units(silent: int, said: str) -> None:
    fires = torch.ones(3, 4, dtype=torch.bool)
    fires[:, :silent] = False
    assert said in figures.firing(fires, fires).alt


def test_the_courses_style_colours_what_a_notebook_plots() -> None:
    with plt.rc_context():
        figures.use_course_style()
        figure, axes = plt.subplots()
        (line,) = axes.plot([0, 1])
        assert line.get_color() == GREEN
        plt.close(figure)
