"""What is said of the common mistakes of notebook 1, word by word."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

import pytest

from grader.answer.parse import AnswerCell
from grader.execution.runner import Reply, Runner, WorkerLost
from grader.grading.grade import grade_exercise
from grader.verdict import Outcome
from grader.worker.request import Request, Values
from tests.grader.conftest import Judge
from tests.helpers.exercise_text import ANSWERS, right_answers
from tests.helpers.lecture_course import ATOMIC

LECTURE = right_answers()["lecture"]


@dataclass(frozen=True, slots=True)
class Expected:
    """A line of the lecture's answer, what stands in its place, and what has to be said first."""

    line: str
    instead: str
    gradient: str
    kind: str
    message: str


TABLE = [
    Expected(**row)
    for row in tomllib.loads((ANSWERS / "diagnoses.toml").read_text(encoding="utf-8"))["diagnosis"]
]


def with_mistake(expected: Expected) -> str:
    (line,) = [text for text in LECTURE.splitlines() if text.strip() == expected.line]
    indented = line.replace(expected.line, expected.instead)
    return LECTURE.replace(f"{line}\n", f"{indented}\n")


@pytest.mark.parametrize("expected", TABLE, ids=lambda e: f"{e.gradient}-{e.kind}")
def test_a_mistake_is_named(expected: Expected, judge_text: Judge) -> None:
    verdicts = judge_text(with_mistake(expected))
    blamed = {v.name for v in verdicts.values() if v.outcome in (Outcome.FAIL, Outcome.ERROR)}
    assert blamed == {expected.gradient}
    said = verdicts[expected.gradient].diagnosis[0]
    assert (said.kind, said.message) == (expected.kind, expected.message)
    assert said.hint


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("db1 = dhprebn.sum(0)", "db1 = dhprebn.sin().sum(0) + 0.3 * dhprebn.cos().sum(0)"),
        ("dh = dlogits @ W2.T", "dh = dlogits.cumsum(1) @ W2.T * h"),
        ("dbnraw = bngain * dhpreact", "dbnraw = bngain * dhpreact**3 + dhpreact.cos()"),
    ],
)
def test_nothing_is_said_where_no_mistake_fits(line: str, instead: str, judge_text: Judge) -> None:
    gradient = line.partition(" ")[0]
    verdict = judge_text(LECTURE.replace(f"{line}\n", f"{instead}\n"))[gradient]
    assert verdict.outcome is Outcome.FAIL
    assert verdict.diagnosis == ()
    assert verdict.note


def test_a_right_answer_gets_no_diagnosis(judge_text: Judge) -> None:
    assert not [verdict for verdict in judge_text(LECTURE).values() if verdict.diagnosis]


def say_of(gradient: str, source: str, runner: Runner) -> list[str]:
    """What is said of a gradient's statements, which are a cell of their own."""
    verdicts, _ = grade_exercise(ATOMIC, [AnswerCell("ex1-cell", source)], runner)
    (verdict,) = [one for one in verdicts if one.name == gradient]
    assert verdict.outcome is Outcome.FAIL
    return [said.message for said in verdict.diagnosis]


@pytest.mark.parametrize(
    ("gradient", "line", "said"),
    [
        ("dprobs", "1 / probs**3 + probs.cos()", ["What arrives is not used: `dlogprobs`."]),
        ("dprobs", "dlogprobs / probs**3 + probs.cos()", []),
        ("dlogprobs", "logprobs.cos() + logprobs.sin() ** 3", []),
    ],
    ids=["read nowhere", "read", "nothing arrives"],
)
def test_what_arrives_has_to_be_read(
    gradient: str, line: str, said: list[str], runner: Runner
) -> None:
    assert say_of(gradient, f"{gradient} = {line}", runner) == said


ONES_LAST = "both = torch.cat((embcat, torch.ones(n, 1)), 1).T @ dhprebn"
ONES_FIRST = "both = torch.cat((torch.ones(n, 1), embcat), 1).T @ dhprebn"
ORDER = "Or else: In `torch.cat({}, 1)` the parts stand in the wrong order."
FIRST_IN_ORDER = ORDER.format("(torch.ones(n, 1), embcat)")
LAST_IN_ORDER = ORDER.format("(embcat, torch.ones(n, 1))")
COUNTS = "dcounts = counts_sum_inv * dprobs\n"
OUTER = "dW2 = torch.zeros_like(W2)\nfor i in range(n):\n    dW2 += torch.outer(h[i], dlogits[i])\n"
LOOPS = "dC = torch.zeros_like(C)\nfor i in range(n):\n    for j in range(block_size):\n        "


@pytest.mark.parametrize(
    ("gradient", "source", "said"),
    [
        (
            "dW1",
            f"{ONES_FIRST}\ndW1 = both[:-1]",
            f"`both[:-1]` cuts off the wrong end. {FIRST_IN_ORDER}",
        ),
        (
            "dW1",
            f"{ONES_LAST}\ndW1 = both[1:]",
            f"`both[1:]` cuts off the wrong end. {LAST_IN_ORDER}",
        ),
        (
            "db1",
            f"{ONES_LAST}\ndb1 = both[0]",
            f"`0` is not the index that belongs here. {LAST_IN_ORDER}",
        ),
        (
            "db1",
            f"{ONES_LAST}\ndb1 = both[30]",
            "`30` is written as a number; which place is meant depends on the sizes.",
        ),
        (
            "dhpreact",
            "dhpreact = torch.tanh(dh)",
            "`torch.tanh(dh)` is a function of a gradient; the slope of `h` times it belongs here.",
        ),
        (
            "dbnvar",
            "dbnvar = -0.5 * bnvar**-0.5 * dbnvar_inv",
            "In `bnvar**-0.5` the small number beside `bnvar` is missing, and `-0.5` is not the"
            " exponent.",
        ),
        (
            "dbndiff",
            "dbndiff = dbnraw * bnvar_inv + dbndiff2 * bndiff**2",
            "`bndiff**2` is the power itself; its derivative belongs here.",
        ),
        ("dhprebn", "dhprebn = dbndiff - bnmeani", "What arrives is not used: `dbnmeani`."),
        (
            "dlogits",
            "dlogits = dnorm_logits.clone()\ndlogits[:, logits.argmax(1)] += dlogit_maxes",
            "With `:` every row gets something at `logits.argmax(1)`; `dlogit_maxes` has an axis"
            " too many.",
        ),
        (
            "dlogits",
            "dlogits = dnorm_logits + (logits == logit_maxes)",
            "`logits == logit_maxes` lacks the gradient that arrives.",
        ),
        (
            "dC",
            f"{LOOPS.replace('torch.zeros_like(C)', 'C.clone()')}dC[Xb[i, j]] += demb[i, j]",
            "`C.clone()` is not what a gradient begins with.",
        ),
        (
            "dhpreact",
            "dhpreact = dh * h * (1 - h)",
            "`dh * h * (1 - h)` has the slope of a sigmoid in it.",
        ),
        (
            "dlogit_maxes",
            "dlogit_maxes = -dnorm_logits.gather(1, logits.argmax(1, keepdim=True))",
            "This expression is one entry of each row; what arrives at all of them adds up.",
        ),
        (
            "dW2",
            f"{OUTER}dW2 /= n",
            "`n` is a divisor too many: no mean belongs here.",
        ),
        (
            "dW2",
            f"{OUTER}dW2 += W2",
            "`W2` is a term too many.",
        ),
        (
            "dcounts",
            f"{COUNTS}dcounts[:] + dcounts_sum",
            "What this line computes is thrown away.",
        ),
        (
            "dcounts",
            f"{COUNTS}for i in range(n):\n    dcounts[i, Yb[i]] += dcounts_sum[i, 0]",
            "This line does not reach all of `dcounts`.",
        ),
        (
            "dhpreact",
            "t = 1 - h\ndhpreact = dh * t**2",
            "In `t**2` the operations run in the wrong order.",
        ),
        (
            "dhpreact",
            "dhpreact = torch.where(h > 0, dh, 0.0)",
            "`torch.where(h > 0, dh, 0.0)` has the slope of a ReLU; the step that makes `h` is"
            " none.",
        ),
        (
            "dbnvar_inv",
            "dbnvar_inv = torch.einsum('ij,ij->i', bndiff, dbnraw)[:, None]",
            "The letter after the arrow in `'ij,ij->i'` is not the axis that belongs there.",
        ),
        (
            "demb",
            "demb = torch.zeros_like(emb)\n"
            "for t in range(block_size):\n    demb[:, t] = dembcat[:, t : t + n_embd]",
            "From one round to the next `:, t : t + n_embd` moves on by 1, not by `n_embd`.",
        ),
        (
            "dlogits",
            "dlogits = torch.zeros_like(logits)\nfor i in range(n):\n    k = logits[i].argmax()\n"
            "    dlogits[i, k] = dnorm_logits[i, k] + dlogit_maxes[i, 0]",
            "A term is missing beside `torch.zeros_like(logits)`.",
        ),
        (
            "demb",
            "demb = dembcat[:, :n_embd].unsqueeze(1).expand(n, block_size, n_embd)",
            "`demb` has at every index of axis 1 what belongs at 0.",
        ),
    ],
)
def test_what_a_student_writes_first(gradient: str, source: str, said: str, runner: Runner) -> None:
    assert say_of(gradient, source, runner) == [said]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (f"{LOOPS}dC[i] += demb[i, j]", "`i` is not the index that belongs here."),
        (
            f"{LOOPS}dC[Xb[i, j]] += demb[i]",
            "`demb[i]` is taken whole; one row of it belongs here.",
        ),
        (
            "dC = torch.zeros_like(C)\ndC.index_add_(0, Xb, demb)",
            "`dC.index_add_(0, Xb, demb)` asks for the indices in one row, and for the rows to add"
            " below each other.",
        ),
    ],
)
def test_a_line_that_raises_is_named(source: str, said: str, judge_text: Judge) -> None:
    start = LECTURE.index("dC = ")
    verdict = judge_text(f"{LECTURE[:start]}{source}\n")["dC"]
    assert verdict.outcome is Outcome.ERROR
    assert [one.message for one in verdict.diagnosis] == [said]


def test_a_cell_that_ran_again_is_no_mistake_of_the_line(runner: Runner) -> None:
    cell = "dbndiff += 2 * bndiff * dbndiff2\n"
    said = say_of("dbndiff", f"dbndiff = bnvar_inv * dbnraw\n{cell * 3}", runner)
    assert said == ["This line ran more than once, and counts each time."]


def test_a_line_that_belongs_in_the_loop_before(runner: Runner) -> None:
    loop = "for i in range(n):\n    for j in range(block_size):\n        ix = Xb[i, j]\n"
    source = f"dC = torch.zeros_like(C)\n{loop}dC[ix] += demb[i, j]"
    assert say_of("dC", source, runner) == ["This line stands outside of the loop."]


def test_equal_statements_get_the_same_reason_wherever_they_stand(runner: Runner) -> None:
    source = "dhpreact = (1 - hpreact**2) * dh * 1.0"
    said = [say_of("dhpreact", before + source, runner) for before in ("", "a = 1\n\n", "")]
    assert said == [["This slope is taken at the wrong tensor: `hpreact`."]] * 3


def test_a_worker_that_was_lost_is_not_remembered(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, source = Runner.run, "dhpreact = (1 - hpreact**2) * dh / 1.0"

    def lose_variants(self: Runner, request: Request, values: Values) -> Reply:
        if "beside0" in request.extra:
            raise WorkerLost("The process ended.")
        return run(self, request, values)

    with monkeypatch.context() as patched:
        patched.setattr(Runner, "run", lose_variants)
        assert say_of("dhpreact", source, runner) == []
    assert say_of("dhpreact", source, runner) == [
        "This slope is taken at the wrong tensor: `hpreact`."
    ]


def test_what_stands_before_on_the_line_makes_no_difference(runner: Runner) -> None:
    line = "dhpreact = (1 - hpreact**2) * dh * 1"
    said = [say_of("dhpreact", f"{name} = 1; {line}", runner) for name in ("ö", "o")]
    assert said == [["This slope is taken at the wrong tensor: `hpreact`."]] * 2
