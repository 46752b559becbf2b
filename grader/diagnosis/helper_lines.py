"""Helper lines: gradients of smaller steps, unasked for, in the answer to a larger one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from torch import Tensor

from grader.answer.slices import Slice, slice_gradient
from grader.diagnosis.repair import Search
from grader.execution.evidence import GradientEvidence, Value
from grader.execution.runs import Runs, values_for
from grader.program.compare import agrees
from grader.worker.results import Result

RIGHT = "right_{}_"
"""The name by which a trial reads what a helper should be."""


@dataclass(eq=False)
class Helpers:
    """The names `d<step>` that a wrong gradient's own statements assign on the way to it.

    Each should be the gradient of that step, from the same upstreams; `wrong` are those that are
    not, `right` those that are, both in the order of their last lines.
    """

    search: Search
    wrong: dict[str, GradientEvidence] = field(default_factory=dict)
    right: set[str] = field(default_factory=set)
    due: dict[str, list[Tensor]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pieces = {name: self._cut(name) for name in self._names()}
        pieces = {name: piece for name, piece in pieces.items() if piece.reads and piece.writers}
        if not pieces:
            return
        search = self.search
        values = values_for(search.references, search.exercise.gradients)
        runs = Runs(search.answer, search.references, values, search.runner)
        results = runs.alone(dict.fromkeys(pieces.items(), runs.instances))
        for name, piece in sorted(pieces.items(), key=lambda one: max(one[1].writers)):
            tensors = [
                one.tensors.get(name) if isinstance(one, Result) and not one.problems else None
                for one in results[name, piece]
            ]
            found = [tensor for tensor in tensors if tensor is not None]
            if len(found) < len(tensors):
                continue
            reads = frozenset(gradient[1:] for gradient in piece.reads)
            self.due[name] = search.references.local_vjps(name[1:], reads)
            if all(map(agrees, found, self.due[name])):
                self.right.add(name)
            else:
                self.wrong[name] = self._evidence(name, piece, found)

    @cached_property
    def is_at_fault(self) -> bool:
        """True if the gradient is right with all helpers as they should be."""
        last = {self._last(name): "" for name in self.wrong}
        own = {one.number: one.text.strip() for one in self.search.statements}
        if not self.wrong or not last.keys() <= own.keys():
            return False
        for number in last:
            names = (name for name in self.wrong if self._last(name) == number)
            last[number] = "\n".join([own[number], *(f"{n} = {RIGHT.format(n)}" for n in names)])
        search = self.search
        instances = range(len(search.references.hidden))
        beside = [{RIGHT.format(n): self.due[n][i] for n in self.wrong} for i in instances]
        variants = search.variants(beside)
        values = [some[0] for some in variants.run([last], instances)]

        def meets(target: Sequence[Tensor]) -> bool:
            told = map(variants.told, target, instances)
            pairs = zip(values, told, strict=True)
            return all(
                value is not None and agrees(value.double(), right) for value, right in pairs
            )

        return any(map(meets, search.targets))

    @cached_property
    def first(self) -> Search | None:
        """What there is to find out about the first wrong one."""
        for item in self.wrong.values():
            return replace(self.search, item=item, near=[], right_helpers=self.right)
        return None

    def _names(self) -> list[str]:
        search, named = self.search, self.search.references.hidden[0].cotangents
        written = frozenset[str]().union(*(search.answer.written[s.top] for s in search.statements))
        steps = {f"d{s.name}" for s in search.references.program.steps if s.name in named}
        return sorted(written & steps - {*search.exercise.gradients, search.item.name})

    def _cut(self, name: str) -> Slice:
        asked = frozenset(self.search.exercise.gradients)
        program = self.search.references.program
        given = asked & {f"d{step}" for step in program.descendants(name[1:])}
        return slice_gradient(self.search.answer, name, given, asked)

    def _last(self, name: str) -> int:
        answer = self.search.answer
        tops = (own.number for own in self.search.statements if name in answer.written[own.top])
        return max(tops)

    def _evidence(self, name: str, piece: Slice, found: Sequence[Tensor]) -> GradientEvidence:
        values = tuple(map(Value, found))
        return GradientEvidence(
            name,
            lecture=Value(),
            hidden=values,
            local=values,
            reads=frozenset(gradient[1:] for gradient in piece.reads),
            writes=frozenset(gradient[1:] for gradient in piece.writes),
            place=self.search.answer.places[self._last(name)],
            is_written=True,
            keep=piece.keep,
            fixed=piece.fixed,
        )
