"""The mistakes as people write them are what the corpus says, and each is blamed alone."""

from __future__ import annotations

from collections import Counter

import pytest

from corpus.readers.lecture_course import EXERCISES
from corpus.readers.measure import Judged, Result, judge_one
from corpus.readers.people import (
    REST,
    Mistake,
    Part,
    Seen,
    Shortcut,
    case_lines,
    mistakes,
    shortcuts,
    table_lines,
)
from grader.diagnosis.kinds import Kind
from grader.execution.runner import Runner
from grader.verdict import Outcome

LEAST = {"ex1": 230, "ex2": 35, "ex2s": 25, "ex3": 70, "ex4": 50}
LEAST_NAMED, MOST_WRONG = 0.93, 0.03
PLACES = {2: "two places", 3: "three places"}
"""What a note says of a piece that stands in the code more than once."""
EVERY = 27
"""The fast sample takes one mistake of so many."""


# --- the corpus is what it says


def test_there_are_enough_of_every_exercise_and_gradient() -> None:
    counts = Counter(m.exercise for m in mistakes())
    assert sum(counts.values()) >= 420
    assert [name for name, least in LEAST.items() if counts[name] < least] == []
    for exercise in EXERCISES:
        made = {m.gradient for m in mistakes() if m.exercise == exercise.prefix}
        assert made == set(exercise.gradients)


def test_no_mistake_is_there_twice() -> None:
    assert [key for key, count in Counter(m.key for m in mistakes()).items() if count > 1] == []


def test_kinds_are_known_and_a_second_one_has_a_reason() -> None:
    for m in mistakes():
        assert set(m.kinds) <= {*Kind}, m
        assert len(m.kinds) == 1 or (len(m.kinds) in (0, 2, 3, 4, 5) and m.reason), m


def test_every_kind_that_an_answer_can_have_occurs() -> None:
    named = {kind for m in mistakes() for kind in m.kinds}
    # Forward tensors of an earlier run are the notebook's own mistake, not the answer's.
    assert named == {*Kind} - {Kind.STALE_FORWARD}


def test_pieces_stand_in_the_code_and_something_belongs_there() -> None:
    for m in mistakes():
        assert m.belongs, m
        if m.piece:
            assert len(m.places) == next((n for n in PLACES if PLACES[n] in m.note), 1), m


def test_both_parts_have_something_of_every_exercise() -> None:
    opened, kept = mistakes(Part.OPEN), mistakes(Part.KEPT)
    assert opened + kept == mistakes()
    assert {m.exercise for m in opened} == {m.exercise for m in kept} == {*REST}


def seen(kinds: tuple[str, ...], *said: str, misshapen: bool = False) -> Seen:
    mistake = Mistake("ex2", "dlogits", "dlogits = logits", kinds, "", "something else")
    return Seen(mistake, (Judged("dlogits", Outcome.FAIL, misshapen, said),))


@pytest.mark.parametrize(
    ("made", "result"),
    [
        (seen(("sign",), "sign"), Result.RIGHT),
        (seen(("sign",), "bessel", "sign"), Result.WRONG),
        (seen(("sign", "bessel"), "bessel"), Result.RIGHT),
        (seen(("brackets",)), Result.SILENT),
        (seen(("brackets",), "missing-factor"), Result.WRONG),
        (seen(("brackets",), "wrong-shape", misshapen=True), Result.VAGUE),
        (seen((), "wrong-shape", misshapen=True), Result.NOT_ASKED),
        (seen((), "sign"), Result.WRONG),
        (seen(()), Result.NOT_ASKED),
    ],
)
def test_the_first_diagnosis_decides(made: Seen, result: Result) -> None:
    assert made.result is result


def test_what_either_of_two_called_the_same_line_is_true_of_it() -> None:
    one, other = (m for m in mistakes() if m.code.strip() == "dhpreact = (1 - h) * dh")
    assert not {*one.kinds} & {*other.kinds}
    for kind in (*one.kinds, *other.kinds):
        judged = (Judged("dhpreact", Outcome.FAIL, said=(kind,)),)
        assert [Seen(m, judged).result for m in (one, other)] == [Result.RIGHT, Result.RIGHT]


def test_names_that_the_code_makes_are_of_no_account() -> None:
    made = [
        Mistake("ex2", "dlogits", f"{p} = {softmax}\ndlogits = {p} / n", ("sign",), "", "-")
        for p, softmax in (("p", "logits"), ("probs", "logits"), ("p", "z"))
    ]
    assert [m.meaning == made[0].meaning for m in made] == [True, True, False]


def test_the_table_counts_by_exercise() -> None:
    lines = list(table_lines([seen(("sign",), "sign"), seen(("sign",)), seen((), "sign")]))
    row = next(line.split() for line in lines if line.startswith("ex2 "))
    # Mistakes, with a name; named, silent, vague and wrong with their shares.
    assert row[1:] == ["3", "2", "1", "50.0%", "1", "50.0%", "0", "0.0%", "1", "33.3%"]
    assert lines[-1].split()[1:] == row[1:]


def test_there_are_right_shortcuts_in_every_exercise() -> None:
    assert len(shortcuts()) >= 40
    assert {shortcut.exercise for shortcut in shortcuts()} == set(REST)


# --- what the grader says of it


@pytest.mark.parametrize("mistake", mistakes()[::EVERY], ids=lambda m: m.key)
def test_a_mistake_of_the_sample_is_blamed_alone(mistake: Mistake, warm_runner: Runner) -> None:
    found = Seen(mistake, judge_one(mistake.exercise, mistake.source, warm_runner))
    assert found.blamed_alone


@pytest.mark.parametrize("shortcut", shortcuts()[::5], ids=lambda s: f"{s.exercise}-{s.gradient}")
def test_nothing_is_said_of_a_right_shortcut_of_the_sample(
    shortcut: Shortcut, warm_runner: Runner
) -> None:
    verdicts = judge_one(shortcut.exercise, shortcut.source, warm_runner)
    assert [v for v in verdicts if v.outcome is not Outcome.PASS or v.said] == []


@pytest.mark.slow
def test_first_diagnoses_name_what_people_do(warm_runner: Runner) -> None:
    """Every second that the engine was built with; what is kept is measured by hand, and once."""
    seen = [
        Seen(mistake, judge_one(mistake.exercise, mistake.source, warm_runner))
        for mistake in mistakes(Part.OPEN)[::2]
    ]
    assert [one.mistake.key for one in seen if not one.blamed_alone] == []
    report = "\n".join([*table_lines(seen), *case_lines(seen)])
    asked = [one for one in seen if one.mistake.kinds]
    assert sum(one.result is Result.RIGHT for one in asked) >= LEAST_NAMED * len(asked), report
    assert sum(one.result is Result.WRONG for one in seen) <= MOST_WRONG * len(seen), report


@pytest.mark.slow
def test_nothing_is_said_of_right_shortcuts(warm_runner: Runner) -> None:
    for shortcut in shortcuts():
        verdicts = judge_one(shortcut.exercise, shortcut.source, warm_runner)
        assert [v for v in verdicts if v.outcome is not Outcome.PASS or v.said] == [], shortcut.code
