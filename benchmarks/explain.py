"""How often `explain` blames the right gradient and names the mistake, on bugs that were made."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from corpus.readers.places import BUGS
from grader import Explanation, explain
from grader.verdict import Outcome

NAMES = sorted(path.stem for path in BUGS.glob("[!_]*.py"))

LEAST_BLAMED, LEAST_NAMED, MOST_MISNAMED = 0.95, 0.70, 1
"""The goals: shares of all bugs, and how many may be named wrongly."""

BLAMED = (Outcome.FAIL, Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class Measured:
    """What was said of one bug.

    `blamed` are the gradients found wrong by themselves, `kinds` the first kind said of each;
    `is_mended` says whether the mended backward pass was found right.
    """

    name: str
    blamed: frozenset[str]
    wrong: frozenset[str]
    kinds: tuple[str, ...]
    right_kinds: frozenset[str]
    is_mended: bool

    @property
    def is_blamed(self) -> bool:
        """Whether just the right gradients were blamed."""
        return self.blamed == self.wrong

    @property
    def is_misnamed(self) -> bool:
        """Whether some reason is not one that names the mistake."""
        return not self.right_kinds.issuperset(self.kinds)

    @property
    def is_named(self) -> bool:
        """Whether a reason was found, and each that was found names the mistake."""
        return bool(self.kinds) and not self.is_misnamed

    @property
    def line(self) -> str:
        """What to read of it where something is amiss."""
        said = ", ".join(self.kinds) or "nothing"
        ending = "" if self.is_blamed else f"; blamed {', '.join(sorted(self.blamed)) or 'none'}"
        mended = "" if self.is_mended else "; the mended one is not found right"
        return f"{self.name}: said {said} for {', '.join(sorted(self.right_kinds))}{ending}{mended}"


def measure(name: str) -> Measured:
    """Explain one bug, and the same function mended."""
    bug = import_module(f"corpus.bugs.{name}")
    found = _explained(bug, "backward")
    at_fault = [verdict for verdict in found.verdicts if verdict.outcome in BLAMED]
    return Measured(
        name,
        frozenset(verdict.name for verdict in at_fault),
        frozenset(bug.WRONG),
        tuple(str(verdict.diagnosis[0].kind) for verdict in at_fault if verdict.diagnosis),
        frozenset(bug.KINDS),
        _explained(bug, "mended").ok,
    )


def _explained(bug: ModuleType, function: str) -> Explanation:
    inputs = getattr(bug, "inputs", None)
    return explain(bug.forward, getattr(bug, function), inputs=inputs)


def table(measured: Sequence[Measured]) -> str:
    """The shares, beside the goals, as a table in Markdown."""
    count = len(measured)
    blamed, named, misnamed = (
        sum(getattr(one, what) for one in measured)
        for what in ("is_blamed", "is_named", "is_misnamed")
    )
    return "\n".join(
        [
            f"| of {count} bugs | | goal |",
            "| --- | --- | --- |",
            f"| the right gradients blamed, no others | {blamed / count:.0%} | 95% |",
            f"| the mistake named | {named / count:.0%} | 70% |",
            f"| named wrongly | {misnamed} | at most {MOST_MISNAMED} |",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the shares and every bug that did not go well; 1 where a goal is missed.

    With names of bugs, only these.
    """
    names = [*(sys.argv[1:] if arguments is None else arguments)] or NAMES
    start = time.perf_counter()
    measured = [measure(name) for name in names]
    seconds = time.perf_counter() - start
    for one in measured:
        if not (one.is_blamed and one.is_named and one.is_mended):
            print(f"  {one.line}")
    print(table(measured))
    count = len(measured)
    print(f"explain: {count} bugs, wrong and mended, in {seconds:.0f} s.")
    is_met = (
        sum(one.is_blamed for one in measured) >= LEAST_BLAMED * count
        and sum(one.is_named for one in measured) >= LEAST_NAMED * count
        and sum(one.is_misnamed for one in measured) <= MOST_MISNAMED
        and all(one.is_mended for one in measured)
    )
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
