"""What is told of a right value whose line is not right for every incoming gradient."""

import pytest

from corpus.readers.exercise_text import right_answers
from grader.reports import wording
from grader.verdict import Outcome
from tests.grader.conftest import Judge

LECTURE = right_answers()["lecture"]

NUMERICAL_SLOPE = "dhpreact = dh * (torch.tanh(hpreact + 1e-3) - torch.tanh(hpreact - 1e-3)) / 2e-3"
SECOND_BRANCH = (
    "dlogits += F.one_hot(logits.max(1).indices, num_classes=logits.shape[1]) * dlogit_maxes"
)


def replaced(line: str, replacement: str) -> str:
    assert LECTURE.count(f"{line}\n") == 1
    return LECTURE.replace(f"{line}\n", f"{replacement}\n")


@pytest.mark.parametrize(
    ("line", "replacement", "gradient"),
    [
        (
            "dbnmeani = (-dbndiff).sum(0, keepdim=True)",
            "dbnmeani = -(bnvar_inv*dbnraw + 7*bndiff*dbndiff2).sum(0, keepdim=True)",
            "dbnmeani",
        ),
        ("dh = dlogits @ W2.T", "dh = (dlogits @ W2.T).clamp(-1, 1)", "dh"),
    ],
)
def test_a_line_that_is_right_by_chance_is_told_so(
    line: str, replacement: str, gradient: str, judge_text: Judge
) -> None:
    verdicts = judge_text(replaced(line, replacement))
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}
    told = {name: verdict.why for name, verdict in verdicts.items() if verdict.reasons}
    assert told == {gradient: "only-these-gradients"}
    assert "With other incoming gradients this line would be wrong." in wording.note(
        verdicts[gradient]
    )


def test_a_numerical_slope_is_said_to_be_right_to_a_few_digits(judge_text: Judge) -> None:
    verdicts = judge_text(replaced("dhpreact = (1.0 - h**2) * dh", NUMERICAL_SLOPE))
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}
    assert verdicts["dhpreact"].why == "almost"


@pytest.mark.parametrize(
    ("line", "replacement", "gradient", "code"),
    [
        (SECOND_BRANCH, "", "dlogits", "left-out"),
        ("db1 = dhprebn.sum(0)", "db1 = (0 * dhprebn).sum(0)", "db1", "zeros"),
        ("db1 = dhprebn.sum(0)", "db1 = torch.zeros_like(b1)", "db1", "zeros"),
    ],
)
def test_what_is_zero_by_structure_is_explained_and_not_praised(
    line: str, replacement: str, gradient: str, code: str, judge_text: Judge
) -> None:
    verdicts = judge_text(replaced(line, replacement))
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}
    told = {name: verdict.why for name, verdict in verdicts.items() if verdict.reasons}
    assert told == {gradient: code}
    assert "is zero for every input of this network" in wording.note(verdicts[gradient])
    assert "With other incoming gradients" in wording.note(verdicts[gradient])


def test_a_branch_that_is_zero_whatever_arrives_is_not_held_against_its_line(
    judge_text: Judge,
) -> None:
    alone = "dbnmeani = -(dbnraw * bnvar_inv).sum(0, keepdim=True)"
    found = judge_text(replaced("dbnmeani = (-dbndiff).sum(0, keepdim=True)", alone))["dbnmeani"]
    assert (found.outcome, found.why) == (Outcome.PASS, "idle-branch")
    assert "incoming" not in wording.note(found)


def test_a_shortcut_that_reads_siblings_is_not_said_to_be_wrong_elsewhere(
    judge_text: Judge,
) -> None:
    """In the forced run, they are not those of the random gradients."""
    fused = "dhprebn = dbndiff - bngain * bnvar_inv * dbnbias / n"
    last = "dhprebn += 1.0 / n * (torch.ones_like(hprebn) * dbnmeani)"
    found = judge_text(replaced(last, fused))["dhprebn"]
    assert (found.outcome, found.why) == (Outcome.PASS, "another-way")
