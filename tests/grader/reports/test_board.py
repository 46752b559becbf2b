from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, fromstring

import pytest

from corpus.readers.lecture_course import COURSE
from grader.pictures.gradient_graph import gradient_graph
from grader.program.parse import parse_program
from grader.reports import wording
from grader.reports.board import as_picture, draw_board, in_groups, in_words, mark_board, title
from grader.reports.course_boards import boards
from grader.verdict import Outcome, Report
from makemore_data.course.forward import atomic
from tests.helpers.written_programs import write_program

PROGRAM = parse_program(atomic)
TINY = write_program("h = x @ W\ny = h * h + b\nloss = y.sum()", dict.fromkeys("xWb", "n"))
ASKED = ("dy", "dh", "db", "dx", "dW")
SVG = "{http://www.w3.org/2000/svg}"


def draw(outcomes: Mapping[str, Outcome], asked: Sequence[str] = ASKED) -> Element:
    """The tiny program's board; a gradient without an outcome is to do."""
    marked = {name: outcomes.get(name, Outcome.TODO) for name in asked}
    return fromstring(mark_board(draw_board(TINY, asked), marked))


def nodes(board: Element) -> dict[str, tuple[str, list[str]]]:
    """By name: how each node looks, and what is written on it beside the name, hidden or not."""
    texts = {
        node: [text.text or "" for text in node if text.text] for node in board.iter(f"{SVG}g")
    }
    return {written[-1]: (node.get("class", ""), written[:-1]) for node, written in texts.items()}


def test_every_node_bears_its_name_and_every_gradient_its_verdict() -> None:
    assert nodes(draw({"dy": Outcome.PASS, "dh": Outcome.FAIL})) == {
        "loss": ("loss", []),
        "dy": ("pass", ["dy: pass", "✓"]),
        "dh": ("fail", ["dh: fail", "✗"]),
        "db": ("todo", ["db: to do", "…"]),
        "dx": ("todo", ["dx: to do", "…"]),
        "dW": ("todo", ["dW: to do", "…"]),
    }


@pytest.mark.parametrize("outcome", Outcome)
def test_an_outcome_shows_as_a_sign_not_only_as_a_colour(outcome: Outcome) -> None:
    word, sign = wording.word(outcome), wording.SIGNS[outcome]
    assert nodes(draw({"dh": outcome}))["dh"] == (outcome, [f"dh: {word}", sign])
    assert len(set(wording.SIGNS.values())) == len(Outcome)


def test_notebook_1_has_26_gradients_and_every_edge() -> None:
    graph = gradient_graph(PROGRAM)
    asked = [f"d{name}" for name in graph if name != "loss"]
    board = fromstring(mark_board(draw_board(PROGRAM, asked), dict.fromkeys(asked, Outcome.PASS)))
    assert nodes(board).keys() == {"loss", *asked}
    edges, heads = (path.get("d", "").count("M") for path in board.iter(f"{SVG}path"))
    assert edges == heads == sum(map(len, graph.values()))


def test_on_a_narrow_page_the_gradients_stand_in_groups() -> None:
    outcomes = {"dy": Outcome.PASS, "dh": Outcome.FAIL, "db": Outcome.PASS}
    (passed, failed) = fromstring(in_groups(outcomes, "x-"))
    assert (passed.get("class"), failed.get("class")) == ("x-pass", "x-fail")
    assert "".join(passed.itertext()) == "✓ pass dy db"
    assert "".join(failed.itertext()) == "✗ fail dh"


def test_gradients_not_asked_for_stand_there_without_a_verdict() -> None:
    board = draw({"dx": Outcome.PASS}, asked=["dx", "dW"])
    assert nodes(board)["dh"] == ("plain", [])
    assert board.get("aria-label") == "1 of 2 points. pass: dx; to do: dW"


def test_an_input_whose_gradient_nobody_asks_for_is_not_drawn() -> None:
    board = draw({}, asked=["dy", "dh", "dx", "dW"])
    assert nodes(board).keys() == {"loss", "dy", "dh", "dx", "dW"}


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ("p", "1 of 1 point: the gradient passes"),
        ("f", "0 of 1 point, 1 to mend"),
        ("pcttt", "2 of 5 points"),
        ("pcfer", "2 of 5 points, 3 to mend"),
        ("ppppp", "5 of 5 points: every gradient passes"),
    ],
)
def test_the_title_counts_points_as_the_command_does(outcomes: str, expected: str) -> None:
    kinds = {str(outcome)[0]: outcome for outcome in Outcome}
    assert title({f"d{n}": kinds[letter] for n, letter in enumerate(outcomes)}) == expected


def test_who_cannot_see_the_board_hears_every_verdict() -> None:
    outcomes = {"dy": Outcome.PASS, "dh": Outcome.FAIL, "db": Outcome.TODO, "dx": Outcome.FAIL}
    words = "1 of 4 points, 2 to mend. pass: dy; fail: dh, dx; to do: db"
    assert in_words(outcomes) == words
    board = draw(outcomes, asked=list(outcomes))
    assert (board.get("role"), board.get("aria-label")) == ("img", words)


def test_where_a_node_stands_does_not_depend_on_the_outcomes() -> None:
    blank, done = draw({}), draw(dict.fromkeys(ASKED, Outcome.PASS))
    assert blank.get("viewBox") == done.get("viewBox")
    places = [[node.get("transform") for node in board.iter(f"{SVG}g")] for board in (blank, done)]
    assert places[0] == places[1]


def test_a_picture_is_the_board_with_its_styles() -> None:
    board = mark_board(draw_board(TINY, ASKED), dict.fromkeys(ASKED, Outcome.FAIL))
    picture = fromstring(as_picture(board))
    assert nodes(picture) == nodes(fromstring(board))
    style = picture.findtext(f"{SVG}style", "")
    assert all(f"--{outcome}: #" in style and f".graph .{outcome} " in style for outcome in Outcome)
    assert "prefers-color-scheme: dark" in style


def test_a_long_name_has_room_in_its_box() -> None:
    program = write_program(f"{'x' * 60} = x * 2\nloss = {'x' * 60}.sum()", {"x": "n"})
    board = fromstring(draw_board(program, []))
    widths = [float(rect.get("width", "")) for rect in board.iter(f"{SVG}rect")]
    assert max(widths) > 60 * 0.6 * 14  # a letter of a monospace font is 0.6 em wide
    assert float(board.get("width", "")) > max(widths)


def test_only_a_wide_board_scrolls() -> None:
    gradients = [f"d{name}" for name in gradient_graph(PROGRAM)]
    assert fromstring(draw_board(PROGRAM, gradients)).get("class") == "graph wide"
    assert draw({}).get("class") == "graph"


def test_a_gradient_that_a_report_lacks_is_to_do() -> None:
    first, second = map(fromstring, boards(Report("02_fused_cross_entropy", ()), COURSE))
    assert nodes(first)["dlogits"][0] == nodes(second)["dz"][0] == "todo"
    assert boards(Report("99_unheard_of", ()), COURSE) == []
