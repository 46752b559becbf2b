"""The empty plot: the course's look, whatever the notebook's own style is."""

import matplotlib as mpl
from matplotlib.colors import to_hex, to_rgba

from grader.pictures.figures.sheet import GREY, new_axes


def test_a_plot_has_the_courses_look_in_any_style() -> None:
    with mpl.rc_context({"axes.facecolor": "red", "axes.grid": False, "xtick.color": "red"}):
        figure, (axes,) = new_axes(height=3.2)
    assert tuple(figure.get_size_inches()) == (5.6, 3.2)
    assert (
        to_rgba(figure.get_facecolor())[3] == to_rgba(axes.get_facecolor())[3] == 0
    )  # see-through
    assert [axes.spines[side].get_visible() for side in ("top", "right", "bottom")] == [0, 0, 1]
    assert {to_hex(label.get_color()) for label in axes.get_xticklabels()} == {GREY.lower()}
    assert all(line.get_visible() for line in axes.get_xgridlines())


def test_axes_come_in_reading_order() -> None:
    figure, axes = new_axes(columns=2, rows=2, sharex=True)
    figure.canvas.draw()
    corners = [(-one.get_position().y0, one.get_position().x0) for one in axes]
    assert len(corners) == 4
    assert corners == sorted(corners)
