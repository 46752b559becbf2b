from itertools import pairwise

import pytest

from grader.graph_rows import arrange, assign_layers

DIAMOND = {"loss": (), "left": ("loss",), "right": ("loss",), "x": ("left", "right", "loss")}


def test_a_node_is_one_layer_below_its_lowest_reader() -> None:
    layers = assign_layers(DIAMOND, dict.fromkeys(DIAMOND, 10.0), widest=100.0)

    assert layers == {"loss": 0, "left": 1, "right": 1, "x": 2}


def test_a_full_layer_passes_nodes_on_to_the_next() -> None:
    layers = assign_layers(DIAMOND, dict.fromkeys(DIAMOND, 10.0), widest=15.0)

    assert layers == {"loss": 0, "left": 1, "right": 2, "x": 3}


def test_an_edge_passes_every_row_between_its_ends() -> None:
    layers = assign_layers(DIAMOND, dict.fromkeys(DIAMOND, 10.0), widest=100.0)
    arrangement = arrange(DIAMOND, layers, columns=1, panel_rows=0.0)

    assert arrangement.paths["loss", "x"] == ["loss", ("loss", "x", 1), "x"]
    assert ("loss", "x", 1) in arrangement.rows[1]


def test_rows_are_sorted_so_that_edges_do_not_cross() -> None:
    crossed = {"loss": (), "a": ("loss",), "b": ("loss",), "c": ("b",), "d": ("a",), "e": ("c",)}
    layers = assign_layers(crossed, dict.fromkeys(crossed, 10.0), widest=100.0)
    rows = arrange(crossed, layers, columns=1, panel_rows=0.0).rows

    assert rows[1].index("a") - rows[1].index("b") == rows[2].index("d") - rows[2].index("c")


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 8])
def test_columns_are_about_equally_high(columns: int) -> None:
    chain = {"x0": (), **{f"x{index + 1}": (f"x{index}",) for index in range(40)}}
    layers = assign_layers(chain, dict.fromkeys(chain, 10.0), widest=100.0)
    starts = arrange(chain, layers, columns, panel_rows=0.0).starts

    heights = [end - start for start, end in pairwise(starts)]
    assert len(heights) == columns
    assert sum(heights) == 41
    assert max(heights) - min(heights) <= 1


def test_the_last_column_leaves_room_for_the_panel() -> None:
    chain = {"x0": (), **{f"x{index + 1}": (f"x{index}",) for index in range(19)}}
    layers = assign_layers(chain, dict.fromkeys(chain, 10.0), widest=100.0)

    assert arrange(chain, layers, columns=2, panel_rows=10.0).starts == [0, 15, 20]


def test_leaves_stay_in_the_column_of_their_reader() -> None:
    graph = {"loss": (), "h": ("loss",), "W": ("loss",), "x": ("h",)}
    layers = assign_layers(graph, dict.fromkeys(graph, 10.0), widest=100.0)
    arrangement = arrange(graph, layers, columns=2, panel_rows=0.0)

    start = arrangement.starts[1]
    first_column = [spot for row in arrangement.rows[:start] for spot in row]
    assert "W" in first_column
