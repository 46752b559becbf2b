"""The kinds of answers that students give: right, faulty, half done, blank."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from corpus.readers.exercise_text import read_cells, right_answers, sample_submissions
from corpus.readers.faults import Fault, all_faults

ENDLESS_SAMPLE = "crashes"
"""The sample with a loop that never ends: a class has as many of those as it is asked for."""

MOST_FAULTS = 4


@dataclass(frozen=True, slots=True)
class Answers:
    """The text of somebody's answer cells, with the kind and the answer they were made from."""

    kind: str
    style: str
    text: str


Mixture = Mapping[str, float]
"""How often each kind is handed in; the numbers need not sum to 1."""

MIXED: Mixture = {
    "right": 45,
    "one fault": 30,
    "several faults": 8,
    "half done": 8,
    "sample": 5,
    "blank": 4,
}


def only(kind: str, style: str = "") -> Callable[[random.Random], Answers]:
    """Draws answers of one kind; of one style as well, where that is given."""
    return lambda chance: _KINDS[kind](chance, style)


def draw(chance: random.Random, mixture: Mixture = MIXED) -> Answers:
    """Somebody's answers."""
    (kind,) = chance.choices(list(mixture), weights=list(mixture.values()))
    return _KINDS[kind](chance, "")


def _right(chance: random.Random, style: str) -> Answers:
    style = style or chance.choice(list(_right_answers()))
    return Answers("right", style, _right_answers()[style])


def _one_fault(chance: random.Random, style: str) -> Answers:
    fault = chance.choice(_faults(style))
    return Answers("one fault", fault.answer, fault.source)


def _several_faults(chance: random.Random, style: str) -> Answers:
    style = style or chance.choice(_faults("")).answer
    number = chance.randint(2, MOST_FAULTS)
    text = _right_answers()[style]
    chosen: dict[str, Fault] = {}
    for fault in chance.sample(_faults(style), len(_faults(style))):
        apart = all(
            fault.edit.end < other.edit.start or other.edit.end < fault.edit.start
            for other in chosen.values()
        )
        if apart and fault.gradient not in chosen:
            chosen[fault.gradient] = fault
        if len(chosen) == number:
            break
    # Backwards: the places of the earlier edits stay what they are.
    for fault in sorted(chosen.values(), key=lambda fault: fault.edit.start, reverse=True):
        edit = fault.edit
        text = f"{text[: edit.start]}{edit.replacement}{text[edit.end :]}"
    return Answers("several faults", style, text)


def _half_done(chance: random.Random, style: str) -> Answers:
    """Right so far, or with one fault; the other cells stay as they were handed out."""
    if chance.random() < 0.3:
        begun = _one_fault(chance, style)
    else:
        begun = _right(chance, style or chance.choice(_with_a_cell_for_each()))
    cells = read_cells(begun.text)
    done = chance.randint(1, len(cells) - 1)
    return Answers("half done", begun.style, "".join(source for _, source in cells[:done]))


def _sample(chance: random.Random, style: str) -> Answers:
    samples = sample_submissions()
    style = style or chance.choice([name for name in samples if name != ENDLESS_SAMPLE])
    return Answers("sample", style, samples[style])


def _blank(chance: random.Random, style: str) -> Answers:
    return Answers("blank", style, "")


_KINDS: Mapping[str, Callable[[random.Random, str], Answers]] = {
    "right": _right,
    "one fault": _one_fault,
    "several faults": _several_faults,
    "half done": _half_done,
    "sample": _sample,
    "blank": _blank,
}


@cache
def _right_answers() -> Mapping[str, str]:
    return right_answers()


@cache
def _faults(style: str) -> Sequence[Fault]:
    """The faults that the values of a whole answer show, of one answer or of all."""
    return [fault for fault in all_faults() if style in ("", fault.answer)]


@cache
def _with_a_cell_for_each() -> Sequence[str]:
    full = len(read_cells(_right_answers()["lecture"]))
    return [style for style, text in _right_answers().items() if len(read_cells(text)) == full]
