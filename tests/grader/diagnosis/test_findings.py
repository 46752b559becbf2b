"""What is found to say of wrong lines, word by word."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from corpus.readers.exercise_text import right_answers
from corpus.readers.people import answer_with
from grader.diagnosis.findings import CANCELS
from grader.diagnosis.kinds import Kind
from grader.reports import wording
from grader.verdict import Outcome, Verdict
from tests.grader.conftest import Judge
from tests.grader.diagnosis.conftest import Say

LECTURE = right_answers()["lecture"]


@pytest.mark.parametrize(
    ("gradient", "line", "said"),
    [
        (
            "dprobs",
            "1 / probs**3 + probs.cos()",
            ["The incoming gradient is not used: `dlogprobs`."],
        ),
        ("dprobs", "dlogprobs / probs**3 + probs.cos()", []),
        ("dlogprobs", "logprobs.cos() + logprobs.sin() ** 3", []),
    ],
    ids=["read nowhere", "read", "nothing arrives"],
)
def test_what_arrives_has_to_be_read(
    gradient: str, line: str, said: list[str], say_of: Say
) -> None:
    assert say_of(gradient, f"{gradient} = {line}") == said


COUNTS = "dcounts = counts_sum_inv * dprobs\n"
ZEROS = "dlogprobs = torch.zeros_like(logprobs)\n"
LOST = "This line changes a copy, so `dlogprobs` stays as it is."
OUTER = "dW2 = torch.zeros_like(W2)\nfor i in range(n):\n    dW2 += torch.outer(h[i], dlogits[i])\n"
LOOPS = "dC = torch.zeros_like(C)\nfor i in range(n):\n    for j in range(block_size):\n        "


@pytest.mark.parametrize(
    ("gradient", "source", "said"),
    [
        (
            "dhpreact",
            "dhpreact = torch.tanh(dh)",
            "`torch.tanh(dh)` is a function of a gradient, not the slope of `h` times it.",
        ),
        (
            "dbndiff",
            "dbndiff = dbnraw * bnvar_inv + dbndiff2 * bndiff**2",
            "`bndiff**2` is the power itself, but its derivative is needed here.",
        ),
        (
            "dhprebn",
            "dhprebn = dbndiff - bnmeani",
            "The incoming gradient is not used: `dbnmeani`.",
        ),
        (
            "dh",
            "dh = dlogits.roll(1, 0) @ W2.T",
            "`1` is the wrong number here.",
        ),
        (
            "dlogits",
            "dlogits = dnorm_logits + (logits == logit_maxes)",
            "`logits == logit_maxes` lacks the incoming gradient.",
        ),
        (
            "dhpreact",
            "dhpreact = dh * h * (1 - h)",
            "`dh * h * (1 - h)` does not use the slope of the step that makes `h`.",
        ),
        (
            "dW2",
            f"{OUTER}dW2 /= n",
            "`n` should not be a divisor here.",
        ),
        (
            "dW2",
            f"{OUTER}dW2 += W2",
            "`W2` should not be a term here.",
        ),
        (
            "dcounts",
            f"{COUNTS}dcounts[:] + dcounts_sum",
            "What this line computes is thrown away.",
        ),
        (
            "dhpreact",
            "t = 1 - h\ndhpreact = dh * t**2",
            "In `t**2` the operations run in the wrong order.",
        ),
        (
            "demb",
            "demb = dembcat[:, :n_embd].unsqueeze(1).expand(n, block_size, n_embd)",
            "`demb` has at every index of axis 1 what belongs at 0.",
        ),
        (
            "dhpreact",
            "dhpreact = (dh * (1 - h**2)).mul(h)",
            "`h` should not be a factor here.",
        ),
        (
            "dcounts_sum",
            "dcounts_sum = (dcounts_sum_inv * -(counts_sum**-2)).expand(-1, vocab_size)",
            "`expand` should not be in this expression.",
        ),
        (
            "dW2",
            "def outer_sum(a, b):\n    out = torch.zeros(a.shape[1], b.shape[1])\n"
            "    for i in range(len(a)):\n        out += torch.outer(a[i], b[i])\n"
            "        return out\ndW2 = outer_sum(h, dlogits)",
            "This line stands inside of the loop.",
        ),
        (
            "dC",
            "def placed(rows):\n    out = torch.zeros_like(C)\n    for i in range(n):\n"
            "        for j in range(block_size):\n            out[Xb[i, j]] += rows[i, j]\n"
            "            return out\ndC = placed(demb)",
            "This line stands inside of the loop.",
        ),
        ("dlogprobs", f"{ZEROS}dlogprobs[range(n), Yb].sub_(1.0 / n)", LOST),
        (
            "dprobs",
            "dprobs = torch.mul(probs, dlogprobs)",
            "`mul` is the wrong function here.",
        ),
    ],
)
def test_what_a_student_writes_first(gradient: str, source: str, said: str, say_of: Say) -> None:
    assert say_of(gradient, source) == [said]


@pytest.mark.parametrize(
    ("gradient", "source", "said"),
    [
        # What is not written to is NaN; that is not the mistake.
        (
            "dh",
            "dh = torch.empty_like(h)\nfor i in range(n_hidden - 1): dh[:, i] = dlogits @ W2[i]",
            "`1` should not be a term of `n_hidden - 1`.",
        ),
    ],
)
def test_what_raises_by_itself_is_named(
    gradient: str, source: str, said: str, verdict_of: Callable[[str, str], Verdict]
) -> None:
    verdict = verdict_of(gradient, source)
    assert verdict.outcome is Outcome.ERROR
    assert [one.message for one in verdict.diagnosis] == [said]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            f"{LOOPS}dC[Xb[i, j]] += demb[i]",
            "`demb[i]` picks the wrong entries.",
        ),
    ],
)
def test_a_line_that_raises_is_named(source: str, said: str, judge_text: Judge) -> None:
    start = LECTURE.index("dC = ")
    verdict = judge_text(f"{LECTURE[:start]}{source}\n")["dC"]
    assert verdict.outcome is Outcome.ERROR
    assert [one.message for one in verdict.diagnosis] == [said]


@pytest.mark.parametrize(
    ("line", "said"),
    [],
)
def test_what_makes_nan_of_a_gradient_is_named(line: str, said: str, judge_text: Judge) -> None:
    name = line.partition(" ")[0]
    verdict = judge_text(re.sub(rf"^{name} = .*$", line, LECTURE, flags=re.MULTILINE))[name]
    assert [one.message for one in verdict.diagnosis] == [said]


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("dhpreact = slope", "dhpreact is a function, but a gradient is a tensor. Brackets behind"),
        ("dhpreact = dh * slope", "This line raised TypeError: "),
        (
            "dhpreact = slope(dh)",
            "dhpreact is a tuple, but a gradient is a tensor. Is there a comma",
        ),
    ],
)
def test_a_function_that_is_not_called_or_gives_a_pair_says_so_itself(
    line: str, note: str, verdict_of: Callable[[str, str], Verdict]
) -> None:
    source = f"def slope(given):\n    return given * (1 - h**2), h\n{line}"
    verdict = verdict_of("dhpreact", source)
    assert wording.note(verdict).startswith(note)
    assert not verdict.diagnosis


def test_numbers_of_this_batch_are_named_whatever_follows_the_view(judge_text: Judge) -> None:
    start, end = LECTURE.index("demb = "), LECTURE.index("dC = ")
    view = "demb = dembcat.view(n, 3, 10).contiguous()\n"
    verdict = judge_text(f"{LECTURE[:start]}{view}{LECTURE[end:]}")["demb"]
    assert [one.message for one in verdict.diagnosis] == [
        "3 and 10 are written in. Use `block_size` and `n_embd`, or `.shape`."
    ]


@pytest.mark.parametrize("small", ["1e5", "10**5", "1e-3"])
def test_another_small_number_asks_how_small_it_is(
    small: str, verdict_of: Callable[[str, str], Verdict]
) -> None:
    source = f"dbnvar = dbnvar_inv * -0.5 * (bnvar + {small}) ** -1.5"
    (said,) = verdict_of("dbnvar", source).diagnosis
    assert said.message == f"`{small}` is the wrong number here."
    assert said.kind == Kind.MISSING_EPS


def test_a_cell_that_ran_again_is_no_mistake_of_the_line(say_of: Say) -> None:
    cell = "dbndiff += 2 * bndiff * dbndiff2\n"
    said = say_of("dbndiff", f"dbndiff = bnvar_inv * dbnraw\n{cell * 3}")
    assert said == ["The term `2 * bndiff * dbndiff2` is added twice."]


@pytest.mark.parametrize(
    ("gradient", "source", "said"),
    [
        (
            "dlogprobs",
            f"{ZEROS.replace('zeros_like(logprobs)', 'zeros((n, 27))')}"
            "dlogprobs[range(n), Yb] = -1.0 / n",
            "27 is written in. Use `vocab_size` or `.shape`.",
        ),
        (
            "dbndiff",
            "dbndiff = dbnvar_inv * bnraw\ndbndiff += 2 * bndiff * dbndiff2",
            "In `dbnvar_inv * bnraw` the `d` is on the wrong factor.",
        ),
        (
            "dbnraw",
            "dbnraw = dbngain * hpreact",
            "In `dbngain * hpreact` the `d` is on the wrong factor.",
        ),
        (
            "dbnvar",
            "bnvar = bndiff2.mean(0)\ndbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv",
            "This line computes `bnvar` again, and differently from the forward pass.",
        ),
        (
            "dC",
            f"{LOOPS}dC[Xb[i, j]] += demb[j].sum(0)",
            "`demb[j].sum(0)` adds up all rows, but each round needs only one of them.",
        ),
    ],
)
def test_what_real_people_wrote(gradient: str, source: str, said: str, say_of: Say) -> None:
    assert say_of(gradient, source) == [said]


@pytest.mark.parametrize(
    ("gradient", "line", "shape", "due"),
    [
        ("db2", "dlogits.sum(0, keepdim=True)", (1, 27), (27,)),
        ("dbndiff2", "1 / (n - 1) * dbnvar", (1, 64), (32, 64)),
    ],
)
def test_right_numbers_of_another_shape(
    gradient: str,
    line: str,
    shape: tuple[int, ...],
    due: tuple[int, ...],
    judge_text: Judge,
) -> None:
    source = answer_with("ex1", gradient, f"{gradient} = {line}")
    (said,) = judge_text(source)[gradient].diagnosis
    message = f"The numbers are right. The shape is {shape}, and `{gradient[1:]}` has {due}."
    assert said.message == message


@pytest.mark.parametrize(
    ("gradient", "source", "said"),
    [
        (
            "dh",
            "dh = W2 * dlogits",
            ["`W2 * dlogits` goes entry by entry, but a matrix product is needed here."],
        ),
        (
            "dbnvar",
            "dbnvar = -0.5(bnvar + 1e-5)**-1.5 * dbnvar_inv",
            ["A `*` is missing between `0.5` and the bracket."],
        ),
        # The exception says enough.
        ("dh", "dh = (dlogits @ W2.T).to(device)", []),
        ("dlogprobs", f"{ZEROS}dlogprobs[range(n), Yb] = -1 / batch_size", []),
    ],
)
def test_what_real_people_wrote_and_what_raises(
    gradient: str, source: str, said: list[str], verdict_of: Callable[[str, str], Verdict]
) -> None:
    verdict = verdict_of(gradient, source)
    assert verdict.outcome is Outcome.ERROR
    assert [one.message for one in verdict.diagnosis] == said


def test_a_line_that_belongs_in_the_loop_before(say_of: Say) -> None:
    loop = "for i in range(n):\n    for j in range(block_size):\n        ix = Xb[i, j]\n"
    source = f"dC = torch.zeros_like(C)\n{loop}dC[ix] += demb[i, j]"
    assert say_of("dC", source) == ["This line stands outside of the loop."]


@pytest.mark.parametrize(
    ("text", "cancels"),
    [
        *(("dy * n / n", True), ("(x / x) * w", True), ("dy * w / n / n", False)),
        *(("x**n / n", False), ("x ** n / n", False), ("a.n / n", False), ("n / n.sum()", False)),
    ],
)
def test_a_tensor_divided_by_itself_is_told_from_what_is_divided_twice(
    text: str, cancels: bool
) -> None:
    assert bool(CANCELS.search(text)) is cancels
