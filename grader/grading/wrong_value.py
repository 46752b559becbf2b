"""Wrong values: a digest by which equal ones are recognised, and a small map of the error."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

from grader.execution.evidence import Observed, Value
from grader.program.compare import FLOAT64_TOLERANCE, RELATIVE_TOLERANCE, ROUNDING_NOISE
from grader.program.references import References
from grader.verdict import AT_FAULT, Check, Outcome, Verdict, WrongValue, pack_map

MOST_CELLS = 96
"""The most rows and columns of a map. In a larger one, a cell shows the largest of several errors.
"""

LONGEST_TYPE = 60
"""The most characters of a type's name, since a student may have chosen it."""

LEVELS = 4
"""The number of shades on each side of right."""


def wrong_value(item: Observed, verdict: Verdict, references: References) -> WrongValue | None:
    """What to keep of the value of a gradient that is `fail` or `error`; None for the others."""
    if verdict.outcome not in AT_FAULT:
        return None
    found = WrongValue(_digest(item, verdict, references), _map(item, verdict, references))
    return found if found.digest or found.map else None


def _digest(item: Observed, verdict: Verdict, references: References) -> str:
    """Where possible of what the gradient's own lines gave: nothing handed down is in that.

    Empty where there is no value because a line raised or was stopped, or one whose numbers are
    wrong on the lecture's instance alone: the verdict's note says all that is known.
    """
    checks = verdict.local_check, verdict.global_check
    if item.broken is not None:
        return ""
    name = item.name[1:]
    if checks == (Check.RIGHT, Check.RIGHT):
        # In float32 numbers of equal lines differ; what is wrong with the whole value does not.
        (part,) = _parts((item.lecture,), (references.lecture_gradients[name],), ({},))
        return "" if _is_number(part) else part
    if verdict.local_check is Check.RIGHT or checks == (Check.NOT_RUN, Check.WRONG):
        values, right = item.hidden, references.gradients(name)
    else:
        readers = frozenset(references.program.readers(name))
        values, right = item.local, references.local_vjps(name, readers)
    parts = list(_parts(values, right, references.lengths))
    # A word says of the whole value what is wrong with it; numbers only count all together.
    if (word := next((part for part in parts if not _is_number(part)), None)) is not None:
        return word
    if verdict.outcome is Outcome.ERROR:  # what an endless loop left behind is nobody's value
        return ""
    return f"value:{hashlib.sha256(' '.join(parts).encode('ascii')).hexdigest()[:12]}"


def _is_number(part: str) -> bool:
    return part[:1] in "-0123456789" and bool(part)


def _parts(
    values: Sequence[Value], right: Sequence[Tensor], lengths: Sequence[Mapping[int, int]]
) -> Iterator[str]:
    """For each instance, a number that represents the value, or a word.

    `lengths` maps each instance's lengths to the lecture's.
    """
    for value, reference, at_lecture in zip(values, right, lengths, strict=False):
        tensor = value.tensor
        if value.raised is not None:
            yield ""
        elif value.is_placeholder:
            yield "missing"
        elif tensor is None:
            # "tensor of dtype torch.complex64 and shape (1, 8)": the shape is a hidden network's
            yield f"type:{(value.type_name or 'nothing').partition(' and ')[0][:LONGEST_TYPE]}"
        elif not tensor.is_floating_point():
            yield f"dtype:{str(tensor.dtype).removeprefix('torch.')}"
        elif not tensor.double().isfinite().all():
            yield "nan"
        elif tensor.shape != reference.shape:
            yield f"shape:{'x'.join(str(at_lecture.get(n, n)) for n in tensor.shape)}"
        else:
            yield _number(tensor, reference)


def _number(tensor: Tensor, reference: Tensor) -> str:
    """The value's component along one random direction, to five digits.

    Values that are equal, but come from different code, differ in their last bits. If each entry
    were rounded, some would be rounded up or down by chance. With a single number, this happens
    once in 10^10.
    """
    along = float(tensor.double().reshape(-1) @ _direction(tensor.numel()))
    if not math.isfinite(along):  # numbers so large that their sum is not a number
        return "9e999"
    noise = FLOAT64_TOLERANCE**2 * float(reference.norm())
    return "0" if abs(along) <= noise else f"{along:.4e}"


@cache
def _direction(length: int) -> Tensor:
    generator = torch.Generator().manual_seed(length)
    return torch.randn(length, generator=generator, dtype=torch.float64)


def _map(item: Observed, verdict: Verdict, references: References) -> str:
    """Where the value on the lecture's batch is off, as in the student's own heat map."""
    value, right = item.lecture, references.lecture_gradients[item.name[1:]]
    tensor = value.tensor
    if (
        value.raised is not None
        or tensor is None
        or verdict.comparison.approximate
        or not tensor.is_floating_point()
        or tensor.shape != right.shape
        or not right.numel()
    ):
        return ""
    error = (tensor.double() - right.double()).reshape(-1, right.shape[-1] if right.ndim else 1)
    tolerance = RELATIVE_TOLERANCE * float(right.abs().max()) + ROUNDING_NOISE
    cells = _fewer(_fewer(error.numpy(), 0), 1)
    finite = np.isfinite(cells)
    largest = float(np.abs(cells[finite]).max(initial=tolerance))
    off = np.where(finite, cells, 0.0)
    # Anything wrong gets a shade, even if the largest error is far above it.
    levels = np.sign(off) * np.ceil(LEVELS * np.abs(off) / largest) * (np.abs(off) > tolerance)
    shades = np.where(finite, levels.astype(int) + LEVELS, 2 * LEVELS + 1)
    return pack_map(["".join(map(str, row)) for row in shades.tolist()])


def _fewer(cells: np.ndarray, axis: int) -> np.ndarray:
    """Shrink an axis to at most `MOST_CELLS` cells, each with the largest error of its part."""
    length = cells.shape[axis]
    if length <= MOST_CELLS:
        return cells
    starts = [length * number // MOST_CELLS for number in range(MOST_CELLS)]
    low, high = (f.reduceat(cells, starts, axis) for f in (np.minimum, np.maximum))
    # NaN passes through both.
    largest: np.ndarray = np.where(-low > high, low, high)
    return largest
