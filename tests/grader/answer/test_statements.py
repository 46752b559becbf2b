"""Statements in their order, and without the inner ones that are not kept."""

import ast

from grader.answer.statements import blocks, walk_statements

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
