"""Notebook 4's exercise: right answers pass, the blank is to do, one mistake blames one line."""

from __future__ import annotations

import pytest

from corpus.readers.lecture_course import TRAINING
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.reports import wording
from grader.verdict import Outcome
from tests.helpers.exercise_four import STYLES, as_cells, right_answer, with_mistake


def outcomes(text: str, runner: Runner) -> dict[str, Outcome]:
    verdicts, _ = grade_exercise(TRAINING, as_cells(text), runner)
    return {verdict.name: verdict.outcome for verdict in verdicts}


def test_there_are_enough_styles() -> None:
    assert len(STYLES) >= 6
    assert len({right_answer(style).splitlines()[0] for style in STYLES}) == len(STYLES)


@pytest.mark.parametrize("style", STYLES)
def test_right_answers_pass(style: str, runner: Runner) -> None:
    verdicts, flags = grade_exercise(TRAINING, as_cells(right_answer(style)), runner)
    assert {v.name: wording.note(v) for v in verdicts if v.outcome is not Outcome.PASS} == {}
    assert flags == []
    assert all(verdict.comparison.approximate for verdict in verdicts)


def test_a_blank_is_to_do(runner: Runner) -> None:
    blank = "\n".join(f"{name} = ...  # your turn" for name in TRAINING.gradients)
    found = outcomes(f"# answer: ex4-output\n{blank}\n", runner)
    assert set(found.values()) == {Outcome.TODO}
    assert list(found) == list(TRAINING.gradients)


DC = "torch.zeros_like(C).index_add_(0, Xb.view(-1), demb.view(-1, C.shape[1]))"


@pytest.mark.parametrize(
    ("gradient", "right", "wrong"),
    [
        ("dlogits", "dlogits /= n\n", ""),
        ("dlogits", "dlogits[range(n), Yb] -= 1\n", ""),
        ("dlogits", "F.softmax(logits, 1)", "F.softmax(logits, 0)"),
        ("dh", "dlogits @ W2.T", "-dlogits @ W2.T"),
        ("dW2", "h.T @ dlogits", "(dlogits.T @ h)"),
        ("db2", "db2 = dlogits.sum(0)", "db2 = dlogits.mean(0)"),
        ("dhpreact", "(1 - h**2)", "(1 - hpreact**2)"),
        ("dhpreact", "(1 - h**2) * dh", "(1 - h**2)"),
        ("dbngain", "(bnraw * dhpreact).sum(0, keepdim=True)", "(bnraw * dhpreact).sum(0)"),
        ("dbngain", "(bnraw * dhpreact)", "(hprebn * dhpreact)"),
        ("dbnbias", "dbnbias = dhpreact.sum(0, keepdim=True)", "dbnbias = dhpreact"),
        ("dhprebn", "n / (n - 1) * ", ""),
        ("dhprebn", " - n / (n - 1) * bnraw * dbngain", ""),
        ("dhprebn", "bngain * bnvar_inv / n", "bnvar_inv / n"),
        ("dhprebn", " - dbnbias ", " "),
        ("dembcat", "dhprebn @ W1.T", "dhpreact @ W1.T"),
        ("dW1", "embcat.T @ dhprebn", "embcat.T @ dhprebn / n"),
        ("db1", "db1 = dhprebn.sum(0)", "db1 = dhpreact.sum(0)"),
        ("demb", "dembcat.view(emb.shape)", "dembcat.view(block_size, n, -1).transpose(0, 1)"),
        ("dC", DC, "torch.zeros_like(C)\ndC[Xb] += demb"),
        ("dC", DC, "torch.zeros_like(C)\ndC[Xb] = demb"),
        ("dC", DC, "torch.zeros_like(C).index_add_(0, Xb[:, 0], demb[:, 0])"),
    ],
)
def test_a_common_mistake_is_blamed_on_its_gradient_alone(
    gradient: str, right: str, wrong: str, runner: Runner
) -> None:
    found = outcomes(with_mistake(right, wrong), runner)
    blamed = [name for name, o in found.items() if o in (Outcome.FAIL, Outcome.ERROR)]
    assert blamed == [gradient]
    others = {outcome for name, outcome in found.items() if name != gradient}
    assert others <= {Outcome.PASS, Outcome.CARRIED}


def test_what_uses_a_wrong_or_missing_neighbour_is_carried(runner: Runner) -> None:
    """`dbngain` hands nothing down to `dhprebn`, but the formula may use its sum."""
    for wrong in ("(hprebn * dhpreact)", "1 / 0 * (bnraw * dhpreact)"):
        verdicts, _ = grade_exercise(
            TRAINING, as_cells(with_mistake("(bnraw * dhpreact)", wrong)), runner
        )
        by_name = {verdict.name: verdict for verdict in verdicts}
        assert by_name["dhprebn"].outcome is Outcome.CARRIED
        assert wording.note(by_name["dhprebn"]).endswith("see dbngain.")
        assert by_name["dC"].outcome is Outcome.CARRIED
    blank = with_mistake("(bnraw * dhpreact).sum(0, keepdim=True)", "...")
    assert outcomes(blank, runner)["dhprebn"] is Outcome.CARRIED


def test_two_mistakes_are_two(runner: Runner) -> None:
    text = with_mistake("(bnraw * dhpreact)", "(hprebn * dhpreact)")
    found = outcomes(text.replace("n / (n - 1) * ", ""), runner)
    assert (found["dbngain"], found["dhprebn"]) == (Outcome.FAIL, Outcome.FAIL)
