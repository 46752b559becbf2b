"""Shown: what a wrong value by itself shows beside the right one, whatever code made it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.diagnosis.factors import SAME, Factor, name_factor
from grader.diagnosis.kinds import Kind
from grader.program.compare import FLOAT64_TOLERANCE, agrees
from grader.program.references import Reference

MOST_POSITIONS = 200
"""The most positions of a lookup that are compared with each row."""

MOST_AXES = 5
"""The most axes of which every choice is tried. A gradient of the course has at most three."""

MOST_OF = 0.5
"""The least share of rows in which a single entry is picked; after a ReLU, some may be equal."""

MOST_STEPS = 12
"""The most steps of which pairs are tried as missing."""

MOST_LISTED = 3
"""The most indices that a sentence lists."""

Explanation = tuple[Kind, str]
"""A kind of mistake, with the sentence about it."""


@dataclass(frozen=True, slots=True, eq=False)
class Wrong:
    """A wrong value of a gradient on one instance, with the right one."""

    gradient: str
    value: Tensor
    right: Tensor
    reference: Reference

    @property
    def arriving(self) -> Mapping[str, Tensor]:
        """The random upstream gradients of the steps that read it."""
        return self.reference.arriving(self.gradient[1:])


def taken(where: str, times: Factor, lecture: Mapping[str, int]) -> Explanation:
    """The sentence about something that is a factor too large."""
    if times.text == "-1":
        return Kind.SIGN, f"{where} has the wrong sign."
    if (name := times.written_out(lecture)) is not None:
        message = f"{where} is right at the notebook's sizes only: {name} is written as a number."
        return Kind.HARD_CODED_SIZE, message
    kind, is_one = Kind.CONSTANT_FACTOR, abs(abs(times.number) - 1) < SAME
    batch = next(iter(lecture), "?")  # a forward pass of plain numbers has no sizes
    if times.is_bessel and batch in times.sizes:
        kind = Kind.BESSEL
    elif is_one and times.sizes in (batch, f"1/{batch}"):
        kind = Kind.SUM_FOR_MEAN if times.sizes == batch else Kind.MEAN_FOR_SUM
    return kind, f"{where} is {times.at(lecture)} times what it should be."


def through_steps(
    wrong: Sequence[Wrong], given: frozenset[str], lecture: Mapping[str, int]
) -> Iterator[Explanation]:
    """The gradient, or its contribution through one step, is missing or has a wrong factor."""
    if any(one.value.shape != one.right.shape for one in wrong):
        return
    sizes = [one.reference.instance.sizes for one in wrong]
    for where, without in _parts(wrong, given):
        scales = [_scale(one, without(one)) for one in wrong[:1]]
        # Autograd is slow, so what one instance rules out is not tried on the others.
        if scales[0] is not None:
            scales += [_scale(one, without(one)) for one in wrong[1:]]
        known = [scale for scale in scales if scale is not None]
        factor = name_factor(known, sizes) if len(known) == len(wrong) else None
        if factor is None:
            continue
        if factor.text == "0":
            yield Kind.MISSING_BRANCH, f"{where} is missing."
        elif factor.text != "1":
            kind, message = taken(where, factor, lecture)
            # A part of a fused formula without its n is not a mean.
            is_part = kind is Kind.MEAN_FOR_SUM and not where.endswith(f"`{wrong[0].gradient}`")
            yield Kind.CONSTANT_FACTOR if is_part else kind, message


Without = Callable[[Wrong], Tensor]
"""The gradient on an instance without one of its parts."""


def _parts(wrong: Sequence[Wrong], given: frozenset[str]) -> Iterator[tuple[str, Without]]:
    """The parts of a gradient in words, each with the gradient without this part."""
    gradient, reference = wrong[0].gradient, wrong[0].reference
    tensor, program = gradient[1:], reference.program
    yield f"`{gradient}`", lambda one: torch.zeros_like(one.right)

    def zeroed(*steps: str) -> Without:
        return lambda one: one.reference.local_vjp(tensor, given - {*steps}, {*steps})

    between = program.descendants(tensor) & reference.cotangents.keys()
    for step in (step.name for step in program.steps if step.name in between):
        yield f"The part of `{gradient}` that comes through `{step}`", zeroed(step)

    def not_straight(reader: str) -> Without:
        return lambda one: one.right - one.reference.local_vjp(tensor, given, through=reader)

    for reader in program.readers(tensor):
        # The direct contribution alone, without those that take a longer way.
        yield f"The part of `{gradient}` that comes directly from `{reader}`", not_straight(reader)
    for pair in itertools.combinations(sorted(between), 2) if len(between) <= MOST_STEPS else ():
        without = zeroed(*pair)
        if all(agrees(without(one), one.value) for one in wrong):
            yield (
                f"The part of `{gradient}` that comes through `{pair[0]}` and through `{pair[1]}`",
                without,
            )


def _scale(wrong: Wrong, without: Tensor) -> float | None:
    """The number c for which value = without + c (right - without), if there is one."""
    value, right = wrong.value, wrong.right
    part = right - without
    squared = float((part * part).sum())
    if squared <= (FLOAT64_TOLERANCE * float(right.norm())) ** 2:
        return None
    scale = float(((value - without) * part).sum()) / squared
    scale = 0.0 if abs(scale) < FLOAT64_TOLERANCE else scale
    return scale if agrees(without + scale * part, value) else None


Look = Callable[[Wrong], Iterator[Explanation]]


def seen_on_each(look: Look, wrong: Sequence[Wrong]) -> Iterator[Explanation]:
    """What is seen on every instance, because on a single one it may be chance."""
    first, *others = wrong
    found = list(look(first))
    again = [set(look(other)) for other in others] if found else []
    yield from (one for one in found if all(one in more for more in again))


def same_numbers(value: Tensor, right: Tensor) -> bool:
    """True if they agree except for axes of length 1, or axes that still have to be expanded."""
    if value.numel() == right.numel() and value.squeeze().shape == right.squeeze().shape:
        return agrees(value.reshape(right.shape), right)
    pairs = zip(value.shape[::-1], right.shape[::-1], strict=False)
    may_be_copied = value.dim() <= right.dim() and all(m in (1, n) for m, n in pairs)
    return may_be_copied and agrees(value.expand(right.shape), right)


def other_shape(wrong: Wrong) -> Iterator[Explanation]:
    """The right numbers transposed, or copies that still have to be summed."""
    gradient, value, right = wrong.gradient, wrong.value, wrong.right
    if value.dim() == 2 and agrees(value.mT, right):  # a square matrix keeps its shape
        yield Kind.TRANSPOSED, f"`{gradient}` is the transpose of what it should be."
    if value.shape == right.shape:
        return
    if value.numel() == right.numel() and agrees(value.reshape(right.shape), right):
        yield Kind.WRONG_SHAPE, f"The numbers of `{gradient}` are right, its shape is not."
    axes = range(min(value.dim(), MOST_AXES))
    for some in (some for n in axes for some in itertools.combinations(axes, n + 1)):
        if any(agrees(value.sum(some, keepdim=keepdim), right) for keepdim in (True, False)):
            word, it = ("axis", "it") if len(some) == 1 else ("axes", "them")
            copied = f"{' and '.join(map(str, some))}: `{gradient[1:]}` was copied along {it}"
            yield Kind.MISSING_SUM, f"`{gradient}` still has to be summed over its {word} {copied}."


def misplaced(wrong: Wrong) -> Iterator[Explanation]:
    """The right numbers in the wrong places, or in some places only."""
    value, right = wrong.value, wrong.right
    if value.shape != right.shape:
        return
    for axis in range(value.dim()):
        rows = _zero_rows(value, right, axis)
        where = ["the last index"] if rows == [value.shape[axis] - 1] else []
        where += [f"index {', '.join(map(str, rows))}"] if len(rows) <= MOST_LISTED else []
        # An index that differs between the instances is not one of the notebook's.
        for which in (*where, "some of the indices") if rows else ():
            message = f"is right except at {which} of axis {axis}, where it is zero"
            yield Kind.PARTIAL_ROWS, f"`{wrong.gradient}` {message}."
        ours, theirs = value.movedim(axis, 0), right.movedim(axis, 0)
        for index, row in enumerate(one.expand_as(ours) for one in theirs):
            if row.any() and agrees(ours, row) and not agrees(theirs, row):
                message = f"has at every index of axis {axis} what belongs at {index}"
                yield Kind.PARTIAL_ROWS, f"`{wrong.gradient}` {message}."
    ours, theirs = value.flatten().sort().values, right.flatten().sort().values
    # Equal numbers say nothing: a constant gradient is a permutation of itself.
    if agrees(ours, theirs) and len(set(theirs.tolist())) > 2:
        yield Kind.PERMUTED, f"`{wrong.gradient}` has the right numbers in the wrong places."


def _zero_rows(value: Tensor, right: Tensor, axis: int) -> list[int]:
    """The indices of an axis at which a value is zero, if it is right at all others."""
    rows, due = (one.movedim(axis, 0).reshape(one.shape[axis], -1) for one in (value, right))
    zero = ~rows.any(1) & due.any(1)
    if zero.all() or not zero.any() or not agrees(rows[~zero], due[~zero]):
        return []
    return [int(index) for index in zero.nonzero()]


def misrouted(wrong: Wrong) -> Iterator[Explanation]:
    """The gradient of a maximum did not go to the largest entry."""
    for reader in wrong.arriving:
        if where := _gone(wrong, reader):
            yield Kind.MISROUTED_MAX, f"Here `d{reader}` goes {where}."


def _gone(wrong: Wrong, reader: str) -> str | None:
    """Where the gradient of a reader went that picks one entry of each row, along the last axis."""
    upstream, shape = wrong.arriving[reader], wrong.right.shape
    if wrong.value.shape != shape or len(shape) < 2 or shape[-1] < 2:
        return None
    tensor, given = wrong.gradient[1:], wrong.arriving.keys()
    made = [wrong.reference.local_vjp(tensor, given, through=one) for one in (reader, None)]
    value, part, right = (one.flatten(0, -2) for one in (wrong.value, *made))
    # The picked entry gets the whole gradient. In a few rows, several may share the maximum.
    picked, arrives = (part != 0).sum(1), upstream.flatten()
    if len(arrives) != len(part) or not agrees(part.sum(1), arrives):
        return None
    if float((picked == 1).double().mean()) < MOST_OF:
        return None
    rest = value - (right - part)
    rest[rest.abs() < FLOAT64_TOLERANCE * float(value.abs().max())] = 0.0
    if agrees(rest, arrives.view(-1, 1).expand(rest.shape)):
        return "to every entry of a row"
    if agrees(rest.sum(1), arrives) and bool(((rest != 0).sum(1) == 1).all()):
        made_of = wrong.reference.instance.values[tensor].flatten(0, -2)
        is_largest = torch.equal(
            made_of.gather(1, part.abs().argmax(1, True)), made_of.amax(1, True)
        )
        return f"to an entry that is not {'the largest' if is_largest else 'picked'}"
    return None


def only_some(wrong: Wrong) -> Iterator[Explanation]:
    """Only a part of the upstream gradient is passed on, or only the last contribution to a row."""
    if wrong.value.shape != wrong.right.shape:
        return
    for reader, upstream in wrong.arriving.items():
        choices = itertools.product(range(upstream.dim()), ("first", "last"), (True, False))
        for axis, which, only in choices:
            some = reader, axis, 0 if which == "first" else -1, only
            if agrees(wrong.value, wrong.reference.vjp_of_some(wrong.gradient[1:], *some)):
                said = f"{'only' if only else 'all but'} the {which} index of axis {axis}"
                yield Kind.PARTIAL_ROWS, f"Of `d{reader}`, {said} is passed on."
        if _holds_one(wrong, reader):
            message = "holds one of its contributions where their sum belongs"
            yield Kind.NOT_ACCUMULATED, f"Each row of `{wrong.gradient}` {message}."


def _holds_one(wrong: Wrong, reader: str) -> bool:
    """True if each row is one of the contributions that a lookup sends back to it."""
    program, values = wrong.reference.program, wrong.reference.instance.values
    read = (values.get(n) for step in program.steps if step.name == reader for n in step.reads)
    looks_up = any(isinstance(v, Tensor) and not v.is_floating_point() for v in read)
    upstream, value = wrong.arriving[reader], wrong.value
    positions = upstream.shape[:-1].numel()
    is_wide = value.dim() == 2 and upstream.shape[-1:] == value.shape[-1:]
    if not looks_up or not is_wide or positions > MOST_POSITIONS:
        return False
    # Where nothing comes again there is nothing to sum.
    ones = {reader: torch.ones_like(upstream)}
    if not bool((program.vjp(values, wrong.gradient[1:], ones, reader) > 1).any()):
        return False
    rows = upstream.reshape(positions, -1)
    is_reached = torch.equal(value.any(1), wrong.right.any(1))
    return is_reached and all(any(agrees(row, one) for one in rows) for row in value if row.any())
