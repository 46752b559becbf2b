"""Diagnosis: which mistake makes of a right formula the value that a student's line gave."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import torch
from torch import Tensor

from grader.diagnosis.code_clues import last_assigned, overwrites, written_numbers
from grader.diagnosis.fits import (
    Explanation,
    agrees,
    fit_factor,
    fit_last_written,
    fit_rows,
    fit_scale,
    fit_shape,
)
from grader.diagnosis.formula.axes import Matmul, Transpose
from grader.diagnosis.formula.node import Environment, Formula, walk
from grader.diagnosis.formula.places import Part
from grader.diagnosis.formula.text import describe
from grader.diagnosis.formula_parser import FormulaParser
from grader.diagnosis.hypotheses import ExerciseHypotheses, holds, matching
from grader.diagnosis.kinds import Kind, hint
from grader.diagnosis.mistakes.setting import Mistake
from grader.execution.evidence import GradientEvidence, Value
from grader.program.compare import describe_nonfinite, describe_shape
from grader.program.exercises import Exercise
from grader.program.fused import fused_formulas
from grader.program.references import References
from grader.verdict import Check, Diagnosis, Outcome, Verdict

COARSE = (torch.float16, torch.bfloat16)
"""Dtypes in which a right formula gives a wrong value."""

MOST_NODES = 200
"""Nodes of a student's expression that are looked at; a gradient has fewer."""


def diagnose(
    item: GradientEvidence, verdict: Verdict, exercise: Exercise, references: References
) -> tuple[Diagnosis, ...]:
    """Why a gradient is wrong, the likeliest reason first; nothing rather than a guess."""
    if verdict.diagnosis or verdict.outcome not in (Outcome.FAIL, Outcome.ERROR):
        return verdict.diagnosis
    found = _diagnostician(exercise, references).explanation(item, verdict)
    if found is None:
        return ()
    kind, message = found
    return (Diagnosis(kind, message, hint(kind, item.name)),)


@cache
def _diagnostician(exercise: Exercise, references: References) -> _Diagnostician:
    fused = fused_formulas(exercise.prefix)
    return _Diagnostician(ExerciseHypotheses(references, exercise.sizes, fused))


@dataclass(eq=False)
class _Diagnostician:
    """Finds the mistakes in the gradients of one exercise, with its hypotheses."""

    exercise: ExerciseHypotheses

    def explanation(self, item: GradientEvidence, verdict: Verdict) -> Explanation | None:
        if (unfit := _unfit(item.name, item.local)) is not None:
            return unfit
        values = _numbers(item.local)
        found = self._from_matrices(item) if values is None else self._from_values(item, values)
        return found or self._from_comparison(item, verdict)

    def _from_values(self, item: GradientEvidence, values: Sequence[Tensor]) -> Explanation | None:
        """What was done instead of the chain rule, from what came of it."""
        readers = frozenset(self.exercise.references.program.readers(item.name[1:]))
        sets = item.upstreams(readers)
        # A line that reads no gradient has forgotten the one that arrives.
        likeliest = sets if item.reads else reversed(sets)
        explained = (self._explain(item, given, values) for given in likeliest)
        return next(filter(None, explained), None)

    def _explain(
        self, item: GradientEvidence, given: frozenset[str], values: Sequence[Tensor]
    ) -> Explanation | None:
        """What differs in one place from a right formula and has these values everywhere."""
        gradient, references = item.name, self.exercise.references
        environments = self.exercise.environments
        right = references.local_vjps(gradient[1:], given)
        if all(map(agrees, values, right)):
            return None  # what is wrong is not in this line
        if not any(bool(value.any()) for value in values):
            return Kind.MISSING_BRANCH, f"`{gradient}` is zero: nothing that arrives is handed on."
        hypotheses = self.exercise.look_up(gradient, given)
        mistake = matching(hypotheses, values, environments)
        if mistake is not None:
            return _overwritten(item, mistake)
        sizes = [reference.instance.sizes for reference in references.hidden]
        tensors = {name: [e.values[name] for e in environments] for name in self.exercise.tensors}
        fits: list[Iterator[Explanation]] = []
        for formula in (hypothesis.right for hypothesis in hypotheses):
            scales = fit_scale(gradient, formula, values, environments, sizes, self.exercise.sizes)
            fits += [scales, fit_last_written(gradient, formula, values, environments)]
        fits += [
            fit_shape(gradient, values, right),
            fit_rows(gradient, values, right),
            fit_factor(gradient, values, right, tensors),
        ]
        return next(itertools.chain.from_iterable(fits), None)

    def _from_matrices(self, item: GradientEvidence) -> Explanation | None:
        """A matrix product that does not fit, and does with a factor transposed or moved."""
        tensor, environments = item.name[1:], [each.aside() for each in self.exercise.environments]
        right = self.exercise.references.local_vjps(tensor, item.reads)
        formula = last_assigned(item, FormulaParser(environments[0].values.keys(), item.reads))
        nodes = iter(()) if formula is None else walk(formula)
        for node, put in itertools.islice(nodes, MOST_NODES):
            if isinstance(node, Matmul):
                for kind, turned in _turned(node):
                    if holds(put(turned), right, environments):
                        return kind, self._describe_product(item.name, node, environments[0])
        return None

    def _describe_product(self, gradient: str, node: Matmul, environment: Environment) -> str:
        left, right = (self._at_lecture(environment(side)) for side in (node.left, node.right))
        due = self._at_lecture(environment.values[gradient[1:]])
        return (
            f"The product `{describe(node)}` multiplies shapes {left} and {right}; for"
            f" `{gradient}` it has to give {due}."
        )

    def _at_lecture(self, tensor: Tensor) -> tuple[int, ...]:
        lengths = self.exercise.references.lengths[0]
        return tuple(lengths.get(length, length) for length in tensor.shape)

    def _from_comparison(self, item: GradientEvidence, verdict: Verdict) -> Explanation | None:
        """What the lecture's batch shows where nothing else does."""
        comparison = verdict.comparison
        shape, expected = comparison.shape, comparison.expected_shape
        if comparison.approximate and verdict.global_check is not Check.RIGHT:
            return self._only_here(item)
        if shape is not None and expected is not None and shape != expected:
            turned = len(shape) == 2 and shape == expected[::-1]
            kind = Kind.TRANSPOSED if turned else Kind.WRONG_SHAPE
            return kind, describe_shape(f"`{item.name}`", shape, expected)
        return None

    def _only_here(self, item: GradientEvidence) -> Explanation:
        """A line that is right on the lecture's sizes, and there only."""
        written = sorted(written_numbers(item.code) & self._size_like.keys(), reverse=True)
        if not written:
            return (
                Kind.ONLY_THIS_BATCH,
                f"`{item.name}` is right on the notebook's batch and wrong on others.",
            )
        listed = ", ".join(f"{number:g} ({self._size_like[number]})" for number in written)
        return (
            Kind.HARD_CODED_SIZE,
            f"`{item.name}` is right at the notebook's sizes only: written into its line are"
            f" {listed}.",
        )

    @cached_property
    def _size_like(self) -> dict[float, str]:
        """The numbers that a size of the lecture's may be written as, with what it is called."""
        sizes = self.exercise.sizes
        named: dict[float, str] = {}
        for (one, a), (other, b) in itertools.combinations(sizes.items(), 2):
            named[float(a * b)] = f"{one} * {other}"
        for name, length in sizes.items():
            named |= {float(length - 1): f"{name} - 1", 1.0 / length: f"1/{name}"}
        named |= {float(length): name for name, length in sizes.items()}
        # A 2 is a square's, seldom a size's.
        return {number: name for number, name in named.items() if number not in (0.0, 1.0, 2.0)}


def _unfit(gradient: str, observed: Sequence[Value]) -> Explanation | None:
    """What is no floating-point number: NaN, infinity, another dtype."""
    for tensor in (value.tensor for value in observed):
        if tensor is None:
            continue
        if not tensor.is_floating_point() or tensor.dtype in COARSE:
            dtype = str(tensor.dtype).removeprefix("torch.")
            message = f"`{gradient}` has dtype {dtype}; `{gradient[1:]}` has another."
            return Kind.WRONG_DTYPE, message
        if describe_nonfinite(gradient, tensor):
            numbers = tensor.double()
            which = "NaN" if bool(numbers.isnan().any()) else "infinite numbers"
            share = "some" if bool(numbers.isfinite().any()) else "nothing but"
            return Kind.NAN, f"`{gradient}` has {share} {which} in it."
    return None


def _numbers(observed: Sequence[Value]) -> list[Tensor] | None:
    """The values of every instance, if there are any to compare."""
    usable = [
        v.tensor.double()
        for v in observed
        if v.tensor is not None and v.raised is None and v.interrupted is None
    ]
    return usable if len(usable) == len(observed) else None


def _overwritten(item: GradientEvidence, mistake: Mistake) -> Explanation:
    """Tell a contribution that was assigned over from one that was never written."""
    kind, message = mistake.kind, mistake.message
    if kind not in (Kind.MISSING_BRANCH, Kind.PARTIAL_ROWS):
        return kind, message
    parts = [node for node, _ in walk(mistake.formula) if isinstance(node, Part)]
    if not overwrites(item, kind, takes_last=any(part.start == -1 for part in parts)):
        return kind, message
    why = "The last assignment replaces what was there."
    if kind is Kind.PARTIAL_ROWS:
        why = "Each turn of the loop replaces the one before."
    return Kind.OVERWRITTEN_BRANCH, f"{message} {why}"


def _turned(node: Matmul) -> Iterator[tuple[Kind, Matmul]]:
    """The same two matrices multiplied in every other way."""
    left = (node.left, _transposed(node.left))
    right = (node.right, _transposed(node.right))
    for one, other in itertools.product(left, right):
        yield Kind.TRANSPOSED, Matmul(one, other)
    for one, other in itertools.product(right, left):
        yield Kind.WRONG_ORDER, Matmul(one, other)


def _transposed(formula: Formula) -> Formula:
    return formula.body if isinstance(formula, Transpose) else Transpose(formula)
