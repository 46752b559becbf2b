"""The job: an answer's statements, the values to run them on, and the runs to make."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import safetensors.torch
from torch import Tensor

from grader.worker.results import Made, Problem, fields_of
from grader.worker.terms import Limits

Group = Mapping[str, Tensor | float]
"""Names that statements find, with their values: tensors, and plain numbers such as sizes."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The groups that many jobs run on. A worker gets them once and remembers them by `key`."""

    key: str
    groups: Mapping[str, Group]

    def pack(self) -> tuple[bytes, bytes]:
        """The head and the body of a frame."""
        return marshal.dumps(("values",)), marshal.dumps((self.key, *_pack_groups(self.groups)))

    @classmethod
    def unpack(cls, body: memoryview) -> Values:
        """The inverse of `pack`."""
        key, *groups = marshal.loads(body)
        return cls(key, _unpack_groups(*groups))


@dataclass(frozen=True, slots=True)
class Line:
    """One statement, at any depth, with its number, its place and the names in its text.

    For a compound statement, `reads` and `writes` are those of its own line, without its blocks.
    """

    number: int
    first: int
    last: int
    reads: frozenset[str]
    writes: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A statement at top level, with `lines` for itself and for the statements inside it.

    `marked` is its code, with a call of `MARK` before each statement inside a block.
    """

    cell: str
    lines: tuple[Line, ...]
    code: CodeType
    marked: CodeType

    @property
    def number(self) -> int:
        """The number of the statement."""
        return self.lines[0].number

    @property
    def line(self) -> int:
        """The line of the cell in which the statement begins."""
        return self.lines[0].first

    @property
    def inside(self) -> tuple[tuple[int, int, int], ...]:
        """Number, first and last line of the statement and then of each one inside it."""
        return tuple((line.number, line.first, line.last) for line in self.lines)

    def innermost(self, line: int) -> int:
        """Find the number of the innermost statement on a line."""
        on_line = [one.number for one in self.lines if one.first <= line <= one.last]
        return on_line[-1] if on_line else self.number


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run: which statements to run on which values, and which gradients to return.

    `groups` names groups of values, of which later ones override earlier ones, and `statements` are
    indices into those of the job. A run is forced if `upstreams` names a group of random upstreams.
    Then `given` may name another group, of gradients that every statement reads as they are there.

    A `brief` run ends when a statement raises. If it makes nothing of its tensor's shape, the same
    statements are not run briefly again. With `some`, only what `some_of` takes of a value is sent
    back, because sending all of it takes longer than computing it.
    """

    groups: tuple[str, ...]
    statements: tuple[int, ...]
    want: tuple[str, ...]
    double: bool
    upstreams: str = ""
    given: str = ""
    brief: bool = False
    some: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """The work that a worker does for one answer.

    `values` is the key of the values that the runs name, and `extra` has groups for this job alone.
    `above` maps each gradient to those between its tensor and the loss, which may be lent to it.
    `uncounted` says that the answer may change memory in ways that PyTorch does not count. `known`
    are problems of statements that must not run again. A job that `continues` may be done by the
    process that did the answer's job before.
    """

    values: str
    statements: tuple[Statement, ...]
    runs: tuple[JobRun, ...]
    above: Made
    limits: Limits
    uncounted: bool = False
    extra: Mapping[str, Group] = field(default_factory=dict)
    known: tuple[Problem, ...] = ()
    continues: bool = False

    def pack(self) -> tuple[bytes, bytes]:
        """Return the head and the body of a frame; a worker itself reads only the head.

        Code travels as the judge's own Python has compiled it, because the worker is the same
        Python. Nothing ever travels like this in the other direction.
        """
        limits = fields_of(self.limits)
        statements = [
            (one.cell, [fields_of(line) for line in one.lines], one.code, one.marked)
            for one in self.statements
        ]
        runs, known = ([fields_of(one) for one in some] for some in (self.runs, self.known))
        order = self.values, statements, runs, dict(self.above), limits, self.uncounted
        body = *order, _pack_groups(self.extra), known
        return marshal.dumps(("job", limits, self.continues)), marshal.dumps(body)

    @classmethod
    def unpack(cls, body: bytes | memoryview) -> Job:
        """The inverse of `pack`."""
        values, statements, runs, above, limits, uncounted, extra, known = marshal.loads(body)
        return cls(
            values,
            tuple(
                Statement(cell, tuple(Line(*line) for line in lines), code, marked)
                for cell, lines, code, marked in statements
            ),
            tuple(JobRun(*run) for run in runs),
            above,
            Limits(*limits),
            uncounted,
            _unpack_groups(*extra),
            tuple(Problem(*problem) for problem in known),
        )


def _pack_groups(groups: Mapping[str, Group]) -> tuple[dict[str, dict[str, float]], bytes]:
    """Separate the plain numbers of groups from their tensors, which become one blob."""
    numbers: dict[str, dict[str, float]] = {group: {} for group in groups}
    tensors: dict[str, Tensor] = {}
    for group, values in groups.items():
        for name, value in values.items():
            if isinstance(value, Tensor):
                # safetensors refuses tensors that share memory, such as a view beside its base.
                tensors[f"{group}/{name}"] = value.clone().contiguous()
            else:
                numbers[group][name] = value
    return numbers, safetensors.torch.save(tensors)


def _unpack_groups(numbers: dict[str, dict[str, Any]], tensors: bytes) -> dict[str, Group]:
    """Invert `_pack_groups`."""
    for place, value in safetensors.torch.load(tensors).items():
        group, _, name = place.partition("/")
        numbers[group][name] = value
    return {**numbers}
