"""The corpus: one-fault variants of right answers to every exercise, each with its label."""

from __future__ import annotations

import ast
import hashlib
import random
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from corpus.readers.exercise_names import NAMES
from corpus.readers.faults import EQUIVALENT, MUTATED_ANSWERS, OPERATORS, Fault, one_fault_variants
from corpus.readers.labels import VIEWS, Label, label, named, stands_in
from corpus.readers.operators import DIAGNOSIS_MUTATIONS
from corpus.readers.places import ANSWERS, MISTAKES
from grader.diagnosis.kinds import Kind

STYLES: Mapping[str, tuple[str, ...]] = {
    "ex1": MUTATED_ANSWERS,
    "ex2": ("lecture", "one_expression", "own_softmax", "scatter", "atomic_steps", "loops"),
    "ex2s": ("in_place", "one_expression", "targets_first", "two_losses"),
    "ex3": ("derivation", "lecture_names", "means", "own_statistics", "loops", "projection"),
    "ex4": ("notebook", "einsum", "in_place", "small_steps", "lecture_loops"),
}
"""The right answers that are mutated, by exercise: each written in another way."""

NAMED_IN_A_GROUP = {"ex1": 11, "ex2": 5, "ex2s": 4, "ex3": 7, "ex4": 8}
"""How many faults with the same label are taken from an exercise, where there are so many."""
NAMELESS_IN_A_GROUP = {"ex1": 5, "ex2": 2, "ex2s": 2, "ex3": 3, "ex4": 3}

HANDWRITTEN = "by hand"
"""The operator of the mistakes in mistakes.toml."""

_GROUPS = tomllib.loads((MISTAKES / "equivalents.toml").read_text(encoding="utf-8"))
HARMLESS: Mapping[str, str] = {
    variant: group["reason"] for group in _GROUPS["group"] for variant in group["variants"]
} | {f"ex1 | {key}": reason for key, reason in EQUIVALENT.items()}
"""The variants, by `LabelledFault.key`, that are no mistakes, with the mathematical reason."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFault:
    """A right answer with one mistake in it, and what the mistake is called.

    `prefix` is the exercise, `style` the right answer and `right` its text, of which characters
    `start` to `end` became `replacement`. `row` is the mistake's number in the course's collection,
    if it is from there.
    """

    prefix: str
    style: str
    gradient: str
    operator: str
    label: Label
    right: str = field(repr=False)
    start: int
    end: int
    replacement: str
    before: str
    after: str
    row: int = 0

    @property
    def source(self) -> str:
        return self.right[: self.start] + self.replacement + self.right[self.end :]

    @property
    def key(self) -> str:
        """What reports and the list of harmless variants call it."""
        place = (self.prefix, self.style, self.gradient, self.operator)
        return " | ".join((*place, f"{self.before} -> {self.after}"))

    @property
    def name(self) -> str:
        """Its kinds in one word, for tables."""
        kinds = "/".join(kind for kind in Kind if kind in self.label.kinds)
        return kinds if self.label.named else "(nameless)"


@cache
def right_answer(prefix: str, style: str) -> str:
    """The text of a right answer."""
    folder = ANSWERS / prefix / "right"
    return (folder / f"{style}.py").read_text(encoding="utf-8")


@cache
def population() -> tuple[LabelledFault, ...]:
    """Every variant that the operators make of the right answers, but the harmless ones."""
    return tuple(fault for fault in _variants() if fault.key not in HARMLESS)


@cache
def harmless_variants() -> tuple[LabelledFault, ...]:
    """The variants that are no mistakes, and the mistakes of the collection that cost nothing."""
    made = tuple(fault for fault in _variants() if fault.key in HARMLESS)
    return made + tuple(fault for fault, harmless in _handwritten() if harmless)


@cache
def collected() -> tuple[LabelledFault, ...]:
    """The mistakes of the collection, written by hand, but the harmless ones."""
    return tuple(fault for fault, harmless in _handwritten() if not harmless)


@cache
def corpus() -> tuple[LabelledFault, ...]:
    """The measured corpus: a spread of the population, and the collection.

    From each group of faults with the same label in the same exercise come a few, with operators,
    gradients and styles as varied as can be; which ones does not depend on the others' number.
    """
    chosen = _spread_over_groups(population())
    written = {(f.prefix, f.style, f.source) for f in collected()}
    return collected() + tuple(
        fault for fault in chosen if (fault.prefix, fault.style, fault.source) not in written
    )


def faults_in_pairs(pairs_of_an_exercise: int = 25, seed: int = 4) -> list[list[LabelledFault]]:
    """Named faults two at a time, in different gradients and statements of one answer."""
    random_choice = random.Random(seed)
    pairs: list[list[LabelledFault]] = []
    for prefix in ("ex1", "ex3", "ex4"):
        faults = [f for f in corpus() if f.prefix == prefix and f.label.named]
        found = 0
        while found < pairs_of_an_exercise:
            first = random_choice.choice(faults)
            second = random_choice.choice([f for f in faults if f.style == first.style])
            if first.gradient != second.gradient and _apart(first, second):
                pairs.append(sorted((first, second), key=lambda f: f.start))
                found += 1
    return pairs


def with_both(pair: Sequence[LabelledFault]) -> str:
    """The right answer with both faults of a pair."""
    first, second = pair
    right = right_answer(first.prefix, first.style)
    between = right[first.end : second.start]
    head, tail = right[: first.start], right[second.end :]
    return head + first.replacement + between + second.replacement + tail


def _apart(first: LabelledFault, second: LabelledFault) -> bool:
    """True if no statement carries both, for then they would not be two."""
    statements = ast.parse(right_answer(first.prefix, first.style)).body
    text = right_answer(first.prefix, first.style)
    lines = [text.count("\n", 0, fault.start) + 1 for fault in (first, second)]
    at = [next(s for s in reversed(statements) if s.lineno <= line) for line in lines]
    return at[0] is not at[1]


def _variants() -> Iterator[LabelledFault]:
    operators = (*OPERATORS, *DIAGNOSIS_MUTATIONS)
    for prefix, styles in STYLES.items():
        for style in styles:
            source = right_answer(prefix, style)
            for fault in one_fault_variants(source, NAMES[prefix], operators):
                if not is_noise(fault):
                    yield labelled(prefix, style, source, fault)


def is_noise(fault: Fault) -> bool:
    """True for edits that nobody would call a mistake in a gradient, or that are none.

    An empty list times two; an axis counted from the other end; the length of flipped labels.
    """
    site = fault.edit.site
    if isinstance(site.node, ast.List):
        return True
    if fault.kind == "sign-flipped" and stands_in(site, *VIEWS, "index"):
        return True
    return fault.kind == "index-misrouted" and stands_in(site, "len")


def labelled(prefix: str, style: str, right: str, fault: Fault) -> LabelledFault:
    """A fault in the text of a right answer, with what is true of it."""
    edit = fault.edit
    where = (edit.start, edit.end, edit.replacement)
    text = (fault.before, fault.after)
    told = (fault.gradient, fault.kind, label(fault))
    return LabelledFault(prefix, style, *told, right, *where, *text)


@cache
def _handwritten() -> tuple[tuple[LabelledFault, bool], ...]:
    entries = tomllib.loads((MISTAKES / "collection.toml").read_text(encoding="utf-8"))["mistake"]
    return tuple((_from_entry(entry), entry.get("harmless", False)) for entry in entries)


def _from_entry(entry: Mapping[str, Any]) -> LabelledFault:
    source = right_answer(entry["prefix"], entry["style"])
    assert source.count(entry["right"]) == 1, entry
    start = source.index(entry["right"])
    kinds = [Kind(kind) for kind in entry.get("kinds", ())]
    return LabelledFault(
        prefix=entry["prefix"],
        style=entry["style"],
        gradient=entry["gradient"],
        operator=HANDWRITTEN,
        label=named(*kinds, reason=entry.get("why", "")) if kinds else Label(frozenset(), False),
        right=source,
        start=start,
        end=start + len(entry["right"]),
        replacement=entry["wrong"],
        before=" ".join(entry["right"].split()),
        after=" ".join(entry["wrong"].split()),
        row=entry["row"],
    )


def _spread_over_groups(faults: Iterable[LabelledFault]) -> list[LabelledFault]:
    """A few of each group with the same label in the same exercise."""
    groups: dict[tuple[str, bool, frozenset[Kind]], list[LabelledFault]] = defaultdict(list)
    for fault in faults:
        groups[fault.prefix, fault.label.named, fault.label.kinds].append(fault)
    chosen = []
    for (prefix, is_named, _), group in groups.items():
        chosen += spread(group, (NAMED_IN_A_GROUP if is_named else NAMELESS_IN_A_GROUP)[prefix])
    return chosen


def spread(faults: Iterable[LabelledFault], most: int) -> list[LabelledFault]:
    """At most so many of the faults, as varied as can be."""
    left = sorted(faults, key=lambda fault: _hash(fault.key))
    used: Counter[str] = Counter()
    chosen: list[LabelledFault] = []
    while left and len(chosen) < most:
        best = min(left, key=lambda f: (used[f.operator], used[f.gradient] + used[f.style]))
        left.remove(best)
        used.update((best.operator, best.gradient, best.style))
        chosen.append(best)
    return chosen


def _hash(text: str) -> str:
    """A shuffle that stays: the order of these says nothing about the texts."""
    return hashlib.sha256(text.encode()).hexdigest()
