"""Edited statements of one gradient, run by a worker: their values, or nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
import torch
from torch import Tensor

from grader.answer.parse import AnswerCell, parse_answer
from grader.execution import variants as module
from grader.execution.ask import Allowance
from grader.execution.runner import Runner, WorkerLost
from grader.execution.values import new_key
from grader.execution.variants import Variants
from grader.worker.frames import Reply
from grader.worker.job import Group, Job, Values
from grader.worker.terms import Limits

GROUPS: Mapping[str, Group] = {
    "hidden0": {"x": torch.tensor([1.0, 2.0], dtype=torch.float64), "n": 2},
    "hidden1": {"x": torch.tensor([5.0, 6.0, 7.0], dtype=torch.float64), "n": 3},
    "upstream0": {"dy": torch.tensor([10.0, 20.0], dtype=torch.float64)},
    "upstream1": {"dy": torch.tensor([1.0, 1.0, 2.0], dtype=torch.float64)},
}

BESIDE: Sequence[Group] = (
    {"slope_of_y_": torch.tensor([0.5, 0.25], dtype=torch.float64)},
    {"slope_of_y_": torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)},
)

VALUES = Values(new_key(), GROUPS)

ABOVE = {"dx": frozenset({"dy"}), "dy": frozenset[str]()}
"""The gradients that are handed down to each."""

THREE = "t = x * dy\ndx = t + 1\ndx = 2 * dx"
"""Statements 0, 1 and 2."""


def variants_of(
    source: str,
    runner: Runner,
    keep: Sequence[int] | None = None,
    seconds: float = math.inf,
) -> Variants:
    answer = parse_answer([AnswerCell("ex0-cell", source)])
    assert not answer.broken
    kept = answer.live if keep is None else frozenset(keep)
    return Variants(answer, "dx", kept, ABOVE, VALUES, BESIDE, (), runner, Allowance(seconds))


def run(
    source: str,
    edited: Sequence[Mapping[int, str]],
    runner: Runner,
    instance: int = 0,
    keep: Sequence[int] | None = None,
) -> list[list[float] | None]:
    (found,) = variants_of(source, runner, keep).run(edited, [instance])
    return [None if value is None else value.tolist() for value in found]


def test_values_come_back_in_the_order_of_the_variants(runner: Runner) -> None:
    edited = [{0: f"dx = {factor} * dy"} for factor in range(5)]
    assert run("dx = dy", edited, runner) == [[10.0 * f, 20.0 * f] for f in range(5)]


def test_a_variant_has_the_statements_that_it_does_not_change(runner: Runner) -> None:
    edited = [{}, {0: "t = x"}, {1: "dx = t"}, {0: "t = x", 2: "dx = -dx"}]
    assert run(THREE, edited, runner) == [
        *([22.0, 82.0], [4.0, 6.0], [20.0, 80.0], [-2.0, -3.0]),
    ]


def test_a_variant_leaves_nothing_to_the_next(runner: Runner) -> None:
    edited = [{0: "left = 7; x[0] = 0; dx = x * 1"}, {0: "dx = dy + left"}, {0: "dx = x * 1"}]
    assert run("dx = dy", edited, runner) == [[0.0, 2.0], None, [1.0, 2.0]]


@pytest.mark.parametrize(
    "text",
    [
        "dx = dy / missing",
        "dx = dy @ x.expand(3, 2)",
        "raise KeyboardInterrupt",
        "dx = (dy",
        "dx dy",
        "return dy",
        "dx = '\0'",
        "dx = " + "(" * 300 + "dy" + ")" * 300,
        "y = dy",
        "dx = None",
        "dx = 'dy'",
        "dx = [dy]",
    ],
    ids=[
        *("unknown name", "shapes", "interrupted", "brackets", "no sign", "return", "null"),
        *("too deep", "another name", "nothing", "text", "list"),
    ],
)
def test_what_has_no_value_is_none_and_costs_only_itself(text: str, runner: Runner) -> None:
    edited = [{0: "dx = dy + 1"}, {0: text}, {0: "dx = dy + 2"}]
    assert run("dx = dy", edited, runner) == [[11.0, 21.0], None, [12.0, 22.0]]


def test_nothing_to_run_is_nothing(runner: Runner) -> None:
    assert run("dx = dy", [], runner) == []
    assert run("dx = dy", [{0: "dx ="}, {0: "("}], runner) == [None, None]


def test_an_empty_text_leaves_a_statement_out(runner: Runner) -> None:
    assert run(THREE, [{2: ""}, {1: ""}, {0: "", 1: "", 2: "dx = dy"}], runner) == [
        *([11.0, 41.0], None, [10.0, 20.0]),
    ]


def test_two_statements_may_be_swapped(runner: Runner) -> None:
    swapped = {1: "dx = 2 * dx", 2: "dx = dx + 1"}
    assert run(
        "t = 0\ndx = dx0 = dy\ndx = dx + 1", [{1: "dx = dy + 1", 2: "dx = 2 * dx"}], runner
    ) == [[22.0, 42.0]]
    assert run("dx = dy\ndx = dx + 1\ndx = 2 * dx", [{}, swapped], runner) == [
        *([22.0, 42.0], [21.0, 41.0]),
    ]


def test_what_is_not_kept_does_not_run(runner: Runner) -> None:
    source = "dx = dy\nraise ValueError\nfor i in range(n):\n    dx[i] += 1"
    keep = [0, 2, 3]
    edited = [{}, {0: "dx = 2 * dy"}, {1: "dx = 5 * dy"}, {0: ""}]
    assert run(source, edited, runner, keep=keep) == [
        [11.0, 21.0],
        [21.0, 41.0],
        [11.0, 21.0],
        None,
    ]


def test_a_new_text_may_go_over_several_lines_and_begin_with_spaces(runner: Runner) -> None:
    loop = "for i in range(n):\n    dx[i] += i"
    edited = [{1: loop}, {0: "       dx = (dy +\n   1)", 1: ""}]
    assert run("dx = dy\npass", edited, runner) == [[10.0, 21.0], [11.0, 21.0]]


def test_the_second_instance_has_its_own_values(runner: Runner) -> None:
    edited = [{0: "dx = x * dy"}, {0: "dx = dy * slope_of_y_"}, {0: "dx = dy * n"}]
    assert run("dx = dy", edited, runner, 0) == [[10.0, 40.0], [5.0, 5.0], [20.0, 40.0]]
    assert run("dx = dy", edited, runner, 1) == [
        *([5.0, 6.0, 14.0], [1.0, 2.0, 8.0], [3.0, 3.0, 6.0]),
    ]


def test_an_upstream_reads_as_it_is_given_whatever_the_answer_made_of_it(runner: Runner) -> None:
    source, edited = "dy = x\ndx = dy", [{}, {1: "dx = 2 * dy"}]
    (found,) = variants_of(source, runner).run(edited, [0])
    assert [value.tolist() for value in found if value is not None] == [[10.0, 20.0], [20.0, 40.0]]


def test_siblings_read_as_they_are_given(runner: Runner) -> None:
    variants = variants_of("dz = 0 * x\ndx = dy + dz", runner)
    variants.above = {**ABOVE, "dz": frozenset({"dy"})}
    variants.given = [{"dz": torch.tensor([5.0, 6.0], dtype=torch.float64)}] * 2
    ((found,),) = variants.run([{}], [0])
    assert found is not None
    assert found.tolist() == [15.0, 26.0]


def test_of_large_values_some_numbers_confirm_what_the_first_instance_shows(
    runner: Runner,
) -> None:
    large = torch.arange(33 * 67, dtype=torch.float64).view(33, 67)
    groups: dict[str, Group] = {}
    for number in (0, 1):
        groups[f"hidden{number}"] = {"x": large[: 5 + 28 * number], "n": number}
        groups[f"upstream{number}"] = {"dy": torch.ones(())}
    answer = parse_answer([AnswerCell("ex0-cell", "dx = x * dy")])
    values = Values(new_key(), groups)
    beside: Sequence[Group] = ({}, {})
    variants = Variants(
        answer, "dx", answer.live, ABOVE, values, beside, (), runner, Allowance(math.inf)
    )
    ((whole,), (some,)) = variants.run([{0: "dx = 2 * x"}], [0, 1])
    assert whole is not None
    assert some is not None
    assert torch.equal(whole, 2 * large[:5])
    assert torch.equal(some, variants.told(2 * large, 1))
    assert torch.equal(variants.told(large, 0), large)
    assert some.dim() == 1
    places = [divmod(int(number) // 2, 67) for number in some]
    assert {row for row, _ in places} == {*range(33)}
    assert {column for _, column in places} == {*range(67)}
    ((_,), (other_shape,)) = variants.run([{0: "dx = x.T if n else x"}], [0, 1])
    assert other_shape is None


def test_numbers_are_double(runner: Runner) -> None:
    ((value,),) = variants_of("dx = dy", runner).run([{0: "dx = torch.ones(2) / 3"}], [0])
    assert isinstance(value, Tensor)
    assert value.dtype == torch.float64


# --- what a student's process may do


DEADLY = {0: "import os; os._exit(1)"}
ENDLESS = {0: "while True: dx = dy"}


def test_a_variant_that_ends_its_process_costs_only_the_diagnosis(runner: Runner) -> None:
    *_, last = run("dx = dy", [{0: "dx = dy + 1"}, DEADLY], runner)
    assert last is None
    assert run("dx = dy", [{0: "dx = dy + 1"}], runner) == [[11.0, 21.0]]


def test_a_variant_that_may_not_end_its_process_is_an_error_like_any(runner: Runner) -> None:
    kills = {0: "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"}
    edited = [{0: "dx = dy + 1"}, kills, {0: "dx = dy + 2"}]
    assert run("dx = dy", edited, runner) == [[11.0, 21.0], None, [12.0, 22.0]]


def test_an_endless_variant_ends(monkeypatch: pytest.MonkeyPatch, runner: Runner) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(module, "STATEMENT_SECONDS", 0.2)
        assert run("dx = dy", [ENDLESS], runner) == [None]
    assert run("dx = dy", [{0: "dx = dy + 1"}], runner) == [[11.0, 21.0]]


@pytest.mark.slow
@pytest.mark.parametrize("bad", [DEADLY, ENDLESS], ids=["deadly", "endless"])
def test_a_bad_variant_costs_no_other(bad: Mapping[int, str], runner: Runner) -> None:
    edited = [{0: "dx = dy + 1"}, bad, {0: "dx = dy + 2"}]
    assert run("dx = dy", edited, runner) == [[11.0, 21.0], None, [12.0, 22.0]]


class Saying(Runner):
    """A runner that says what it is told to, and starts no process."""

    def __init__(self, said: object) -> None:
        self.limits = Limits()
        self.said = said
        self.asked: list[Job] = []

    def run(self, request: Job, values: Values) -> object:  # type: ignore[override]
        self.asked.append(request)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def test_a_worker_that_is_lost_says_nothing() -> None:
    lost = Saying(WorkerLost("The process ended."))
    assert variants_of("dx = dy", lost).run([{0: "dx = x"}, {}], [0]) == [[None, None]]
    assert len(lost.asked) == 1


@pytest.mark.parametrize("blob", [b"", b"nonsense", b"\xff" * 64], ids=["empty", "text", "length"])
def test_a_reply_that_cannot_be_read_says_nothing(blob: bytes) -> None:
    saying = Saying(Reply(blob))
    assert variants_of("dx = dy", saying).run([{0: "dx = x"}, {}], [0]) == [[None, None]]


def test_runs_that_are_missing_are_none() -> None:
    assert variants_of("dx = dy", Saying(Reply())).run([{0: "dx = x"}, {}], [0]) == [[None, None]]


def test_variants_have_a_net_of_their_own_and_only_what_is_asked_for() -> None:
    saying = Saying(Reply())
    variants_of(THREE, saying).run([{0: "t = 1"}, {1: "("}, {}], [1])
    (asked,) = saying.asked
    assert (asked.limits.statement_seconds, asked.limits.total_seconds) == (
        *(module.STATEMENT_SECONDS, module.TOTAL_SECONDS),
    )
    assert len(asked.runs) == 2
    assert {one.want for one in asked.runs} == {("dx",)}
    assert {one.groups for one in asked.runs} == {("hidden1", "beside1")}
    assert {one.upstreams for one in asked.runs} == {"upstream1"}
    assert asked.extra == {"beside1": BESIDE[1]}
    assert asked.continues


def test_when_the_time_is_over_nothing_is_asked() -> None:
    saying = Saying(Reply())
    late = variants_of("dx = dy", saying, seconds=-math.inf)
    assert late.run([{0: "dx = x"}, {}], [0]) == [[None, None]]
    assert saying.asked == []


def test_one_request_that_is_not_answered_in_time_is_the_last() -> None:
    saying = Saying(Reply())
    variants = variants_of("dx = dy", saying)
    assert [variants.run([{0: "dx = x"}], [0, 1]) for _ in range(3)] == [[[None], [None]]] * 3
    assert len(saying.asked) == 1
    assert variants.cut_short
