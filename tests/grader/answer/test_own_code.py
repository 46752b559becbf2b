"""Statements as text: where everything in them stands, and what makes no difference."""

from __future__ import annotations

import ast

import pytest

from tests.helpers.own_edits import own_of, site_of, sites_of


def texts(source: str, keep: list[int] | None = None) -> list[str]:
    return [own.text for own in own_of(source, keep)[2]]


def sources(source: str, keep: list[int] | None = None) -> list[str]:
    return [site.own.source(site.node) for site in sites_of(source, keep)]


# --- the text of a statement


@pytest.mark.parametrize(
    ("source", "keep", "expected"),
    [
        ("a = 1\ndh = b * c\n", [1], ["dh = b * c"]),
        ("dh = (b *\n      c)\n", None, ["dh = (b *\n      c)"]),
        ("dh = b \\\n    * c", None, ["dh = b \\\n    * c"]),
        ("a = 1; dh = b * c; d = 2", [1], ["       dh = b * c"]),
        ("a = 1; dh = b * c; d = 2", [0, 2], ["a = 1", "                   d = 2"]),
        (
            "@once\n@cached\ndef dh(x):\n    return x",
            None,
            ["@once\n@cached\ndef dh(x):\n    return x"],
        ),
        ("a = 1\nfor i in r:\n    dC[i] += b[i]", [1, 2], ["for i in r:\n    dC[i] += b[i]"]),
        ("a = ...\nb = 2", None, ["b = 2"]),
    ],
    ids=[
        *("one line", "several lines", "continued", "semicolons"),
        *("the others", "decorators", "loop", "blank"),
    ],
)
def test_a_statement_is_its_own_lines(
    source: str, keep: list[int] | None, expected: list[str]
) -> None:
    assert texts(source, keep) == expected


@pytest.mark.parametrize(
    ("source", "line"),
    [("a = 1\n\ndh = 2", 3), ("a = 1\n@once\ndef dh():\n    pass", 2), ("a = 1; dh = 2", 1)],
)
def test_a_statement_knows_its_first_line(source: str, line: int) -> None:
    own = own_of(source, [1])[2][0]
    assert (own.number, own.line) == (1, line)


def test_statements_of_several_cells_come_in_order() -> None:
    _, _, statements = own_of("a = 1\nb = 2\nc = 3", [0, 2])
    assert [own.number for own in statements] == [0, 2]


# --- where a node stands


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("dh = b * c", "c"),
        ("dh = (b +\n      c) * d", "c"),
        ("dh = (b +\n      c) * d", "d"),
        ("dh = \\\n  b.sum(0)", "b.sum(0)"),
        ("dh = größe * c", "c"),
        ("größe = 'ä ö ü' + c", "c"),
        ("dh = (größe +\n   βeta * c)", "c"),
        ("dh = '''ä\nö''' + c", "c"),
        ("a = 1; dh = b * c", "c"),
        ("@once\ndef f(x):\n    return x * c", "x * c"),
        ("größe = 1; dh = b * c", "c"),
        ("for i in r:\n    größe = c", "c"),
    ],
)
def test_a_node_stands_where_its_text_is(source: str, wanted: str) -> None:
    assert sources(source).count(wanted) == 1
    site = site_of(source, wanted)
    start, end = site.own.span(site.node)
    assert site.own.text[start:end] == wanted
    changed = site.own.put((start, end), "NEW")
    assert changed == site.own.text[:start] + "NEW" + site.own.text[end:]
    compile(changed.strip(), "<text>", "exec")


def test_a_node_stands_where_its_text_is_behind_what_is_not_kept() -> None:
    assert "b * c" in sources("for i in r:\n    größe = 1; dh = b * c", [0, 2])


def test_a_line_may_end_as_python_lets_it() -> None:
    assert texts("a = 1\rdh = b * c", [1]) == ["dh = b * c"]


@pytest.mark.parametrize(
    ("source", "wanted", "atom"),
    [
        ("dh = (b + c) * d", "b + c", "(b + c)"),
        ("dh = -b * d", "-b", "(-b)"),
        ("dh = b ** 2 * d", "b ** 2", "(b ** 2)"),
        ("dh = (b if c else e) * d", "b if c else e", "(b if c else e)"),
        ("dh = b * d", "b", "b"),
        ("dh = f(b) * d", "f(b)", "f(b)"),
        ("dh = b.T * d", "b.T", "b.T"),
        ("dh = b[0] * d", "b[0]", "b[0]"),
        ("dh = 2.0 * d", "2.0", "2.0"),
    ],
)
def test_brackets_stand_where_they_are_needed(source: str, wanted: str, atom: str) -> None:
    site = site_of(source, wanted)
    assert site.own.atom(site.node) == atom
    put = site.own.put(site.own.span(site.node), f"{site.own.atom(site.node)}.T")
    compile(put, "<text>", "exec")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(a)", "a"),
        ("f(a, *b, keepdim=True, **c)", "a, *b, keepdim=True, **c"),
        ("f()", ""),
    ],
)
def test_the_arguments_of_a_call(source: str, expected: str) -> None:
    (own,) = own_of(source)[2]
    assert isinstance(own.top, ast.Expr)
    call = own.top.value
    assert isinstance(call, ast.Call)
    assert own.arguments(call) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("dx = dh / len(h)", {"h": "len(h)"}),
        ("dx = dh / h.shape[0]", {"h.shape": "h.shape[0]"}),
        ("dx = dh / h.numel() * h.size(1)", {"h.numel": "h.numel()", "h.size": "h.size(1)"}),
        ("dx = dh[0]", {}),
    ],
)
def test_the_lengths_that_are_read(source: str, expected: dict[str, str]) -> None:
    (own,) = own_of(source)[2]
    assert {
        own.source(node): own.source(length) for node, length in own.lengths.items()
    } == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("dx = torch.zeros_like(h) + dh", {"torch.zeros_like(h)", "h"}),
        ("dx = torch.ones_like(h * b)", {"h * b", "h", "b"}),
        ("dx = h.new_zeros(n)", {"h.new_zeros(n)"}),
        ("dx = dh / len(h)", {"h"}),
        ("dx.add_(dh)", {"dx.add_(dh)"}),
        ("dx = dh * h.sum(0)", set()),
    ],
)
def test_what_no_factor_changes(source: str, expected: set[str]) -> None:
    (own,) = own_of(source)[2]
    assert {
        own.source(node) for node in own.without_factor if isinstance(node, ast.expr)
    } == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("for i in range(n):\n    dx[i] = dh[i]", {"i"}),
        ("for i, g in enumerate(dh):\n    dx[i] = g", set()),
        ("for g in dh:\n    for j in range(n):\n        dx[j] += g", {"j"}),
        ("dx = dh", set()),
    ],
)
def test_the_names_that_count_a_range(source: str, expected: set[str]) -> None:
    (own,) = own_of(source)[2]
    assert own.ranged == expected
