"""Helper lines: gradients of smaller steps, unasked for, in the answer to a larger one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from torch import Tensor

from grader.answer.script import read_script
from grader.diagnosis.repair import Search
from grader.execution.ask import Worker, handed_down
from grader.execution.evidence import Observed, Value
from grader.execution.values import values_for
from grader.program.compare import agrees
from grader.worker.job import JobRun
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
    wrong: dict[str, Observed] = field(default_factory=dict)
    right: set[str] = field(default_factory=set)
    due: dict[str, list[Tensor]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        search, names = self.search, self._names()
        if not names:
            return
        asked = search.exercise.gradients
        above = handed_down(search.references.program, (*asked, *names))
        script = read_script(search.answer, above.keys())
        values = values_for(search.references, asked)
        worker = Worker(search.answer, script, values, above, search.runner, search.allowance)
        every = tuple(range(len(script.statements)))
        results = worker.ask(
            [
                JobRun((f"hidden{n}",), every, tuple(names), True, f"upstream{n}")
                for n in range(len(search.references.hidden))
            ]
        )
        makes = {name: script.making(name, above[name] - {*names}) for name in names}
        for name in sorted(names, key=lambda one: max(script.writing(one), default=-1)):
            found, reads = list[Tensor](), set[str]()
            for result in results:
                if isinstance(result, Result) and result.trace and name in result.tensors:
                    raised = {problem.statement for problem in result.problems}
                    if raised.isdisjoint(makes[name]):
                        found.append(result.tensors[name])
                        reads |= result.trace.lent.get(name, frozenset())
            if len(found) < len(results) or not reads:
                continue
            lent = frozenset(gradient[1:] for gradient in reads & {*asked})
            self.due[name] = search.references.local_vjps(name[1:], lent)
            if all(map(agrees, found, self.due[name])):
                self.right.add(name)
            else:
                keep = frozenset(script.written_as[number] for number in makes[name])
                self.wrong[name] = self._evidence(name, keep, lent, found)

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

    def _last(self, name: str) -> int:
        answer = self.search.answer
        tops = (own.number for own in self.search.statements if name in answer.written[own.top])
        return max(tops)

    def _evidence(
        self, name: str, keep: frozenset[int], lent: frozenset[str], found: Sequence[Tensor]
    ) -> Observed:
        values = tuple(map(Value, found))
        return Observed(
            name,
            lecture=Value(),
            hidden=values,
            local=values,
            reads=lent,
            place=self.search.answer.places[self._last(name)],
            is_written=True,
            keep=keep,
        )
