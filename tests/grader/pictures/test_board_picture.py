import io
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.text import Text

from grader.pictures.board_picture import LOOKS, draw_board
from grader.pictures.card import FONT
from grader.pictures.gradient_graph import gradient_graph
from grader.program.forward_program import ForwardProgram, parse_program
from grader.verdict import Outcome
from makemore_data.model.forward import atomic
from tests.helpers.straight_line import make_chain
from tests.helpers.written_programs import write_program

PROGRAM = parse_program(atomic)
TINY = write_program("h = x @ W\ny = h * h + b\nloss = y.sum()", dict.fromkeys("xWb", "n"))
WORDS = {
    Outcome.PASS: "pass",
    Outcome.CARRIED: "carried",
    Outcome.FAIL: "fail",
    Outcome.TODO: "to do",
    Outcome.ERROR: "error",
    Outcome.REFUSED: "refused",
}


def draw(
    program: ForwardProgram,
    outcomes: dict[str, Outcome],
    asked: Sequence[str] = (),
    course: Mapping[str, tuple[int, int]] = MappingProxyType({}),
) -> Figure:
    """Draw a board that asks for every gradient, or for some."""
    every = [f"d{name}" for name in gradient_graph(program) if name != program.loss]
    return draw_board(program, outcomes, asked or every, course)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text)]


def drawn(figure: Figure, kind: str) -> set[str]:
    """What follows the kind in the names of the picture's parts: `node dh`, `edge h W`."""
    names = [artist.get_gid() or "" for artist in figure.findobj()]
    return {name.removeprefix(f"{kind} ") for name in names if name.startswith(f"{kind} ")}


def test_a_blank_board_has_every_gradient_to_do() -> None:
    figure = draw(PROGRAM, {})

    assert "0 of 26 gradients pass" in texts(figure)
    assert "26 to do" in texts(figure)
    assert len(drawn(figure, "node")) == 27


def test_nodes_bear_the_names_of_gradients() -> None:
    figure = draw(TINY, {})

    assert drawn(figure, "node") == {"loss", "dy", "dh", "db", "dx", "dW"}
    assert {"loss", "dy", "dh", "db", "dx", "dW"} <= set(texts(figure))


def test_every_edge_is_drawn() -> None:
    assert drawn(draw(TINY, {}), "edge") == {"loss y", "y h", "y b", "h x", "h W"}


def test_every_outcome_is_in_the_legend_with_its_count() -> None:
    outcomes = dict(zip(("dy", "dh", "db", "dx"), (Outcome.PASS, *[Outcome.FAIL] * 3), strict=True))
    shown = texts(draw(TINY, outcomes))

    counts = {Outcome.PASS: 1, Outcome.FAIL: 3, Outcome.TODO: 1}
    for outcome, word in WORDS.items():
        assert f"{counts.get(outcome, 0)} {word}" in shown


@pytest.mark.parametrize("outcome", Outcome)
def test_an_outcome_shows_as_a_symbol_not_only_as_a_colour(outcome: Outcome) -> None:
    figure = draw(TINY, {"dh": outcome})

    expected = 1 + (1 if outcome is not Outcome.TODO else 5)  # the legend, the nodes
    assert texts(figure).count(LOOKS[outcome].symbol) == expected


def test_symbols_and_colours_are_all_different() -> None:
    assert LOOKS.keys() == set(Outcome)
    assert len({look.symbol for look in LOOKS.values()}) == len(Outcome)
    assert len({look.colour for look in LOOKS.values()}) == len(Outcome)


@pytest.mark.parametrize("weight", ["normal", "bold"])
def test_the_font_has_every_symbol(weight: str) -> None:
    glyphs = get_font(findfont(FontProperties(family=FONT, weight=weight)))

    for text in (*(look.symbol for look in LOOKS.values()), "−×✕"):
        assert all(glyphs.get_char_index(ord(character)) for character in text), text


@pytest.mark.parametrize(
    ("outcomes", "title"),
    [
        ({"dy": Outcome.PASS, "dh": Outcome.CARRIED}, "1 of 5 gradients pass"),
        ({f"d{name}": Outcome.PASS for name in "yhbxW"}, "All 5 gradients pass"),
    ],
)
def test_the_title_says_how_many_pass(outcomes: dict[str, Outcome], title: str) -> None:
    assert title in texts(draw(TINY, outcomes))


def test_gradients_not_asked_for_are_not_counted() -> None:
    figure = draw(TINY, {"dx": Outcome.PASS}, asked=["dx", "dW"])

    assert "1 of 2 gradients pass" in texts(figure)
    assert "1 to do" in texts(figure)
    assert "dh" in drawn(figure, "node")


def test_an_input_whose_gradient_nobody_asks_for_is_not_drawn() -> None:
    figure = draw(TINY, {}, asked=["dy", "dh", "dx", "dW"])

    assert drawn(figure, "node") == {"loss", "dy", "dh", "dx", "dW"}
    assert drawn(figure, "edge") == {"loss y", "y h", "h x", "h W"}


def test_the_board_in_words() -> None:
    figure = draw(TINY, {"dy": Outcome.PASS, "dh": Outcome.FAIL}, asked=["dy", "dh", "dx"])

    assert figure.get_label() == "1 of 3 gradients pass. pass: dy; fail: dh; to do: dx"


def test_the_size_does_not_depend_on_the_outcomes() -> None:
    blank = draw(PROGRAM, {})
    done = draw(PROGRAM, {f"d{step.name}": Outcome.PASS for step in PROGRAM.steps})

    assert tuple(blank.get_size_inches()) == tuple(done.get_size_inches())


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_long_program_can_be_saved(suffix: str) -> None:
    picture = io.BytesIO()
    draw(make_chain(60), {}).savefig(picture, format=suffix)

    assert picture.tell() > 10_000


COURSE = {"01_atomic_backprop": (12, 26), "02_fused_cross_entropy": (2, 2)}


def test_the_strip_shows_every_notebook_with_its_count() -> None:
    figure = draw(TINY, {}, course=COURSE)

    assert drawn(figure, "progress") == set(COURSE)
    assert {"1   12 of 26", "2   2 of 2"} <= set(texts(figure))


def test_the_strip_changes_neither_the_board_nor_its_words() -> None:
    plain, figure = draw(TINY, {}), draw(TINY, {}, course=COURSE)

    assert figure.get_label() == plain.get_label()
    assert drawn(plain, "progress") == set()
    (width, height), (plain_width, plain_height) = figure.get_size_inches(), plain.get_size_inches()
    assert width == plain_width
    assert height > plain_height
