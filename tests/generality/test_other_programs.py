"""Programs the course does not contain are graded exercises, from a forward function alone."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import grader
from corpus.readers.lecture_course import EXERCISES
from corpus.readers.other_programs import ATTENTION, OTHER_EXERCISES
from corpus.readers.other_variants import BY_PREFIX, right_answers, variants
from grader.execution.runner import Runner
from grader.program.exercises import Exercise
from grader.program.instances import HIDDEN_SIZES
from grader.program.parse import parse_program
from grader.program.references import prepare
from grader.verdict import Outcome, Verdict
from tests.helpers.verdicts import verdicts_of

LEAST_NAMED = 0.97
pytestmark = pytest.mark.slow

LEAST_VARIANTS = 40
BLAMED = {Outcome.FAIL, Outcome.ERROR}

Judge = Callable[[str, str], dict[str, Verdict]]

each = pytest.mark.parametrize("exercise", OTHER_EXERCISES, ids=lambda e: e.prefix)


@pytest.fixture(scope="session")
def judge(warm_runner: Runner) -> Judge:
    """A text of answer cells to the verdicts of the program with a prefix, by gradient."""
    return lambda prefix, source: verdicts_of(BY_PREFIX[prefix], source, warm_runner)


def test_the_course_and_the_grader_know_nothing_of_these_programs() -> None:
    theirs = {exercise.prefix for exercise in EXERCISES}
    assert theirs.isdisjoint(BY_PREFIX)
    folder = Path(grader.__path__[0])
    texts = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    words = "|".join(exercise.forward.__name__ for exercise in OTHER_EXERCISES)
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.search(rf"\b({words})\b", node.value), path


@each
def test_nothing_but_a_forward_function_is_given(exercise: Exercise) -> None:
    program = parse_program(exercise.forward)
    names = program.size_names
    assert set(exercise.sizes) == set(names)
    assert all(set(row).isdisjoint(exercise.sizes.values()) for row in HIDDEN_SIZES)
    for place, gradient in enumerate(exercise.gradients):
        later = {f"d{step}" for step in program.descendants(gradient[1:])}
        assert later.isdisjoint(exercise.gradients[place + 1 :]), gradient


@each
def test_there_are_three_styles_at_least_each_with_a_sentence(exercise: Exercise) -> None:
    openings = [source.splitlines()[0] for source in right_answers(exercise.prefix).values()]
    assert len(openings) >= 3
    assert len(set(openings)) == len(openings)
    assert all(line.startswith("# ") and line.endswith(".") for line in openings)


@each
def test_the_blank_is_to_do(exercise: Exercise, judge: Judge) -> None:
    blanks = "\n".join(f"{name} = ...  # your turn" for name in exercise.gradients)
    verdicts = judge(exercise.prefix, f"# answer: {exercise.prefix}-blank\n{blanks}\n")
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.TODO}


# --- one-fault variants


@each
def test_the_variants_are_many_and_each_is_one(exercise: Exercise) -> None:
    found = variants(exercise.prefix)
    assert len(found) >= LEAST_VARIANTS
    assert len({variant.source for variant in found}) == len(found)
    assert {variant.gradient for variant in found} == set(exercise.gradients)
    for variant in found:
        original = right_answers(variant.prefix)[variant.style]
        assert original.count(variant.right) == 1, variant.key
        assert len(variant.kinds) == 1 or variant.why, variant.key


def test_most_kinds_occur() -> None:
    kinds = Counter(kind for prefix in BY_PREFIX for v in variants(prefix) for kind in v.kinds)
    assert len(kinds) >= 18


def test_a_mask_left_out_where_the_gradient_is_zero_anyway_passes(judge: Judge) -> None:
    """The softmax has handed zeros to the masked places: nothing the loss depends on is wrong."""
    right = right_answers("attention")["steps"]
    unmasked = right.replace("dmasked.masked_fill(future, 0.0)", "dmasked.clone()")
    assert unmasked != right
    verdicts = judge("attention", unmasked)
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}


def test_what_is_masked_has_no_gradient_on_any_instance() -> None:
    for reference in prepare(ATTENTION).hidden:
        future = reference.instance.values["future"]
        assert not bool(reference.gradients["scores"].masked_select(future).any())
        assert bool(reference.gradients["scores"].masked_select(~future).any())
