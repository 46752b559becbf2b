"""Repair: the likeliest edit of a gradient's own statements that makes them right."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from grader.answer.own_code import OwnStatement, meant_for, own_statements
from grader.answer.parse import Answer
from grader.diagnosis.edit import SLOPE, Edit, Scope
from grader.diagnosis.every_edit import every_edit
from grader.diagnosis.factors import name_factor
from grader.diagnosis.kinds import Kind
from grader.execution.ask import Allowance, handed_down
from grader.execution.evidence import Observed, as_cmp_takes_it
from grader.execution.runner import AnyRunner
from grader.execution.values import right_beside, values_for
from grader.execution.variants import Variants
from grader.program.compare import FLOAT64_NOISE, FLOAT64_TOLERANCE, agrees
from grader.program.exercises import Exercise
from grader.program.forward_program import ForwardProgram, Step, is_differentiable
from grader.program.references import References
from grader.worker.job import Group

MOST_VARIANTS = ((2, 600), (1, 600), (1, 1_000), (2, 2_000))
"""How many edits of how many likelihoods are tried at once, the likeliest first. The search is
bounded by their number and not by the clock, so that a diagnosis does not depend on how busy the
machine is."""

MOST_CONFIRMED = 20
"""How many of the edits that are right on the first instance are tried on the second."""

MOST_NEAR = 12
"""How many names of the forward pass are tried early."""

PLAIN = (1.0, 2.0, 0.5, 3.0, 4.0, 0.25, 1.5, 1 / 3)
"""The numbers that a backward pass has, with or without sizes beside them."""

DIFFERENCE = re.compile(r"\b[A-Za-z_]\w* - [A-Za-z_]\w*\b(?!\()")
"""An expression of two names, as in a forward line."""


@dataclass(eq=False)
class Search:
    """Looks for the repair of one gradient that is wrong by itself.

    A gradient is right if it is the local VJP from one of several sets of upstream gradients, which
    are `given`. The first `coarse` of them may be met up to a factor. The last one, the loss, must
    be met exactly, and so must the `targets` after these, which leave out a branch that is always
    zero.
    """

    item: Observed
    answer: Answer
    exercise: Exercise
    references: References
    runner: AnyRunner
    allowance: Allowance
    right: Mapping[str, Set[int]] = field(default_factory=dict)
    """The gradients whose own lines are right, each with the numbers of its statements."""
    near: list[Edit] = field(default_factory=list)
    """The values that would be right except for a factor."""
    reading: Mapping[float, str] = field(default_factory=dict)
    """Numbers in its statements that are read as names of the notebook: a size, or a number of the
    forward pass."""

    def __post_init__(self) -> None:
        program = self.references.program
        readers = frozenset(program.readers(self.item.name[1:]))
        whose = self.item.name, self.item.keep, self.item.code, self.answer
        self.keep = meant_for(*whose, self.exercise.gradients)
        every = own_statements(self.answer, self.keep)
        self.settled = [own for own in every if self._is_settled(own, every)]
        self.statements = [own for own in every if own not in self.settled]
        if self.item.beside is not None:
            # The other gradients that it uses are given with their right values, and not made.
            self.item = replace(self.item, local=self.item.beside)
            self.keep -= {n for own in self.settled for n in self.answer.inside[own.top]}
            self.settled = []
        # The names read by a line whose result is thrown away.
        lost = (own.names for own in every if own.number not in self.item.keep)
        read = {*self.exercise.gradients} & frozenset[str]().union(*lost) - {self.item.name}
        due = _asked_above(program, self.item.name[1:], self.exercise.gradients)
        given = readers, *self.item.upstreams(readers), frozenset(name[1:] for name in read), due
        self.given = [s for s in dict.fromkeys(given) if s]
        # In some programs, the upstream gradient of the output is itself a forward value.
        self.coarse = len(self.given) + bool(program.arrivals())
        self.given.append(frozenset())
        vjps, tensor = self.references.local_vjps, self.item.name[1:]
        self.targets = [vjps(tensor, given) for given in self.given]
        # Leaving out a branch that is always zero is right, unless the line reads its tensor.
        if tensor not in self.names:
            zeros = readers & self.references.zero_by_structure - self.item.reads - self.names
            self.targets += [vjps(tensor, self.item.reads, {branch}) for branch in sorted(zeros)]
        self.scope = _scope(
            self.item, self.statements, self.exercise, self.references, fits=self.fits
        )

    def _is_settled(self, own: OwnStatement, every: Sequence[OwnStatement]) -> bool:
        """True for a statement that makes another gradient and no part of this one.

        It is false if the statement also changes a tensor of the forward pass. A loop may make
        both another gradient and a value that this one needs afterwards.
        """
        written, gradients = self.answer.written[own.top], {*self.exercise.gradients}
        if self.item.name in written or written.isdisjoint(gradients):
            return False
        others = (one.names for one in every if own.loops and one is not own)
        shared = {*self.references.program.names}.union(*others)
        return shared.isdisjoint(written - gradients)

    def _may_be_wrong(self, own: OwnStatement) -> bool:
        """False for a line that makes another gradient right, which a carried one may read."""
        inside = self.answer.inside[own.top] & self.keep
        is_its_own = self.item.name in self.answer.written[own.top]
        return is_its_own or not any(inside <= numbers for numbers in self.right.values())

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in the gradient's own statements."""
        return frozenset[str]().union(*(own.names for own in self.statements))

    @property
    def nodes(self) -> Iterator[tuple[OwnStatement, ast.AST]]:
        """All nodes of its statements."""
        return ((own, node) for own in self.statements for node in ast.walk(own.top))

    @property
    def raises(self) -> bool:
        """True if the gradient's own statements raise an exception."""
        return any(value.raised for value in self.item.local)

    @cached_property
    def is_right_unedited(self) -> bool:
        """True if the statements give the right values when they are run like edits.

        Then something else made them wrong, and an edit that changes nothing would seem to mend
        them.
        """
        # Otherwise the same statements ran that gave the wrong values, unless they are read anew.
        return (self.keep != self.item.keep or bool(self.reading)) and self._gives_right()

    def _gives_right(self) -> bool:
        every = [tensor for (tensor,) in self._variants.run([self._read_anew], (0, 1))]
        told, targets = self._variants.told, [*self.targets]
        if self.item.name[1:] in self.references.zero_by_structure:
            targets.append([torch.zeros_like(right) for right in self.targets[0]])
        return any(
            all(
                value is not None and agrees(value.double(), told(right, instance))
                for instance, (value, right) in enumerate(zip(every, target, strict=False))
            )
            for target in targets
        )

    @property
    def _read_anew(self) -> dict[int, str]:
        """The texts of its statements, if numbers in them are read as sizes."""
        return {own.number: own.text for own in self.statements if self.reading}

    @property
    def fits(self) -> bool:
        """True if the gradient has values on every instance, all of its tensor's shape."""
        pairs = zip(self.values, self.targets[0], strict=False)
        return bool(self.values) and all(value.shape == right.shape for value, right in pairs)

    @cached_property
    def values(self) -> list[Tensor]:
        """The gradient's values on every instance on which it ran; none if one is unusable."""
        local = self.item.local
        if self.reading:
            return []  # these are of the statements as they stand
        whole = (v for v in local if v.raised is None and v.interrupted is None)
        usable = [v.tensor.double() for v in whole if v.tensor is not None]
        return usable if len(usable) == len(local) else []

    @cached_property
    def tolerance(self) -> float:
        """The accepted difference; a value that is already near has to become right to rounding."""
        return FLOAT64_NOISE if self.is_right(FLOAT64_TOLERANCE) else FLOAT64_TOLERANCE

    def is_right(self, tolerance: float) -> bool:
        """True if the values are right within this tolerance."""
        pairs = (zip(self.values, right, strict=False) for right in self.targets)
        near = (all(agrees(*one, tolerance=tolerance) for one in several) for several in pairs)
        return bool(self.values) and any(near)

    def is_made_from(self, arriving: str, others: Set[str]) -> bool:
        """True if an upstream gradient could be made from one of the others."""
        further = self.references.program.descendants(self._step(arriving))
        return any(self._step(other) in further for other in others)

    def _step(self, gradient: str) -> str:
        return self.references.program.arrivals().get(gradient, gradient[1:])

    def counts(self, arriving: str) -> bool:
        """False for an upstream gradient that changes nothing, such as the loss's own 1."""
        reference, tensor = self.references.hidden[0], self.item.name[1:]
        if arriving in (values := reference.instance.values):
            return not bool((torch.as_tensor(values[arriving]) == 1).all())
        carried = reference.local_vjp(tensor, {arriving[1:]}, through=arriving[1:])
        every = reference.local_vjp(tensor, self.given[0])
        if not bool(carried.abs().max() > FLOAT64_TOLERANCE * every.abs().max()):
            return False
        # If the gradient of the loss is zero, leaving it out cannot give a wrong value.
        own, right = reference.gradients.get(arriving[1:]), reference.gradients[tensor]
        return own is None or bool(own.abs().max() > FLOAT64_TOLERANCE * right.abs().max())

    @cached_property
    def loops(self) -> bool:
        """True if an edited version of the statements may take long to run."""
        return any(own.loops for own in self.statements)

    @cached_property
    def with_sizes(self) -> Search | None:
        """The same search with names for numbers, or None if its statements have no such number."""
        own = self.references.lecture.values.items()
        scalars = {x: name for name, x in own if isinstance(x, float) and not x.is_integer()}
        rest = {round(1 - x, 12): f"(1 - {name})" for x, name in scalars.items()}
        sizes = {length: size for size, length in self.exercise.sizes.items() if length > 2}
        less = {length - 1: f"{size} - 1" for length, size in sizes.items() if length > 3}
        pairs = itertools.combinations(sizes.items(), 2)
        products = {m * n: f"{one} * {other}" for (m, one), (n, other) in pairs}
        numbers = {node.value for _, node in self.nodes if isinstance(node, ast.Constant)}
        known = (products | less | sizes | rest | scalars).items()
        reading = {number: name for number, name in known if number in numbers}
        return replace(self, reading=reading, near=[]) if reading and not self.reading else None

    @property
    def is_cut_short(self) -> bool:
        """True if some edits were not tried, because time ran out or the worker was lost."""
        further: Search | None = vars(self).get("with_sizes")
        return self._variants.cut_short or (further is not None and further.is_cut_short)

    def batches(self) -> Iterator[Sequence[Edit]]:
        """The edits to try, the likeliest first."""
        own = [*filter(self._may_be_wrong, self.statements[::-1])]
        edits = every_edit(own, self.answer, self.keep, self.scope)
        for likelihoods, most in MOST_VARIANTS:
            batch = itertools.chain.from_iterable(itertools.islice(edits, likelihoods))
            yield [*batch][: most // (self.runner.slowness if self.loops else 1)]

    def find(self, batch: Sequence[Edit]) -> list[Edit]:
        """Return those edits of a batch that make the gradient right, the likeliest first."""
        hits = self._try(batch, 0)
        hopeful = [place for place, found in enumerate(hits) if found]
        exact = {place for place in hopeful if batch[place].doubled or 1.0 in hits[place].values()}
        hopeful = sorted(hopeful, key=lambda place: (place not in exact, place))[:MOST_CONFIRMED]
        tried = [batch[place] for place in hopeful]
        pairs = zip(tried, (hits[place] for place in hopeful), self._try(tried, 1), strict=True)
        found = [edit for one in pairs if (edit := self._confirmed(*one))]
        # A piece that is taken twice need not double the result, for example in a square or root.
        found = [edit for edit in found if not edit.doubled or self._is_right_once(edit)]
        complete = [edit for edit in found if edit.doubled or edit.factor is None]
        self.near += [edit for edit in found if edit not in complete]
        return complete

    def _is_right_once(self, edit: Edit) -> bool:
        """True if the gradient is right once the piece is divided by its factor."""
        assert edit.factor is not None
        times = f"{edit.factor.number!r} * {edit.factor.sizes or 1}"
        text = edit.own.put(edit.piece, f"({edit.source}) / ({times})")
        (hits,) = self._try([replace(edit, text=text, doubled=False)], 0)
        return 1.0 in hits.values()

    def _confirmed(
        self, edit: Edit, hits: Mapping[int, float], more: Mapping[int, float]
    ) -> Edit | None:
        """The edit with the factor that it leaves, or None if it is not right on both instances."""
        sizes = [reference.instance.sizes for reference in self.references.hidden]
        for target in sorted(hits.keys() & more.keys()):
            scales = (hits[target], more[target])
            if scales == (1.0, 1.0) and not edit.doubled:
                return edit
            factor = name_factor([1 / scale for scale in scales], sizes)
            is_plain = factor and any(abs(abs(factor.number) - n) < 1e-9 for n in PLAIN)
            is_other = edit.kind is not Kind.HARD_CODED_SIZE  # of two such sizes both are listed
            if factor and (is_plain or (is_other and factor.written_out(self.exercise.sizes))):
                return replace(edit, factor=factor)
        return None

    def _try(self, batch: Sequence[Edit], instance: int) -> list[dict[int, float]]:
        """For each edit, the targets that it meets on an instance, each with the missing factor."""
        texts = [self._read_anew | edit.texts for edit in batch]
        (found,) = self._variants.run(texts, (instance,)) if batch else [[]]
        return self._hits(batch, found, instance)

    def _hits(
        self, batch: Sequence[Edit], values: Sequence[Tensor | None], instance: int
    ) -> list[dict[int, float]]:
        hits: list[dict[int, float]] = [{} for _ in batch]
        told = self._variants.told
        rights = [told(target[instance], instance) for target in self.targets]
        start = self.values[instance] if instance < len(self.values) else None
        shape = self.targets[0][instance].shape
        if self.references.as_lecture and not instance:
            values = [as_cmp_takes_it(value, shape) for value in values]
        if start is not None and not (start.shape == shape and bool(start.isfinite().all())):
            start = None
        fitting = {
            place: value.double().flatten()
            for place, value in enumerate(values)
            if value is not None and value.shape == rights[0].shape
            if start is not None or not batch[place].doubled
        }
        if not fitting:
            return hits
        origin = torch.zeros_like(rights[0]) if start is None else told(start, instance)
        doubled = torch.tensor([batch[place].doubled for place in fitting])
        # All at once, because comparing one after the other takes as long as running them.
        several = torch.stack([*fitting.values()])
        for number, right in enumerate(rights):
            ends = right.flatten(), origin.flatten()
            scales = _scales(several, *ends, doubled, self.tolerance)
            for place, scale in zip(fitting, scales, strict=True):
                is_exact = scale == 1.0 and not batch[place].doubled
                if scale is not None and (number < self.coarse or is_exact):
                    hits[place][number] = scale
        return hits

    @cached_property
    def _variants(self) -> Variants:
        slopes = (reference.slopes(self.item.name[1:]) for reference in self.references.hidden)
        asked, given = self.exercise.gradients, list[Group]()
        if self.item.beside is not None:
            given = right_beside(self.references, {f"d{name}" for name in self.item.siblings})
        return Variants(
            self.answer,
            self.item.name,
            self.keep,
            handed_down(self.references.program, asked),
            values_for(self.references, asked),
            [{SLOPE.format(step): s for step, s in one.items()} for one in slopes],
            given,
            self.runner,
            self.allowance,
            self.reading,
        )


def _scales(
    values: Tensor, right: Tensor, start: Tensor, doubled: Tensor, tolerance: float
) -> list[float | None]:
    """For each of `values`, of shape (some, numel), find the number c with right = c value.

    It is 1.0 if they are equal. The `doubled` ones contain a part twice that the `start` contains
    once, and for these c is the number with right = start + (c - 1) (value - start). It is None if
    there is no such number, or if it is zero, since a missing part is another mistake than a wrong
    factor.
    """
    origins = doubled.view(-1, 1) * start
    parts, wholes = values - origins, right - origins
    numbers = (parts * wholes).sum(1) / (parts * parts).sum(1)
    # Written so that NaN is never a hit.
    close = tolerance * right.abs().max()
    is_same = ~doubled & ((values - right).abs().amax(1) <= close)
    is_hit = is_same | ((numbers.view(-1, 1) * parts - wholes).abs().amax(1) <= close)
    scales = torch.where(is_same, 1.0, numbers + doubled.double())
    is_hit &= (numbers != 0) & (scales.abs() >= tolerance)
    # If the value is so much larger, the right one is smaller than its rounding errors.
    is_hit &= tolerance * origins.abs().amax(1) <= right.abs().max()
    pairs = zip(scales.tolist(), is_hit.tolist(), strict=True)
    return [scale if hit else None for scale, hit in pairs]


def _asked_above(program: ForwardProgram, tensor: str, asked: Collection[str]) -> frozenset[str]:
    """The nearest steps whose gradients are asked for, on each path from a tensor to the loss.

    The result is empty if a path has no such step.
    """
    reached, found = {*program.readers(tensor)}, set[str]()
    for name in (step.name for step in program.steps if step.name in reached):
        if f"d{name}" in asked:
            found.add(name)
        else:
            reached.update(program.readers(name))
    return frozenset() if program.loss in reached else frozenset(found)


def _scope(
    item: Observed,
    statements: Sequence[OwnStatement],
    exercise: Exercise,
    references: References,
    *,
    fits: bool,
) -> Scope:
    program, reference = references.program, references.hidden[0]
    tensor, values = item.name[1:], reference.instance.values
    tensors = {n: v for n, v in values.items() if isinstance(v, Tensor) and n != program.loss}
    floating = [name for name, value in tensors.items() if value.is_floating_point()]
    arrivals, others = program.arrivals(), (g for g in exercise.gradients if g != item.name)
    upstreams = [*(g for g in others if g[1:] in reference.cotangents), *arrivals]
    forward = [name for name in floating if name not in upstreams]
    known = {*tensors, *exercise.gradients, *exercise.sizes, "_"}
    written = (n for own in statements for n in ast.walk(own.top) if isinstance(n, ast.Name))
    stored = [name.id for name in written if isinstance(name.ctx, ast.Store)]
    near = [name for name in program.between(tensor, item.reads) if name in forward][:MOST_NEAR]
    slopes = reference.slopes(tensor)
    readers = program.readers(tensor)
    single = [step for step in program.steps if step.name in slopes and step.reads == (tensor,)]
    bodies = {step.name: ast.parse(step.expression, mode="eval").body for step in single}
    rectified = [step.name for step in program.steps if _rectifies(step, values)]
    alone = {name: ast.unparse(b.func) for name, b in bodies.items() if isinstance(b, ast.Call)}
    rows = tensors[tensor].shape[-1:]
    differences = {step.name: DIFFERENCE.findall(step.expression) for step in program.steps}
    names = {
        "ARRIVING": [g for r in readers for g in upstreams if arrivals.get(g, g[1:]) == r],
        "UPSTREAM": upstreams,
        "NEAR": near,
        "RECTIFIED": rectified,
        "FORWARD": forward,
        "TENSOR": [tensor] if tensor in near and tensors[tensor].dim() else [],
        "MADE": [tensor, *program.descendants(tensor)],
        "OWN": [name for name in dict.fromkeys(stored) if name not in known],
        "ALONE": [*alone],
        "NOSIGMOID": [name for name, called in alone.items() if not called.endswith("sigmoid")],
        "NORELU": [name for name in alone if name not in rectified],
        "SLOPE": [step for step in slopes if step not in alone],
        "INDEX": [name for name in tensors if name not in floating],
        "SIZE": [*exercise.sizes],
        "BATCH": [*exercise.sizes][:1],
        "CLASSES": [size for size, length in reference.instance.sizes.items() if length in rows],
        "SCALAR": [name for name, value in values.items() if isinstance(value, float)],
        "AXIS": "012"[: max(tensors[name].dim() for name in (tensor, *near))],
    }
    shapes = {d + name: tensors[name].shape for d in ("", "d") for name in floating}
    reassigned = {name for name, times in Counter(stored).items() if times > 1}
    return Scope(item.name, exercise.sizes, names, differences, shapes, fits, reassigned)


def _rectifies(step: Step, values: Mapping[str, Any]) -> bool:
    """True if a step sets negative numbers to zero, in whatever way it is written."""
    made, read = values[step.name], [values[name] for name in step.reads]
    return any(
        is_differentiable(one) and bool((one < 0).any()) and torch.equal(one.clamp(min=0), made)
        for one in read
        if is_differentiable(made)
    )
