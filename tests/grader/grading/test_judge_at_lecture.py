"""Lines that raise on the lecture's batch alone, in whole answers."""

import pytest

from corpus.readers.exercise_text import right_answers
from grader.diagnosis.kinds import Kind
from grader.reports import wording
from grader.reports.wording import ROWS
from grader.verdict import Outcome, Verdict
from tests.grader.conftest import Judge

LECTURE = right_answers()["lecture"]
OF_PROBS = "dprobs = (1.0 / probs) * dlogprobs"
OF_LOGITS = "dlogits = dnorm_logits.clone()"

CARRIED = ROWS["carried"].replace("{gradients}", "{}")


def outcomes_with(line: str, replacement: str, judge_text: Judge) -> dict[str, Verdict]:
    assert LECTURE.count(f"{line}\n") == 1, line
    return judge_text(LECTURE.replace(f"{line}\n", f"{replacement}\n"))


@pytest.mark.parametrize(
    ("line", "replacement", "origin"),
    [
        ("dlogprobs = torch.zeros_like(logprobs)", "dlogprobs = logprobs.double() * 0", "logprobs"),
        (OF_LOGITS, "dlogits = dnorm_logits.double()", "logits"),
        (OF_LOGITS, "dlogits = torch.tensor(dnorm_logits.numpy().astype('float64'))", "logits"),
    ],
)
def test_where_dtypes_do_not_mix_the_one_that_brought_float64_in_pays_alone(
    line: str, replacement: str, origin: str, judge_text: Judge
) -> None:
    verdicts = outcomes_with(line, replacement, judge_text)
    first = verdicts.pop(f"d{origin}")
    assert first.outcome is Outcome.FAIL
    assert first.diagnosis[0].kind == Kind.WRONG_DTYPE
    assert first.diagnosis[0].message == (
        f"`d{origin}` has dtype float64, and `{origin}` has float32; a later line cannot mix them."
    )
    assert {v.outcome for v in verdicts.values()} == {Outcome.PASS, Outcome.CARRIED}
    for name in ("dh", "dW2", "dhpreact", "dC"):
        assert verdicts[name].outcome is Outcome.CARRIED
        assert wording.note(verdicts[name]) == CARRIED.format(f"d{origin}")


def test_float64_that_no_line_minds_is_right(judge_text: Judge) -> None:
    verdicts = judge_text(LECTURE + "\ndb2 = db2.double()\ndC = dC.double()\n")
    assert {v.outcome for v in verdicts.values()} == {Outcome.PASS}


def test_what_a_line_that_raises_there_leaves_missing_is_carried(judge_text: Judge) -> None:
    verdicts = outcomes_with(
        "dh = dlogits @ W2.T", "dh = dlogits @ W2.T if n != 32 else h.undefined", judge_text
    )
    assert verdicts.pop("dh").outcome is Outcome.ERROR
    assert {v.outcome for v in verdicts.values()} == {Outcome.PASS, Outcome.CARRIED}
    assert wording.note(verdicts["dC"]) == CARRIED.format("dh")


@pytest.mark.parametrize(
    "bad", ["dh * torch.tensor([float('inf')] + [1.0] * 63)", "dh.log()", "dh.long()", "None"]
)
def test_what_is_made_of_nan_there_is_carried(bad: str, judge_text: Judge) -> None:
    line = "dh = dlogits @ W2.T"
    verdicts = outcomes_with(line, f"{line}\nif n == 32: dh = {bad}", judge_text)
    assert verdicts.pop("dh").outcome is Outcome.ERROR
    assert {v.outcome for v in verdicts.values()} == {Outcome.PASS, Outcome.CARRIED}
    assert wording.note(verdicts["dC"]) == CARRIED.format("dh")


def test_who_gives_nan_there_without_need_pays_too(judge_text: Judge) -> None:
    line = "dh = dlogits @ W2.T"
    text = LECTURE.replace(f"{line}\n", f"{line}\nif n == 32: dh = dh * 3\n")
    line = "dhpreact = (1.0 - h**2) * dh"
    nan = "if n == 32: dhpreact = dhpreact * float('nan')"
    verdicts = judge_text(text.replace(f"{line}\n", f"{line}\n{nan}\n"))
    assert verdicts["dh"].outcome is Outcome.FAIL
    assert verdicts["dhpreact"].outcome is Outcome.ERROR


def test_an_array_in_another_byte_order_costs_itself_alone(judge_text: Judge) -> None:
    verdicts = outcomes_with(
        OF_PROBS, "dprobs = (dlogprobs / probs).numpy().astype('>f8')", judge_text
    )
    assert verdicts.pop("dprobs").outcome is Outcome.ERROR
    assert {v.outcome for v in verdicts.values()} == {Outcome.PASS, Outcome.CARRIED}


def test_a_tensor_without_a_shape_costs_itself_alone(judge_text: Judge) -> None:
    verdicts = outcomes_with(
        OF_PROBS, "dprobs = torch.nested.nested_tensor([dlogprobs[0], dlogprobs[1]])", judge_text
    )
    assert verdicts.pop("dprobs").outcome is Outcome.ERROR
    assert {v.outcome for v in verdicts.values()} == {Outcome.PASS, Outcome.CARRIED}


def test_of_what_was_not_reached_no_reason_is_sought(judge_text: Judge) -> None:
    verdicts = judge_text(f"{LECTURE}\nimport os\n" + "os.abort()\n" * 9)
    assert {v.outcome for v in verdicts.values()} == {Outcome.ERROR}
    assert all("was not reached" in wording.note(v) for v in verdicts.values())
    assert not any(v.diagnosis for v in verdicts.values())
