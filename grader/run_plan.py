"""The plan of an answer's runs: which statements run on which values, for what."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from torch import Tensor

from grader.answer import Answer, compile_statement
from grader.instances import Instance
from grader.references import References
from grader.runner import Limits
from grader.slices import Slice
from grader.statements import COMPOUND, pruned, walk_statements
from grader.worker.request import Group, Request, RunOrder, Statement, Values

_KEYS = itertools.count()


def make_values(references: References, lecture: Instance, gradients: Sequence[str]) -> Values:
    """The values that every answer to an exercise is run on.

    The lecture's instance, the hidden ones, and for each of these the random upstreams: nothing
    that autograd has said.
    """
    groups = {"lecture": _group(lecture)}
    for number, reference in enumerate(references.hidden):
        groups[f"hidden{number}"] = _group(reference.instance)
        upstreams = {
            name: reference.cotangents[name[1:]]
            for name in gradients
            if name[1:] in reference.cotangents
        }
        groups[f"upstream{number}"] = Group(upstreams)
    return Values(new_key(), groups)


def new_key() -> str:
    """A key that no other values of this process have."""
    return f"values-{next(_KEYS)}"


def _group(instance: Instance) -> Group:
    tensors = {name: v for name, v in instance.values.items() if isinstance(v, Tensor)}
    numbers = {name: v for name, v in instance.values.items() if isinstance(v, int | float)}
    return Group(tensors, {**instance.sizes, **numbers})


class RunPlan:
    """Collects runs of one answer, on `hidden` hidden instances, and makes the request for them."""

    def __init__(self, answer: Answer, hidden: int) -> None:
        self._answer = answer
        self._hidden = hidden
        self._statements: list[Statement] = []
        self._indices: dict[tuple[int, frozenset[int]], int] = {}
        self._runs: list[RunOrder] = []
        self._extra: dict[str, Group] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, order: RunOrder) -> None:
        """Any run of what `compiled` has made ready."""
        self._runs.append(order)

    def add_whole(self, gradients: Sequence[str]) -> None:
        """The whole answer: on the lecture's instance first, then on the hidden ones."""
        live, want = self.compiled(self._answer.live), tuple(gradients)
        self._runs.append(RunOrder(("lecture",), live, want, (), False))
        self._runs += [
            RunOrder((f"hidden{number}",), live, want, (), True) for number in range(self._hidden)
        ]

    def add_slice(self, gradient: str, piece: Slice, beside: Sequence[Group] = ()) -> None:
        """A gradient's own statements on each instance's upstreams, and what is given beside."""
        statements = self.compiled(piece.keep)
        fixed = tuple(sorted(piece.fixed))
        for number in range(self._hidden):
            groups: tuple[str, ...] = (f"hidden{number}", f"upstream{number}")
            if beside:
                groups = (*groups, f"beside-{gradient}{number}")
                self._extra[groups[-1]] = beside[number]
            self._runs.append(RunOrder(groups, statements, (gradient,), fixed, True))

    def request(self, values: Values, limits: Limits) -> Request:
        """All runs added so far."""
        return Request(
            values.key,
            tuple(self._statements),
            tuple(self._runs),
            limits.statement_seconds,
            limits.total_seconds,
            limits.memory_bytes,
            self._extra,
        )

    def compiled(self, keep: frozenset[int]) -> tuple[int, ...]:
        """Indices of the top-level statements to run, without what is not kept inside them."""
        inside = self._answer.inside
        return tuple(
            self._index(top, kept) for top in self._answer.top if (kept := keep & inside[top])
        )

    def _index(self, top: ast.stmt, kept: frozenset[int]) -> int:
        key = self._answer.number[top], kept
        if key not in self._indices:
            self._indices[key] = len(self._statements)
            self._statements.append(_compile(self._answer, top, kept))
        return self._indices[key]


def _compile(answer: Answer, top: ast.stmt, kept: frozenset[int]) -> Statement:
    place = answer.places[answer.number[top]]
    inside = [s for s in walk_statements([top]) if answer.number[s] in kept]
    spans = ((answer.number[s], s.lineno, s.end_lineno or s.lineno) for s in inside)
    if isinstance(top, COMPOUND) and len(kept) < len(answer.inside[top]):
        code = compile_statement(pruned(top, set(inside)), place.cell)
    else:
        code = answer.codes[top]
    return Statement(answer.number[top], place.cell, top.lineno, tuple(spans), code)
