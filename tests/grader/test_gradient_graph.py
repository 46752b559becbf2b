import pytest

from grader.gradient_graph import gradient_graph
from grader.program import parse_program
from makemore_data.forward import atomic
from tests.grader.straight_line import read_text


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
    program = read_text(text, x="n", y="n", index="n < vocab_size")

    assert gradient_graph(program) == expected
