"""A gradient's statements as text: where everything in them stands, and what may be edited."""

from __future__ import annotations

import ast

import pytest

from grader.answer.own_code import AXIS, CALLEE, EXPONENT, INDEX, RANGE, SIZE, VALUE, role
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


@pytest.mark.parametrize(
    ("source", "keep", "gone"),
    [
        ("for i in r:\n    a = 1\n    dh = b * c", [0, 2], ["a = 1"]),
        ("for i in r:\n    a = (1 +\n        2)\n    dh = b * c", [0, 2], ["a = (1 +", "2)"]),
        ("for i in r: a = 1; dh = b * c", [0, 2], ["a = 1"]),
        ("for i in r: q; dh = b * c", [0, 2], ["q"]),
        (
            "if r:\n    dh = b * c\nelif s:\n    a = 1\nelse:\n    a = 2",
            [0, 1],
            ["elif", "else", "a ="],
        ),
        ("if r:\n    a = 1\nelif s:\n    dh = b * c", [0, 2, 3], ["a = 1"]),
        (
            "try:\n    a = 1\nexcept E:\n    dh = b * c\nfinally:\n    z = 3",
            [0, 2],
            ["a = 1", "z = 3"],
        ),
        (
            "match r:\n    case 1:\n        a = 1\n    case _:\n        dh = b * c",
            [0, 2],
            ["a = 1"],
        ),
        ("with r:\n    for i in s:\n        a = 1\n    dh = b * c", [0, 3], ["for", "a = 1"]),
        ("for i in r:\n    @once\n    def f(): pass\n    dh = b * c", [0, 2], ["@once", "def f"]),
    ],
    ids=[
        *("line", "lines", "same line", "one letter", "elif", "before elif", "try", "match"),
        *("block in a block", "decorated"),
    ],
)
def test_what_a_loop_does_not_keep_is_blanked_out(
    source: str, keep: list[int], gone: list[str]
) -> None:
    (own,) = own_of(source, keep)[2]
    compile(own.text, "<text>", "exec")
    assert not [piece for piece in gone if piece in own.text]
    # Everything else stands where it stood.
    assert len(own.text) == len(source)
    assert own.text.count("\n") == source.count("\n")
    assert own.text.index("dh = b * c") == source.index("dh = b * c")
    found = [site.own.source(site.node) for site in sites_of(source, keep)]
    assert {"b * c", "b", "c"} <= {*found}


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


def test_a_node_stands_where_its_text_is_behind_what_is_blanked_out() -> None:
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


# --- what may be edited


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("dh = b * c", ["b * c", "b", "c"]),
        ("dh = -b", ["-b", "b"]),
        ("dC[i, 0] = b", ["i, 0", "i", "0", "b"]),
        ("dC[i] += b", ["i", "b"]),
        ("dC[1:n] += b", ["1", "n", "b"]),
        ("x.dh = b", ["b"]),
        ("da, db = b, c", ["b, c", "b", "c"]),
        ("da = db = c", ["c"]),
        ("dh: Tensor = b", ["b"]),
        ("dh = f(b, dim=0)", ["f(b, dim=0)", "f", "b", "0"]),
        ("dh = b.sum(0)", ["b.sum(0)", "b.sum", "b", "0"]),
        ("dh = [b for c in e]", ["[b for c in e]", "b", "e"]),
        (
            "dh = (lambda x: x * b)(c)",
            ["(lambda x: x * b)(c)", "lambda x: x * b", "x * b", "x", "b", "c"],
        ),
        ("dh = b[c]", ["b[c]", "b", "c"]),
        ("for i in r:\n    dC[i] = b", ["r", "i", "b"]),
        ("if c:\n    dh = b", ["c", "b"]),
        ("def dh(x: Tensor = e) -> Tensor:\n    return x", ["x"]),
        ("@once\ndef dh():\n    return b", ["b"]),
        # Edited, a loop may never end.
        ("while c < e:\n    dh = b\n    c = c + 1", ["b"]),
        ("while True:\n    dh[c] += b\n    c += 1\n    if c == e:\n        break", ["c", "b"]),
        ("while c:\n    dh = b\n    c.pop()", ["b"]),
        ("for i in r:\n    while c:\n        dh = b", ["r", "b"]),
        ("print(f'{b} and {c}', e)", ["print(f'{b} and {c}', e)", "print", "e"]),
        ("class Layer:\n    dh = b", []),
        ("dh += b", ["b"]),
        (
            "dC.index_add_(0, i, b)",
            ["dC.index_add_(0, i, b)", "dC.index_add_", "dC", "0", "i", "b"],
        ),
    ],
)
def test_these_expressions_may_be_edited(source: str, expected: list[str]) -> None:
    assert sources(source) == expected


def test_what_is_not_kept_is_not_edited() -> None:
    source = "for i in r:\n    a = 1 * x\n    if x:\n        dh = b"
    assert sources(source, [0, 2, 3]) == ["r", "x", "b"]
    assert sources(source, [0, 1]) == ["r", "1 * x", "1", "x"]


def test_a_site_knows_what_it_stands_in() -> None:
    site = site_of("dh = f(b + c)", "b + c")
    kinds = [type(parent) for parent in site.parents]
    assert kinds == [ast.Call, ast.Assign]
    assert not site.is_whole
    assert site_of("dh = f(b + c)", "f(b + c)").is_whole
    assert site_of("dh += b", "b").is_whole


@pytest.mark.parametrize(
    ("source", "at", "expected"),
    [
        ("dx = b * c", "b", VALUE),
        ("dx = b * c", "b * c", VALUE),
        ("dx = f(b)", "f", CALLEE),
        ("dx = b.sum(0)", "b.sum", CALLEE),
        ("dx = b.sum(0)", "b", VALUE),
        ("dx = b.sum(0)", "0", AXIS),
        ("dx = b.sum((0, 1))", "1", AXIS),
        ("dx = b.sum(dim=0)", "0", AXIS),
        ("dx = b.sum(1, keepdim=True)", "True", AXIS),
        ("dx = torch.sum(b, 0)", "0", AXIS),
        ("dx = torch.sum(b, 0)", "b", VALUE),
        ("dx = F.softmax(b, 1)", "1", AXIS),
        ("dx = b.softmax(-1)", "-1", AXIS),
        ("dx = b.shape[0]", "0", AXIS),
        ("dx = b.view(n, -1)", "n", SIZE),
        ("dx = torch.zeros(n, m)", "m", SIZE),
        ("dx = F.one_hot(b, m)", "m", SIZE),
        ("dx = F.one_hot(b, num_classes=m)", "m", SIZE),
        ("dx = b ** 2", "2", EXPONENT),
        ("dx = b ** -0.5", "0.5", EXPONENT),
        ("dx = b ** 2", "b", VALUE),
        ("dx = b.pow(2)", "2", EXPONENT),
        ("dx = torch.pow(b, 2)", "2", EXPONENT),
        ("dx = b[i]", "i", INDEX),
        ("dx = b[i]", "b", VALUE),
        ("dx[i, j] = b", "j", INDEX),
        ("dx = b[c[0]]", "0", INDEX),
        ("dx = b[1:]", "1", RANGE),
        ("for i in range(n):\n    dx = b", "n", RANGE),
        ("dx[range(n), i] = b", "n", RANGE),
        ("dx[n - 1] = b", "1", INDEX),
        ("if c:\n    dx = b", "b", VALUE),
    ],
)
def test_the_role(source: str, at: str, expected: str) -> None:
    assert role(site_of(source, at)) == expected
