"""No attack of the corpus earns what it did not write, does harm, or goes unnoticed."""

from __future__ import annotations

import ast
import pkgutil
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pytest

from corpus.readers.attack_targets import Places, text_of
from corpus.readers.attacks import Attack, corpus
from corpus.readers.exercise_text import read_cells, right_answers
from corpus.readers.lecture_course import ATOMIC
from corpus.verdicts import ATTACK_SEED
from grader.answer.parse import AnswerCell, parse_answer
from grader.answer.suspicion import AUTOGRAD, find_suspicions
from grader.execution.runner import Runner
from grader.execution.sandbox import Sandbox
from grader.grading import grade as grading
from grader.grading.grade import grade_exercise
from grader.program.references import SEED
from grader.reports import wording
from grader.verdict import Flag, Verdict
from tests.attacks.conftest import LIMITS, PATIENT, NaiveGrader

one_of_each_family = pytest.mark.sample(
    lambda attack: attack.family, "grader/worker", "grader/execution"
)

GUARD_SECONDS = 600
"""Far more than the limits allow for one submission; an attack that takes it holds up a class."""

DIFFERENTIATING = {"complex", "differences", "dual", "libraries", "matrices", "probing"}
"""Families whose attacks differentiate by arithmetic of their own, and earn what they find."""

FAMILIES = {
    *("aten", "autograd", "carried", "compiled", "constants", "ending", "endless", "files"),
    *("lying", "memory", "network", "numeric", "patching", "processes", "reply", "snooping"),
} | DIFFERENTIATING

PEERS_GAVE_WAY_TO = {
    *("autograd/copy_grad", "patching/allclose", "lying/equal_to_everything"),
    *("constants/values_of_the_batch", "patching/worker_functions", "patching/grader_modules"),
    *("snooping/solution_by_relative_path", "files/gradebook", "files/torch_load"),
    *("ending/exit_with_success", "endless/loop"),
}

HARMFUL = {
    *("files/write_outside", "files/gradebook", "files/links", "files/delete"),
    *("files/hundred_gigabytes", "network/tcp", "network/udp_and_dns", "network/unix_socket"),
    *("network/raw_and_netlink", "processes/daemon", "processes/shell", "processes/fork_bomb"),
    *("processes/kill_the_parent", "processes/signal_everything"),
    *("snooping/environment", "snooping/memory_of_the_parent", "snooping/package_source"),
}
"""Attacks whose harm is seen in a canary, and safe to let happen."""

RIGHT = [AnswerCell(name, text) for name, text in read_cells(right_answers()["lecture"])]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an attack came to."""

    earned: frozenset[str]
    kinds: frozenset[str]
    harm: Sequence[str]
    verdicts: Sequence[Verdict]
    flags: Sequence[Flag]


Grade = Callable[[Attack], Outcome]


def _too_long(*_: object) -> None:
    raise TimeoutError("this attack held up the grader beyond all its limits")


@pytest.fixture(autouse=True)
def _guard() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(GUARD_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def grade(attacked: Runner, places: Places, monkeypatch: pytest.MonkeyPatch) -> Grade:
    """Grade an attack, as any submission is graded."""

    def grade_attack(attack: Attack) -> Outcome:
        places.renew()
        monkeypatch.setattr(attacked, "limits", PATIENT if attack.earns else LIMITS)
        cells = [AnswerCell("ex1-attack", text_of(attack, places))]
        verdicts, flags = grade_exercise(ATOMIC, cells, attacked, ATTACK_SEED, wary=True)
        earned = frozenset(verdict.name for verdict in verdicts if verdict.points)
        kinds = frozenset(flag.kind for flag in flags)
        return Outcome(earned, kinds, places.harm(), verdicts, flags)

    return grade_attack


def _cases(attacks: Iterable[Attack]) -> list[object]:
    return [
        pytest.param(attack, id=attack.key, marks=[pytest.mark.slow] if attack.is_slow else [])
        for attack in attacks
    ]


LONGEST_SENTENCE = 2000


def assert_fit_for_a_report(outcome: Outcome, lines: int) -> None:
    """What a report shows is of the grader's making: no cell, line or length is the attack's."""
    places = [v.place for v in outcome.verdicts] + [f.place for f in outcome.flags]
    for place in filter(None, places):
        assert place.cell == "ex1-attack"
        assert 1 <= place.line <= lines
    sentences = [wording.note(v) for v in outcome.verdicts] + [f.message for f in outcome.flags]
    assert max(map(len, sentences)) < LONGEST_SENTENCE


def _skip_without_sandbox(attack: Attack, runner: Runner) -> None:
    if attack.needs_sandbox and runner.sandbox is not Sandbox.BWRAP:
        pytest.skip("bwrap cannot be used here, and nothing else stops this one")


@one_of_each_family
@pytest.mark.parametrize("attack", _cases(corpus()))
def test_an_attack_earns_nothing_harms_nobody_and_is_noticed(
    attack: Attack, grade: Grade, attacked: Runner, places: Places
) -> None:
    _skip_without_sandbox(attack, attacked)
    outcome = grade(attack)
    assert outcome.earned <= attack.earns, [wording.note(v) for v in outcome.verdicts if v.points]
    if attack.family in DIFFERENTIATING:
        assert outcome.earned == attack.earns, [
            wording.note(v) for v in outcome.verdicts if not v.points
        ]
    assert not outcome.harm
    if attack.flags != {"none"}:
        assert outcome.kinds & attack.flags, outcome.flags
    assert_fit_for_a_report(outcome, text_of(attack, places).count("\n") + 1)
    verdicts, flags = grade_exercise(ATOMIC, RIGHT, attacked, ATTACK_SEED, wary=True)
    assert [v.name for v in verdicts if v.outcome != "pass"] == []
    assert flags == []
    # What an attack started may act later than it was graded.
    assert not places.harm()


def _is_refused(attack: Attack) -> bool:
    answer = parse_answer([AnswerCell("ex1-attack", attack.text())])
    return any(one.kind in AUTOGRAD for one in find_suspicions(answer))


@one_of_each_family
@pytest.mark.parametrize("attack", _cases(filter(_is_refused, corpus())))
def test_nothing_is_earned_where_the_text_is_not_looked_at(
    attack: Attack, grade: Grade, attacked: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The static look is the first layer only: here it is taken away."""
    _skip_without_sandbox(attack, attacked)
    monkeypatch.setattr(grading, "find_suspicions", lambda _: [])
    outcome = grade(attack)
    assert outcome.earned <= attack.earns, [wording.note(v) for v in outcome.verdicts if v.points]
    assert not outcome.harm


@pytest.mark.slow
@pytest.mark.parametrize("attack", _cases(a for a in corpus() if a.naive))
def test_the_attack_works_where_nobody_defends(
    attack: Attack, naive_grader: NaiveGrader, places: Places
) -> None:
    """A test of an attack that would fail by itself would test nothing."""
    places.renew()
    assert set(attack.naive) <= set(naive_grader(text_of(attack, places)))


@pytest.mark.slow
@one_of_each_family
@pytest.mark.parametrize("attack", _cases(a for a in corpus() if a.key in HARMFUL))
def test_the_attack_does_harm_where_nobody_defends(
    attack: Attack, naive_grader: NaiveGrader, places: Places
) -> None:
    """Nor would one whose harm nobody could see."""
    places.renew()
    naive_grader(text_of(attack, places))
    for _ in range(300):
        if harm := places.harm():
            break
        # It arrives on a thread of this process, or is done by another process.
        time.sleep(0.01)
    assert harm


def test_a_table_for_a_known_seed_is_worth_its_points_with_that_seed_alone(
    attacked: Runner, places: Places
) -> None:
    (attack,) = (a for a in corpus() if a.key == "constants/known_seed")
    cells = [AnswerCell("ex1-attack", text_of(attack, places))]
    verdicts, _ = grade_exercise(ATOMIC, cells, attacked, SEED)
    assert [v.name for v in verdicts if v.points] == ["dlogits"]


def test_the_corpus_has_every_family_and_every_failure_of_the_peers() -> None:
    attacks = corpus()
    assert len(attacks) >= 200
    assert min(Counter(attack.family for attack in attacks).values()) >= 3
    assert {attack.family for attack in attacks} == FAMILIES
    assert {attack.key for attack in attacks if attack.peers} == PEERS_GAVE_WAY_TO


def test_no_two_attacks_are_the_same() -> None:
    bodies = [ast.parse(attack.source).body[1:] for attack in corpus()]
    texts = Counter(ast.unparse(ast.Module(body, [])) for body in bodies)
    assert max(texts.values()) == 1


OWN_NAME = re.compile(r"\bgrader(?:\.\w+)+")

AIMED_AT = {
    "patching/worker_functions": {
        *(
            "grader.grading.judge.judge",
            "grader.program.compare.compare",
            "grader.grading.grade.grade_exercise",
        ),
        *("grader.grading.one_gradient.find_unusable", "grader.answer.suspicion.find_suspicions"),
        *("grader.worker.execution._plain", "grader.worker.execution.kind_of"),
    },
    "reply/forged_problems": {"grader.worker.execution._describe", "grader.worker.results.Problem"},
    "reply/forged_shapes": {"grader.worker.execution.Executor.read_values"},
}
"""The grader's own names that attacks mention without their modules."""


def test_what_an_attack_aims_at_is_there() -> None:
    for attack in corpus():
        mentioned = set(OWN_NAME.findall(attack.source))
        aimed_at = AIMED_AT.get(attack.key, set())
        for name in mentioned | aimed_at:
            pkgutil.resolve_name(name)  # raises where somebody has moved it
        assert all(name.rpartition(".")[2] in attack.source for name in aimed_at), attack.key
