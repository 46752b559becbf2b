"""Evidence made by hand on a small program."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from torch import Tensor

from grader.answer.parse import Raised
from grader.execution.evidence import Observed, Value
from grader.grading.judge import judge
from grader.program.instances import HIDDEN_SIZES
from grader.program.parse import parse_program
from grader.program.references import Reference, References, make_references
from grader.verdict import Place, Verdict

Row = Annotated[Tensor, "n, width"]


def centred(x: Row, bias: Annotated[Tensor, "width"], gain: Annotated[Tensor, "width"]) -> Tensor:
    """`bias` and `mean` have gradients that are zero for every input."""
    shifted = x + bias
    mean = shifted.mean(0, keepdim=True)
    centre = shifted - mean
    squared = centre**2
    loss = (gain * squared).sum()
    return loss


@dataclass(frozen=True)
class Case:
    """A program's references, with the values a right answer would leave behind."""

    references: References

    @property
    def lecture(self) -> Mapping[str, Tensor]:
        return self.references.lecture_gradients

    def evidence(self, name: str, **changes: Any) -> Observed:
        """Evidence of a right gradient, but for the changes."""
        readers = frozenset(self.references.program.readers(name[1:]))
        fields = {
            "lecture": Value(self.lecture[name[1:]]),
            "hidden": self.globally(name),
            "local": self.locally(name),
            "reads": readers - {"loss"},
            "place": PLACE,
        }
        return Observed(name, **(fields | changes))

    def globally(self, name: str, change: Callable[[Tensor], object] = lambda t: t) -> Any:
        return tuple(as_value(change(r.gradients[name[1:]])) for r in self.references.hidden)

    def locally(self, name: str, change: Callable[[Tensor], object] = lambda t: t) -> Any:
        readers = frozenset(self.references.program.readers(name[1:]))
        return self.from_upstreams(name, readers, change)

    def from_upstreams(
        self,
        name: str,
        given: frozenset[str],
        change: Callable[[Tensor], object] = lambda t: t,
        zeroed: frozenset[str] = frozenset(),
    ) -> Any:
        def vjp(reference: Reference) -> Tensor:
            return reference.local_vjp(name[1:], given, zeroed)

        return tuple(as_value(change(vjp(r))) for r in self.references.hidden)

    def wrong(self, name: str) -> Observed:
        """Evidence of a gradient that is wrong by itself."""
        hidden, local = self.globally(name, double), self.locally(name, double)
        lecture = Value(2 * self.lecture[name[1:]])
        return self.evidence(name, lecture=lecture, hidden=hidden, local=local)

    def judge(self, *evidence: Observed) -> list[Verdict]:
        return judge(evidence, self.references)

    def judge_one(self, name: str, **changes: Any) -> Verdict:
        (verdict,) = self.judge(self.evidence(name, **changes))
        return verdict


PLACE = Place("ex0-cell", 3)
DEEPER = Place("ex0-cell", 1)
LINE_RAISED = Raised("This line raised E.", DEEPER)
RAISED = (Value(raised=LINE_RAISED),) * len(HIDDEN_SIZES)
MISSING = (Value(),) * len(HIDDEN_SIZES)


def as_value(value: object) -> Value:
    if isinstance(value, Value):
        return value
    return Value(value) if isinstance(value, Tensor) else Value(type_name=type(value).__name__)


def double(tensor: Tensor) -> Tensor:
    return 2 * tensor


def nearly(tensor: Tensor) -> Tensor:
    return tensor * (1 + 1e-8)


@pytest.fixture(scope="module")
def case() -> Case:
    return Case(make_references(parse_program(centred), {"n": 6, "width": 3}, 7))
