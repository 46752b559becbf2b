"""Diagnosis: which mistake makes of a right formula the value that a student's line gave."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from grader.catalogue import HINTS
from grader.compare import describe_nonfinite
from grader.derivation import Derivation
from grader.evidence import GradientEvidence
from grader.evidence import Value as Observed
from grader.fits import agrees, fit_factor, fit_rows, fit_scale, fit_shape, name_scale
from grader.formula import (
    Branch,
    DoesNotFit,
    Elementwise,
    Environment,
    Formula,
    Matmul,
    Number,
    Transpose,
    Value,
    describe,
    multiply,
    size,
    walk,
)
from grader.formula_parser import FormulaParser, NotAFormula
from grader.kinds import Kind
from grader.mistakes import LARGEST_FORMULA, Mistake, Setting, mistakes_of
from grader.references import References
from grader.verdict import Check, Diagnosis, Outcome, Verdict

Explanation = tuple[Kind, str]
"""A kind of mistake with the sentence about it."""

MOST = 3
"""Diagnoses of one gradient: what comes later is ever less likely."""

COARSE = (torch.float16, torch.bfloat16)


@dataclass(frozen=True, slots=True, eq=False)
class _Hypotheses:
    """A right formula, with its mistakes and their values on the first hidden instance."""

    right: Formula
    mistakes: Sequence[tuple[Mistake, Tensor]]


@dataclass(eq=False)
class Diagnostician:
    """Finds the mistakes in the gradients of one exercise.

    Hypotheses are made once for each gradient and set of upstreams, and remembered.

    Attributes:
        references: of the hidden instances.
        sizes: the lecture's, by name.
        lengths: for each length of the first hidden instance's axes, the lecture's.
        fused: other right formulas by tensor, for what belongs to one formula alone.
    """

    references: References
    sizes: Mapping[str, int]
    lengths: Mapping[int, int]
    fused: Mapping[str, Sequence[str]]
    _known: dict[tuple[str, frozenset[str]], list[_Hypotheses]] = field(default_factory=dict)

    def diagnose(self, item: GradientEvidence, verdict: Verdict) -> tuple[Diagnosis, ...]:
        """Why a gradient is wrong, the likeliest reason first; nothing rather than a guess."""
        if verdict.diagnosis or verdict.outcome not in (Outcome.FAIL, Outcome.ERROR):
            return verdict.diagnosis
        found: dict[Kind, Diagnosis] = {}
        for kind, message in itertools.islice(self._explanations(item, verdict), MOST):
            found.setdefault(kind, Diagnosis(kind, message, HINTS[kind]))
        return tuple(found.values())

    def _explanations(self, item: GradientEvidence, verdict: Verdict) -> Iterator[Explanation]:
        observed = item.local if item.local is not None else item.hidden
        if unfit := _unfit(item.name, observed):
            yield unfit
            return
        values = _numbers(observed)
        found = False
        for kind, message in self._from_values(item, values) if values is not None else ():
            found = True
            yield _overwritten(item, kind, message)
        if values is None and (turned := self._turned_matrices(item)) is not None:
            found = True
            yield turned
        if found:
            return
        comparison = verdict.comparison
        if comparison.approximate and verdict.global_check is not Check.RIGHT:
            yield self._only_here(item)
        elif comparison.shape is not None and comparison.shape != comparison.expected_shape:
            yield (
                Kind.WRONG_SHAPE,
                f"`{item.name}` has shape {comparison.shape}, but `{item.name[1:]}` has shape"
                f" {comparison.expected_shape}.",
            )

    def _from_values(
        self, item: GradientEvidence, values: Sequence[Tensor]
    ) -> Iterator[Explanation]:
        if item.local is None:
            # Its own statements cannot be told apart: they are judged by what the whole gives.
            readers = frozenset(self.references.program.readers(item.name[1:]))
            return self._matches(item.name, readers, values, self.true_environments)
        for given in self._candidates(item):
            found = list(
                itertools.islice(self._matches(item.name, given, values, self.environments), MOST)
            )
            if found:
                return iter(found)
        return iter(())

    def _candidates(self, item: GradientEvidence) -> list[frozenset[str]]:
        """The sets of upstreams that a line may have been made from, as for its local check."""
        steps = frozenset(self.references.hidden[0].cotangents)
        readers = frozenset(self.references.program.readers(item.name[1:]))
        reads = item.reads & steps
        return list(dict.fromkeys((reads, reads - item.writes, readers)))

    def _matches(
        self,
        gradient: str,
        given: frozenset[str],
        values: Sequence[Tensor],
        environments: Sequence[Environment],
    ) -> Iterator[Explanation]:
        """What differs in one place from a right formula and has these values everywhere."""
        if not any(bool(value.any()) for value in values):
            yield Kind.MISSING_BRANCH, f"`{gradient}` is zero: nothing that arrives is handed on."
            return
        hypotheses = self._hypotheses(gradient, given)
        local = environments is self.environments
        for hypothesis in hypotheses:
            for mistake, value in hypothesis.mistakes:
                if (not local or agrees(values[0], value)) and _holds(
                    mistake.formula, values, environments
                ):
                    yield mistake.kind, mistake.message
        for hypothesis in hypotheses:
            yield from self._scaled(gradient, hypothesis.right, values, environments)
        right = [
            reference.local_vjp(gradient[1:], given) if local else reference.gradients[gradient[1:]]
            for reference in self.references.hidden
        ]
        yield from fit_shape(gradient, values, right)
        yield from fit_rows(gradient, values, right)
        tensors = {
            name: [environment.values[name] for environment in environments]
            for name in self._tensors
        }
        yield from fit_factor(gradient, values, right, tensors)

    def _scaled(
        self,
        gradient: str,
        right: Formula,
        values: Sequence[Tensor],
        environments: Sequence[Environment],
    ) -> Iterator[Explanation]:
        """A right formula with a constant too much or too little, in all of it or in one branch."""
        sizes = [reference.instance.sizes for reference in self.references.hidden]
        wholes = [environment(right) for environment in environments]
        for node, put in walk(right):
            if node is not right and not isinstance(node, Branch):
                continue
            rest = put(multiply(Number(0.0), node))
            try:
                without = [environment(rest) for environment in environments]
            except DoesNotFit:
                continue
            parts = [whole - other for whole, other in zip(wholes, without, strict=True)]
            scales = fit_scale(values, wholes, parts)
            named = None if scales is None else name_scale(scales, sizes)
            if named is None:
                continue
            where = f"`{gradient}`"
            if isinstance(node, Branch) and node is not right:
                where = f"The part of `{gradient}` that comes through `{node.through}`"
            text, is_bessel = named
            if text == "-1":
                yield Kind.SIGN, f"{where} has the wrong sign."
            else:
                kind = Kind.BESSEL if is_bessel else Kind.CONSTANT_FACTOR
                yield kind, f"{where} is {text} times what it should be."

    def _turned_matrices(self, item: GradientEvidence) -> Explanation | None:
        """A matrix product that does not fit, and does with a factor transposed or moved."""
        tensor = item.name[1:]
        for given in self._candidates(item):
            right = [reference.local_vjp(tensor, given) for reference in self.references.hidden]
            parser = FormulaParser(self.environments[0].values.keys(), given)
            formula = _last_assigned(item, parser)
            if formula is None:
                continue
            for node, put in walk(formula):
                if not isinstance(node, Matmul):
                    continue
                for kind, turned in _turned(node):
                    if _holds(put(turned), right, self.environments):
                        return kind, self._describe_product(item.name, node)
        return None

    def _describe_product(self, gradient: str, node: Matmul) -> str:
        shapes = []
        for side in (node.left, node.right):
            shape = self.environments[0](side).shape
            shapes.append(str(tuple(self.lengths.get(length, length) for length in shape)))
        tensor = self.environments[0].values[gradient[1:]]
        due = tuple(self.lengths.get(length, length) for length in tensor.shape)
        return (
            f"The product `{describe(node)}` multiplies shapes {' and '.join(shapes)}; for"
            f" `{gradient}` it has to give {due}."
        )

    def _only_here(self, item: GradientEvidence) -> Explanation:
        """A line that is right on the lecture's sizes, and there only."""
        written = sorted(_written_numbers(item.code) & _size_like(self.sizes).keys())
        if not written:
            return (
                Kind.ONLY_THIS_BATCH,
                f"`{item.name}` is right on the notebook's batch and wrong on others.",
            )
        listed = " and ".join(f"{number:g}" for number in written)
        names = " and ".join(_size_like(self.sizes)[number] for number in written)
        return (
            Kind.HARD_CODED_SIZE,
            f"`{item.name}` is right only where {names} is {listed}: the number is written into"
            " the line.",
        )

    def _hypotheses(self, gradient: str, given: frozenset[str]) -> list[_Hypotheses]:
        key = gradient, given
        if key not in self._known:
            self._known[key] = [
                _Hypotheses(formula, list(self._evaluated(gradient, formula, given)))
                for formula in self._right_formulas(gradient[1:], given)
            ]
        return self._known[key]

    def _evaluated(
        self, gradient: str, formula: Formula, given: frozenset[str]
    ) -> Iterator[tuple[Mistake, Tensor]]:
        environment = self.environments[0]
        setting = Setting(gradient, environment, given, self.sizes, self._operand_of, self._tensors)
        for mistake in mistakes_of(formula, setting):
            try:
                value = environment(mistake.formula)
            except DoesNotFit:
                continue
            if isinstance(value, Tensor):
                yield mistake, value

    def _right_formulas(self, tensor: str, given: frozenset[str]) -> Iterator[Formula]:
        """The derived formula, then those of another form that have the same value."""
        derived = self._derivation.gradient(tensor, given)
        if size(derived) <= LARGEST_FORMULA:
            yield derived
        right = [reference.local_vjp(tensor, given) for reference in self.references.hidden]
        parser = self._derivation.parser(given)
        for text in self.fused.get(tensor, ()):
            # Where it needs a gradient that is not handed down here, it has no value.
            formula = parser.parse(text)
            if _holds(formula, right, self.environments):
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

    @cached_property
    def _tensors(self) -> list[str]:
        values = self.references.hidden[0].instance.values
        loss = self.references.program.loss
        return [name for name, v in values.items() if isinstance(v, Tensor) and name != loss]

    @cached_property
    def environments(self) -> list[Environment]:
        """The hidden instances with their random upstreams."""
        return [
            Environment(
                {**reference.instance.sizes, **reference.instance.values}, reference.cotangents
            )
            for reference in self.references.hidden
        ]

    @cached_property
    def true_environments(self) -> list[Environment]:
        """The hidden instances with autograd's gradients as upstreams."""
        return [
            Environment(
                {**reference.instance.sizes, **reference.instance.values}, reference.gradients
            )
            for reference in self.references.hidden
        ]


def _holds(formula: Formula, values: Sequence[Tensor], environments: Sequence[Environment]) -> bool:
    """True if a formula gives the values on every hidden instance."""
    for value, environment in zip(values, environments, strict=True):
        try:
            other = environment(formula)
        except DoesNotFit:
            return False
        if not isinstance(other, Tensor) or not agrees(value, other):
            return False
    return True


def _unfit(gradient: str, observed: Sequence[Observed]) -> Explanation | None:
    """What is no floating-point number: NaN, infinity, another dtype."""
    for value in observed:
        if value.tensor is None:
            continue
        if not value.tensor.is_floating_point() or value.tensor.dtype in COARSE:
            kind = str(value.tensor.dtype).removeprefix("torch.")
            return Kind.WRONG_DTYPE, f"`{gradient}` has dtype {kind}; its tensor has another."
        if describe_nonfinite(gradient, value.tensor):
            numbers = value.tensor.double()
            which = "NaN" if bool(numbers.isnan().any()) else "infinite numbers"
            some = "nothing but" if not bool(numbers.isfinite().any()) else "some"
            return Kind.NAN, f"`{gradient}` has {some} {which} in it."
    return None


def _numbers(observed: Sequence[Observed]) -> list[Tensor] | None:
    """The values of every instance, if there are any to compare."""
    usable = [v.tensor.double() for v in observed if v.tensor is not None and v.raised is None]
    return usable if len(usable) == len(observed) else None


def _overwritten(item: GradientEvidence, kind: Kind, message: str) -> Explanation:
    """Tell a contribution that was assigned over from one that was never written."""
    d = item.name
    writers = [tree for text in item.code for tree in ast.parse(text).body if _writes(tree, d)]
    if not writers or not _replaces(writers[-1], d):
        return kind, message
    if kind is Kind.MISSING_BRANCH and any(not _prepares(tree, d) for tree in writers[:-1]):
        return Kind.OVERWRITTEN_BRANCH, f"{message} The last assignment replaces what was there."
    if kind is Kind.PARTIAL_ROWS and "takes the last" in message:
        return Kind.OVERWRITTEN_BRANCH, f"{message} Each turn of the loop replaces the one before."
    return kind, message


def _writes(statement: ast.stmt, gradient: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == gradient and isinstance(node.ctx, ast.Store)
        for node in ast.walk(statement)
    ) or any(
        isinstance(node, ast.Subscript | ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == gradient
        and (isinstance(node.ctx, ast.Store) or getattr(node, "attr", "").endswith("_"))
        for node in ast.walk(statement)
    )


def _replaces(statement: ast.stmt, gradient: str) -> bool:
    """True if a statement puts something in the place of what a gradient was."""
    for node in ast.walk(statement):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name == gradient:
                return True
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]) if name == gradient:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="copy_")) if (
                name == gradient
            ):
                return True
    return False


def _prepares(statement: ast.stmt, gradient: str) -> bool:
    """True if a statement only makes room: `dX = torch.zeros_like(X)`."""
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=name))):
            return name.startswith(("zeros", "empty", "new_zeros", "new_empty"))
    return False


def _last_assigned(item: GradientEvidence, parser: FormulaParser) -> Formula | None:
    """The student's expression as a formula, if it is one."""
    for text in reversed(item.code):
        match ast.parse(text).body:
            case [ast.Assign(targets=[ast.Name(id=name)], value=value)] if name == item.name:
                try:
                    return parser.read(value)
                except NotAFormula:
                    return None
    return None


def _turned(node: Matmul) -> Iterator[tuple[Kind, Matmul]]:
    """The same two matrices multiplied in every other way."""
    left, right = node.left, node.right
    ways = itertools.product((left, _transposed(left)), (right, _transposed(right)))
    for one, other in ways:
        yield Kind.TRANSPOSED, Matmul(one, other)
    ways = itertools.product((right, _transposed(right)), (left, _transposed(left)))
    for one, other in ways:
        yield Kind.WRONG_ORDER, Matmul(one, other)


def _transposed(formula: Formula) -> Formula:
    return formula.body if isinstance(formula, Transpose) else Transpose(formula)


def _written_numbers(code: Sequence[str]) -> set[float]:
    """The numbers that stand in some statements, with the values of the shortest fractions."""
    numbers: set[float] = set()
    for text in code:
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                    numbers.add(float(value))
                case ast.BinOp(
                    left=ast.Constant(value=int() | float() as above),
                    op=ast.Div(),
                    right=ast.Constant(value=int() | float() as below),
                ) if below:
                    numbers.add(above / below)
    return numbers


def _size_like(sizes: Mapping[str, int]) -> dict[float, str]:
    """The numbers that a size may be written as, with what it is called."""
    named: dict[float, str] = {}
    for (one, a), (other, b) in itertools.combinations(sizes.items(), 2):
        named[float(a * b)] = f"{one} * {other}"
    for name, length in sizes.items():
        named[float(length - 1)] = f"{name} - 1"
    for name, length in sizes.items():
        named[1.0 / length] = f"1/{name}"
    for name, length in sizes.items():
        named[float(length)] = name
    # A 2 is a square's, seldom a size's.
    return {number: name for number, name in named.items() if number not in (0.0, 1.0, 2.0)}
