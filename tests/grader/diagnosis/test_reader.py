"""What is said of lines that readers wrote, and that were named wrongly at first, or not at all."""

from __future__ import annotations

import pytest

from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from tests.diagnosis.measure import judge_one
from tests.diagnosis.people import answer_with
from tests.helpers.lecture_course import ATOMIC

SHAPE = "`{}` does not have the shape that is needed here."
WINNERS = "F.one_hot({}, num_classes=vocab_size)"
ROWS = "{0} = torch.zeros_like({1})\nfor i in range(n):\n    {0}{2}"
PICKED = "dlogits = dnorm_logits.clone()\ndlogits[range(n), {}"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        # A right value that only lacks the copy to the tensor's shape.
        (
            "dbndiff2 = dbnvar / (n - 1) * torch.ones_like(dbnvar)",
            SHAPE.format("torch.ones_like(dbnvar)"),
        ),
        (
            "dbndiff2 = dbnvar / (n - 1) + torch.zeros_like(dbnvar_inv)",
            SHAPE.format("torch.zeros_like(dbnvar_inv)"),
        ),
        (
            "dW = torch.cat([embcat, torch.ones_like(embcat)], 1).T @ dhprebn\ndW1 = dW[:-1]",
            SHAPE.format("torch.ones_like(embcat)"),
        ),
        (
            "dbndiff2 = torch.eye(n) @ dbnvar / (n - 1)",
            "`torch.eye(n)` has ones on its diagonal only.",
        ),
        # An axis that goes and is needed.
        (
            "dcounts = dprobs * counts_sum_inv + dcounts_sum.squeeze(1)",
            "`squeeze` does not belong in `dcounts_sum.squeeze(1)`.",
        ),
        (
            "dcounts = dprobs * counts_sum_inv + dcounts_sum.view(-1)",
            "`view` does not belong in `dcounts_sum.view(-1)`.",
        ),
        (
            f"dlogits = dnorm_logits + {WINNERS.format('logits.argmax(1).squeeze(1)')}"
            " * dlogit_maxes",
            "`squeeze` does not belong in `logits.argmax(1).squeeze(1)`.",
        ),
        (
            "dbndiff2 = (dbnvar / (n - 1)).repeat(n)",
            "`(dbnvar / (n - 1)).repeat(n)` says nothing of the second axis.",
        ),
        # Signs and brackets.
        (
            "dhprebn = dbndiff + 1/n + dbnmeani",
            "`+` is not what should join `1/n` and `dbnmeani`.",
        ),
        (
            "dcounts = dprobs + counts_sum_inv * dcounts_sum",
            "In `dprobs + counts_sum_inv * dcounts_sum` the signs stand in each other's place.",
        ),
        (
            "dbndiff2 = 1/n - 1 * dbnvar * torch.ones_like(bndiff2)",
            "In this expression the operations run in the wrong order.",
        ),
        (
            "dbnvar = -0.5 * dbnvar_inv * bnvar + 1e-5**-1.5",
            "In `-0.5 * dbnvar_inv * bnvar + 1e-5**-1.5` the operations run in the wrong order.",
        ),
        (
            "dbnvar = dbnvar_inv * -0.5 * (bnvar + 1e-5)**-3/2",
            "In `dbnvar_inv * -0.5 * (bnvar + 1e-5)**-3/2` the operations run in the wrong order.",
        ),
        (
            "dcounts_sum = -dcounts_sum_inv**-2",
            "The power of `dcounts_sum_inv` is taken; that of `counts_sum` belongs here.",
        ),
        # Matrices.
        ("dh = dlogits @ W2.view(27, 64)", "`view` lays the same numbers out anew; it turns"),
        ("dW2 = h.reshape(64, -1) @ dlogits", "`reshape` lays the same numbers out anew; it"),
        (
            "dh = torch.mm(W2, dlogits)",
            "The arguments of `torch.mm(W2, dlogits)` stand in another order.",
        ),
        (
            "dW2 = torch.matmul(h, dlogits)",
            "In `torch.matmul(h, dlogits)` a matrix is the wrong way round.",
        ),
        (
            "dh = torch.mul(dlogits, W2.T)",
            "`mul` goes entry by entry; a matrix product belongs here.",
        ),
        ("dh = dlogits.dot(W2.T)", "`dot` is for two vectors; these are matrices."),
        (
            "dW = torch.cat([embcat, torch.ones(n, 1)]).T @ dhprebn\ndW1 = dW[:-1]",
            "Without an axis `cat` puts one below the other.",
        ),
        (
            ROWS.format("dW2", "W2", " += h[i] * dlogits[i]"),
            "An outer product belongs here: each number of `h` meets each of `dlogits`.",
        ),
        # Loops.
        (
            ROWS.format("dcounts_sum_inv", "counts_sum_inv", "[i] = dprobs[i] * counts[i]"),
            "`dprobs[i] * counts[i]` is a row of products, which nothing adds up.",
        ),
        (
            ROWS.format("dbnvar_inv", "bnvar_inv", " += dbnraw[i] * bndiff"),
            "`bndiff` is taken whole; one row of it belongs here.",
        ),
        (
            "dC = torch.zeros_like(C)\nfor i in range(n):\n    for j in range(2):\n"
            "        dC[Xb[i, j]] += demb[i, j]",
            "With `2` here not every row or position is reached.",
        ),
        (
            "dC = torch.zeros_like(C)\nfor i in range(n):\n    for j in range(block_size):\n"
            "        dC[Xb[i, j]] += demb[i, j]\n    break",
            "`break` ends the loop before its last round.",
        ),
        (
            "dC = torch.zeros_like(C)\nfor x, g in zip(Xb, demb):\n    dC[x] += g",
            "Where a row comes again in `x`, `dC` keeps one contribution only.",
        ),
        # Indices.
        (
            "dlogprobs = torch.zeros_like(logprobs)\ndlogprobs[:n, Yb] = -1/n",
            "With a slice every row gets something at `Yb`.",
        ),
        (
            "dlogprobs = torch.zeros_like(logprobs)\ndlogprobs[range(n)][Yb] = -1/n",
            "`dlogprobs[range(n)][Yb] = -1/n` picks twice, the second time among the rows of the",
        ),
        (
            "dlogprobs = torch.zeros_like(logprobs)\ndlogprobs[range(n), Yb] == -1/n",
            "`dlogprobs[range(n), Yb] == -1/n` compares; a single `=` assigns.",
        ),
        (
            PICKED.format("logits.max(1).values] += dlogit_maxes.squeeze(1)"),
            "`logits.max(1).values` holds the largest values; an index says where they are.",
        ),
        (
            f"dlogits = dnorm_logits + {WINNERS.format('logit_maxes')} * dlogit_maxes",
            "`logit_maxes` holds values; the place of the largest belongs here.",
        ),
        (
            PICKED.format("logits.argmax(1)] = dlogit_maxes"),
            "This line replaces what was in `dlogits`, and `dlogit_maxes` has an axis of length 1",
        ),
        (
            "dlogits = dnorm_logits - dlogit_maxes",
            "`dlogit_maxes` goes to every entry of a row, not to the largest.",
        ),
        # Values, slopes and sums.
        (
            "dcounts_sum_inv = (counts_sum * dprobs).sum(1, keepdim=True)",
            "`counts_sum` is not the tensor that belongs here.",
        ),
        (
            "dcounts_sum = torch.log(counts_sum) * dcounts_sum_inv",
            "`log` is not the slope of the step that makes `counts_sum_inv`.",
        ),
        (
            "dlogprobs = torch.zeros_like(logprobs)\n"
            "dlogprobs[range(n), Yb] = -logprobs[range(n), Yb].mean()",
            "`-logprobs[range(n), Yb].mean()` is a value of the forward pass; its slope, a number,",
        ),
        (
            "dhpreact = dh * (h - h**2)",
            "`dh * (h - h**2)` has the slope of a sigmoid in it.",
        ),
        (
            "dW2 = (h.T * dlogits).sum(0)",
            "`(h.T * dlogits).sum(0)` goes entry by entry; a matrix product belongs here.",
        ),
        ("dW2 = torch.outer(h, dlogits)", "`outer` is for two vectors; these are matrices."),
        ("dC = demb[Xb]", "`demb[Xb]` picks rows; here each row is placed where it came from."),
        (
            "dbndiff2 = 1 / (n - 1) * 2 * bndiff * dbnvar",
            "`2` and `bndiff` are factors too many.",
        ),
        # What arrives at the last line.
        (
            "dlogprobs = torch.zeros_like(logprobs)\ndlogprobs[range(n), Yb] = -dloss / n",
            "`dloss` is 1, and no name holds it: leave it out.",
        ),
    ],
)
def test_it_is_named(source: str, said: str, runner: Runner) -> None:
    verdicts, _ = grade_exercise(ATOMIC, [AnswerCell("ex1-cell", source)], runner)
    (verdict,) = [one for one in verdicts if one.diagnosis]
    assert verdict.diagnosis[0].message.startswith(said)


@pytest.mark.parametrize(
    ("prefix", "gradient", "code", "said"),
    [
        (
            *("ex2", "dlogits"),
            "dlogits = logits.softmax(1)\ndlogits[range(n)][:, Yb] -= 1\ndlogits /= n",
            "`dlogits[range(n)][:, Yb] -= 1` picks twice, the second time among the rows of the",
        ),
        (
            *("ex2", "dlogits"),
            "dlogits = logits.softmax(1)\n"
            "dlogits[range(n), Yb] -= dlogits[range(n), Yb]\ndlogits /= n",
            "This line leaves 0 at `range(n), Yb`; a number is to be taken off.",
        ),
        (
            *("ex3", "dbnbias", "dbnbias = torch.ones_like(xhat).T @ dhpreact"),
            SHAPE.format("torch.ones_like(xhat).T"),
        ),
    ],
)
def test_in_other_exercises_too(
    prefix: str, gradient: str, code: str, said: str, runner: Runner
) -> None:
    judged = judge_one(prefix, answer_with(prefix, gradient, code), runner)
    (message,) = [one.message for one in judged if one.message]
    assert message.startswith(said)
