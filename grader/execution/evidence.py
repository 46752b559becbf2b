"""Evidence: what a student's statements did, as data the judge can read."""

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
    """What stood under a gradient's name when its statements had run.

    Either a `tensor` (dense, detached, on the CPU), or the Python type of what stood there
    instead, or nothing. `raised` is the exception of one of the gradient's own statements: a
    value beside it is only half of what was meant. `interrupted` is the exception of another
    statement that stands beside it, or that it needs: it may have kept the gradient's own from
    running, or from what they read. `on_the_way` is that of one which it needs, again. `shape` is
    the one that it had, where `as_cmp_takes_it` gave it another.
    """

    tensor: Tensor | None = None
    type_name: str | None = None
    raised: Raised | None = None
    interrupted: Raised | None = None
    on_the_way: Raised | None = None
    shape: tuple[int, ...] | None = None

    def agrees(self, reference: Tensor, floor: float) -> bool:
        """True for a gradient that differs from the reference by no more than rounding."""
        tensor = self.tensor
        return self.raised is None and tensor is not None and agrees(tensor, reference, floor)

    @property
    def is_placeholder(self) -> bool:
        """True if nothing was put in the blank's place."""
        return self.raised is None and self.tensor is None and self.type_name in PLACEHOLDER_TYPES


def as_cmp_takes_it(value: Tensor | None, shape: Sequence[int]) -> Tensor | None:
    """A gradient in its tensor's shape, if the lecture's `cmp` could compare the two.

    It broadcasts: (64,) stands for (1, 64), and (1, 64) for 32 equal rows.
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
    """Everything observed of one gradient; `observe` fills it in, and nobody changes it then.

    `lecture` is its value on the float32 instance of the lecture's sizes, `hidden` those of the
    whole answer on the hidden instances; `apart` is how far these are from autograd's at most,
    relative to the largest number there. `local` are the values that its own statements gave from
    random upstreams, one for each hidden instance, or for the first alone where no verdict
    depends on them: for most right gradients.

    `reads` are the tensors whose gradients its statements read, `writes` those that its statements
    assign as well. `channels` are those whose statements change this gradient too, because they
    share its memory: then `as_assigned` are its local values without that. `siblings` are the other
    gradients asked for that its statements use although none of them is handed down to it, as the
    batch normalisation's `dbngain` in `dhprebn`: then `beside` are a wrong gradient's local values
    with those given too, as they should be. `among_right` are its values with all that it reads as
    it is for one random upstream of the loss; None if that was not run.
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
    """Why the answer cell that would assign this gradient is not Python."""
    is_written: bool = False
    """Whether some statement assigns or changes it, whatever came of that."""
    code: tuple[ast.stmt, ...] = ()
    """Its own statements, in order, with those that write it in vain."""
    keep: frozenset[int] = frozenset()
    """The numbers of the statements that make it."""

    def upstreams(self, readers: frozenset[str]) -> list[frozenset[str]]:
        """The sets of upstreams that its line may be written for, likeliest first.

        Those that the statements read: a gradient that is written in fewer steps than the program
        has reads a later one. `readers` are those of the program.
        """
        return list(dict.fromkeys((self.reads, self.reads - self.writes, readers)))

    @property
    def is_right(self) -> bool:
        """True if the values of the whole answer are autograd's, but for rounding."""
        return self.apart <= FLOAT64_TOLERANCE

    @property
    def is_blank(self) -> bool:
        """True if the student has not written this gradient yet."""
        missing = self.is_written and any(value.type_name is None for value in self.hidden)
        return not missing and all(value.is_placeholder for value in self.hidden)


def furthest(
    found: Iterable[tuple[str, Sequence[Value], Sequence[Tensor]]], references: References
) -> dict[str, float]:
    """How far the values of each gradient are from the right ones, where they are furthest.

    Nearly all differ by no more than rounding: this is the quick way to leave only the others to
    be looked at one by one. What raised, or has no value, is not among them.

    Args:
        found: gradients with the values found and the right ones, from the first hidden instance
            on; of the values found there may be fewer.
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
