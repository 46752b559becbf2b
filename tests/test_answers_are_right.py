"""The right answers are right: each is measured with autograd alone."""

from __future__ import annotations

import ast
from functools import cache

import pytest
import torch
from torch import Tensor

from corpus.readers.exercise_text import (
    GRADIENTS,
    LECTURE,
    ZERO_BY_STRUCTURE,
    Namespace,
    Sizes,
    double_precision,
    forward_values,
    read_cells,
    reference_gradients,
    right_answers,
    run_answer,
    sample_submissions,
    worst_difference,
)

pytestmark = pytest.mark.slow

# No two sizes of an instance are alike, none is the lecture's, and one context is a single
# character: a size that an answer hard-codes or confuses with another cannot survive all four.
HIDDEN_SIZES = (
    Sizes(n=7, vocab_size=11, n_embd=3, n_hidden=5, block_size=2),
    Sizes(n=13, vocab_size=6, n_embd=4, n_hidden=9, block_size=5),
    Sizes(n=20, vocab_size=17, n_embd=6, n_hidden=12, block_size=4),
    Sizes(n=9, vocab_size=5, n_embd=8, n_hidden=4, block_size=1),
)
ANSWERS = right_answers()
AUTOGRAD = {"autograd", "backward", "grad", "requires_grad_", "func", "vjp", "jacrev", "jacfwd"}

Instance = tuple[Namespace, dict[str, Tensor]]


@cache
def instance(sizes: Sizes, dtype: torch.dtype) -> Instance:
    values = forward_values(sizes, seed=sizes.n, dtype=dtype)
    return values, reference_gradients(values)


def copied(values: Namespace) -> Namespace:
    return {k: v.clone() if isinstance(v, Tensor) else v for k, v in values.items()}


def wrong_gradients(names: Namespace, references: dict[str, Tensor], relative: float) -> list[str]:
    """The gradients beyond the tolerance, each with its difference."""
    wrong = []
    for name, reference in references.items():
        # What is zero in theory is rounding noise in the reference: no scale to be relative to.
        zero = name in ZERO_BY_STRUCTURE
        limit = relative / 1000 if zero else relative * float(reference.abs().max())
        difference = worst_difference(names.get(name), reference)
        if not difference <= limit:
            wrong.append(f"{name}: {difference:.2e} > {limit:.2e}")
    return wrong


@pytest.mark.parametrize("style", ANSWERS)
def test_a_right_answer_agrees_with_autograd_in_double_precision(style: str) -> None:
    for sizes in HIDDEN_SIZES:
        values, references = instance(sizes, torch.float64)
        with double_precision():
            names = run_answer(ANSWERS[style], copied(values))
        assert not wrong_gradients(names, references, relative=1e-7), sizes


@pytest.mark.parametrize("style", ANSWERS)
def test_a_right_answer_agrees_with_autograd_as_the_student_sees_it(style: str) -> None:
    values, references = instance(LECTURE, torch.float32)
    names = run_answer(ANSWERS[style], copied(values))
    assert not wrong_gradients(names, references, relative=1e-4)


@pytest.mark.parametrize("style", ANSWERS)
def test_a_right_answer_leaves_the_forward_pass_alone(style: str) -> None:
    values, _ = instance(HIDDEN_SIZES[0], torch.float64)
    ready = copied(values)
    with double_precision():
        run_answer(ANSWERS[style], ready)
    for name, value in values.items():
        if isinstance(value, Tensor):
            assert torch.equal(ready[name], value), f"{name} was changed in place"


def test_a_right_answer_names_its_style_and_uses_no_autograd() -> None:
    for style in ANSWERS:
        source = ANSWERS[style]
        assert source.startswith("# ")
        assert source.splitlines()[0].endswith(".")
        assert all(grade_id.startswith("ex1-") for grade_id, _ in read_cells(source))
        attributes = {n.attr for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Attribute)}
        # A class of the student's own may call its way back `backward`.
        own = {n.name for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)}
        assert not attributes & (AUTOGRAD - own)


def test_there_are_many_styles() -> None:
    assert len(ANSWERS) >= 34
    assert len({source.splitlines()[0] for source in ANSWERS.values()}) == len(ANSWERS)
    assert len(GRADIENTS) == 26


@pytest.mark.parametrize(("name", "source"), sample_submissions().items())
def test_a_sample_submission_fills_the_cells_of_the_notebook(name: str, source: str) -> None:
    written = [grade_id for grade_id, _ in read_cells(source)]
    assert written == [grade_id for grade_id, _ in read_cells(ANSWERS["lecture"])], name


def test_the_unfinished_sample_is_right_as_far_as_it_goes() -> None:
    values, references = instance(HIDDEN_SIZES[0], torch.float64)
    with double_precision():
        names = run_answer(sample_submissions()["half_done"], copied(values))
    written = {d: g for d, g in references.items() if names[d] is not ...}
    assert 0 < len(written) < len(GRADIENTS)
    assert not wrong_gradients(names, written, relative=1e-7)


def test_the_sample_with_one_fault_is_wrong_from_there_down() -> None:
    values, references = instance(HIDDEN_SIZES[0], torch.float64)
    with double_precision():
        names = run_answer(sample_submissions()["one_fault"], copied(values))
    wrong = [line.split(":")[0] for line in wrong_gradients(names, references, relative=1e-7)]
    assert wrong[0] == "dcounts"
