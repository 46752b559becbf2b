"""The teaching figures: a picture that can be drawn, and words for it."""

import io
from collections.abc import Callable

import matplotlib.image
import matplotlib.pyplot as plt
import pytest

from grader.pictures import figures
from grader.pictures.figures import Picture

RATES = {"autograd": 1966.0, "by hand": 2492.0, "six matrix products": 19789.0}


def race_chart() -> Picture:
    """The one figure that is drawn from measured numbers."""
    return figures.race_chart(RATES)


DRAWN = [
    race_chart if name == "race_chart" else getattr(figures, name)
    for name in figures.__all__
    if name not in ("Picture", "use_course_style")
]
each = pytest.mark.parametrize("draw", DRAWN, ids=lambda draw: draw.__name__)


@each
def test_a_figure_renders_at_twice_its_displayed_size(draw: Callable[[], Picture]) -> None:
    picture = draw()
    png, shown = picture._repr_png_()
    pixels = matplotlib.image.imread(io.BytesIO(png), format="png")
    assert pixels.shape[1] == pytest.approx(2 * int(str(shown["width"])), abs=2)
    # Not an empty sheet.
    assert pixels.std() > 0.01


@each
def test_a_figure_has_words_in_whole_sentences(draw: Callable[[], Picture]) -> None:
    alt = draw().alt
    assert len(alt) > 60
    assert alt.endswith(".")
    assert "  " not in alt
    assert "\n" not in alt
    assert alt in repr(draw())


@each
def test_drawing_leaves_pyplot_alone(draw: Callable[[], Picture]) -> None:
    before, style = plt.get_fignums(), dict(plt.rcParams)
    draw()
    assert plt.get_fignums() == before
    assert dict(plt.rcParams) == style


@each
def test_no_text_stands_outside_the_picture(draw: Callable[[], Picture]) -> None:
    figure = draw().figure
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    for axes in figure.axes:
        for text in axes.texts:
            box = text.get_window_extent()
            assert box.x0 >= -1, text.get_text()
            assert box.y0 >= -1, text.get_text()
            assert box.x1 <= width + 1, text.get_text()
            assert box.y1 <= height + 1, text.get_text()


def test_the_courses_style_colours_what_a_notebook_plots() -> None:
    with plt.rc_context():
        figures.use_course_style()
        figure, axes = plt.subplots()
        (line,) = axes.plot([0, 1])
        assert line.get_color() == "#0072B2"
        plt.close(figure)
