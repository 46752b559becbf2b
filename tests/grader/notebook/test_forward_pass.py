"""A notebook's own forward pass."""

from __future__ import annotations

import ast
from typing import Any

import jupytext
import pytest
import torch

from corpus.readers.exercise_text import read_cells, right_answers
from corpus.readers.lecture_course import ATOMIC, COURSE
from corpus.readers.places import PROJECT
from grader.answer.parse import AnswerCell, parse_answer
from grader.diagnosis.kinds import Kind
from grader.notebook.forward_pass import (
    describe_edited,
    describe_stale,
    find_edited,
    find_stale,
    names_read,
    writers,
)
from grader.program.course import read_course
from grader.program.exercises import exercises_of, load_exercises
from grader.program.parse import body_source, parse_program
from grader.verdict import Diagnosis

ENCORE = PROJECT / "notebooks" / "encore"
PROGRAM = parse_program(ATOMIC.forward)
ANSWER = parse_answer(
    [AnswerCell(grade_id, text) for grade_id, text in read_cells(right_answers()["lecture"])]
)


@pytest.fixture
def namespace() -> dict[str, Any]:
    """A notebook after its forward pass."""
    return dict(PROGRAM.instance(ATOMIC.sizes, 1, torch.float32).values)


def stale(namespace: dict[str, Any]) -> Diagnosis | None:
    found = find_stale(PROGRAM, namespace)
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


@pytest.mark.parametrize(("number", "is_stale"), [(32, False), (31, True), (torch.ones(3), True)])
def test_numbers_are_compared_too(
    namespace: dict[str, Any], number: object, is_stale: bool
) -> None:
    namespace["n"] = number
    assert (stale(namespace) is not None) is is_stale


def test_a_forward_pass_that_gives_nan_is_not_called_stale(namespace: dict[str, Any]) -> None:
    namespace["C"][:] = float("nan")
    namespace["h"] = torch.zeros(32, 64)
    assert stale(namespace) is None


@pytest.mark.parametrize("value", [None, torch.zeros(1), "a"])
def test_a_forward_pass_that_does_not_run_is_no_matter_here(
    namespace: dict[str, Any], value: object
) -> None:
    namespace["W1"] = value
    assert stale(namespace) is None
    del namespace["W1"]
    assert stale(namespace) is None


def edited(namespace: dict[str, Any], *sources: str) -> tuple[str, str] | None:
    return find_edited(
        PROGRAM, namespace, (line for one in sources for line in ast.parse(one).body)
    )


FORWARD = body_source(ATOMIC.forward)
INVERT = "counts_sum_inv = counts_sum**-1"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (INVERT, f"{INVERT}  # or 1 / counts_sum"),
        (INVERT, f"print(counts_sum)\n{INVERT.replace('**', ' ** ')}"),
        (INVERT, f"other = 1 / counts_sum\ncounts_sum_inv = other\n{INVERT}"),
        ("n = Xb.shape[0]", "n = len(Xb)"),
    ],
)
def test_comments_spaces_prints_and_plain_numbers_are_no_edit(
    namespace: dict[str, Any], before: str, after: str
) -> None:
    assert before in FORWARD
    assert edited(namespace, FORWARD.replace(before, after)) is None


@pytest.mark.parametrize(
    ("before", "after", "own"),
    [
        (INVERT, "counts_sum_inv = 1/counts_sum", "counts_sum_inv = 1 / counts_sum"),
        ("h = torch.tanh(hpreact)", "h = torch.relu(hpreact)", "h = torch.relu(hpreact)"),
        ("probs = counts", "counts *= 2\nprobs = counts", "counts *= 2"),
    ],
)
def test_an_edited_line_is_said_beside_the_courses(
    namespace: dict[str, Any], before: str, after: str, own: str
) -> None:
    assert before in FORWARD
    found = edited(namespace, FORWARD.replace(before, after))
    assert found is not None
    assert found[0] == own
    assert describe_edited(*found).message == (
        f"Your notebook has `{own}` where the course's forward pass has `{found[1]}`: the verdicts"
        " are about the course's line, the numbers about yours."
    )
    assert edited(namespace, FORWARD.replace(before, after), FORWARD) is None


def test_no_notebook_of_ours_differs_from_its_own_forward_pass() -> None:
    for course, folder in ((COURSE, "notebooks"), (read_course(ENCORE), "notebooks/encore")):
        for exercise in load_exercises(course):
            path = PROJECT / folder / "source" / f"{exercise.notebook}.py"
            cells = jupytext.read(path).cells
            code = [cell.source for cell in cells if cell.cell_type == "code"]
            others = [source for source in code if not source.startswith("# answer")]
            lines = [line for source in others for line in ast.parse(source).body]
            program = parse_program(exercise.forward)
            tensors = dict.fromkeys(program.names, torch.zeros(1))
            shared = {
                step.name
                for other in exercises_of(course, exercise.notebook)
                for step in parse_program(other.forward).steps
                if other != exercise
            }
            assert find_edited(program, tensors, lines, shared) is None, exercise.prefix


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
    others = [AnswerCell("", "x = 1\n  \nC, W1 = init_parameters()")]
    namespace[name] = namespace[name] + 1
    assert name == "C" or find_stale(PROGRAM, namespace) == [name]
    found = describe_stale([name], PROGRAM, answer, others)
    assert found.message.startswith(f"Your line `{line}` changes the notebook's `{name}`, so that")
    assert f"run the cells from the one with `{made}` on again" in found.hint


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("weights = W1\nweights -= 1\ndh = weights", "weights -= 1"),
        ("a = W1.T.view(-1)\nb = a\nb[0] = 7", "b[0] = 7"),
        ("a = W1\na = a * 2\na -= 1", ""),
        ("a = W1[0]\na -= 1", ""),
    ],
)
def test_a_change_under_another_name_has_its_line_if_that_can_be_seen(cell: str, line: str) -> None:
    answer = parse_answer([AnswerCell("ex1-a", cell)])
    assert bool(writers(answer, "W1")) is bool(line)
    said = describe_stale(["W1"], PROGRAM, answer).message
    assert said.startswith(f"Your line `{line}`" if line else "The notebook's `W1` is not what")
