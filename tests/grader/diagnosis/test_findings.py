"""What is found to say of wrong lines, word by word."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from corpus.readers.exercise_text import right_answers
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


ONES_LAST = "both = torch.cat((embcat, torch.ones(n, 1)), 1).T @ dhprebn"
ONES_FIRST = "both = torch.cat((torch.ones(n, 1), embcat), 1).T @ dhprebn"
ORDER = "Or else: In `torch.cat({}, 1)` the parts are in the wrong order."
FIRST_IN_ORDER = ORDER.format("(torch.ones(n, 1), embcat)")
LAST_IN_ORDER = ORDER.format("(embcat, torch.ones(n, 1))")
COUNTS = "dcounts = counts_sum_inv * dprobs\n"
ZEROS = "dlogprobs = torch.zeros_like(logprobs)\n"
LOST = "This line changes a copy; `dlogprobs` stays as it is."
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
        (
            "dhprebn",
            "dhprebn = dbndiff - bnmeani",
            "The incoming gradient is not used: `dbnmeani`.",
        ),
        (
            "dbnraw",
            "on = False\ndbnraw = bngain * dhpreact if on else dhpreact",
            "In `bngain * dhpreact if on else dhpreact` the other side belongs here.",
        ),
        (
            "dbndiff2",
            "dbndiff2 = dbnvar / (n - 1 if n == n_hidden else n) * torch.ones_like(bndiff2)",
            "In `n - 1 if n == n_hidden else n` the other side belongs here.",
        ),
        (
            "dprobs",
            "dprobs = dlogprobs / probs.clamp(min=0.1)",
            "`clamp` does not belong in `probs.clamp(min=0.1)`.",
        ),
        (
            "dh",
            "dh = dlogits.roll(1, 0) @ W2.T",
            "`1` is not the number that belongs here.",
        ),
        (
            "dlogits",
            "dlogits = dnorm_logits.clone()\ndlogits[:, logits.argmax(1)] += dlogit_maxes",
            "With `:` every row gets something at `logits.argmax(1)`; `dlogit_maxes` has an axis"
            " too many.",
        ),
        (
            "dlogits",
            "dlogits = dnorm_logits + (logits == logit_maxes)",
            "`logits == logit_maxes` lacks the incoming gradient.",
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
            "This expression is one entry of each row; the gradients of all of them add up.",
        ),
        (
            "dW2",
            f"{OUTER}dW2 /= n",
            "`n` should not be a divisor here: nothing is averaged.",
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
            "dlogprobs",
            "dlogprobs = torch.zeros_like(logprobs)\nfor i in range(n):\n"
            "    for j in range(vocab_size):\n        if j != Yb[i]:\n"
            "            dlogprobs[i, j] = -1 / n",
            "`j != Yb[i]` compares the other way round.",
        ),
        (
            "dbndiff",
            "dbndiff = bnvar_inv * dbnraw + bndiff2 * dbndiff2",
            "`bndiff2` is the power itself; its derivative belongs here.",
        ),
        (
            "dbndiff",
            "dbndiff = bnvar_inv * dbnraw + 2**bndiff * dbndiff2",
            "`2**bndiff` is a power; a product belongs here.",
        ),
        (
            "dcounts_sum",
            "dcounts_sum = -1 / counts_sum * 2 * dcounts_sum_inv",
            "`-1 / counts_sum * 2` is a multiple, not a power.",
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
        (
            "dhpreact",
            "dhpreact = (dh * (1 - h**2)).mul(h)",
            "`h` should not be a factor here.",
        ),
        (
            "dcounts_sum",
            "dcounts_sum = (dcounts_sum_inv * -(counts_sum**-2)).expand(-1, vocab_size)",
            "`expand` does not belong in this expression.",
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
        (
            "dlogprobs",
            f"{ZEROS}dlogprob = dlogprobs.clone()\ndlogprob[range(n), Yb] = -1.0 / n",
            "This line writes into `dlogprob`, not into `dlogprobs`.",
        ),
        (
            "dcounts",
            f"{COUNTS}dcount = dcounts + dcounts_sum",
            "This line assigns `dcount`, not `dcounts`.",
        ),
        ("dlogprobs", f"{ZEROS}dlogprobs[range(n)][:, Yb] = -1.0 / n", LOST),
        ("dlogprobs", f"{ZEROS}dlogprobs.gather(1, Yb.view(-1, 1)).fill_(-1.0 / n)", LOST),
        ("dlogprobs", f"{ZEROS}dlogprobs.clone()[range(n), Yb] = -1.0 / n", LOST),
        ("dlogprobs", f"{ZEROS}dlogprobs[range(n), Yb].sub_(1.0 / n)", LOST),
        ("dC", "dC = torch.zeros_like(C)\ndC[Xb].add_(demb)", LOST.replace("dlogprobs", "dC")),
        (
            "dlogprobs",
            f"{ZEROS}for i in range(n):\n    row = dlogprobs[i].clone()\n    row[Yb[i]] = -1.0 / n",
            "`dlogprobs[i].clone()` is a copy: what is written into it is lost.",
        ),
        (
            "demb",
            "demb = dembcat.reshape(emb.shape[::-1])",
            "`emb.shape[::-1]` turns the order round.",
        ),
        (
            "demb",
            "demb = torch.cat(dembcat.split(n_embd, 1), 1)",
            "`cat` joins along an axis that is there, and makes no new one.",
        ),
        (
            "dh",
            "dh = torch.stack([dlogits[i : i + 1] @ W2.T for i in range(n)])",
            "`stack` makes a new axis, and joins along none that is there.",
        ),
        (
            "dW2",
            OUTER.replace("    dW2", "    if i > 2:\n        continue\n    dW2"),
            "`2` is not the number that belongs here.",
        ),
        (
            "dprobs",
            "dprobs = torch.mul(probs, dlogprobs)",
            "`mul` is not the function that belongs here.",
        ),
    ],
)
def test_what_a_student_writes_first(gradient: str, source: str, said: str, say_of: Say) -> None:
    assert say_of(gradient, source) == [said]


@pytest.mark.parametrize(
    ("gradient", "source", "said"),
    [
        (
            "dcounts",
            "dcounts = torch.zeros_like(counts)\nfor i in range(n):\n"
            "    for j in range(vocab_size):\n"
            "        dcounts[i, j] = dprobs[i, j] * counts_sum_inv[j, 0] + dcounts_sum[i, 0]",
            "`j` is not the index that belongs here.",
        ),
        (
            "dlogprobs",
            "dlogprobs = torch.zeros_like(logprobs)\nfor i in range(n):\n"
            "    for j in range(vocab_size):\n        if j == Yb[j]:\n"
            "            dlogprobs[i, j] = -1 / n",
            "`j` is not the index that belongs here.",
        ),
        (
            "demb",
            "demb = torch.zeros_like(emb)\nfor j in range(block_size):\n"
            "    demb[:, j] = dembcat[:, j * block_size : (j + 1) * block_size]",
            "`block_size` is not the size that belongs here.",
        ),
        (
            "db2",
            "o = torch.ones(1, n)\ndb2 = o.T @ dlogits",
            "`o.T` has an axis of length 1 too many here.",
        ),
        (
            "dW1",
            "dW1 = Xb.T @ dhprebn",
            "`Xb` holds indices, which are not numbers to compute with.",
        ),
        # What is not written to is NaN; that is not the mistake.
        (
            "dh",
            "dh = torch.empty_like(h)\nfor i in range(64): dh[:, i] = dlogits @ W2[i]",
            "`64` is a size written as a number: right at the notebook's sizes only.",
        ),
        (
            "dh",
            "dh = torch.empty((32, 64))\nfor i in range(64): dh[:, i] = dlogits @ W2[i]",
            "`dh` is right at the notebook's sizes only: it has 32 (n), 64 (n_hidden) written out.",
        ),
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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "dbnvar = dbnvar_inv.sqrt() * -0.5 * (bnvar + 1e-5) ** -1.5",
            "`sqrt` in `dbnvar_inv.sqrt()` is taken once too often.",
        ),
        (
            "dcounts_sum = dcounts_sum_inv.log()",
            "`dcounts_sum_inv.log()` is a function of a gradient; the slope of `counts_sum_inv`"
            " times it belongs here.",
        ),
    ],
)
def test_what_makes_nan_of_a_gradient_is_named(line: str, said: str, judge_text: Judge) -> None:
    name = line.partition(" ")[0]
    verdict = judge_text(re.sub(rf"^{name} = .*$", line, LECTURE, flags=re.MULTILINE))[name]
    assert [one.message for one in verdict.diagnosis] == [said]


def test_ranges_of_two_loops_in_each_others_place(judge_text: Judge) -> None:
    start = LECTURE.index("dC = ")
    swapped = LOOPS.replace("(n)", "(block_size)", 1).replace(
        "(block_size):\n        ", "(n):\n        "
    )
    verdict = judge_text(f"{LECTURE[:start]}{swapped}dC[Xb[i, j]] += demb[i, j]\n")["dC"]
    (said,) = verdict.diagnosis
    assert said.message == "The ranges of these two loops are swapped."
    assert verdict.code[slice(*verdict.piece or ())] == "range(block_size)"


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
        "`demb` is right at the notebook's sizes only: it has 3 (block_size), 10 (n_embd) written"
        " out."
    ]


@pytest.mark.parametrize("small", ["1e5", "10**5", "1e-3"])
def test_another_small_number_asks_how_small_it_is(
    small: str, verdict_of: Callable[[str, str], Verdict]
) -> None:
    source = f"dbnvar = dbnvar_inv * -0.5 * (bnvar + {small}) ** -1.5"
    (said,) = verdict_of("dbnvar", source).diagnosis
    assert said.message == f"`{small}` is not the number that belongs here."
    assert said.kind == Kind.MISSING_EPS


def test_a_cell_that_ran_again_is_no_mistake_of_the_line(say_of: Say) -> None:
    cell = "dbndiff += 2 * bndiff * dbndiff2\n"
    said = say_of("dbndiff", f"dbndiff = bnvar_inv * dbnraw\n{cell * 3}")
    assert said == ["This line ran more than once, and counts each time."]


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
