"""The repair of a gradient of notebook 1: which edit, of which piece, by which number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from corpus.readers.lecture_course import ATOMIC
from grader.answer.parse import AnswerCell, parse_answer
from grader.diagnosis.edit import LIKELY, POSSIBLE, SECOND, Edit
from grader.diagnosis.kinds import Kind
from grader.diagnosis.repair import MOST_VARIANTS, Search
from grader.execution.ask import Allowance
from grader.execution.observe import observe
from grader.execution.runner import Runner
from grader.program.references import prepare
from tests.helpers.own_edits import as_read

REFERENCES = prepare(ATOMIC)

Searching = Callable[[str, str], Search]


@pytest.fixture(scope="module")
def searching(runner: Runner) -> Searching:
    """A gradient's search, from its name and its statements."""

    def search(gradient: str, source: str) -> Search:
        answer = parse_answer([AnswerCell("ex1-cell", source)])
        assert not answer.broken
        evidence, _, _ = observe(
            answer, ATOMIC.gradients, REFERENCES, runner, (), Allowance(math.inf)
        )
        (item,) = [item for item in evidence if item.name == gradient]
        return Search(item, answer, ATOMIC, REFERENCES, runner, Allowance(math.inf))

    return search


def first(search: Search) -> Edit | None:
    """The first edit that is right, batch by batch."""
    return next((found[0] for batch in search.batches() if (found := search.find(batch))), None)


@pytest.mark.parametrize(
    ("source", "kind", "wrong"),
    [
        ("dh = dlogits @ W2", Kind.TRANSPOSED, "dlogits @ W2"),
        ("dh = W2.T @ dlogits", Kind.WRONG_ORDER, "W2.T @ dlogits"),
        ("dh = dprobs @ W2.T", Kind.WRONG_UPSTREAM, "dprobs"),
        ("dh = -dlogits @ W2.T", Kind.SIGN, "-dlogits"),
        ("dhpreact = (1 - hpreact**2) * dh", Kind.WRONG_ACTIVATION_POINT, "hpreact"),
        ("dhpreact = (1 + h**2) * dh", Kind.SIGN, "+"),
        ("dhpreact = (1 - h)**2 * dh", Kind.BRACKETS, "(1 - h)**2"),
        ("dhpreact = (1 - h**3) * dh", Kind.POWER_RULE, "3"),
        ("dhpreact = (1 - h**2) * h", Kind.MISSING_D, "h"),
        ("db2 = dlogits.mean(0)", Kind.MEAN_FOR_SUM, "dlogits.mean(0)"),
        ("db2 = dlogits.sum(1)", Kind.WRONG_AXIS, "1"),
        ("dbnbias = dhpreact.sum(0)", Kind.LOST_KEEPDIM, "dhpreact.sum(0)"),
        ("dbngain = (bnraw + dhpreact).sum(0, keepdim=True)", Kind.OPERATOR, "+"),
        ("dbnraw = dhpreact * bngain * h", Kind.EXTRA_FACTOR, "h"),
        ("dbnraw = bnraw * dhpreact", Kind.WRONG_NAME, "bnraw"),
        ("dprobs = 1 / probs", Kind.WRONG_UPSTREAM, "1 / probs"),
        ("dbnvar = -0.5 * bnvar ** -1.5 * dbnvar_inv", Kind.MISSING_EPS, "bnvar"),
        ("dbndiff2 = 1 / n * torch.ones_like(bndiff2) * dbnvar", Kind.BESSEL, "n"),
        (
            "dC = torch.zeros_like(C)\nfor i in range(n):\n    for j in range(block_size):\n"
            "        dC[Xb[i, j]] = demb[i, j]",
            *(Kind.NOT_ACCUMULATED, "dC"),
        ),
        (
            "dC = torch.zeros_like(C)\ndC.index_add(0, Xb.flatten(), demb.flatten(0, 1))",
            *(Kind.STATEMENT, "dC.index_add(0, Xb.flatten(), demb.flatten(0, 1))"),
        ),
        (
            "dlogprobs = torch.zeros_like(logprobs)\ndlogprobs[:, Yb] = -1 / n",
            *(Kind.WRONG_INDEX, ":, Yb"),
        ),
        (
            "dC = torch.zeros_like(C)\nfor i in range(1, n):\n    for j in range(block_size):\n"
            "        dC[Xb[i, j]] += demb[i, j]",
            *(Kind.PARTIAL_ROWS, "1"),
        ),
    ],
)
def test_a_fault_is_found_with_its_piece(
    source: str, kind: Kind, wrong: str, searching: Searching
) -> None:
    found = first(searching(source.partition(" ")[0], source))
    assert found is not None
    assert (found.kind, found.source) == (kind, wrong)


def test_the_place_is_that_of_the_statement_with_the_fault(searching: Searching) -> None:
    found = first(searching("dh", "a = dlogits\nb = W2\ndh = a @ b.T * -1.0"))
    assert found is not None
    assert (found.own.number, found.own.line) == (2, 3)
    found = first(searching("dhpreact", "slope = 1 + h**2\ndhpreact = slope * dh"))
    assert found is not None
    assert (found.own.number, found.own.line) == (0, 1)


@pytest.mark.parametrize(
    ("source", "wrong", "times"),
    [
        ("dbndiff = bnvar_inv * dbnraw + bndiff * dbndiff2", "bndiff * dbndiff2", "0.5"),
        (
            "dbnvar = (bnvar + 1e-5) ** -1.5 * dbnvar_inv",
            *("(bnvar + 1e-5) ** -1.5 * dbnvar_inv", "-2"),
        ),
        (
            "dhprebn = dbndiff + torch.ones_like(dbndiff) * dbnmeani",
            *("torch.ones_like(dbndiff) * dbnmeani", "n"),
        ),
        (
            "dbndiff2 = torch.ones_like(bndiff2) * dbnvar",
            *("torch.ones_like(bndiff2) * dbnvar", "(n - 1)"),
        ),
        (
            "dhprebn = bngain * bnvar_inv / n"
            " * (n * dhpreact - dhpreact.sum(0) - bnraw * (dhpreact * bnraw).sum(0))",
            *("bnraw * (dhpreact * bnraw).sum(0)", "(n - 1)/n"),
        ),
    ],
)
def test_a_piece_is_so_many_times_what_it_should_be(
    source: str, wrong: str, times: str, searching: Searching
) -> None:
    found = first(searching(source.partition(" ")[0], source))
    assert found is not None
    assert found.doubled
    assert found.factor is not None
    assert (found.source, found.factor.text) == (wrong, times)


def test_the_second_instance_has_to_agree(searching: Searching) -> None:
    """A number that is one more than the first batch's size: that size is right there by chance."""
    n = REFERENCES.hidden[0].instance.sizes["n"]
    assert REFERENCES.hidden[1].instance.sizes["n"] != n
    search = searching("dbnbias", f"dbnbias = dhpreact.sum(0, keepdim=True) * n / {n + 1}")
    by_chance = [
        one for batch in search.batches() for one in batch if as_read(one.text).endswith(f"/ {n}")
    ]
    assert by_chance
    assert search.find(by_chance) == []
    assert search.near == []


def test_an_edit_that_is_right_on_both_instances_is_taken(searching: Searching) -> None:
    search = searching("dbnbias", "dbnbias = dhpreact.sum(0, keepdim=True) * 2")
    one_times = [
        one for batch in search.batches() for one in batch if as_read(one.text).endswith("* 1")
    ]
    assert search.find(one_times)[0] is one_times[0]


def test_two_faults_leave_a_near_repair(searching: Searching) -> None:
    search = searching("dhpreact", "dhpreact = -2 * (1 - hpreact**2) * dh")
    right = [
        one
        for batch in search.batches()
        for one in batch
        if one.text == "dhpreact = -2 * (1 - h**2) * dh"
    ]
    assert search.find(right) == []
    (near,) = search.near
    assert not near.doubled
    assert near.text == right[0].text
    assert near.factor is not None
    assert near.factor.text in ("-2", "-0.5")


def test_nothing_is_found_for_what_no_edit_mends(searching: Searching) -> None:
    search = searching("dh", "dh = (dlogits @ W2.T).cos() + dlogits.sin() @ W2.T.exp() / 0.37")
    assert first(search) is None
    assert search.near == []


def test_an_empty_batch_finds_nothing(searching: Searching) -> None:
    assert searching("dh", "dh = -dlogits @ W2.T").find([]) == []


def test_batches_are_bounded_and_go_from_the_likely_to_the_possible(searching: Searching) -> None:
    search = searching("dhpreact", "tmp = dh * h\ndhpreact = (1 - hpreact**2) * tmp * h / n")
    batches = [*search.batches()]
    assert len(batches) == len(MOST_VARIANTS)
    for batch, (_, most) in zip(batches, MOST_VARIANTS, strict=True):
        assert 0 < len(batch) <= most
    expected, second, more, rest = ([one.likelihood for one in some] for some in batches)
    assert max(expected) < SECOND <= min(second)
    assert max(second) < LIKELY <= min(more)
    assert max(more) < POSSIBLE <= min(rest)


# --- what arrives


def test_a_line_may_take_up_a_later_gradient(searching: Searching) -> None:
    """Fused, from `dh` past `dhpreact`, with one sign too many."""
    search = searching("dbnraw", "dbnraw = -bngain * (1 - h**2) * dh")
    assert search.given == [frozenset({"hpreact"}), frozenset({"h"}), frozenset()]
    found = first(search)
    assert found is not None
    assert (found.kind, found.source) == (Kind.SIGN, "-bngain")


def test_the_sets_of_upstreams_end_with_the_loss(searching: Searching) -> None:
    search = searching("dcounts", "dcounts = counts_sum_inv * dprobs")
    assert search.given[-1] == frozenset()
    assert len({*search.given}) == len(search.given)
    assert frozenset({"probs", "counts_sum"}) in search.given
    assert frozenset({"probs"}) in search.given
    assert len(search.targets) == len(search.given)
    for target in search.targets:
        assert len(target) == len(REFERENCES.hidden)


@pytest.mark.parametrize(
    ("asked", "due"),
    [
        ({"dlogprobs"}, {"logprobs"}),
        ({"dlogprobs", "dcounts_sum_inv"}, {"logprobs", "counts_sum_inv"}),
        ({"dprobs", "dcounts_sum"}, {"probs", "counts_sum"}),
    ],
)
def test_what_arrives_may_be_what_is_asked_for_above(
    searching: Searching, asked: set[str], due: set[str]
) -> None:
    search = searching("dcounts", "dcounts = counts_sum_inv * dprobs")
    assert due in replace(search, exercise=replace(ATOMIC, gradients=("dcounts", *asked))).given


def test_where_a_way_to_the_loss_asks_for_nothing_only_what_is_read_arrives(
    searching: Searching,
) -> None:
    search = searching("dcounts", "dcounts = counts_sum_inv * dprobs")
    fewer = replace(ATOMIC, gradients=("dcounts", "dcounts_sum_inv"))
    assert replace(search, exercise=fewer).given == search.given


def test_up_to_a_number_only_what_is_local_is_met(searching: Searching) -> None:
    """Of the whole network's gradient no multiple is a repair: the last set counts exactly."""
    search = searching("dlogits", "dlogits = F.softmax(logits, 1)\ndlogits[range(n), Yb] -= 1")
    assert search.coarse == len(search.given) - 1
    assert first(search) is None
    assert search.near == []
    exact = searching(
        "dlogits", "dlogits = F.softmax(logits, 1)\ndlogits[range(n), Yb] += 1\ndlogits /= n"
    )
    found = first(exact)
    assert found is not None
    assert (found.kind, found.factor) == (Kind.SIGN, None)
