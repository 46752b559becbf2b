"""Shown: what a wrong value has to do with the right one, whatever it came from."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from grader.diagnosis.factors import SAME, Factor, name_factor
from grader.diagnosis.kinds import Kind
from grader.program.compare import FLOAT64_TOLERANCE, agrees
from grader.program.references import Reference, References

MOST_POSITIONS = 200
"""Positions of a lookup that are compared with each row."""

MOST_AXES = 5
"""Axes of which every choice is tried; a gradient has three at most."""

Explanation = tuple[Kind, str]
"""A kind of mistake with the sentence about it."""


def fit_shape(
    gradient: str, values: Sequence[Tensor], right: Sequence[Tensor]
) -> Iterator[Explanation]:
    """The right numbers in another shape, or copies that still have to be summed."""
    value, expected = values[0], right[0]
    pairs = list(zip(values, right, strict=True))
    if value.shape == expected.shape:
        return
    if value.dim() == 2 and all(agrees(v.mT, r) for v, r in pairs):
        yield Kind.TRANSPOSED, f"`{gradient}` is the transpose of what it should be."
    if value.numel() == expected.numel() and all(agrees(v.reshape(r.shape), r) for v, r in pairs):
        without_ones = tuple(length for length in expected.shape if length != 1)
        if tuple(value.shape) == without_ones:
            yield (
                Kind.LOST_KEEPDIM,
                f"The numbers of `{gradient}` are right, but an axis of length 1 has been lost.",
            )
        else:
            yield Kind.WRONG_SHAPE, f"The numbers of `{gradient}` are right, its shape is not."
    for count in range(1, min(value.dim(), MOST_AXES) + 1):
        for axes in itertools.combinations(range(min(value.dim(), MOST_AXES)), count):
            sums = [v.sum(axes, keepdim=keepdim) for v in values for keepdim in (True, False)]
            kept, dropped = sums[::2], sums[1::2]
            if any(all(map(agrees, some, right)) for some in (kept, dropped)):
                listed = " and ".join(map(str, axes))
                yield (
                    Kind.MISSING_SUM,
                    f"`{gradient}` is not summed over axis {listed}: `{gradient[1:]}` was copied"
                    " along it.",
                )
                return
    if all(_is_copied(v, r) for v, r in pairs):
        yield (
            Kind.WRONG_SHAPE,
            f"`{gradient}` has the right numbers several times over: something of another shape"
            " was added to it or multiplied by it.",
        )


def _is_copied(value: Tensor, right: Tensor) -> bool:
    try:
        return agrees(value, right.expand(value.shape))
    except RuntimeError:  # it does not broadcast, so it was not copied
        return False


def fit_rows(
    gradient: str, values: Sequence[Tensor], right: Sequence[Tensor]
) -> Iterator[Explanation]:
    """The right numbers in the wrong places, or in some places only."""
    if any(v.shape != r.shape for v, r in zip(values, right, strict=True)):
        return
    for axis in range(values[0].dim()):
        lacking = [_zero_rows(v, r, axis) for v, r in zip(values, right, strict=True)]
        if all(rows for rows in lacking):
            rows = lacking[0] or ()
            # An index that is another in each instance is none of the notebook's.
            which = "some of the indices"
            if all(o == (v.shape[axis] - 1,) for o, v in zip(lacking, values, strict=True)):
                which = "the last index"
            elif all(other == rows for other in lacking):
                which = f"index {rows[0]}" if len(rows) == 1 else f"{len(rows)} of the indices"
            yield (
                Kind.PARTIAL_ROWS,
                f"`{gradient}` is right except at {which} of axis {axis}, where it is zero.",
            )
    if all(_is_permuted(v, r) for v, r in zip(values, right, strict=True)):
        yield Kind.PERMUTED, f"`{gradient}` has the right numbers in the wrong places."


def _zero_rows(value: Tensor, right: Tensor, axis: int) -> tuple[int, ...]:
    """The indices of an axis at which a value is zero, if it is right at all the others."""
    if value.shape[axis] < 2:
        return ()
    length = value.shape[axis]
    rows = value.movedim(axis, 0).reshape(length, -1)
    due = right.movedim(axis, 0).reshape(length, -1)
    zero = ~rows.any(1) & due.any(1)
    if not zero.any() or zero.all() or not agrees(rows[~zero], due[~zero]):
        return ()
    return tuple(int(index) for index in zero.nonzero())


def _is_permuted(value: Tensor, right: Tensor) -> bool:
    ours, theirs = value.flatten().sort().values, right.flatten().sort().values
    # Equal numbers say nothing: a constant gradient is a permutation of itself.
    return agrees(ours, theirs) and len(set(theirs.tolist())) > 2


def taken(where: str, times: Factor, lecture: Mapping[str, int]) -> Explanation:
    """What is said of something that is so many times what it should be."""
    if times.text == "-1":
        return Kind.SIGN, f"{where} has the wrong sign."
    if (name := times.written_out(lecture)) is not None:
        message = f"{where} is right at the notebook's sizes only: {name} is written as a number."
        return Kind.HARD_CODED_SIZE, message
    kind, is_one = Kind.CONSTANT_FACTOR, abs(abs(times.number) - 1) < SAME
    batch = next(iter(lecture))
    if times.is_bessel:
        kind = Kind.BESSEL
    elif is_one and times.sizes in (batch, f"1/{batch}"):
        kind = Kind.SUM_FOR_MEAN if times.sizes == batch else Kind.MEAN_FOR_SUM
    return kind, f"{where} is {times.at(lecture)} times what it should be."


def fit_steps(
    gradient: str,
    values: Sequence[Tensor],
    given: frozenset[str],
    references: References,
    lecture: Mapping[str, int],
) -> Iterator[Explanation]:
    """All of it, or what comes through one step, is missing or not taken just once."""
    wholes = references.local_vjps(gradient[1:], given)
    if any(v.shape != w.shape for v, w in zip(values, wholes, strict=True)):
        return
    sizes = [reference.instance.sizes for reference in references.hidden]
    for where, without in _parts(gradient, wholes, given, references):
        scales = [_scale(*one) for one in zip(values, wholes, without, strict=True)]
        known = [scale for scale in scales if scale is not None]
        factor = name_factor(known, sizes) if len(known) == len(scales) else None
        if factor is None or factor.text == "1":
            continue
        if factor.text == "0":
            yield Kind.MISSING_BRANCH, f"{where} is missing."
        else:
            kind, message = taken(where, factor, lecture)
            # A part of a fused formula without its n is no mean.
            is_part = kind is Kind.MEAN_FOR_SUM and not where.endswith(f"`{gradient}`")
            yield Kind.CONSTANT_FACTOR if is_part else kind, message


def _parts(
    gradient: str, wholes: Sequence[Tensor], given: frozenset[str], references: References
) -> Iterator[tuple[str, Sequence[Tensor]]]:
    """Parts of a gradient in words, each with the gradient without it."""
    tensor, program = gradient[1:], references.program
    yield f"`{gradient}`", [torch.zeros_like(whole) for whole in wholes]
    between = program.descendants(tensor) & references.hidden[0].cotangents.keys()
    for step in (step.name for step in program.steps if step.name in between):
        where = f"What comes to `{gradient}` through `{step}`"
        yield where, references.local_vjps(tensor, given - {step}, {step})
    for reader in program.readers(tensor):
        # Straight from there, without what comes to it on a longer way.
        straight = []
        for reference in references.hidden:
            upstream = {s: c for s, c in reference.cotangents.items() if s in given}
            values = reference.instance.values
            straight.append(program.vjp(values, tensor, upstream, through=reader))
        where = f"What comes to `{gradient}` straight from `{reader}`"
        yield where, [whole - part for whole, part in zip(wholes, straight, strict=True)]


def _scale(value: Tensor, whole: Tensor, without: Tensor) -> float | None:
    """The number c for which value = without + c (whole - without), if there is one."""
    part = whole - without
    squared = float((part * part).sum())
    if squared <= (FLOAT64_TOLERANCE * float(whole.norm())) ** 2:
        return None
    scale = float(((value - without) * part).sum()) / squared
    scale = 0.0 if abs(scale) < FLOAT64_TOLERANCE else scale
    return scale if agrees(without + scale * part, value) else None


def fit_slices(
    gradient: str, values: Sequence[Tensor], references: References
) -> Iterator[Explanation]:
    """Only some of what arrives is handed on, or of what meets in a row only the last."""
    tensor = gradient[1:]
    for reader in references.program.readers(tensor):
        pairs = list(zip(values, references.hidden, strict=True))
        if any(
            reader not in r.cotangents or v.shape != r.instance.values[tensor].shape
            for v, r in pairs
        ):
            continue
        for axis in range(pairs[0][1].cotangents[reader].dim()):
            for at in (0, -1):
                for only in (True, False):
                    if all(agrees(v, _masked(r, tensor, reader, axis, at, only)) for v, r in pairs):
                        which = "the first" if at == 0 else "the last"
                        said = f"only {which} index" if only else f"all but {which} index"
                        yield (
                            Kind.PARTIAL_ROWS,
                            f"Of `d{reader}`, {said} of axis {axis} is handed on.",
                        )
        if all(_holds_one(v, r, tensor, reader) for v, r in pairs):
            yield (
                Kind.NOT_ACCUMULATED,
                f"Each row of `{gradient}` holds one of its contributions where their sum belongs.",
            )


def _masked(
    reference: Reference, tensor: str, reader: str, axis: int, at: int, only: bool
) -> Tensor:
    upstream = {
        r: c for r, c in reference.cotangents.items() if r in reference.program.readers(tensor)
    }
    mask = torch.full_like(upstream[reader], 0.0 if only else 1.0)
    mask.select(axis, at).fill_(1.0 if only else 0.0)
    upstream[reader] = upstream[reader] * mask
    return reference.program.vjp(reference.instance.values, tensor, upstream)


def fit_routes(
    gradient: str, values: Sequence[Tensor], references: References
) -> Iterator[Explanation]:
    """What arrives at a maximum went elsewhere than to the largest entry."""
    tensor = gradient[1:]
    for reader in references.program.readers(tensor):
        gone = [_gone(v, r, tensor, reader) for v, r in zip(values, references.hidden, strict=True)]
        if gone[0] is not None and gone == gone[:1] * len(gone):
            yield (
                Kind.MISROUTED_MAX,
                f"Here `d{reader}` goes {gone[0]}.",
            )


def _gone(value: Tensor, reference: Reference, tensor: str, reader: str) -> str | None:
    """Where a reader's gradient went, if that reader picks one entry of each row."""
    values, given = reference.instance.values, reference.cotangents
    upstream = given.get(reader)
    if (
        upstream is None
        or value.shape != values[tensor].shape
        or value.dim() != 2
        or value.shape[1] < 2
    ):
        return None
    due = {r: given[r] for r in reference.program.readers(tensor) if r in given}
    part = reference.program.vjp(values, tensor, due, reader)
    if upstream.numel() != len(part) or not bool(((part != 0).sum(1) == 1).all()):
        return None
    rest = value - (reference.program.vjp(values, tensor, due) - part)
    rest[rest.abs() < FLOAT64_TOLERANCE * float(value.abs().max())] = 0.0
    if agrees(rest, upstream.view(-1, 1).expand(rest.shape)):
        return "to every entry of a row"
    if agrees(rest.sum(1), upstream.view(-1)) and bool(((rest != 0).sum(1) == 1).all()):
        return "to an entry that is not the largest"
    return None


def _holds_one(value: Tensor, reference: Reference, tensor: str, reader: str) -> bool:
    """True if each row is one of those that a lookup sends back there."""
    step = next(s for s in reference.program.steps if s.name == reader)
    looks_up = any(
        isinstance(v := reference.instance.values.get(n), Tensor) and not v.is_floating_point()
        for n in step.reads
    )
    upstream = reference.cotangents[reader]
    positions = upstream.shape[:-1].numel()
    if (
        not looks_up
        or value.dim() != 2
        or positions > MOST_POSITIONS
        or upstream.shape[-1] != value.shape[-1]
    ):
        return False
    rows = upstream.reshape(positions, -1)
    sums = torch.zeros(len(value))
    for number, row in enumerate(value):
        mine = [one for one in rows if agrees(row, one)]
        if row.any() and not mine:
            return False
        sums[number] = len(mine)
    return bool(sums.any())
