"""Which names may stand for the same memory."""

import ast

import pytest

from grader.answer import AnswerCell, parse_answer
from grader.sharing import (
    Sharing,
    alias_pairs,
    changed_in_place,
    root_name,
    shared_by_arguments,
    shared_names,
)


def test_links_of_links_share_memory_too() -> None:
    sharing = Sharing([("a", "b"), ("c", "d"), ("c", "b"), ("x", "y")])
    everything = set("abcdxyq")
    assert sharing.related(everything, {"a"}) == set("abcd")
    assert sharing.related(everything, {"x", "q"}) == set("xyq")


def test_a_forgotten_name_shares_nothing_and_leaves_the_others_linked() -> None:
    sharing = Sharing([("a", "b"), ("b", "c")])
    sharing.forget({"b"})
    assert sharing.related({"a", "b", "c"}, {"a"}) == {"a", "c"}
    assert sharing.related({"a", "b", "c"}, {"b"}) == {"b"}


def test_what_is_linked_after_something_was_forgotten_joins_nothing_else() -> None:
    sharing = Sharing([("a", "b"), ("c", "d")])
    sharing.forget({"a", "b"})
    sharing.link([("e", "f")])
    assert sharing.related(set("cdef"), {"e"}) == {"e", "f"}


def test_a_copy_goes_its_own_way() -> None:
    first = Sharing([("a", "b")])
    second = first.copy()
    second.link([("b", "c")])
    assert first.related({"a", "c"}, {"a"}) == {"a"}
    assert second.related({"a", "c"}, {"a"}) == {"a", "c"}


@pytest.mark.parametrize(
    ("expression", "name"),
    [("a", "a"), ("a.b[0].c()", "a"), ("a.view(-1)[i]", "a"), ("f(a)", None), ("a + b", None)],
)
def test_the_root_of_an_expression(expression: str, name: str | None) -> None:
    assert root_name(ast.parse(expression, mode="eval").body) == name


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("a", "a"),
        ("a.T", "a"),
        ("a[0].view(-1)", "a"),
        ("a.clone()", ""),
        ("a + b", ""),
        ("a if c else b", "a b"),
        ("a or b", "a b"),
        ("(a, b)", "a b"),
        ("{1: a}", "a"),
        ("torch.from_numpy(a)", "a"),
        ("torch.add(a, b)", ""),
        ("a.add_(b)", "a"),
        ("zip(a, b)", "a b"),
        ("(c := a)", "a"),
    ],
)
def test_what_an_expression_may_share(expression: str, names: str) -> None:
    node = ast.parse(expression, mode="eval").body
    assert set(shared_names(node)) == set(names.split())


def test_hundreds_of_aliases_are_followed_at_once() -> None:
    """The judge reads this; no limit of the worker would stop it."""
    chain = "\n".join(f"x{number + 1} = x{number}" for number in range(600))
    answer = parse_answer([AnswerCell("ex1-loss", f"x0 = dh\n{chain}")])
    assert answer.sharing[-1].related({"x0", "x600"}, {"dh"}) == {"x0", "x600"}


@pytest.mark.parametrize(
    ("assignment", "pairs"),
    [
        ("a = b", "ab"),
        ("a[0] = b.T", "ab"),
        ("a = b + c", ""),
        ("a, b = c, d", "ac bd"),
        ("a, b = c", "ac bc"),
        ("a, (b, c) = d, e", "ad be ce"),
        ("a, b = c, d, e", "ac ad ae bc bd be"),
    ],
)
def test_the_names_that_an_assignment_makes_share_memory(assignment: str, pairs: str) -> None:
    (statement,) = ast.parse(assignment).body
    assert isinstance(statement, ast.Assign)
    found = {first + second for first, second in alias_pairs(statement.targets[0], statement.value)}
    assert found == set(pairs.split())


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("f(a, key=b.T)", "a b"),
        ("f(a.clone())", ""),
        ("a.f(b)", "a b"),
        ("torch.add(a, b)", "a b"),
    ],
)
def test_the_names_that_a_call_can_reach(call: str, names: str) -> None:
    assert shared_by_arguments(as_call(call)) == set(names.split())


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("a.add_(b)", "a"),
        ("a[0].T.add_(b)", "a"),
        ("torch.relu_(a)", "a"),
        ("torch.zeros_like(a).index_add_(0, i, b)", ""),
        ("f(a).add_(b)", ""),
    ],
)
def test_the_names_that_a_method_in_place_changes(call: str, names: str) -> None:
    node = as_call(call)
    assert isinstance(node.func, ast.Attribute)
    assert changed_in_place(node, node.func.value) == set(names.split())


def as_call(text: str) -> ast.Call:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    return node
