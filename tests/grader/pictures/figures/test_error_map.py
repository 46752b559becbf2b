import io
import math

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from grader.pictures.figures.error_map import draw_error, why_no_map
from grader.program.compare import RELATIVE_TOLERANCE

SHAPES = [(), (1,), (64,), (1, 64), (32, 1), (27, 64), (182, 10), (32, 3, 10), (2, 2, 2, 2)]


def texts(figure: Figure) -> list[str]:
    return [line for text in figure.findobj(Text) for line in text.get_text().split("\n")]


def marks(figure: Figure, gid: str) -> set[tuple[float, float]]:
    lines = [line for line in figure.findobj(Line2D) if line.get_gid() == gid]
    return {(x, y) for line in lines for x, y in np.asarray(line.get_xydata(), float).tolist()}


def the_map(figure: Figure) -> AxesImage:
    """The picture's first image; the second is the colour bar."""
    return figure.findobj(AxesImage)[0]


def cell_at(figure: Figure, place: tuple[float, float]) -> tuple[int, int]:
    """The row and the column of the map at a place in the picture."""
    image = the_map(figure)
    left, right, bottom, top = image.get_extent()
    rows, columns = image.get_size()
    x, y = place
    return int((y - top) / (bottom - top) * rows), int((x - left) / (right - left) * columns)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_largest_error_is_marked_and_named(shape: tuple[int, ...]) -> None:
    reference = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    student = reference.clone()
    last = math.prod(shape) - 1
    student.view(-1)[last] -= 5.0

    figure = draw_error("dX", student, reference).figure

    (mark,) = marks(figure, "largest error")
    columns = shape[-1] if shape else 1
    assert cell_at(figure, mark) == divmod(last, columns)
    where = f" at [{', '.join(str(length - 1) for length in shape)}]" if shape else ""
    assert f"dX: largest error 5{where}" in texts(figure)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_picture_is_drawn_in_any_style(shape: tuple[int, ...]) -> None:
    reference = torch.ones(shape)
    picture = io.BytesIO()
    with mpl.rc_context({"font.family": "serif", "image.origin": "lower", "text.color": "white"}):
        draw_error("dX", 2 * reference, reference).figure.savefig(picture, format="png")

    assert picture.tell() > 1_000


def test_colours_are_symmetric_about_zero() -> None:
    student, reference = torch.tensor([[0.0, 3.0]]), torch.tensor([[1.0, 0.0]])
    figure = draw_error("dX", student, reference).figure

    image = the_map(figure)
    assert image.get_clim() == (-3.0, 3.0)
    assert {"−3", "0", "+3"} <= set(texts(figure))
    # In the words of the notebook that explains the picture.
    assert "yours minus autograd's (purple: too small, green: too large)" in texts(figure)


def test_both_values_are_told() -> None:
    figure = draw_error("dX", torch.tensor([1.0, -2.5]), torch.tensor([1.0, 0.25])).figure

    assert "Your value there is −2.5, autograd's is 0.25." in texts(figure)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_marked(value: float) -> None:
    reference = torch.ones(4, 6)
    student = reference.clone()
    student[2, 5] = value

    picture = draw_error("dX", student, reference)
    figure = picture.figure

    (mark,) = marks(figure, "not finite")
    assert cell_at(figure, mark) == (2, 5)
    assert not marks(figure, "largest error")
    assert picture.alt == "dX: ✕ 1 of 24 entries is NaN or inf. The others are right."


def test_an_error_beside_a_nan_is_told_too() -> None:
    student = torch.tensor([math.nan, 1.0, 4.0])
    figure = draw_error("dX", student, torch.ones(3)).figure

    assert "Largest error 3 at [2]." in texts(figure)
    assert len(marks(figure, "largest error")) == 1


def test_a_gradient_of_nothing_but_nan_is_drawn() -> None:
    figure = draw_error("dX", torch.full((3, 4), math.nan), torch.ones(3, 4)).figure

    assert "dX: ✕ 12 of 12 entries are NaN or inf" in texts(figure)


def test_rounding_does_not_look_like_a_mistake() -> None:
    reference = torch.ones(3, 4, dtype=torch.float64)
    rounding = RELATIVE_TOLERANCE / 100
    figure = draw_error("dX", reference + rounding, reference).figure

    assert "dX: right, up to rounding" in texts(figure)
    assert not marks(figure, "largest error")
    image = the_map(figure)
    assert image.get_clim()[1] > 50 * rounding


def test_no_error_at_all_is_no_crash() -> None:
    shown = texts(draw_error("dX", torch.zeros(2), torch.zeros(2)).figure)
    assert "dX: equal to the reference" in shown
    assert not any("minus autograd's" in text for text in shown)  # no scale for one colour


def test_somebody_elses_gradient_is_theirs() -> None:
    figure = draw_error(
        "dX", torch.tensor([1.0, -2.5]), torch.tensor([1.0, 0.25]), whose="their"
    ).figure
    shown = " ".join(texts(figure))
    assert "Their value there is −2.5" in shown
    assert "theirs minus autograd's" in shown
    assert "your" not in shown.lower()


@pytest.mark.parametrize(
    ("student", "reference", "sentence"),
    [
        (
            torch.zeros(64, 30),
            torch.zeros(30, 64),
            "dX has shape (64, 30), but a gradient has its tensor's shape, (30, 64)."
            " Is it transposed?",
        ),
        (
            torch.zeros(64),
            torch.zeros(1, 64),
            "dX has shape (64,), but a gradient has its tensor's shape, (1, 64).",
        ),
        (
            torch.zeros(2, dtype=torch.complex64),
            torch.zeros(2),
            "dX has dtype torch.complex64, but a gradient has its tensor's floating-point dtype.",
        ),
        (torch.zeros(0, 3), torch.zeros(0, 3), "dX has shape (0, 3): it has no entries."),
    ],
)
def test_what_cannot_be_subtracted_gets_a_sentence(
    student: torch.Tensor, reference: torch.Tensor, sentence: str
) -> None:
    assert why_no_map("dX", student, reference) == sentence


def test_the_labels_places_are_framed_and_the_frames_named() -> None:
    student = torch.zeros(3, 5)
    student[1, 4] = 1.0
    picture = draw_error("dX", student, torch.zeros(3, 5), ("Yb", torch.tensor([2, 0, 4])))
    figure = picture.figure
    frames = [box for box in figure.findobj(Rectangle) if box.get_gid() == "label"]
    centres = [
        (box.get_x() + box.get_width() / 2, box.get_y() + box.get_height() / 2) for box in frames
    ]
    assert [cell_at(figure, centre) for centre in centres] == [(0, 2), (1, 0), (2, 4)]
    assert "Framed is the place in each row that Yb names." in texts(figure)
    assert "that Yb names." in picture.alt
