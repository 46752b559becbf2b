from itertools import combinations, pairwise

import pytest

from grader.pictures.gradient_graph import gradient_graph
from grader.pictures.graph_layout import Box, Layout, lay_out
from grader.program.forward_program import ForwardProgram
from grader.program.parse import parse_program
from makemore_data.course.forward import atomic
from tests.helpers.straight_line import make_chain, make_tangle
from tests.helpers.written_programs import write_program

PROGRAMS: dict[str, ForwardProgram] = {
    "one step": write_program("loss = x.sum()", {"x": "n"}),
    "three steps": write_program(
        "h = x @ W\ny = h * h + b\nloss = y.sum()", dict.fromkeys("xWb", "n")
    ),
    "notebook 1": parse_program(atomic),
    "a chain of 60": make_chain(60),
    "many parameters": write_program(
        f"h = {' + '.join(f'weight{index}' for index in range(30))}\nloss = h.sum()",
        {f"weight{index}": "n" for index in range(30)},
    ),
    **{f"a tangle of 60, seed {seed}": make_tangle(60, seed) for seed in range(3)},
    "a tangle of 10": make_tangle(10, 5),
}


@pytest.fixture(params=PROGRAMS, scope="module")
def graph(request: pytest.FixtureRequest) -> dict[str, tuple[str, ...]]:
    return gradient_graph(PROGRAMS[request.param])


@pytest.fixture(scope="module")
def layout(graph: dict[str, tuple[str, ...]]) -> Layout:
    return lay_out(graph, {name: 30.0 + 10 * len(name) for name in graph})


def overlap(one: Box, other: Box) -> bool:
    return (
        abs(one.x - other.x) < (one.width + other.width) / 2
        and abs(one.y - other.y) < (one.height + other.height) / 2
    )


def test_every_node_has_a_place_of_its_own(
    graph: dict[str, tuple[str, ...]], layout: Layout
) -> None:
    assert layout.boxes.keys() == graph.keys()
    pairs = combinations(layout.boxes.values(), 2)
    assert not [pair for pair in pairs if overlap(*pair)]


def test_everything_is_inside_the_picture(layout: Layout) -> None:
    for box in layout.boxes.values():
        assert -0.01 <= box.left < box.right <= layout.width + 0.01
        assert -0.01 <= box.top < box.bottom <= layout.height + 0.01
    for x, y in (point for route in layout.routes.values() for point in route):
        assert -0.01 <= x <= layout.width + 0.01
        assert -0.01 <= y <= layout.height + 0.01


def test_every_edge_leads_from_reader_to_what_it_reads(
    graph: dict[str, tuple[str, ...]], layout: Layout
) -> None:
    edges = {(reader, name) for name, readers in graph.items() for reader in readers}
    assert layout.routes.keys() == edges
    for (reader, name), route in layout.routes.items():
        start, end = layout.boxes[reader], layout.boxes[name]
        assert route[0] == (start.x, start.bottom)
        assert route[-1][1] == end.top
        assert end.left < route[-1][0] < end.right


def test_no_edge_runs_through_a_node(layout: Layout) -> None:
    for edge, route in layout.routes.items():
        for (x0, y0), (x1, y1) in pairwise(route):
            # A curve stays within the rectangle between its ends.
            part = Box((x0 + x1) / 2, (y0 + y1) / 2, abs(x0 - x1), abs(y0 - y1) - 0.01)
            hit = [name for name, box in layout.boxes.items() if overlap(box, part)]
            assert not hit, f"{edge} runs through {hit}"


def test_arrows_that_meet_arrive_side_by_side(layout: Layout) -> None:
    ends = [route[-1] for route in layout.routes.values()]
    assert len(set(ends)) == len(ends)


@pytest.mark.parametrize("name", ["notebook 1", "a chain of 60"])
def test_a_chain_is_wrapped_to_fill_a_screen(name: str) -> None:
    graph = gradient_graph(PROGRAMS[name])
    layout = lay_out(graph, {name: 40.0 + 10 * len(name) for name in graph})

    assert layout.width < 1100
    assert 1.0 < layout.width / layout.height < 2.0
