"""Variants: edits of a gradient's own statements, which the worker runs like any answer."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from grader.answer.parse import Answer, Raised
from grader.answer.script import Trial
from grader.execution.ask import Allowance, results_of
from grader.execution.runner import AnyRunner, WorkerLost
from grader.worker.job import Group, Job, JobRun, Values
from grader.worker.results import Made, some_of

STATEMENT_SECONDS, TOTAL_SECONDS = 4.0, 12.0
"""Generous limits for a statement and a request that may be slow on purpose. Variants are counted
instead, because a diagnosis must not depend on how busy the machine is."""


@dataclass(slots=True, eq=False)
class Variants:
    """Runs edited statements of one gradient on the small hidden instances, in forced runs.

    `keep` are the numbers of its own statements, and `above` maps each gradient asked for to those
    between its tensor and the loss. For each instance, `beside` has further values that an edit may
    name, and `given` the gradients that every statement reads as they are there.
    """

    answer: Answer
    gradient: str
    keep: frozenset[int]
    above: Made
    values: Values
    beside: Sequence[Group]
    given: Sequence[Group]
    runner: AnyRunner
    allowance: Allowance
    reading: Mapping[float, str] = field(default_factory=dict)
    """Numbers to read as a size or another name, except in exponents."""
    cut_short: bool = False
    """Whether time or workers ran out before all variants had run."""

    def run(
        self, edited: Sequence[Mapping[int, str]], instances: Sequence[int]
    ) -> list[list[Tensor | None]]:
        """Return what `told` makes of the gradient's value after each variant, for each instance.

        If there is no value, this is None.

        Args:
            edited: for each variant, the new texts of top-level statements by their numbers; an
                empty text leaves the statement out.
            instances: numbers of hidden instances.
        """
        trial = Trial(self.answer, self.keep, self.above.keys())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ready = [self._statements(trial, texts) for texts in edited]
        runs = [
            JobRun(
                (f"hidden{instance}", f"beside{instance}"),
                statements,
                (self.gradient,),
                double=True,
                upstreams=f"upstream{instance}",
                given=f"given{instance}" if self.given else "",
                brief=True,
                some=instance > 0,
            )
            for instance in instances
            for statements in ready
            if statements is not None
        ]
        seconds, found = min(self.allowance.left, TOTAL_SECONDS), list[Tensor | None]()
        if runs and seconds > 0:
            groups = {"beside": self.beside, **({"given": self.given} if self.given else {})}
            job = Job(
                self.values.key,
                tuple(trial.statements),
                tuple(runs),
                self.above,
                replace(
                    self.runner.limits, statement_seconds=STATEMENT_SECONDS, total_seconds=seconds
                ),
                extra={f"{name}{n}": some[n] for name, some in groups.items() for n in instances},
                # The answer's own process may do it, whatever the answer has made of that: no
                # verdict depends on what comes back, and no other answer will be run there.
                continues=True,
            )
            found = self._ask(job)
        if len(found) < len(runs):
            self.cut_short = True
            self.allowance.end()
        values = iter([*found, *[None] * (len(runs) - len(found))])
        return [[None if s is None else next(values) for s in ready] for _ in instances]

    @staticmethod
    def told(value: Tensor, instance: int) -> Tensor:
        """Take what comes back of a value: all of it, or only some if that confirms the first."""
        return some_of(value) if instance else value

    def _statements(self, trial: Trial, texts: Mapping[int, str]) -> tuple[int, ...] | None:
        """Find the indices of a variant's statements, or None if a new text is not Python."""
        try:
            new = {
                number: ast.parse(text.lstrip()).body if text else []
                for number, text in texts.items()
            }
            return trial.with_texts(new, self._read)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def _read(self, statement: ast.stmt) -> ast.stmt:
        if not self.reading:
            return statement
        read: ast.stmt = _Reading(self.reading).visit(statement)
        return read

    def _ask(self, job: Job) -> list[Tensor | None]:
        try:
            reply = self.runner.run(job, self.values)
        except WorkerLost:
            return []
        found = list[Tensor | None]()
        for result in results_of(reply, len(job.runs)):
            if isinstance(result, Raised):
                break
            found.append(result.tensors.get(self.gradient))
        return found


@dataclass(frozen=True, slots=True)
class _Reading(ast.NodeTransformer):
    """Replaces numbers by names."""

    names: Mapping[float, str]

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Leave the exponent of a power as it is, because it is not a size."""
        node.left = self.visit(node.left)
        node.right = node.right if isinstance(node.op, ast.Pow) else self.visit(node.right)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Replace a number that stands for a name."""
        match node.value:
            case int(number) | float(number) if number in self.names:
                name = ast.parse(self.names[number], mode="eval").body
                return ast.copy_location(name, node)
        return node
