"""Thousands of damaged notebooks as one class: each has to get its row, and none stop the run."""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.fuzzing.notebooks import damaged
from benchmarks.grade_command import at_least, at_most, grade

NUMBER = 21_000
GOAL = 20_000
"""Different ones: a few come out alike, empty files above all."""
LIMIT_SECONDS = 2.0
"""For each statement: what is tried here is not how long loops may run."""


@dataclass(frozen=True, slots=True)
class Found:
    """What became of the notebooks: how often each outcome at each (level, damage), what lacks."""

    outcomes: Mapping[tuple[str, str], Counter[str]]
    flags: Counter[str]
    different: int
    without_line: Sequence[str]
    with_several: Sequence[str]
    without_row: Sequence[str]
    seconds: float

    @property
    def number(self) -> int:
        return sum(counts.total() for counts in self.outcomes.values())


def measure(
    number: int,
    seed: int,
    jobs: int | None = None,
    sandbox: str | None = None,
    keep: Path | None = None,
) -> Found:
    """Grade that many; a crash of the command is a GradeFailed."""
    made: dict[str, tuple[str, str]] = {}
    different = set()
    with nullcontext(keep) if keep else tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "class"
        folder.mkdir(parents=True)
        for at, one in enumerate(damaged(number, seed)):
            made[f"f{at:05d}.ipynb"] = one.level, one.damage
            (folder / f"f{at:05d}.ipynb").write_bytes(one.data)
            different.add(hashlib.sha256(one.data).digest())
        run = grade(
            folder, Path(name) / "out", jobs=jobs, timeout=LIMIT_SECONDS, sandbox=sandbox, seed=seed
        )
        outcomes: dict[tuple[str, str], Counter[str]] = {}
        lines, flags = Counter[str](), Counter[str]()
        for line in run.lines():
            lines[line["id"]] += 1
            flags.update({flag["kind"] for flag in line["flags"]})
            outcomes.setdefault(made[line["id"]], Counter())[_outcome(line)] += 1
        named = {value for row in run.rows() for value in row.values()}
    return Found(
        outcomes,
        flags,
        len(different),
        without_line=sorted(made.keys() - lines.keys()),
        with_several=sorted(one for one, count in lines.items() if count > 1),
        without_row=sorted(one for one in made if one.removesuffix(".ipynb") not in named),
        seconds=run.seconds,
    )


def _outcome(line: Mapping[str, Any]) -> str:
    if "error" in line:
        return str(line["flags"][0]["kind"]) if line["flags"] else "error"
    if line["score"] == line["max_score"]:
        return "all right"
    return "some right" if line["score"] else "none right"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what became of each kind, then whether all have their rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=NUMBER)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--sandbox")
    parser.add_argument("--keep", type=Path, help="a new folder for the class and its results")
    options = parser.parse_args(arguments)
    found = measure(options.number, options.seed, options.jobs, options.sandbox, options.keep)
    for (level, damage), counts in sorted(found.outcomes.items()):
        listed = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
        print(f"grade_fuzz: {level}, {damage}: {listed}")
    listed = ", ".join(f"{count} {kind}" for kind, count in found.flags.most_common())
    print(f"grade_fuzz: notebooks with flags: {listed or 'none'}")
    lacking = len(found.without_line) + len(found.with_several) + len(found.without_row)
    print(
        f"grade_fuzz: {found.number:,} damaged notebooks, {found.different:,} different ones, in "
        f"{found.seconds:.0f} s; none stopped the run {at_least(found.different, GOAL)}"
    )
    for what, ids in {
        "without a line in results.jsonl": found.without_line,
        "with several lines": found.with_several,
        "without a row in grades.csv": found.without_row,
    }.items():
        some = f": {', '.join(ids[:5])}" if ids else ""
        print(f"grade_fuzz: {len(ids)} {what}{some}")
    print(f"grade_fuzz: {lacking} lack something {at_most(lacking, 0)}")


if __name__ == "__main__":
    main()
