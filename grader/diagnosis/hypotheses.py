"""Hypotheses: the mistakes that a gradient's right formulas admit, with their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from torch import Tensor

from grader.diagnosis.derivation import Derivation
from grader.diagnosis.fits import agrees
from grader.diagnosis.formula.arithmetic import Elementwise, Value
from grader.diagnosis.formula.node import DoesNotFit, Environment, Formula, size
from grader.diagnosis.kinds import Kind
from grader.diagnosis.mistakes.search import LARGEST_FORMULA, mistakes_of
from grader.diagnosis.mistakes.setting import Mistake, Setting
from grader.program.references import References


@dataclass(frozen=True, slots=True, eq=False)
class Hypotheses:
    """A right formula, with its mistakes and their values on the first hidden instance."""

    right: Formula
    mistakes: Sequence[tuple[Mistake, Tensor]]


@dataclass(eq=False)
class ExerciseHypotheses:
    """The hypotheses of one exercise, made once for each gradient and set of upstreams.

    Attributes:
        references: of the hidden instances.
        sizes: the lecture's, by name.
        fused: other right formulas by tensor, for what belongs to one formula alone.
    """

    references: References
    sizes: Mapping[str, int]
    fused: Mapping[str, Sequence[str]]
    _known: dict[tuple[str, frozenset[str]], list[Hypotheses]] = field(default_factory=dict)

    def look_up(self, gradient: str, given: frozenset[str]) -> list[Hypotheses]:
        """One entry for each right formula from the gradients of the tensors in `given`."""
        key = gradient, given
        if key not in self._known:
            self._known[key] = [
                Hypotheses(formula, list(self._evaluated(gradient, formula, given)))
                for formula in self._right_formulas(gradient[1:], given)
            ]
        return self._known[key]

    @cached_property
    def environments(self) -> list[Environment]:
        """The hidden instances with their random upstreams."""
        return [
            Environment({**r.instance.sizes, **r.instance.values}, r.cotangents)
            for r in self.references.hidden
        ]

    @cached_property
    def tensors(self) -> list[str]:
        """The names of all tensors but the loss."""
        values = self.references.hidden[0].instance.values
        loss = self.references.program.loss
        return [name for name, v in values.items() if isinstance(v, Tensor) and name != loss]

    def _evaluated(
        self, gradient: str, formula: Formula, given: frozenset[str]
    ) -> Iterator[tuple[Mistake, Tensor]]:
        environment = self.environments[0]
        setting = Setting(gradient, environment, given, self.sizes, self._operand_of, self.tensors)
        right = environment(formula)
        for mistake in mistakes_of(formula, setting):
            try:
                value = environment(mistake.formula)
            except DoesNotFit:
                continue
            # An edit that changes no number is no mistake, but for the shape it may have lost.
            flat = mistake.kind is Kind.WRONG_AXIS
            if isinstance(value, Tensor) and not agrees(value, right, flat):
                yield mistake, value

    def _right_formulas(self, tensor: str, given: frozenset[str]) -> Iterator[Formula]:
        """The derived formula, then those of another form that have the same value."""
        derived = self._derivation.gradient(tensor, given)
        if size(derived) <= LARGEST_FORMULA:
            yield derived
        right = self.references.local_vjps(tensor, given)
        parser = self._derivation.parser(given)
        for text in self.fused.get(tensor, ()):
            # Where it needs a gradient that is not handed down here, it has no value.
            formula = parser.parse(text)
            if holds(formula, right, self.environments):
                yield formula

    @cached_property
    def _derivation(self) -> Derivation:
        return Derivation(self.references.program, self.references.hidden[0].instance)

    @cached_property
    def _operand_of(self) -> dict[str, str]:
        """For each step that is one elementwise function of a tensor, that tensor."""
        parser = self._derivation.parser()
        operands = {}
        for step in self.references.program.steps:
            match parser.parse(step.expression):
                case Elementwise(_, Value(name)):
                    operands[step.name] = name
        return operands


def holds(
    formula: Formula,
    values: Sequence[Tensor],
    environments: Sequence[Environment],
    flat: bool = False,
) -> bool:
    """True if a formula gives the values on every hidden instance, in any shape if `flat`."""
    for value, environment in zip(values, environments, strict=True):
        try:
            other = environment(formula)
        except DoesNotFit:
            return False
        if not isinstance(other, Tensor) or not agrees(value, other, flat):
            return False
    return True


def matching(
    hypotheses: Sequence[Hypotheses],
    values: Sequence[Tensor],
    environments: Sequence[Environment],
) -> Mistake | None:
    """The likeliest mistake that has these values on every hidden instance."""
    for hypothesis in hypotheses:
        for mistake, first in hypothesis.mistakes:
            # Along a wrong axis the sum has another shape, which students then force into place.
            flat = mistake.kind is Kind.WRONG_AXIS
            known = environments[0].known.get(mistake.formula)
            if known is first and not agrees(values[0], first, flat):
                continue
            if holds(mistake.formula, values, environments, flat):
                return mistake
    return None
