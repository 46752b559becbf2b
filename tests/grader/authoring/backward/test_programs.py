"""The backward pass of each forward function in the repository, derived."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import pytest
from torch import Tensor

from corpus.readers.lecture_course import EXERCISES
from corpus.readers.other_programs import OTHER_EXERCISES
from corpus.readers.places import BUGS, PROJECT
from grader.authoring.backward.derive import derive
from grader.explanation.forward import Forward
from grader.program.compare import agrees
from grader.program.references import Reference, References, prepare
from grader.user_error import UserError

EXERCISE = {exercise.prefix: exercise for exercise in (*EXERCISES, *OTHER_EXERCISES)}
FUNCTIONS = sorted(
    path.stem for path in (PROJECT / "benchmarks" / "forward_functions").glob("[!_]*.py")
)
BUG_NAMES = sorted(path.stem for path in BUGS.glob("[!_]*.py"))

LEAST_OF_BUGS = 0.98
"""The least share of the gradients of `corpus/bugs` that can be derived."""


def read(name: str) -> tuple[References, Sequence[str]]:
    """A program's references, and the tensors whose gradients are asked for, from the loss down."""
    if name in EXERCISE:
        return prepare(EXERCISE[name]), [gradient[1:] for gradient in EXERCISE[name].gradients]
    package = "benchmarks.forward_functions" if name in FUNCTIONS else "corpus.bugs"
    module = import_module(f"{package}.{name}")
    function = getattr(module, name if name in FUNCTIONS else "forward")
    forward = Forward.of(function, {}, getattr(module, "inputs", None)).tried_out()
    arriving = {result: f"d{result}" for result in forward.returned}
    asked = [tensor for tensor in forward.smooth if tensor not in arriving]
    return forward.references(arriving, is_loss=False, seed=1), asked


def values_of(reference: Reference) -> dict[str, Any]:
    scope = import_module("tests.helpers.written_programs").SCOPE
    return {**scope, **reference.instance.sizes, **reference.instance.values}


def run(lines: Sequence[str], names: dict[str, Any], gradient: str) -> Tensor:
    exec("\n".join(lines), names)
    value = names[gradient]
    assert isinstance(value, Tensor)
    return value


@pytest.mark.parametrize("name", [*EXERCISE, *FUNCTIONS])
def test_each_gradient_hands_random_upstreams_on_as_autograd_does(name: str) -> None:
    references, tensors = read(name)
    for tensor in tensors:
        readers, lines = references.program.readers(tensor), derive(references, tensor).lines
        due = references.local_vjps(tensor, {*readers})
        for reference, local in zip(references.hidden, due, strict=True):
            drawn = reference.cotangents
            upstreams = {f"d{reader}": drawn[reader] for reader in readers if reader in drawn}
            value = run(lines, {**values_of(reference), **upstreams}, f"d{tensor}")
            assert agrees(value, local, floor=1.0, tolerance=1e-9), lines


@pytest.mark.slow
@pytest.mark.parametrize("name", [*EXERCISE, *FUNCTIONS])
def test_all_lines_together_are_the_whole_backward_pass(name: str) -> None:
    references, tensors = read(name)
    program = references.program
    every = [tensor for tensor in references.hidden[0].gradients if tensor != program.loss][::-1]
    given = set(program.arriving) | set(program.arriving.values())
    for number, reference in enumerate(references.hidden):
        names = values_of(reference)
        for tensor in every:
            if tensor not in given:
                lines = derive(references, tensor).lines
                value = run(lines, names, f"d{tensor}")
                floor = references.floors(tensor)[number]
                assert agrees(value, reference.gradients[tensor], floor), lines
    assert {*tensors} <= {*every}


@pytest.mark.slow
def test_hardly_a_gradient_of_the_functions_with_known_bugs_is_left_to_the_author() -> None:
    """Where it is, a sentence says so: these are infinite somewhere, or a tensor is repeated."""
    asked, told = 0, list[str]()
    for name in BUG_NAMES:
        references, tensors = read(name)
        for tensor in tensors:
            asked += 1
            try:
                derive(references, tensor)
            except UserError as unknown:
                told.append(str(unknown))
    shown = "\n  ".join([f"{asked - len(told)} of {asked} gradients derived; not:", *told])
    assert len(told) <= (1 - LEAST_OF_BUGS) * asked, shown
