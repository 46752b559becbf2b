"""Statements in their order, and without the inner ones that are not kept."""

import ast

import pytest

from grader.answer.statements import blocks, pruned, walk_statements

NESTED = """\
a = 1
if a:
    b = 1
    for i in x:
        c = 1
    else:
        d = 1
elif b:
    e = 1
else:
    f = 1
while a:
    g = 1
with a as h:
    i = 1
try:
    j = 1
except E:
    k = 1
else:
    l = 1
finally:
    m = 1
match a:
    case 1:
        n = 1
    case _:
        o = 1
def p():
    inside = 1
class Q:
    inside = 1
"""


def heads(statements: list[ast.stmt]) -> list[str]:
    return [ast.unparse(statement).splitlines()[0] for statement in statements]


def test_a_compound_statement_comes_before_what_it_holds() -> None:
    walked = list(walk_statements(ast.parse(NESTED).body))
    assert [statement.lineno for statement in walked] == sorted(s.lineno for s in walked)
    names = [s.targets[0].id for s in walked if isinstance(s, ast.Assign)]  # type: ignore[attr-defined]
    assert names == list("abcdefgijklmno")
    assert heads(walked)[:2] == ["a = 1", "if a:"]


def test_definitions_are_one_statement_each() -> None:
    walked = list(walk_statements(ast.parse(NESTED).body))
    assert heads(walked)[-2:] == ["def p():", "class Q:"]


def test_except_star_is_walked_as_well() -> None:
    walked = walk_statements(ast.parse("try:\n    a = 1\nexcept* E:\n    b = 1").body)
    assert len(list(walked)) == 3


def test_an_if_without_else_has_one_block() -> None:
    (statement,) = ast.parse("if a:\n    b = 1").body
    assert len(list(blocks(statement))) == 1


@pytest.mark.parametrize(
    ("source", "kept", "expected"),
    [
        ("for i in x:\n    a = 1\n    b = 1", {"b"}, "for i in x:\n    b = 1"),
        ("for i in x:\n    a = 1", set(), "for i in x:\n    pass"),
        ("if t:\n    a = 1\nelse:\n    b = 1", {"b"}, "if t:\n    pass\nelse:\n    b = 1"),
        (
            "try:\n    a = 1\nexcept E:\n    b = 1\nfinally:\n    c = 1",
            {"a"},
            "try:\n    a = 1\nexcept E:\n    pass\nfinally:\n    pass",
        ),
        (
            "match t:\n    case 1:\n        a = 1\n    case _:\n        b = 1",
            {"b"},
            "match t:\n    case 1:\n        pass\n    case _:\n        b = 1",
        ),
        ("with t:\n    a = 1\n    b = 1", {"a"}, "with t:\n    a = 1"),
        ("def f():\n    a = 1", set(), "def f():\n    a = 1"),
        ("a = 1", set(), "a = 1"),
    ],
)
def test_what_is_not_kept_is_left_out(source: str, kept: set[str], expected: str) -> None:
    (statement,) = ast.parse(source).body
    chosen = {
        inner
        for inner in walk_statements([statement])
        if isinstance(inner, ast.Assign) and ast.unparse(inner.targets[0]) in kept
    }
    shortened = pruned(statement, chosen)
    assert ast.unparse(shortened) == expected
    compile(ast.Module([shortened], []), "<test>", "exec")
    # The original is untouched.
    assert ast.unparse(statement) == source


def test_an_inner_loop_is_pruned_too() -> None:
    source = "for i in x:\n    for j in y:\n        a = 1\n        b = 1"
    (outer,) = ast.parse(source).body
    inner, a, _ = list(walk_statements([outer]))[1:]
    assert ast.unparse(pruned(outer, {inner, a})) == ("for i in x:\n    for j in y:\n        a = 1")
