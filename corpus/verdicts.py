"""What the grader says of every answer of every corpus, as a file that a diff can show.

    python -m corpus.verdicts            grade them all, and write verdicts.tsv
    python -m corpus.verdicts --compare  grade them all, and print what differs from verdicts.tsv
    python -m corpus.verdicts --sample   write nothing; compare one answer of each kind

Arguments that are no options choose corpora: `right people`.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from corpus.readers import (
    attacks,
    encore,
    faults,
    honest,
    one_fault,
    other_variants,
    people,
    public,
)
from corpus.readers.attack_targets import Places, open_places, text_of
from corpus.readers.exercise_text import read_cells, sample_submissions
from corpus.readers.lecture_course import ATOMIC, EXERCISES
from corpus.readers.other_programs import OTHER_EXERCISES
from corpus.readers.places import ANSWERS, CORPUS
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.execution.sandbox import NoSandbox, Sandbox
from grader.grading.grade import grade_exercise
from grader.program.exercises import Exercise, load_exercises
from grader.program.references import SEED
from grader.verdict import AT_FAULT
from grader.worker.terms import Limits

FILE = CORPUS / "verdicts.tsv"
HEADER = ("answer", "outcomes", "points", "diagnoses", "flags")
MOST_SHOWN = 12
"""Answers of a group of differences that are printed."""

LIMITS = Limits(statement_seconds=10.0, total_seconds=60.0)
ATTACK_LIMITS = Limits(statement_seconds=4.0, total_seconds=12.0, memory_bytes=2**29)
ATTACK_SEED = 20261121
"""The seed of a class's own instances, which no table can be made for beforehand."""

BY_PREFIX: Mapping[str, Exercise] = {
    exercise.prefix: exercise
    for exercise in (*EXERCISES, *OTHER_EXERCISES, *load_exercises(encore.COURSE))
}


@dataclass(frozen=True, slots=True)
class Case:
    """One answer of a corpus.

    `kind` is what the sample has one of each of; an attack's cells are made where it runs. `wrong`
    is the gradient that has the answer's one mistake, `kinds` what the mistake may be called;
    without `is_named` nobody asks for a name.
    """

    corpus: str
    name: str
    prefix: str
    cells: tuple[AnswerCell, ...]
    kind: str = ""
    wrong: str = ""
    kinds: frozenset[str] = frozenset()
    is_named: bool = False

    @property
    def is_attack(self) -> bool:
        """True if it is to be graded in the sandbox, as a class's answers are."""
        return self.corpus == "attack"

    @property
    def key(self) -> str:
        """What stands in the file's first column: one line without tabs."""
        return " ".join(f"{self.corpus} | {self.name}".split())


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the file."""

    answer: str
    outcomes: str
    points: str
    diagnoses: str
    flags: str

    @property
    def line(self) -> str:
        """The line, without its end."""
        return "\t".join((self.answer, self.outcomes, self.points, self.diagnoses, self.flags))

    @classmethod
    def of(cls, line: str) -> Row:
        """Read a line."""
        return cls(*line.rstrip("\n").split("\t"))


# --- the answers


def cases() -> Iterator[Case]:
    """Every answer of every corpus, in the order of the file."""
    yield from _right()
    for name, source in sample_submissions().items():
        yield _case("sample", name, "ex1", source)
    for style in honest.styles():
        for answer in honest.honest_answers(style):
            name = f"{style} | {answer.title}"
            yield Case("honest", name, answer.exercise.prefix, answer.cells, style)
    for shortcut in people.shortcuts():
        name = f"{shortcut.exercise} | {shortcut.gradient} | {_digest(shortcut.code)}"
        yield _case("shortcut", name, shortcut.exercise, shortcut.source)
    for part in people.Part:
        for mistake in people.mistakes(part):
            kinds = people.true_names().get(mistake.meaning, frozenset(mistake.kinds))
            case = _case(f"people {part}", mistake.key, mistake.exercise, mistake.source)
            kind = f"{mistake.exercise} {mistake.gradient}"
            yield replace(case, kind=kind, **_truth(mistake.gradient, kinds))
    for part in people.Part:
        for found in public.mistakes(part):
            case = _case(f"public {part}", found.key, found.exercise, found.source)
            kind = f"{found.exercise} {found.gradient}"
            yield replace(case, kind=kind, **_truth(found.gradient, found.kinds, found.is_named))
    yield from _one_fault()
    for prefix in other_variants.BY_PREFIX:
        for variant in other_variants.variants(prefix):
            case = _case("other", variant.key, prefix, variant.source)
            yield replace(case, **_truth(variant.gradient, variant.kinds))
    for wrong in encore.mistakes():
        name = f"{wrong.prefix} | {wrong.gradient} = {wrong.wrong}"
        case = _case("encore", name, wrong.prefix, wrong.source)
        yield replace(case, **_truth(wrong.gradient, wrong.kinds))
    for attack in attacks.corpus():
        yield Case("attack", attack.key, "ex1", (), attack.family)


def _right() -> Iterator[Case]:
    for path in sorted(ANSWERS.glob("**/right/*.py")):
        prefix = path.parent.parent.name
        name = f"{prefix} | {path.stem}"
        yield _case("right", name, prefix, path.read_text(encoding="utf-8"))


def _one_fault() -> Iterator[Case]:
    """The harmless variants, those of notebook 1, the measured corpus of all exercises."""
    of_notebook_1 = {fault.source for fault in faults.all_faults()}
    atomic = (fault for fault in one_fault.population() if fault.source in of_notebook_1)
    harmless = one_fault.harmless_variants()
    seen = set[tuple[str, str]]()
    for fault in (*harmless, *atomic, *one_fault.corpus()):
        if (fault.prefix, fault.source) in seen:
            continue
        seen.add((fault.prefix, fault.source))
        name = f"{fault.prefix} | {fault.key.removeprefix(f'{fault.prefix} | ')}"
        if len(seen) <= len(harmless):
            yield _case("harmless", name, fault.prefix, fault.source)
        else:
            case = _case("fault", name, fault.prefix, fault.source)
            truth = _truth(fault.gradient, fault.label.kinds, fault.label.named)
            yield replace(case, kind=fault.operator, **truth)


def _truth(wrong: str, kinds: Iterable[str], is_named: bool | None = None) -> dict[str, Any]:
    """What is true of a case; a mistake that has names is asked for one of them."""
    names = frozenset(map(str, kinds))
    return {
        "wrong": wrong,
        "kinds": names,
        "is_named": bool(names) if is_named is None else is_named,
    }


def _case(corpus: str, name: str, prefix: str, source: str, kind: str = "") -> Case:
    cells = tuple(AnswerCell(grade_id, text) for grade_id, text in read_cells(source))
    return Case(corpus, name, prefix, cells, kind or prefix)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def sample(every: Iterable[Case]) -> list[Case]:
    """The first answer of each kind; attacks have a test of their own."""
    found: dict[tuple[str, str], Case] = {}
    for case in every:
        if not case.is_attack:
            found.setdefault((case.corpus.split()[0], case.kind), case)
    return [*found.values()]


# --- what is said of them


def grade_cases(chosen: Sequence[Case], processes: int | None = None) -> list[Row]:
    """Grade answers in warm workers, as many as there are cores."""
    # Spawned, for a fork of a process with torch's threads in it may hang.
    context = multiprocessing.get_context("spawn")
    workers = processes or os.cpu_count() or 1
    with ProcessPoolExecutor(workers, context, initializer=_start) as pool:
        return list(pool.map(_grade_here, chosen, chunksize=8))


def grade_case(case: Case, runner: Runner, seed: int = SEED) -> Row:
    """Grade one answer as a class's answers are graded."""
    exercise = BY_PREFIX[case.prefix]
    verdicts, flags = grade_exercise(exercise, case.cells, runner, seed, wary=True)
    broken = [flag.message for flag in flags if flag.kind == "diagnosis-failed"]
    if broken:
        raise RuntimeError(f"{case.key}: {broken[0]}")
    said = (
        f"{verdict.name}:{verdict.diagnosis[0].kind}"
        for verdict in verdicts
        if verdict.diagnosis and verdict.outcome in AT_FAULT
        # What an attack looks like is by chance: it guesses, or has only so much time.
        if not case.is_attack
    )
    return Row(
        case.key,
        "".join(verdict.outcome[0] for verdict in verdicts),
        str(sum(verdict.points for verdict in verdicts)),
        " ".join(said),
        " ".join(sorted({flag.kind for flag in flags})),
    )


@cache
def _attack_text(key: str) -> str:
    (attack,) = (attack for attack in attacks.corpus() if attack.key == key)
    return text_of(attack, _PLACES[0])


def _grade_here(case: Case) -> Row:
    if not case.is_attack:
        return grade_case(case, _RUNNERS["plain"])
    _PLACES[0].renew()
    cells = (AnswerCell("ex1-attack", _attack_text(case.name)),)
    attacked = Case(case.corpus, case.name, ATOMIC.prefix, cells)
    return grade_case(attacked, _RUNNERS["attacked"], ATTACK_SEED)


_STACK = ExitStack()
_RUNNERS: dict[str, Runner] = {}
_PLACES: list[Places] = []


def _start() -> None:
    try:
        attacked = Runner(ATTACK_LIMITS, Sandbox.BWRAP)
    except NoSandbox:
        attacked = Runner(ATTACK_LIMITS, Sandbox.NONE)
    _RUNNERS.update(plain=Runner(LIMITS), attacked=attacked)
    _PLACES.append(_STACK.enter_context(open_places()))


# --- the file


def read_rows(path: Path = FILE) -> dict[str, Row]:
    """The file's rows, by the answer's key."""
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    return {row.answer: row for row in map(Row.of, lines)}


def write_rows(rows: Iterable[Row], path: Path = FILE) -> None:
    """Write the file anew."""
    lines = ["\t".join(HEADER), *(row.line for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences(before: Mapping[str, Row], after: Mapping[str, Row]) -> Iterator[str]:
    """What differs, in groups of the same change, the largest group first; nothing if nothing."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for key in before.keys() | after.keys():
        if before.get(key) != after.get(key):
            groups[_change(before.get(key), after.get(key))].append(key)
    for change, keys in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        yield f"{len(keys)} x {change}"
        yield from (f"    {key}" for key in sorted(keys)[:MOST_SHOWN])
        if len(keys) > MOST_SHOWN:
            yield f"    ... and {len(keys) - MOST_SHOWN} more"


def _change(before: Row | None, after: Row | None) -> str:
    """What became of one answer, in words that are the same for the same change."""
    if before is None or after is None:
        return "new" if before is None else "gone"
    turned = Counter(
        f"{old} -> {new}"
        for old, new in zip(before.outcomes, after.outcomes, strict=True)
        if old != new
    )
    changes = [f"{count} gradient(s) {change}" for change, count in sorted(turned.items())]
    for title, old, new in (
        ("diagnosis", before.diagnoses.split(), after.diagnoses.split()),
        ("flag", before.flags.split(), after.flags.split()),
    ):
        lost, won = (_kinds({*one} - {*other}) for one, other in ((old, new), (new, old)))
        if lost or won:
            changes.append(f"{title} {lost or 'none'} -> {won or 'none'}")
    return "; ".join(changes) or f"points {before.points} -> {after.points}"


def _kinds(said: Iterable[str]) -> str:
    return ", ".join(sorted({one.rpartition(":")[2] for one in said}))


def main(arguments: Sequence[str]) -> int:
    """Write the file, or compare with it; 1 if something differs."""
    corpora = [word for word in arguments if not word.startswith("-")]
    every = [case for case in cases() if not corpora or case.corpus.split()[0] in corpora]
    if "--sample" in arguments:
        every = sample(every)
    rows = {row.answer: row for row in grade_cases(every)}
    if len(rows) != len(every):
        raise ValueError("Two answers have the same key.")
    is_part = bool(corpora) or "--sample" in arguments
    before = read_rows() if FILE.exists() else {}
    told = [*differences({k: r for k, r in before.items() if k in rows or not is_part}, rows)]
    sys.stdout.write("".join(f"{line}\n" for line in told))
    sys.stdout.write(f"verdicts: {len(rows)} answers, {'as before' if not told else 'changed'}\n")
    if {"--compare", "--sample"} & {*arguments}:
        return bool(told)
    write_rows((before | rows if is_part else rows).values())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
