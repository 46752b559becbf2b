"""No gradient is blamed for another's mistake, and no mistake hides from every instance."""

from __future__ import annotations

import pytest

from corpus.readers.lecture_course import ATOMIC, EXERCISES
from corpus.readers.measure import BLAMED, BY_PREFIX, Judged, judge_one
from corpus.readers.one_fault import right_answer
from grader.execution.runner import Runner
from grader.program.exercises import Exercise
from grader.program.references import prepare
from grader.verdict import Outcome


def verdicts_on(
    prefix: str, style: str, right: str, wrong: str, runner: Runner
) -> dict[str, Judged]:
    """The verdicts on a right answer with one piece of its text replaced."""
    source = right_answer(prefix, style)
    assert source.count(right) == 1
    verdicts = judge_one(prefix, source.replace(right, wrong), runner)
    return {verdict.name: verdict for verdict in verdicts}


def blamed(verdicts: dict[str, Judged]) -> list[str]:
    return [name for name, verdict in verdicts.items() if verdict.outcome in BLAMED]


@pytest.mark.parametrize(
    ("gradient", "right", "wrong"),
    [
        ("dlogits", "-1.0 / n", "-2.0 / n"),
        ("dh", "dh = dlogits", "dh = -dlogits"),
        ("dh", "dlogits.matmul(W2.t())", "dlogits.matmul(W2)"),
        ("dhpreact", "1 - h.square()", "1 + h.square()"),
    ],
)
def test_steps_that_are_not_asked_for_hand_a_mistake_on(
    gradient: str, right: str, wrong: str, warm_runner: Runner
) -> None:
    """From dhpreact to dhprebn through dbnraw, which has no verdict of its own in exercise 4."""
    verdicts = verdicts_on("ex4", "small_steps", right, wrong, warm_runner)
    assert blamed(verdicts) == [gradient]
    assert verdicts["dhprebn"].outcome is Outcome.CARRIED


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("index_add_(0, Xb.view(-1), ", "index_add_(0, Xb, "),
        ("demb.view(-1, C.shape[1])", "demb.view(1, C.shape[1])"),
        ("index_add_(0, Xb.view(-1), ", "scatter_add_(0, Xb.view(-1), "),
    ],
)
def test_what_is_read_by_a_line_that_raises_is_not_blamed(
    right: str, wrong: str, warm_runner: Runner
) -> None:
    """A view handed to an in-place method is read by it, not changed."""
    assert blamed(verdicts_on("ex4", "notebook", right, wrong, warm_runner)) == ["dC"]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.prefix)
def test_each_size_is_larger_than_the_lectures_in_some_instance(exercise: Exercise) -> None:
    hidden = [reference.instance.sizes for reference in prepare(exercise).hidden]
    for name, size in exercise.sizes.items():
        # Notebook 4's 200 hidden units would cost too much; see the loops up to it below.
        wanted = min(size, ATOMIC.sizes[name])
        assert max(sizes[name] for sizes in hidden) > wanted, name


COLUMN_BY_COLUMN = """\
dbnbias = torch.zeros_like(bnbias)
for j in range({units}):
    dbnbias[0, j] = dhpreact[:, j].sum()
"""


@pytest.mark.parametrize(("units", "expected"), [("n_hidden", []), ("lecture", ["dbnbias"])])
@pytest.mark.parametrize(("prefix", "style"), [("ex4", "notebook"), ("ex3", "derivation")])
def test_a_loop_up_to_the_lectures_size_is_blamed(
    prefix: str, style: str, units: str, expected: list[str], warm_runner: Runner
) -> None:
    units = units.replace("lecture", str(BY_PREFIX[prefix].sizes["n_hidden"]))
    right = "dbnbias = dhpreact.sum(0, keepdim=True)\n"
    wrong = COLUMN_BY_COLUMN.format(units=units)
    assert blamed(verdicts_on(prefix, style, right, wrong, warm_runner)) == expected


@pytest.mark.parametrize("prefix", ["ex1", "ex4"])
def test_in_some_instance_the_last_character_does_not_occur(prefix: str) -> None:
    exercise = next(exercise for exercise in EXERCISES if exercise.prefix == prefix)
    instances = [reference.instance for reference in prepare(exercise).hidden]
    last = [int(i.values["Xb"].max()) == i.sizes["vocab_size"] - 1 for i in instances]
    assert not all(last)
    assert any(last)


@pytest.mark.parametrize(("prefix", "style"), [("ex1", "lecture"), ("ex4", "lecture_loops")])
def test_a_table_as_long_as_the_batch_asks_for_is_blamed(
    prefix: str, style: str, warm_runner: Runner
) -> None:
    short = "dC = torch.zeros(int(Xb.max()) + 1, n_embd)"
    verdicts = verdicts_on(prefix, style, "dC = torch.zeros_like(C)", short, warm_runner)
    assert blamed(verdicts) == ["dC"]
