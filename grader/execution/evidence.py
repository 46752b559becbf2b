"""Evidence: what a student's statements did, as data that the judge can read."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch import Tensor

from grader.answer.parse import Raised
from grader.program.compare import FLOAT64_TOLERANCE, agrees, relative_differences
from grader.program.references import References
from grader.verdict import Flag, Place


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """The value of a gradient's name after its statements have run.

    This is a `tensor` (dense, detached, on the CPU), or the Python type of another value, or
    nothing. `raised` is the exception of one of the gradient's own statements, so a value beside it
    is only half of what was meant. `interrupted` is the exception of another statement, beside
    these or needed by them, that may have kept them from running or from what they read, and
    `on_the_way` is that of a statement that is needed. `shape` is the original shape if
    `as_cmp_takes_it` changed it.
    """

    tensor: Tensor | None = None
    type_name: str | None = None
    raised: Raised | None = None
    interrupted: Raised | None = None
    on_the_way: Raised | None = None
    shape: tuple[int, ...] | None = None

    def agrees(self, reference: Tensor, floor: float) -> bool:
        """Say whether the gradient differs from the reference only by rounding."""
        tensor = self.tensor
        return self.raised is None and tensor is not None and agrees(tensor, reference, floor)

    @property
    def is_placeholder(self) -> bool:
        """Say whether the blank was left as it was."""
        return self.raised is None and self.tensor is None and self.type_name in PLACEHOLDER_TYPES


def as_cmp_takes_it(value: Tensor | None, shape: Sequence[int]) -> Tensor | None:
    """Give a gradient its tensor's shape, if the lecture's `cmp` could compare the two.

    `cmp` broadcasts, so (64,) may stand for (1, 64), and (1, 64) for 32 equal rows.
    """
    if value is None or value.shape == shape:
        return value
    # From the last axis on; in front, and where one of them has length 1, the numbers are copied.
    pairs = [*zip(reversed(value.shape), reversed(shape), strict=False)]
    if value.numel() == math.prod(shape) and all(m == n for m, n in pairs):
        return value.reshape(shape)
    may_be_copied = value.dim() <= len(shape) and all(m in (1, n) for m, n in pairs)
    return value.expand(shape).contiguous() if may_be_copied else value


PLACEHOLDER_TYPES = (None, "NoneType", "ellipsis")


@dataclass(slots=True, eq=False)
class Observed:
    """Everything that was observed of one gradient; only `observe` changes it.

    `lecture` is its value on the float32 instance of the lecture's sizes, and `hidden` are the
    values of the whole answer on the hidden instances. `apart` is their largest distance from
    autograd's, relative to the largest number there. `local` are the values that the gradient's own
    statements make of random upstreams, one for each hidden instance, or only for the first if no
    verdict depends on them, which is so for most right gradients.

    `reads` names the tensors whose gradients its statements read, and `writes` those that they also
    assign. `channels` names tensors whose statements change this gradient too, because they share
    its memory; then `as_assigned` are its local values without that change. `siblings` names other
    gradients asked for that its statements use although they are not upstream of it, such as
    `dbngain` in `dhprebn`; then `beside` are a wrong gradient's local values with right siblings.
    `among_right` are its values if everything it reads is right for one random upstream of the
    loss, or None if that was not run.
    """

    name: str
    lecture: Value
    hidden: tuple[Value, ...]
    local: tuple[Value, ...]
    apart: float = math.inf
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    as_assigned: tuple[Value, ...] | None = None
    siblings: frozenset[str] = frozenset()
    beside: tuple[Value, ...] | None = None
    among_right: tuple[Value, ...] | None = None
    place: Place | None = None
    offences: tuple[Flag, ...] = ()
    broken: Raised | None = None
    """The reason why the answer cell that would assign this gradient is not Python."""
    is_written: bool = False
    """Whether any statement assigns or changes it, successfully or not."""
    code: tuple[ast.stmt, ...] = ()
    """Its own statements, in order, including those that write it in vain."""
    keep: frozenset[int] = frozenset()
    """The numbers of the statements that make the gradient."""

    def upstreams(self, readers: frozenset[str]) -> list[frozenset[str]]:
        """List the sets of upstreams that the line may be written for, likeliest first.

        The likeliest are those that the statements read, because a gradient that skips steps of the
        program reads a later gradient. `readers` are the readers in the program.
        """
        return list(dict.fromkeys((self.reads, self.reads - self.writes, readers)))

    @property
    def is_right(self) -> bool:
        """Say whether the values of the whole answer are autograd's, apart from rounding."""
        return self.apart <= FLOAT64_TOLERANCE

    @property
    def is_blank(self) -> bool:
        """Say whether the student has yet to write this gradient."""
        missing = self.is_written and any(value.type_name is None for value in self.hidden)
        return not missing and all(value.is_placeholder for value in self.hidden)


def furthest(
    found: Iterable[tuple[str, Sequence[Value], Sequence[Tensor]]], references: References
) -> dict[str, float]:
    """Measure how far each gradient's values are from the right ones, at their worst.

    Nearly all differ only by rounding, so this quickly leaves few to be looked at one by one.
    Gradients that raised an error, or have no value, are left out.

    Args:
        found: gradients with the values found and the right ones, from the first hidden instance
            on; there may be fewer values found than right ones.
    """
    looked_at, names = list[tuple[Tensor, Tensor, float]](), list[str]()
    for name, values, right in found:
        own = [value.tensor for value in values if value.raised is None]
        tensors = [tensor for tensor in own if tensor is not None]
        if tensors and len(tensors) == len(values):
            looked_at += zip(tensors, right, references.floors(name[1:]), strict=False)
            names += [name] * len(tensors)
    far: dict[str, float] = {}
    for name, apart in zip(names, relative_differences(looked_at), strict=True):
        far[name] = max(apart, far.get(name, 0.0))
    return far
