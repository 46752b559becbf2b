"""The verdict table row by row, on a small program and evidence made by hand."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from grader.answer.parse import Raised
from grader.execution.evidence import Value
from grader.program.compare import FAR_OFF, FLOAT64_TOLERANCE
from grader.program.instances import HIDDEN_SIZES
from grader.reports import wording
from grader.reports.wording import ROWS
from grader.verdict import Check, Flag, Outcome, Place, because
from tests.grader.grading.conftest import DEEPER, LINE_RAISED, MISSING, PLACE, RAISED, Case, double

ON_ANOTHER_BATCH, WRITTEN_IN = ROWS["only-on-this-size"], ROWS["written-in"]
NOT_THE_GRADIENT = "This is not the gradient of the loss with respect to {}. Test one entry"


def test_the_program_has_zeros_by_structure(case: Case) -> None:
    assert case.references.zero_by_structure == {"bias", "mean"}


# --- global right


@pytest.mark.parametrize(
    "name", ["dsquared", "dcentre", "dmean", "dshifted", "dbias", "dgain", "dx"]
)
def test_right_and_right_passes(case: Case, name: str) -> None:
    verdict = case.judge_one(name)
    assert (verdict.outcome, wording.note(verdict)) == (Outcome.PASS, "")
    assert (verdict.global_check, verdict.local_check) == (Check.RIGHT, Check.RIGHT)
    assert verdict.place == PLACE
    assert verdict.comparison.exact


@pytest.mark.parametrize("local", ["wrong", "raised"])
def test_a_right_value_by_a_line_that_is_not_the_vjp_is_a_shortcut(case: Case, local: str) -> None:
    values = RAISED if local == "raised" else case.locally("dcentre", double)
    verdict = case.judge_one("dcentre", local=values)
    why = "not-alone" if local == "raised" else "only-these-gradients"
    assert (verdict.outcome, verdict.why) == (Outcome.PASS, why)


def test_where_zero_hides_the_mistake_the_local_check_decides(case: Case) -> None:
    noise = case.globally("dmean", lambda t: t + 1e-14)
    verdict = case.judge_one("dmean", hidden=noise, local=case.locally("dmean", double))
    assert (verdict.outcome, verdict.why) == (Outcome.FAIL, "true-zero")
    assert (verdict.global_check, verdict.local_check) == (Check.RIGHT, Check.WRONG)


def test_what_reads_a_zero_is_decided_locally_too(case: Case) -> None:
    verdict = case.judge_one("dshifted", local=case.locally("dshifted", double))
    assert (verdict.outcome, verdict.why) == (Outcome.FAIL, "true-zero")


def test_what_makes_up_for_a_zero_branch_is_decided_locally_too(case: Case) -> None:
    """It reads one branch alone, and works the other out inline."""
    given = frozenset({"centre"})
    local = case.from_upstreams("dshifted", given, double)
    verdict = case.judge_one("dshifted", local=local, reads=given)
    assert (verdict.outcome, verdict.why) == (Outcome.FAIL, "true-zero")
    completed = case.judge_one("dshifted", local=local, reads=given, writes=given)
    assert (completed.outcome, completed.why) == (Outcome.PASS, "only-these-gradients")


@pytest.mark.parametrize("name", ["dmean", "dshifted"])
@pytest.mark.parametrize("alone", ["raised", "another shape", "missing"])
def test_a_right_value_whose_lines_cannot_run_alone_passes(
    case: Case, name: str, alone: str
) -> None:
    local = {
        "raised": RAISED,
        "another shape": case.locally(name, lambda t: t.sum(0)),
        "missing": MISSING,
    }[alone]
    noise = case.globally(name, lambda t: t + 1e-14)
    verdict = case.judge_one(name, hidden=noise, local=local)
    assert (verdict.outcome, verdict.why) == (Outcome.PASS, "not-alone")
    assert verdict.place == PLACE


def test_what_counts_as_zero_has_a_size_of_its_own(case: Case) -> None:
    """A gradient that is zero by structure is measured by what its line adds up."""
    small = case.judge_one("dmean", hidden=case.globally("dmean", lambda t: t + 1e-3))
    assert small.outcome is Outcome.FAIL


def test_exact_zeros_pass_where_zero_is_right(case: Case) -> None:
    verdict = case.judge_one(
        "dmean",
        hidden=case.globally("dmean", torch.zeros_like),
        local=case.locally("dmean", torch.zeros_like),
    )
    assert (verdict.outcome, verdict.reasons) == (Outcome.PASS, (because("zeros", tensor="mean"),))


def test_zeros_that_are_none_given_other_upstreams_do_not(case: Case) -> None:
    verdict = case.judge_one(
        "dmean",
        hidden=case.globally("dmean", torch.zeros_like),
        local=case.locally("dmean", double),
    )
    assert (verdict.outcome, verdict.why) == (Outcome.FAIL, "true-zero")


def test_leaving_a_zero_branch_out_passes(case: Case) -> None:
    given = frozenset({"centre"})
    local = case.from_upstreams("dshifted", given, zeroed=frozenset({"mean"}))
    verdict = case.judge_one("dshifted", local=local, reads=given)
    left_out = because("left-out", branch="mean")
    assert (verdict.outcome, verdict.reasons) == (Outcome.PASS, (left_out,))


def test_leaving_out_another_branch_does_not(case: Case) -> None:
    given = frozenset({"mean"})
    local = case.from_upstreams("dshifted", given, zeroed=frozenset({"centre"}))
    verdict = case.judge_one(
        "dshifted", local=local, reads=given, hidden=case.globally("dshifted", double)
    )
    assert verdict.outcome is Outcome.FAIL


def test_right_on_hidden_instances_but_no_number_on_the_lectures(case: Case) -> None:
    verdict = case.judge_one("dcentre", lecture=Value(raised=LINE_RAISED))
    assert (verdict.outcome, wording.note(verdict)) == (Outcome.ERROR, "This line raised E.")


# --- global wrong


def test_wrong_and_wrong_fails(case: Case) -> None:
    (verdict,) = case.judge(case.wrong("dcentre"))
    assert (verdict.outcome, verdict.points) == (Outcome.FAIL, 0)
    assert wording.note(verdict).startswith(NOT_THE_GRADIENT.format("centre"))


@pytest.mark.parametrize("number", range(len(HIDDEN_SIZES)))
def test_one_wrong_instance_is_wrong(case: Case, number: int) -> None:
    values = list(case.globally("dcentre"))
    values[number] = Value(2 * values[number].tensor)
    verdict = case.judge_one("dcentre", hidden=tuple(values), local=case.locally("dcentre", double))
    assert (verdict.outcome, verdict.global_check) == (Outcome.FAIL, Check.WRONG)
    assert wording.note(verdict) == f"{ON_ANOTHER_BATCH} {WRITTEN_IN}"


@pytest.mark.parametrize(("factor", "outcome"), [(0.5, Outcome.PASS), (2.0, Outcome.FAIL)])
def test_right_on_hidden_instances_but_far_off_on_the_lectures(
    case: Case, factor: float, outcome: Outcome
) -> None:
    expected = case.lecture["centre"]
    verdict = case.judge_one(
        "dcentre",
        lecture=Value(expected + factor * FAR_OFF * expected.abs().max()),
        local=case.locally("dcentre", double),
    )
    assert verdict.outcome is outcome
    if outcome is Outcome.FAIL:
        assert verdict.why == "only-on-other-sizes"


def test_another_shape_on_the_lectures_sizes_alone_is_far_off(case: Case) -> None:
    verdict = case.judge_one(
        "dcentre",
        lecture=Value(case.lecture["centre"].sum(0)),
        local=case.locally("dcentre", double),
    )
    assert (verdict.outcome, verdict.why) == (Outcome.FAIL, "only-on-other-sizes")


def test_a_zero_by_structure_is_never_far_off(case: Case) -> None:
    """Its relative difference compares rounding with rounding."""
    noise = case.lecture["bias"] + 1e-7
    assert case.judge_one("dbias", lecture=Value(noise)).outcome is Outcome.PASS


def test_a_wrong_shape_is_explained_with_the_lectures_sizes(case: Case) -> None:
    def lose_axis(tensor: Tensor) -> Tensor:
        return tensor.sum(0)

    verdict = case.judge_one(
        "dcentre",
        lecture=Value(lose_axis(case.lecture["centre"])),
        hidden=case.globally("dcentre", lose_axis),
        local=case.locally("dcentre", lose_axis),
    )
    assert verdict.outcome is Outcome.FAIL
    assert wording.note(verdict) == (
        "dcentre has shape (3,), but a gradient has its tensor's shape, (6, 3)."
    )


def test_without_the_lectures_value_a_wrong_shape_is_told_at_its_sizes_too(case: Case) -> None:
    def lose_axis(tensor: Tensor) -> Tensor:
        return tensor.sum(1)

    verdict = case.judge_one(
        "dcentre",
        lecture=Value(raised=LINE_RAISED),
        hidden=RAISED,
        local=case.locally("dcentre", lose_axis),
    )
    assert verdict.outcome is Outcome.FAIL
    assert wording.note(verdict) == (
        "dcentre has shape (6,), but a gradient has its tensor's shape, (6, 3)."
    )


def test_a_shape_that_is_right_at_the_lectures_sizes_alone_is_written_in(case: Case) -> None:
    def pin(tensor: Tensor) -> Tensor:
        return torch.zeros(6, 3, dtype=tensor.dtype)

    verdict = case.judge_one(
        "dcentre", hidden=case.globally("dcentre", pin), local=case.locally("dcentre", pin)
    )
    assert (verdict.outcome, wording.note(verdict)) == (
        Outcome.FAIL,
        f"{ON_ANOTHER_BATCH} {WRITTEN_IN}",
    )


def test_a_shape_that_broadcasts_is_wrong_all_the_same(case: Case) -> None:
    """Each value is right, but there are n times as many."""

    def spread(tensor: Tensor) -> Tensor:
        return tensor.expand(2, *tensor.shape)

    verdict = case.judge_one(
        "dgain", hidden=case.globally("dgain", spread), local=case.locally("dgain", spread)
    )
    assert verdict.outcome is Outcome.FAIL


@pytest.mark.parametrize(("factor", "outcome"), [(0.5, Outcome.PASS), (2.0, Outcome.FAIL)])
def test_the_tolerance_is_relative_to_the_largest_value(
    case: Case, factor: float, outcome: Outcome
) -> None:
    def shift(tensor: Tensor) -> Tensor:
        return tensor + factor * FLOAT64_TOLERANCE * tensor.abs().max()

    verdict = case.judge_one(
        "dcentre", hidden=case.globally("dcentre", shift), local=case.locally("dcentre", shift)
    )
    assert verdict.outcome is outcome


# --- nothing to compare


@pytest.mark.parametrize("kind", [None, "NoneType", "ellipsis"])
def test_what_is_not_written_is_to_do(case: Case, kind: str | None) -> None:
    blank = Value(type_name=kind)
    blanks = (blank,) * len(HIDDEN_SIZES)
    verdict = case.judge_one("dcentre", lecture=blank, hidden=blanks, local=blanks)
    assert (verdict.outcome, wording.note(verdict), verdict.points) == (Outcome.TODO, "", 0)
    assert (verdict.global_check, verdict.local_check) == (Check.NOT_RUN, Check.NOT_RUN)
    assert verdict.comparison.problem == "to do"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda _: Value(raised=LINE_RAISED), "This line raised E."),
        (lambda t: Value(t, raised=LINE_RAISED), "This line raised E."),
        (lambda _: [1.0], "dcentre is a list, but a gradient is a tensor."),
        (lambda _: 1.0, "dcentre is a float, but a gradient is a tensor."),
        (lambda t: t.long(), "dcentre has dtype torch.int64, but a gradient has its tensor's"),
        (lambda t: t > 0, "dcentre has dtype torch.bool, but a gradient has its tensor's"),
        (lambda t: t * torch.nan, "dcentre has 91 NaN among its 91 values"),
        (lambda t: t / 0, "dcentre has 91 infinite among its 91 values"),
        (lambda _: Value(), "dcentre is not assigned."),
    ],
)
def test_what_is_no_number_is_an_error(
    case: Case, change: Callable[[Tensor], object], sentence: str
) -> None:
    hidden, local = case.globally("dcentre", change), case.locally("dcentre", change)
    if hidden[0].is_placeholder:
        # Assigned on one instance only, as under an `if`.
        hidden = (hidden[0], *(Value(torch.zeros(3)),) * (len(HIDDEN_SIZES) - 1))
    verdict = case.judge_one("dcentre", lecture=Value(type_name="list"), hidden=hidden, local=local)
    assert verdict.outcome is Outcome.ERROR
    values = case.references.hidden[0].gradients["centre"].numel()
    assert wording.note(verdict).startswith(sentence.replace("91", str(values)))
    assert verdict.points == 0


def test_a_value_beside_an_exception_is_half_of_what_was_meant(case: Case) -> None:
    hidden = tuple(Value(v.tensor, raised=LINE_RAISED) for v in case.globally("dcentre"))
    verdict = case.judge_one("dcentre", hidden=hidden, local=RAISED)
    assert (verdict.outcome, verdict.place) == (Outcome.ERROR, DEEPER)


@pytest.mark.parametrize("is_right", [True, False])
def test_an_exception_beside_a_value_counts_if_the_value_is_wrong(
    case: Case, is_right: bool
) -> None:
    def interrupt(tensor: Tensor) -> Value:
        return Value(tensor if is_right else 2 * tensor, interrupted=LINE_RAISED)

    verdict = case.judge_one(
        "dcentre",
        hidden=case.globally("dcentre", interrupt),
        local=case.locally("dcentre", interrupt),
        lecture=interrupt(case.lecture["centre"]),
    )
    if is_right:
        assert (verdict.outcome, wording.note(verdict)) == (Outcome.PASS, "")
    else:
        assert (verdict.outcome, wording.note(verdict)) == (Outcome.ERROR, "This line raised E.")
        assert verdict.place == DEEPER


def test_what_is_written_but_unbound_is_an_error_and_not_to_do(case: Case) -> None:
    verdict = case.judge_one(
        "dcentre", lecture=Value(), hidden=MISSING, local=MISSING, is_written=True
    )
    assert (verdict.outcome, wording.note(verdict)) == (Outcome.ERROR, "dcentre is not assigned.")
    assert verdict.place == PLACE


@pytest.mark.parametrize("kind", ["NoneType", "ellipsis"])
def test_a_placeholder_that_was_written_is_to_do_all_the_same(case: Case, kind: str) -> None:
    blanks = (Value(type_name=kind),) * len(HIDDEN_SIZES)
    verdict = case.judge_one(
        "dcentre", lecture=blanks[0], hidden=blanks, local=blanks, is_written=True
    )
    assert verdict.outcome is Outcome.TODO


def test_where_both_raised_the_lines_own_reason_is_given(case: Case) -> None:
    handed = Raised("This line raised NameError.", Place("ex0-cell", 9))
    verdict = case.judge_one(
        "dcentre", lecture=Value(), hidden=(Value(raised=handed),) * len(HIDDEN_SIZES), local=RAISED
    )
    assert (wording.note(verdict), verdict.place) == ("This line raised E.", DEEPER)


def test_what_raises_on_other_sizes_only_says_so(case: Case) -> None:
    verdict = case.judge_one("dcentre", hidden=RAISED, local=RAISED)
    assert verdict.outcome is Outcome.ERROR
    assert wording.note(verdict) == f"{ON_ANOTHER_BATCH} This line raised E."


# In the notebook n is 6 and width 3; on the hidden instances they are 7 and 5, or 37 and 71.
SIZES_MET = " (On another batch: n = 7 and width = 5 instead of n = 6 and width = 3.)"


@pytest.mark.parametrize("length", ["7x5", "35"])
def test_what_raises_on_other_sizes_and_is_wrong_in_the_notebook_explains_the_sizes(
    case: Case, length: str
) -> None:
    message = f"This line raised RuntimeError: (2, 9) does not fit to {length}."
    raised = (Value(raised=Raised(message, DEEPER)),) * len(HIDDEN_SIZES)
    twice = Value(2 * case.lecture["centre"])
    verdict = case.judge_one("dcentre", lecture=twice, hidden=raised, local=raised)
    assert (verdict.outcome, wording.note(verdict)) == (Outcome.ERROR, message + SIZES_MET)


def test_a_shape_is_that_of_the_notebook_or_else_its_sizes_are_explained(case: Case) -> None:
    def flat(tensor: Tensor) -> Tensor:
        return 2 * tensor.flatten()

    hidden, local = case.globally("dcentre", flat), case.locally("dcentre", flat)
    right = case.lecture["centre"]
    sentence = "dcentre has shape {}, but a gradient has its tensor's shape, (6, 3)."
    for lecture, note in (
        (flat(right), sentence.format("(18,)")),
        # It speaks of the notebook's sizes, whatever else 7 may be elsewhere.
        (right.new_ones(6, 7), sentence.format("(6, 7)")),
        (2 * right, sentence.format("(35,)") + SIZES_MET),
    ):
        verdict = case.judge_one("dcentre", lecture=Value(lecture), hidden=hidden, local=local)
        assert (verdict.outcome, wording.note(verdict)) == (Outcome.FAIL, note)


def test_a_shape_that_is_right_on_the_notebooks_batch_depends_on_the_batch(case: Case) -> None:
    def few(tensor: Tensor) -> Tensor:
        return tensor[:1]

    hidden, local = case.globally("dcentre", few), case.locally("dcentre", few)
    twice = Value(2 * case.lecture["centre"])
    verdict = case.judge_one("dcentre", lecture=twice, hidden=hidden, local=local)
    assert wording.note(verdict) == (
        "dcentre has shape (1, 3), but a gradient has its tensor's shape, (6, 3). On the notebook's"
        " own batch the shape is right, so it depends on the batch, for example on its largest"
        " index."
    )


ASKED = Flag("autograd", "`.grad`: PyTorch's autograd is switched off here.", DEEPER)


@pytest.mark.parametrize("hidden", [RAISED, MISSING], ids=["raised", "missing"])
def test_autograd_is_refused_where_it_left_no_value(case: Case, hidden: tuple[Value, ...]) -> None:
    verdict = case.judge_one("dcentre", hidden=hidden, local=hidden, offences=(ASKED,))
    assert (verdict.outcome, wording.note(verdict), verdict.place) == (
        Outcome.REFUSED,
        ASKED.message,
        DEEPER,
    )
    assert verdict.points == 0


def test_a_right_value_passes_whatever_it_says_of_autograd(case: Case) -> None:
    assert case.judge_one("dcentre", offences=(ASKED,)).outcome is Outcome.PASS


def test_what_raised_for_a_reason_of_its_own_is_not_refused(case: Case) -> None:
    elsewhere = (Value(raised=Raised("This line raised ZeroDivisionError.", PLACE)),)
    hidden = elsewhere * len(HIDDEN_SIZES)
    verdict = case.judge_one("dcentre", hidden=hidden, local=hidden, offences=(ASKED,))
    assert (verdict.outcome, verdict.place) == (Outcome.ERROR, PLACE)


def test_a_broken_cell_is_an_error_and_not_to_do(case: Case) -> None:
    reason = Raised("Python cannot read this cell: line 1.", DEEPER)
    blank = MISSING
    verdict = case.judge_one(
        "dcentre", lecture=Value(), hidden=blank, local=blank, broken=reason, place=None
    )
    assert (verdict.outcome, wording.note(verdict), verdict.place) == (
        Outcome.ERROR,
        reason.message,
        DEEPER,
    )
