"""Variants: a gradient's own statements, edited, run by the worker like any answer."""

from __future__ import annotations

import ast
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType

from torch import Tensor

from grader.answer.parse import Answer, Raised
from grader.execution.runner import AnyRunner, WorkerLost
from grader.execution.runs import RunPlan, results_of
from grader.worker.request import Group, Request, RunOrder, Values
from grader.worker.results import some_of

STATEMENT_SECONDS, TOTAL_SECONDS, ANSWER_SECONDS = 4.0, 12.0, 40.0
"""A net for a statement, a request and an answer, which may be written to be slow: what is said
must not depend on how busy the machine is, so variants are counted."""


@dataclass(slots=True)
class Patience:
    """How long the variants of one answer may take: `until`, on the monotonic clock."""

    until: float = field(default_factory=lambda: time.monotonic() + ANSWER_SECONDS)

    @property
    def seconds(self) -> float:
        """For the next request; nothing is left once one was not answered in time."""
        return min(self.until - time.monotonic(), TOTAL_SECONDS)

    def end(self) -> None:
        """Ask no more."""
        self.until = -math.inf


@dataclass(slots=True, eq=False)
class Variants:
    """Runs edited statements of one gradient on the small hidden instances.

    `keep` are the numbers of its own statements, `fixed` the upstreams that they write in vain;
    `beside` are further values that an edit may name, one group an instance.
    """

    answer: Answer
    gradient: str
    keep: frozenset[int]
    fixed: frozenset[str]
    values: Values
    beside: Sequence[Group]
    runner: AnyRunner
    patience: Patience
    reading: Mapping[int, str] = field(default_factory=dict)
    """Numbers that are read as a size, or the one below it, wherever no exponent stands."""
    cut_short: bool = False
    """Whether some variant was not run, for want of time or of a worker."""

    def run(
        self, edited: Sequence[Mapping[int, str]], instances: Sequence[int]
    ) -> list[list[Tensor | None]]:
        """For each instance, what is `told` of the gradient's value after each variant.

        None where there is no value.

        Args:
            edited: for each variant, the new text of top-level statements by their numbers; an
                empty text leaves one out.
            instances: numbers of hidden instances.
        """
        plan, want = RunPlan(self.answer), (self.gradient,)
        fixed = tuple(sorted(self.fixed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = map(self._compiled, edited)
            ready = [None if one is None else plan.compiled(self.keep, one) for one in compiled]
        for instance in instances:
            groups = (f"hidden{instance}", f"upstream{instance}", f"beside{instance}")
            for statements in ready:
                if statements is not None:
                    terms = (groups, statements, want, fixed)
                    plan.runs.append(RunOrder(*terms, double=True, brief=True, some=instance > 0))
        seconds, found = self.patience.seconds, list[Tensor | None]()
        if len(plan.runs) and seconds > 0:
            limits = replace(
                self.runner.limits, statement_seconds=STATEMENT_SECONDS, total_seconds=seconds
            )
            beside = {f"beside{instance}": self.beside[instance] for instance in instances}
            request = plan.request(self.values, limits)
            # The answer's own process may do it, whatever the answer has made of that: no verdict
            # depends on what comes back, and no other answer will be run there.
            found = self._ask(replace(request, extra=beside, stays=True, continues=True))
        if len(found) < len(plan.runs):
            self.cut_short = True
            self.patience.end()
        values = iter([*found, *[None] * (len(plan.runs) - len(found))])
        return [[None if s is None else next(values) for s in ready] for _ in instances]

    @staticmethod
    def told(value: Tensor, instance: int) -> Tensor:
        """What comes back of a value: all of it, or some of it where that confirms the first."""
        return some_of(value) if instance else value

    def _compiled(self, texts: Mapping[int, str]) -> dict[int, CodeType | None] | None:
        """The code of each new text, None for an empty one; None where one is not Python."""
        code = dict[int, CodeType | None]()
        for number, text in texts.items():
            name = f"<answer {self.answer.places[number].cell}>"
            try:
                code[number] = compile(self._read(text.lstrip()), name, "exec") if text else None
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        return code

    def _read(self, text: str) -> str | ast.Module:
        if not self.reading:
            return text
        tree: ast.Module = _Reading(self.reading).visit(ast.parse(text))
        return tree

    def _ask(self, request: Request) -> list[Tensor | None]:
        try:
            reply = self.runner.run(request, self.values)
        except WorkerLost:
            return []
        found = list[Tensor | None]()
        for result in results_of(reply):
            if isinstance(result, Raised):
                break
            found.append(result.tensors.get(self.gradient))
        return found


@dataclass(frozen=True, slots=True)
class _Reading(ast.NodeTransformer):
    """Puts sizes in the place of numbers."""

    sizes: Mapping[int, str]

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """A power's exponent is no size."""
        node.left = self.visit(node.left)
        node.right = node.right if isinstance(node.op, ast.Pow) else self.visit(node.right)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A number, or text, as it stands in the statement."""
        match node.value:
            case int(number) if number in self.sizes:
                size = ast.parse(self.sizes[number], mode="eval").body
                return ast.copy_location(size, node)
        return node
