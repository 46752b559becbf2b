"""What the judge hands a worker: values once, then requests to run statements on them."""

from __future__ import annotations

import marshal
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType

import safetensors.torch
from torch import Tensor

from grader.worker.results import Problem, fields_of
from grader.worker.terms import Limits

Group = Mapping[str, Tensor | float]
"""Some of the names that statements find: tensors, and plain numbers such as sizes."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The groups that many requests run on; a worker gets them once and knows them by `key`."""

    key: str
    groups: Mapping[str, Group]

    def pack(self) -> list[bytes]:
        """The parts of a frame."""
        return [b"values", *pack_groups(self.key, self.groups)]

    @classmethod
    def unpack(cls, parts: Sequence[memoryview]) -> Values:
        """The inverse of `pack`."""
        _, head, tensors = parts
        return cls(*unpack_groups(head, tensors))


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A top-level statement of an answer, compiled with those inside it that are to run.

    `number` counts the answer's statements as `grader.answer.statements.walk_statements` does;
    `inside` are number, first and last line of each statement in it that is to run, itself first.
    Of a `plain` one its text shows all that it does to names.
    """

    number: int
    cell: str
    line: int
    inside: tuple[tuple[int, int, int], ...]
    code: CodeType
    plain: bool = False

    def innermost(self, line: int) -> int:
        """The number of the innermost statement that stands on a line."""
        on_line = [number for number, first, last in self.inside if first <= line <= last]
        return on_line[-1] if on_line else self.number


@dataclass(frozen=True, slots=True)
class RunOrder:
    """One run: which statements on which values, and the gradients wanted from it.

    `groups` name groups of values, later ones over earlier ones; `statements` are indices into
    those of the request. What is wanted is not given; what is `fixed` has its given value again
    after every statement, whatever the statement assigned to it. A run that is `recorded` says
    what each statement did to names. A `brief` one ends where a statement raises, and says no more;
    if it gives nothing of its tensor's shape, the same statements are not run briefly again. Of a
    value of that shape `some` sends back only what `some_of` takes: to hand on all of it takes
    longer than to compute it.
    """

    groups: tuple[str, ...]
    statements: tuple[int, ...]
    want: tuple[str, ...]
    fixed: tuple[str, ...]
    double: bool
    recorded: bool = False
    brief: bool = False
    some: bool = False


TERMS = struct.Struct("<ddQI??")
"""What the warm worker has to know of a request: see `Terms`."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The limits of a request, how many runs there are, and in which process they may be made.

    A request is run in a process of its own, which ends with it. One that `stays` waits for more
    of the same answer; a request that `continues` may be run by the process that stayed.
    """

    limits: Limits
    runs: int
    stays: bool
    continues: bool

    @classmethod
    def read(cls, parts: Sequence[memoryview]) -> Terms:
        """The terms, without the rest, of what `Request.pack` made."""
        *limits, runs, stays, continues = TERMS.unpack(parts[1])
        return cls(Limits(*limits), runs, stays, continues)


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Statements, the runs to make of them, and what they may use.

    `values` is the key of the values they run on; `extra` are groups for this request alone;
    `known` are problems of statements that are not to be run again. For `stays` and `continues` see
    `Terms`.
    """

    values: str
    statements: tuple[Statement, ...]
    runs: tuple[RunOrder, ...]
    limits: Limits
    extra: Mapping[str, Group] = field(default_factory=dict)
    known: tuple[Problem, ...] = ()
    stays: bool = False
    continues: bool = False

    def pack(self) -> list[bytes]:
        """The parts of a frame.

        Code travels as the judge's own Python has compiled it: the worker is the same Python, and
        nothing ever travels so in the other direction.
        """
        order = (
            [fields_of(statement) for statement in self.statements],
            [fields_of(run) for run in self.runs],
            [fields_of(problem) for problem in self.known],
        )
        process = self.stays, self.continues
        terms = TERMS.pack(*fields_of(self.limits), len(self.runs), *process)
        head, tensors = pack_groups(self.values, self.extra)
        return [b"request", terms, marshal.dumps(order), head, tensors]

    @classmethod
    def unpack(cls, parts: Sequence[memoryview]) -> Request:
        """The inverse of `pack`."""
        _, _, order, head, tensors = parts
        terms = Terms.read(parts)
        statements, runs, known = marshal.loads(order)
        key, extra = unpack_groups(head, tensors)
        return cls(
            key,
            tuple(Statement(*fields) for fields in statements),
            tuple(RunOrder(*fields) for fields in runs),
            terms.limits,
            extra,
            tuple(Problem(*fields) for fields in known),
            terms.stays,
            terms.continues,
        )


def pack_groups(key: str, groups: Mapping[str, Group]) -> list[bytes]:
    """The last two parts of a frame: a key with plain numbers, and all tensors."""
    numbers: dict[str, dict[str, float]] = {group: {} for group in groups}
    tensors: dict[str, Tensor] = {}
    for group, values in groups.items():
        for name, value in values.items():
            if isinstance(value, Tensor):
                # safetensors refuses tensors that share memory, such as a view beside its base.
                tensors[f"{group}/{name}"] = value.clone().contiguous()
            else:
                numbers[group][name] = value
    return [marshal.dumps((key, numbers)), safetensors.torch.save(tensors) if tensors else b""]


def unpack_groups(head: memoryview, tensors: memoryview) -> tuple[str, dict[str, Group]]:
    """The inverse of `pack_groups`."""
    key, groups = marshal.loads(head)
    for place, value in (safetensors.torch.load(bytes(tensors)) if len(tensors) else {}).items():
        group, _, name = place.partition("/")
        groups[group][name] = value
    return key, groups
