from itertools import pairwise

import pytest

from grader.pictures.gradient_graph import assign_layers, gradient_graph, make_rows
from grader.program.parse import parse_program
from makemore_data.course.forward import atomic
from tests.helpers.written_programs import write_program

DIAMOND = {"loss": (), "left": ("loss",), "right": ("loss",), "x": ("left", "right", "loss")}


def test_notebook_1_has_26_gradients() -> None:
    graph = gradient_graph(parse_program(atomic))

    assert next(iter(graph)) == "loss"
    assert len(graph) == 1 + 26
    assert graph["counts"] == ("probs", "counts_sum")
    assert not {"Xb", "Yb", "n"} & graph.keys()


def test_readers_come_first() -> None:
    graph = gradient_graph(parse_program(atomic))

    order = list(graph)
    assert all(
        order.index(reader) < order.index(name)
        for name, readers in graph.items()
        for reader in readers
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("loss = x.sum()", {"loss": (), "x": ("loss",)}),
        ("n = x.shape[0]\nloss = x.sum() / n", {"loss": (), "x": ("loss",)}),
        ("n = len(x)\nloss = x.sum() / n", {"loss": (), "x": ("loss",)}),
        ("loss = x.sum() / y.numel()", {"loss": (), "x": ("loss",)}),
        ("mask = x > 0\nloss = (y * mask).sum()", {"loss": (), "y": ("loss",)}),
        ("best = x.argmax()\nloss = y[best]", {"loss": (), "y": ("loss",)}),
        ("loss = x[index].sum()", {"loss": (), "x": ("loss",)}),
        ("aside = x * 2\nloss = y.sum()", {"loss": (), "y": ("loss",)}),
        ("a = x * 2\nloss = a * x", {"loss": (), "a": ("loss",), "x": ("loss", "a")}),
    ],
    ids=lambda case: case.replace("\n", "; ") if isinstance(case, str) else "",
)
def test_only_what_carries_a_gradient_is_there(
    text: str, expected: dict[str, tuple[str, ...]]
) -> None:
    program = write_program(text, {"x": "n", "y": "n", "index": "n < n"})

    assert gradient_graph(program) == expected


def test_a_node_is_one_layer_below_its_lowest_reader() -> None:
    layers = assign_layers(DIAMOND, dict.fromkeys(DIAMOND, 10.0), widest=100.0)

    assert layers == {"loss": 0, "left": 1, "right": 1, "x": 2}


def test_a_full_layer_passes_nodes_on_to_the_next() -> None:
    layers = assign_layers(DIAMOND, dict.fromkeys(DIAMOND, 10.0), widest=15.0)

    assert layers == {"loss": 0, "left": 1, "right": 2, "x": 3}


def test_an_edge_passes_every_row_between_its_ends() -> None:
    layers = assign_layers(DIAMOND, dict.fromkeys(DIAMOND, 10.0), widest=100.0)
    graph = make_rows(DIAMOND, layers, columns=1)

    assert graph.paths["loss", "x"] == ["loss", ("loss", "x", 1), "x"]
    assert ("loss", "x", 1) in graph.rows[1]


def test_rows_are_sorted_so_that_edges_do_not_cross() -> None:
    crossed = {"loss": (), "a": ("loss",), "b": ("loss",), "c": ("b",), "d": ("a",), "e": ("c",)}
    layers = assign_layers(crossed, dict.fromkeys(crossed, 10.0), widest=100.0)
    rows = make_rows(crossed, layers, columns=1).rows

    assert rows[1].index("a") - rows[1].index("b") == rows[2].index("d") - rows[2].index("c")


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 8])
def test_columns_are_about_equally_high(columns: int) -> None:
    chain = {"x0": (), **{f"x{index + 1}": (f"x{index}",) for index in range(40)}}
    layers = assign_layers(chain, dict.fromkeys(chain, 10.0), widest=100.0)
    starts = make_rows(chain, layers, columns).starts

    heights = [end - start for start, end in pairwise(starts)]
    assert len(heights) == columns
    assert sum(heights) == 41
    assert max(heights) - min(heights) <= 1


def test_leaves_stay_in_the_column_of_their_reader() -> None:
    readers = {"loss": (), "h": ("loss",), "W": ("loss",), "x": ("h",)}
    layers = assign_layers(readers, dict.fromkeys(readers, 10.0), widest=100.0)
    graph = make_rows(readers, layers, columns=2)

    start = graph.starts[1]
    first_column = [spot for row in graph.rows[:start] for spot in row]
    assert "W" in first_column
