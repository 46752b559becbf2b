"""A notebook's own forward pass."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from corpus.readers.exercise_text import read_cells, right_answers
from corpus.readers.lecture_course import ATOMIC
from grader.answer.parse import AnswerCell, parse_answer
from grader.diagnosis.kinds import Kind
from grader.notebook.forward_pass import describe_stale, find_stale, names_read
from grader.program.parse import parse_program
from grader.verdict import Diagnosis

PROGRAM = parse_program(ATOMIC.forward)
ALL = frozenset(step.name for step in PROGRAM.steps)
ANSWER = parse_answer(
    [AnswerCell(grade_id, text) for grade_id, text in read_cells(right_answers()["lecture"])]
)


@pytest.fixture
def namespace() -> dict[str, Any]:
    """A notebook after its forward pass."""
    return dict(PROGRAM.instance(ATOMIC.sizes, 1, torch.float32).values)


def stale(namespace: dict[str, Any], wanted: frozenset[str] = ALL) -> Diagnosis | None:
    found = find_stale(PROGRAM, namespace, wanted, {})
    return describe_stale(found, PROGRAM, parse_answer([])) if found else None


def message(namespace: dict[str, Any]) -> str:
    found = stale(namespace)
    assert found is not None
    assert found.kind == Kind.STALE_FORWARD
    return found.message


def test_a_fresh_forward_pass_is_not_stale(namespace: dict[str, Any]) -> None:
    assert stale(namespace) is None


def test_rounding_is_not_stale(namespace: dict[str, Any]) -> None:
    namespace["h"] = namespace["h"] * (1 + 1e-7)
    namespace["h"].requires_grad_()
    assert stale(namespace) is None


def test_one_overwritten_tensor_is_named_with_its_line(namespace: dict[str, Any]) -> None:
    namespace["h"] = namespace["h"] @ torch.eye(64) * 2
    found = stale(namespace)
    assert found is not None
    assert found.message.startswith("The notebook's `h` is not what the forward pass makes of")
    assert "`h = torch.tanh(hpreact)`" in found.hint


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (["h", "probs"], "`h` and `probs` are not"),
        (["h", "emb", "probs"], "`emb`, `h` and `probs` are not"),
        (["h", "emb", "probs", "counts", "logits"], "`emb`, `h`, `logits` and 2 more are not"),
    ],
)
def test_several_are_named_in_the_programs_order(
    namespace: dict[str, Any], names: list[str], listed: str
) -> None:
    for name in names:
        namespace[name] = namespace[name] + 1
    assert listed in message(namespace)


def test_another_batch_without_another_forward_pass(namespace: dict[str, Any]) -> None:
    namespace["Xb"] = namespace["Xb"].flip(0)
    assert message(namespace).startswith("The notebook's `emb`, `embcat`, `hprebn` and ")


@pytest.mark.parametrize("value", [None, 3.0, "h", [1], torch.zeros(2), torch.zeros(32, 64).long()])
def test_something_else_under_the_name_is_stale(namespace: dict[str, Any], value: object) -> None:
    namespace["h"] = value
    assert "`h` is not" in message(namespace)


def test_a_name_that_is_gone_is_stale(namespace: dict[str, Any]) -> None:
    del namespace["h"], namespace["n"]
    assert "`n` and `h` are not" in message(namespace)


@pytest.mark.parametrize(("number", "is_stale"), [(32, False), (31, True), (torch.ones(3), True)])
def test_numbers_are_compared_too(
    namespace: dict[str, Any], number: object, is_stale: bool
) -> None:
    namespace["n"] = number
    assert (stale(namespace) is not None) is is_stale


def test_only_what_is_wanted_is_compared(namespace: dict[str, Any]) -> None:
    namespace["h"] = namespace["h"] + 1
    assert stale(namespace, ALL - {"h"}) is None


def test_a_forward_pass_that_gives_nan_is_not_called_stale(namespace: dict[str, Any]) -> None:
    namespace["C"][:] = float("nan")
    namespace["h"] = torch.zeros(32, 64)
    assert stale(namespace, frozenset({"h"})) is None


@pytest.mark.parametrize("value", [None, torch.zeros(1), "a"])
def test_a_forward_pass_that_does_not_run_is_no_matter_here(
    namespace: dict[str, Any], value: object
) -> None:
    namespace["W1"] = value
    assert stale(namespace) is None
    del namespace["W1"]
    assert stale(namespace) is None


def test_it_leaves_the_notebook_alone(namespace: dict[str, Any]) -> None:
    before = {name: value.clone() for name, value in namespace.items() if name in PROGRAM.inputs}
    namespace["W1"].requires_grad_()
    stale(namespace)
    assert all(torch.equal(namespace[name], value) for name, value in before.items())
    assert namespace["W1"].grad is None


def test_an_answer_takes_from_the_notebook_what_it_reads_and_does_not_make() -> None:
    cells = [AnswerCell("ex1-a", "probs = counts * 1\ndh = probs * (1 - h**2)\ndx = dh")]
    assert names_read(parse_answer(cells)) == {"counts", "h"}
    # What is changed is read before.
    cells = [AnswerCell("ex1-a", "h -= 1\nprobs = probs / n\ncounts.exp_()\nlogits[0] = 1")]
    assert names_read(parse_answer(cells)) == {"h", "probs", "n", "counts", "logits"}
    assert {"h", "bnraw", "counts", "n"} <= names_read(ANSWER)
    assert "loss" not in names_read(ANSWER)


@pytest.mark.parametrize(
    ("line", "name", "made"),
    [
        ("probs[range(n), Yb] -= 1", "probs", "probs = counts * counts_sum_inv"),
        ("norm_logits = norm_logits.exp()", "norm_logits", "norm_logits = logits - logit_maxes"),
        ("torch.exp_(C.mul_(2))", "C", "C, W1 = init_parameters()"),
    ],
)
def test_the_answers_line_that_changes_a_tensor_is_quoted(
    namespace: dict[str, Any], line: str, name: str, made: str
) -> None:
    answer = parse_answer([AnswerCell("ex1-a", f"# answer: ex1-a\ndprobs = 1\n{line}")])
    others = [AnswerCell("", "C -= C"), AnswerCell("", "x = 1\n  \nC, W1 = init_parameters()")]
    given = {"C": namespace["C"].clone()}
    if name in given:
        namespace[name] *= 2
    else:
        namespace[name] = namespace[name] + 1
    stale = find_stale(PROGRAM, namespace, names_read(answer), given)
    found = describe_stale(stale, PROGRAM, answer, others[1:])
    assert stale == [name]
    assert found.message.startswith(f"Your line `{line}` changes the notebook's `{name}`, so that")
    assert f"run the cells from the one with `{made}` on again" in found.hint


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("weights = W1\nweights -= 1\ndh = weights", "line `weights -= 1`"),
        ("a = W1.T.view(-1)\nb = a\nb[0] = 7", "line `b[0] = 7`"),
        ("a = W1\na = a * 2\na -= 1", "answer"),
        ("a = W1[0]\na -= 1", "answer"),
    ],
)
def test_a_change_under_another_name_has_its_line_if_that_can_be_seen(
    namespace: dict[str, Any], cell: str, line: str
) -> None:
    answer = parse_answer([AnswerCell("ex1-a", cell)])
    given = {"W1": namespace["W1"].clone()}
    namespace["W1"] -= 1
    found = describe_stale(["W1"], PROGRAM, answer)
    assert find_stale(PROGRAM, namespace, {"W1"}, given) == ["W1"]
    assert found.message.startswith(f"Your {line} changes the notebook's `W1`, so that")
    assert "from the one that makes `W1` on again" in found.hint


def test_what_an_answer_was_seen_to_change_is_said_of_it_or_of_an_earlier_one() -> None:
    now = describe_stale(["h"], PROGRAM, ANSWER, now=["h"])
    assert now.message.startswith("Your answer changes the notebook's `h`, so that")
    earlier = describe_stale(["h"], PROGRAM, ANSWER, earlier=["h"])
    assert earlier.message == "An answer that you ran earlier has changed the notebook's `h`."
    assert earlier.hint == (
        "Run the cells from the one with `h = torch.tanh(hpreact)` on again, down to your answers."
    )
