"""Variants: a gradient's own statements, edited, run by the worker like any answer."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from grader.answer.parse import Answer
from grader.execution.runner import Runner, WorkerLost
from grader.execution.runs import RunPlan
from grader.worker.request import Group, Request, RunOrder, Statement, Values
from grader.worker.results import unpack_results

STATEMENT_SECONDS, TOTAL_SECONDS = 1.0, 10.0
"""A net: what is said must not depend on how busy the machine is, so variants are counted."""

ANSWER_SECONDS = 20.0
"""The same for all gradients of an answer: it may be written to be slow."""


@dataclass(slots=True, eq=False)
class Variants:
    """Runs edited statements of one gradient on the small hidden instances.

    `keep` are the numbers of its own statements, `fixed` the upstreams that they write in vain;
    `beside` are further values that an edit may name, one group an instance; `until` is the time,
    on the monotonic clock, to end.
    """

    answer: Answer
    gradient: str
    keep: frozenset[int]
    fixed: frozenset[str]
    values: Values
    beside: Sequence[Group]
    runner: Runner
    until: float
    cut_short: bool = False
    """Whether some variant was not run, for want of time or of a worker."""

    def run(self, edited: Sequence[Mapping[int, str]], instance: int) -> list[Tensor | None]:
        """The gradient's value after each variant; None where there is no such value.

        Args:
            edited: for each variant, the new text of top-level statements by their numbers; an
                empty text leaves one out.
            instance: the number of the hidden instance.
        """
        plan = _Plan(self.answer, instance)
        groups = (f"hidden{instance}", f"upstream{instance}", "beside")
        orders: list[int | None] = []
        for texts in edited:
            statements = plan.edited(self.keep, texts)
            orders.append(None if statements is None else len(plan))
            if statements is not None:
                fixed = tuple(sorted(self.fixed))
                plan.add(RunOrder(groups, statements, (self.gradient,), fixed, double=True))
        seconds = min(self.until - time.monotonic(), TOTAL_SECONDS)
        if seconds <= 0:
            self.cut_short = True
            return [None] * len(edited)
        limits = replace(
            self.runner.limits, statement_seconds=STATEMENT_SECONDS, total_seconds=seconds
        )
        request = replace(
            plan.request(self.values, limits), extra={"beside": self.beside[instance]}
        )
        found = self._ask(request) if len(plan) else []
        self.cut_short |= len(found) < len(plan)
        return [found[n] if n is not None and n < len(found) else None for n in orders]

    def _ask(self, request: Request) -> list[Tensor | None]:
        try:
            reply = self.runner.run(request, self.values)
        except WorkerLost:
            return []
        found: list[Tensor | None] = []
        for count, blob in reply.blobs:
            try:
                results = unpack_results(blob, count)
            # Anything may be in what came from the student's process: then nothing is said.
            except ValueError:
                return found
            found += [
                None if result.problems else result.tensors.get(self.gradient) for result in results
            ]
        return found


class _Plan(RunPlan):
    """A plan of runs in which statements may have another text."""

    def edited(self, keep: frozenset[int], texts: Mapping[int, str]) -> tuple[int, ...] | None:
        """Indices of the statements to run; None where a new text is not Python."""
        indices: list[int] = []
        answer = self._answer
        for top in answer.top:
            kept = keep & answer.inside[top]
            if not kept:
                continue
            number = answer.number[top]
            if number not in texts:
                indices.append(self._index(top, kept))
            elif texts[number]:
                place = answer.places[number]
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        code = compile(texts[number].lstrip(), f"<answer {place.cell}>", "exec")
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return None
                # A number of its own: what one variant does is not to be held against another.
                number = len(answer.statements) + len(self._statements)
                indices.append(len(self._statements))
                self._statements.append(
                    Statement(number, place.cell, 1, ((number, 1, 10**6),), code)
                )
        return tuple(indices)
