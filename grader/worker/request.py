"""What the judge hands a worker: values once, then requests to run statements on them."""

from __future__ import annotations

import json
import marshal
import struct
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from types import CodeType
from typing import Any

import safetensors.torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Some of the names that statements find: tensors, and plain numbers such as sizes."""

    tensors: Mapping[str, Tensor]
    constants: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The groups that many requests run on; a worker gets them once and knows them by `key`."""

    key: str
    groups: Mapping[str, Group]

    def pack(self) -> list[bytes]:
        """The parts of a frame."""
        return [b"values", *_pack_groups(self.key, self.groups)]

    @classmethod
    def unpack(cls, parts: Sequence[memoryview]) -> Values:
        """The inverse of `pack`."""
        _, head, tensors = parts
        return cls(*_unpack_groups(head, tensors))


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A top-level statement of an answer, compiled with those inside it that are to run.

    `number` counts the answer's statements as `grader.statements.walk_statements` does; `inside`
    are number, first and last line of each statement in it that is to run, itself first.
    """

    number: int
    cell: str
    line: int
    inside: tuple[tuple[int, int, int], ...]
    code: CodeType

    def innermost(self, line: int) -> int:
        """The number of the innermost statement that stands on a line."""
        on_line = [number for number, first, last in self.inside if first <= line <= last]
        return on_line[-1] if on_line else self.number


@dataclass(frozen=True, slots=True)
class RunOrder:
    """One run: which statements on which values, and the gradients wanted from it.

    `groups` name groups of values, later ones over earlier ones; `statements` are indices into
    those of the request. What is wanted is not given; what is `fixed` has its given value again
    after every statement, whatever the statement assigned to it.
    """

    groups: tuple[str, ...]
    statements: tuple[int, ...]
    want: tuple[str, ...]
    fixed: tuple[str, ...]
    double: bool


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the warm worker has to know of a request: how long, how much, how many runs."""

    statement_seconds: float
    total_seconds: float
    memory_bytes: int
    runs: int

    @classmethod
    def unpack(cls, parts: Sequence[memoryview]) -> Bounds:
        """The bounds alone of what `Request.pack` made."""
        return cls(*BOUNDS.unpack(parts[1]))


BOUNDS = struct.Struct("<ddQI")


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Statements, the runs to make of them, and what they may use.

    `values` is the key of the values they run on; `extra` are groups for this request alone.
    """

    values: str
    statements: tuple[Statement, ...]
    runs: tuple[RunOrder, ...]
    statement_seconds: float
    total_seconds: float
    memory_bytes: int
    extra: Mapping[str, Group] = field(default_factory=dict)

    @property
    def bounds(self) -> Bounds:
        """What the warm worker has to know."""
        seconds = self.statement_seconds, self.total_seconds
        return Bounds(*seconds, self.memory_bytes, len(self.runs))

    def pack(self) -> list[bytes]:
        """The parts of a frame.

        Code travels as the judge's own Python has compiled it: the worker is the same Python, and
        nothing ever travels so in the other direction.
        """
        order = {
            "statements": [(s.number, s.cell, s.line, s.inside) for s in self.statements],
            "runs": [(r.groups, r.statements, r.want, r.fixed, r.double) for r in self.runs],
        }
        codes = marshal.dumps([statement.code for statement in self.statements])
        return [
            *(b"request", BOUNDS.pack(*astuple(self.bounds)), json.dumps(order).encode(), codes),
            *_pack_groups(self.values, self.extra),
        ]

    @classmethod
    def unpack(cls, parts: Sequence[memoryview]) -> Request:
        """The inverse of `pack`."""
        bounds = Bounds.unpack(parts)
        _, _, head, codes, extra_head, extra_tensors = parts
        order = json.loads(bytes(head))
        key, extra = _unpack_groups(extra_head, extra_tensors)
        return cls(
            key,
            tuple(
                Statement(number, cell, line, tuple(map(tuple, inside)), code)
                for (number, cell, line, inside), code in zip(
                    order["statements"], marshal.loads(codes), strict=True
                )
            ),
            tuple(
                RunOrder(tuple(groups), tuple(statements), tuple(want), tuple(fixed), double)
                for groups, statements, want, fixed, double in order["runs"]
            ),
            bounds.statement_seconds,
            bounds.total_seconds,
            bounds.memory_bytes,
            extra,
        )


def _pack_groups(key: str, groups: Mapping[str, Group]) -> list[bytes]:
    constants = {name: dict(group.constants) for name, group in groups.items()}
    # safetensors refuses tensors that share memory, such as a view beside its base.
    tensors = {
        f"{group}/{name}": value.clone().contiguous()
        for group, values in groups.items()
        for name, value in values.tensors.items()
    }
    head = json.dumps({"key": key, "constants": constants}).encode()
    return [head, safetensors.torch.save(tensors) if tensors else b""]


def _unpack_groups(head: memoryview, tensors: memoryview) -> tuple[str, dict[str, Group]]:
    order: dict[str, Any] = json.loads(bytes(head))
    loaded = safetensors.torch.load(bytes(tensors)) if len(tensors) else {}
    return order["key"], {
        group: Group(
            {
                key.partition("/")[2]: value
                for key, value in loaded.items()
                if key.partition("/")[0] == group
            },
            constants,
        )
        for group, constants in order["constants"].items()
    }
