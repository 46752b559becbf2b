"""Gradients judged beside each other, on a small program and evidence made by hand."""

import pytest
import torch

from grader.diagnosis.kinds import Kind
from grader.execution.evidence import Observed, Value
from grader.program.instances import HIDDEN_SIZES
from grader.reports import wording
from grader.verdict import Check, Outcome, because
from tests.grader.grading.conftest import DEEPER, MISSING, PLACE, RAISED, Case, double, nearly


def test_a_fused_line_is_right_from_the_gradient_it_reads(case: Case) -> None:
    """dx straight from dsquared: the steps between are not written out."""
    given = frozenset({"squared"})
    dx = case.evidence(
        "dx",
        hidden=case.globally("dx", double),
        local=case.from_upstreams("dx", given),
        reads=given,
    )
    verdict = case.judge(case.wrong("dsquared"), dx)[1]
    assert verdict.outcome is Outcome.CARRIED


def test_a_right_value_made_from_a_wrong_one_says_so(case: Case) -> None:
    """Two mistakes may cancel; which of the two lines is right after all, nobody knows."""
    centre = case.evidence("dcentre", local=case.locally("dcentre", double))
    _, verdict = case.judge(case.wrong("dsquared"), centre)
    assert verdict.outcome is Outcome.PASS
    assert verdict.reasons == (because("right-although", gradients=("dsquared",)),)


@pytest.mark.parametrize("hidden", ["wrong", "raised", "missing", "nan"])
def test_a_right_line_that_was_handed_something_wrong_is_carried(case: Case, hidden: str) -> None:
    values = {
        "wrong": case.globally("dcentre", double),
        "raised": RAISED,
        "missing": (Value(), *(Value(torch.zeros(1)),) * (len(HIDDEN_SIZES) - 1)),
        "nan": case.globally("dcentre", lambda t: t * torch.nan),
    }[hidden]
    centre = case.evidence("dcentre", hidden=values)
    _, verdict = case.judge(case.wrong("dsquared"), centre)
    assert verdict.outcome is Outcome.CARRIED
    assert verdict.points == 1
    assert (
        wording.note(verdict)
        == "This line is right, but an incoming gradient is not: see dsquared."
    )


@pytest.mark.parametrize("judged", [("dsquared", "dcentre"), ("dcentre",)])
def test_a_right_line_that_was_handed_nothing_wrong_is_to_blame(
    case: Case, judged: tuple[str, ...]
) -> None:
    """The value is wrong, and all it reads is right in the end: it has to begin somewhere."""
    changes = {"dcentre": {"hidden": case.globally("dcentre", double)}}
    *_, verdict = case.judge(*(case.evidence(name, **changes.get(name, {})) for name in judged))
    assert (verdict.outcome, verdict.why, verdict.points) == (Outcome.FAIL, "at-the-wrong-time", 0)
    assert (verdict.global_check, verdict.local_check) == (Check.WRONG, Check.RIGHT)
    assert verdict.place == PLACE


def test_a_right_line_kept_from_running_by_its_block_is_an_error(case: Case) -> None:
    verdict = case.judge_one("dcentre", hidden=RAISED)
    assert (verdict.outcome, wording.note(verdict)) == (Outcome.ERROR, "This line raised E.")
    assert verdict.place == DEEPER


def test_what_reads_a_value_of_the_wrong_time_is_carried_from_there(case: Case) -> None:
    late = case.evidence("dcentre", hidden=case.globally("dcentre", double))
    given = frozenset({"centre"})
    x = case.evidence(
        "dx",
        hidden=case.globally("dx", double),
        reads=given,
        local=case.from_upstreams("dx", given),
    )
    for asked in ((late, x), (x, late)):
        verdicts = {verdict.name: verdict for verdict in case.judge(*asked)}
        assert verdicts["dcentre"].outcome is Outcome.FAIL
        assert verdicts["dx"].outcome is Outcome.CARRIED
        assert (
            wording.note(verdicts["dx"])
            == "This line is right, but an incoming gradient is not: see dcentre."
        )


def test_what_waits_for_a_blank_says_so(case: Case) -> None:
    blank = case.evidence("dsquared", lecture=Value(), hidden=MISSING, local=MISSING)
    centre = case.evidence("dcentre", hidden=RAISED)
    _, verdict = case.judge(blank, centre)
    assert verdict.outcome is Outcome.CARRIED
    assert wording.note(verdict) == "This line is right, and waits for dsquared to be written."


def test_beside_a_mistake_a_blank_is_named_but_not_waited_for(case: Case) -> None:
    blank = case.evidence("dgain", lecture=Value(), hidden=MISSING, local=MISSING)
    centre = case.evidence("dcentre", hidden=RAISED, channels=frozenset({"gain"}), as_assigned=None)
    *_, verdict = case.judge(blank, case.wrong("dsquared"), centre)
    assert (
        wording.note(verdict)
        == "This line is right, but an incoming gradient is not: see dgain and dsquared."
    )


def test_carried_names_where_it_began(case: Case) -> None:
    wrong = {name: case.globally(name, double) for name in ("dsquared", "dcentre", "dx")}
    squared = case.evidence(
        "dsquared", hidden=wrong["dsquared"], local=case.locally("dsquared", double)
    )
    centre = case.evidence("dcentre", hidden=wrong["dcentre"])
    x = case.evidence(
        "dx",
        hidden=wrong["dx"],
        reads=frozenset({"centre"}),
        local=case.from_upstreams("dx", frozenset({"centre"})),
    )
    verdicts = case.judge(squared, centre, x)
    outcomes = [verdict.outcome for verdict in verdicts]
    assert outcomes == [Outcome.FAIL, Outcome.CARRIED, Outcome.CARRIED]
    notes = {wording.note(verdict) for verdict in verdicts[1:]}
    assert notes == {"This line is right, but an incoming gradient is not: see dsquared."}


def rough(case: Case, name: str) -> Observed:
    """Evidence of a gradient that is right to a few digits only."""
    local = case.locally(name, nearly)
    return case.evidence(name, hidden=case.globally(name, nearly), local=local)


def test_right_to_a_few_digits_passes_and_says_so(case: Case) -> None:
    squared, centre = case.judge(rough(case, "dsquared"), case.evidence("dcentre"))
    assert (squared.outcome, squared.why) == (Outcome.PASS, "almost")
    assert (centre.outcome, wording.note(centre)) == (Outcome.PASS, "")


def test_right_to_a_few_digits_is_to_blame_for_what_nothing_else_explains(case: Case) -> None:
    centre = case.evidence("dcentre", hidden=case.globally("dcentre", double))
    squared, carried = case.judge(rough(case, "dsquared"), centre)
    assert (squared.outcome, squared.why) == (Outcome.FAIL, "almost")
    assert (
        wording.note(carried)
        == "This line is right, but an incoming gradient is not: see dsquared."
    )


def test_right_to_a_few_digits_is_not_to_blame_for_what_a_blank_explains(case: Case) -> None:
    blank = case.evidence("dgain", lecture=Value(), hidden=MISSING, local=MISSING)
    centre = case.evidence("dcentre", hidden=RAISED, channels=frozenset({"gain"}), as_assigned=None)
    _, squared, carried = case.judge(blank, rough(case, "dsquared"), centre)
    assert (squared.outcome, squared.why) == (Outcome.PASS, "almost")
    assert wording.note(carried) == "This line is right, and waits for dgain to be written."


def test_a_line_whose_few_wrong_digits_grow_is_to_blame_itself(case: Case) -> None:
    late = case.evidence(
        "dcentre",
        hidden=case.globally("dcentre", double),
        local=case.locally("dcentre", nearly),
    )
    (verdict,) = case.judge(late)
    assert (verdict.outcome, verdict.why) == (Outcome.FAIL, "almost")


def test_far_off_by_a_right_line_is_carried_or_begins_here(case: Case) -> None:
    centre = case.evidence("dcentre", lecture=Value(2 * case.lecture["centre"]))
    (alone,) = case.judge(centre)
    assert (alone.outcome, alone.why) == (Outcome.FAIL, "only-on-other-sizes")
    _, handed = case.judge(case.wrong("dsquared"), centre)
    assert handed.outcome is Outcome.CARRIED


# --- memory that two gradients share


def test_a_line_that_changes_another_gradient_is_told_so(case: Case) -> None:
    wrong = {"hidden": case.globally("dcentre", double), "local": case.locally("dcentre", double)}
    verdict = case.judge_one(
        "dcentre", **wrong, channels=frozenset({"x"}), as_assigned=case.locally("dcentre")
    )
    assert verdict.outcome is Outcome.FAIL
    assert [one.kind for one in verdict.diagnosis] == [Kind.ALIASED]
    assert "changes it through `dx`" in verdict.diagnosis[0].message


def test_shared_memory_is_paid_for_where_the_other_gradient_is_wrong(case: Case) -> None:
    wrong = {
        name: {"hidden": case.globally(name, double), "local": case.locally(name, double)}
        for name in ("dcentre", "dx")
    }
    centre = case.evidence(
        "dcentre",
        **wrong["dcentre"],
        channels=frozenset({"x"}),
        as_assigned=case.locally("dcentre"),
    )
    verdicts = case.judge(centre, case.evidence("dx", **wrong["dx"]))
    assert [verdict.outcome for verdict in verdicts] == [Outcome.CARRIED, Outcome.FAIL]
    assert verdicts[0].local_check is Check.RIGHT
    assert (
        wording.note(verdicts[0]) == "This line is right, but an incoming gradient is not: see dx."
    )


def test_every_gradient_gets_a_verdict_in_order(case: Case) -> None:
    names = ["dx", "dgain", "dsquared"]
    blank = Value()
    verdicts = case.judge(
        *(case.evidence(name, lecture=blank, hidden=MISSING, local=MISSING) for name in names)
    )
    assert [verdict.name for verdict in verdicts] == names
