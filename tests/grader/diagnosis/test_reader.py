"""What is said of lines that readers wrote, and that were named wrongly at first, or not at all."""

from __future__ import annotations

import re

import pytest

from corpus.readers.exercise_text import read_cells
from corpus.readers.lecture_course import ATOMIC
from corpus.readers.measure import BLAMED, BY_PREFIX, judge_one
from corpus.readers.people import answer_with
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.grading.reasons import ALMOST
from grader.verdict import Outcome

SHAPE = "`{}` does not have the shape that is needed here."
WINNERS = "F.one_hot({}, num_classes=vocab_size)"
ROWS = "{0} = torch.zeros_like({1})\nfor i in range(n):\n    {0}{2}"
ROWS_OF = "dlogprobs = torch.zeros_like(logprobs)\nrows = torch.arange(n)\n{}"
SMOOTHED = "(1 - smoothing) * z.softmax(1) + smoothing / vocab_size"
TARGETS = f"q = {SMOOTHED.replace('z.softmax(1)', 'F.one_hot(Yb, vocab_size)')}"
IN = "In this expression"
KEPT = "{} `{}` is smoothed, and belongs here as it is."
NO_SLOPE = "`-q / {}` lacks the slope of the softmax: probabilities come from a whole row."
ONE_ROW = {
    "dbngain": "+= dhpreact[i] * bnraw[i]",
    "dbnmeani": "-= dbndiff[i]",
    "dbnvar_inv": "+= dbnraw[i] * bndiff[i]",
}
PAIRS = (
    *("logits == logits.max(1)", "logits == logits.max(1, keepdim=True)"),
    *("logits.max(1) == logits", "logits == logits.max(dim=1)", "logits == torch.max(logits, 1)"),
)
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
        (
            "dlogit_maxes = -dnorm_logits.sum(1, keepdim=True).values",
            "A sum is one tensor: it has no `.values`.",
        ),
        # Matrices.
        ("db2 = torch.ones(n, 1).T @ dlogits", "The numbers of `db2` are right, its shape is not."),
        (
            "both = torch.cat([embcat, torch.ones(n, 1)], 1).T @ dhprebn\ndW1 = both",
            "`both` has a row too many.",
        ),
        ("dh = dlogits @ W2.view(27, 64)", "`view` lays the same numbers out anew; it turns"),
        ("dW2 = h.reshape(64, -1) @ dlogits", "`reshape` lays the same numbers out anew; it"),
        (
            "dh = torch.mm(W2, dlogits)",
            "The arguments of `torch.mm(W2, dlogits)` stand in the wrong order, and one is",
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
            "An outer product belongs here: each number of `h[i]` meets each of `dlogits[i]`.",
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
        # Loops that take, or write, the whole where one row belongs.
        (
            ROWS.format("dcounts_sum_inv", "counts_sum_inv", " += (counts[i] * dprobs[i]).sum()"),
            "`dcounts_sum_inv` is written whole; one row of it in each round belongs here.",
        ),
        (
            "dcounts = dprobs * counts_sum_inv\nfor i in range(n):\n    dcounts[i] += dcounts_sum",
            "`dcounts_sum` is taken whole; one row of it belongs here.",
        ),
        (
            "for i in range(n):\n    for j in range(block_size):\n"
            "        dC = torch.zeros_like(C)\n        dC[Xb[i, j]] += demb[i, j]",
            "This line stands inside of the loop.",
        ),
        (
            "dC = torch.zeros_like(C)\nfor i in range(n):\n    for j in range(block_size):\n"
            "        dC[i, j] += demb[Xb[i, j]]",
            "In this line the two indices stand in each other's place.",
        ),
        (
            "dC = torch.zeros_like(C)\nfor row in Xb:\n    dC[row] += demb[row]",
            "`row` is a row of `dC`, and no place in `demb`.",
        ),
        (
            "dC = torch.zeros_like(C)\nfor i, g in zip(Xb.view(-1), dembcat):\n    dC[i] += g",
            "`dembcat` is not laid out with a row for each index.",
        ),
        # Lookups.
        (
            "dC = torch.zeros_like(C)\ndC.index_add(0, Xb.view(-1), dembcat.view(-1, n_embd))",
            "What `index_add` returns is thrown away: it changes nothing in place.",
        ),
        (
            "dC = torch.zeros_like(C).scatter_add(0, Xb.view(-1), demb.view(-1, n_embd))",
            "`scatter_add` wants an index for every number; here one is for a whole row.",
        ),
        ("dC = demb @ C.T", "`demb @ C.T` is a product; here each row of `demb` is placed where"),
        (
            "dC = torch.zeros_like(C)\ndC.index_add_(0, Yb, demb[:, -1])",
            "In `dC.index_add_(0, Yb, demb[:, -1])` only some of `demb` is added, and not where",
        ),
        # Shapes.
        (
            "demb = dembcat.permute(0, 2, 1)",
            "`permute` does not give `dembcat` the shape of `emb`; a view does.",
        ),
        (
            "demb = dembcat.view(block_size, n, n_embd)",
            "In `dembcat.view(block_size, n, n_embd)` the sizes stand in the wrong order.",
        ),
        (
            "dbndiff2 = 1 / (n - 1) * bndiff2.sum(0, keepdim=True) * dbnvar",
            "`bndiff2` is a factor too many.",
        ),
        ("dh = dlogits.T @ W2", "In `dlogits.T @ W2` both matrices are the wrong way round."),
        (
            "dW2 = dlogits.T @ h.T",
            "The two sides of `dlogits.T @ h.T` stand in the wrong order, and one is the wrong way",
        ),
        ("dh = -dlogits", "A matrix product is missing beside `dlogits`."),
        # A sign that is missing before a bracket; brackets around too much.
        (
            "dbnvar = -1/2(dbnvar_inv * (bnvar + 1e-5)**-1.5)",
            "With brackets right behind it, `2` is called as a function; a sign is missing.",
        ),
        (
            "dbndiff = 2 * bndiff * (bnvar_inv * dbnraw + dbndiff2)",
            "`bnvar_inv * dbnraw` does not belong in these brackets.",
        ),
        (
            PICKED.format("logits.argmax(0)] += dlogit_maxes"),
            "`argmax(0)` goes along the wrong axis",
        ),
        # What is copied, picked or laid out in another way.
        (
            "dbndiff2 = dbnvar[:, None].expand(n, n_hidden) / (n - 1)",
            "`dbnvar[:, None]` has an axis of length 1 that does not belong here.",
        ),
        (
            "dlogits = dnorm_logits + logits.max(1, keepdim=True).indices * dlogit_maxes",
            "`logits.max(1, keepdim=True).indices` says where; a mask that has a 1 there belongs",
        ),
        (
            "dlogits = dnorm_logits.clone()\nfor i in range(n):\n"
            "    dlogits[i, logits[i].argmax()] = dlogit_maxes[i]",
            "This line replaces what was in `dlogits`, and `dlogit_maxes` has an axis of length",
        ),
        ("demb = dembcat.view[n, block_size, n_embd]", "Square brackets pick entries; `view` is"),
        (
            "dW2 = h.sum(0)[:, None] * dlogits.sum(0)",
            "In `h.sum(0)[:, None] * dlogits.sum(0)` the sum is taken before the product.",
        ),
        ("dcounts_sum = -dcounts_sum_inv**2", "The power of `dcounts_sum_inv` is taken; that of"),
        # What leaves out a branch that is zero, and has a mistake beside.
        ("dlogits = -dnorm_logits", "The minus in `-dnorm_logits` does not belong there."),
        # A helper that is right is not to blame.
        (
            "both = torch.cat([embcat, torch.ones(n, 1)], 1).T @ dhprebn\ndb1 = both[:-1].sum(0)",
            "`both[:-1].sum(0)` is the sum of the other rows.",
        ),
        (
            "ones = torch.ones(n, 1)\nboth = torch.cat([embcat, ones], 1)\ndW1 = both.T @ dhprebn",
            "`both.T @ dhprebn` has a row too many.",
        ),
        # What arrives elsewhere.
        (
            "dbnvar_inv = (dbndiff * bnraw).sum(0, keepdim=True)",
            "`dbndiff` belongs to another tensor; what arrives here is `dbnraw`.",
        ),
        # What arrives at the last line.
        (
            "dlogprobs = torch.zeros_like(logprobs)\ndlogprobs[range(n), Yb] = -dloss / n",
            "`dloss` is 1, and no name holds it: leave it out.",
        ),
        (
            "dC = torch.zeros_like(C)\nfor i in range(n):\n    for j in range(3):\n"
            "        dC[Xb[i, j]] = demb[i, j]",
            "This line replaces what was in `dC`. A size written as a number is wrong as well.",
        ),
        (
            "dC = torch.zeros(27, 10)\nfor i in range(32):\n    for j in range(3):\n"
            "        dC[Xb[i, j]] += demb[j, i]",
            "In `j, i` the two indices stand in each other's place. A size written as a number is",
        ),
        (
            "dC = torch.zeros(27, 10)\nfor i in range(32):\n    for j in range(3):\n"
            "        dC[Xb[i, j]] += demb[i, j]",
            "`dC` is right at the notebook's sizes only: it has 32 (n), 3 (block_size), 27 (vocab_",
        ),
        ("demb = dembcat.view(32, 10, 3)", "In `dembcat.view(32, 10, 3)` the sizes stand in the"),
        (  # the exponent is no size
            "dbnvar = bnvar_inv.view(1, 64) * -0.5 * bnvar_inv**3",
            "`bnvar_inv` is a value of the forward pass; a gradient belongs here. A size written",
        ),
        (  # an edit of the test, or of the counter, would run forever, and none is tried
            "dlogprobs = torch.zeros_like(logprobs)\ni = 0\nwhile i < n:\n"
            "    dlogprobs[i, Yb[i]] = 1 / n\n    i += 1",
            "`1` has the wrong sign here.",
        ),
        (  # where a loop begins is no question of sign
            "dlogprobs = torch.zeros_like(logprobs)\ni = 1\nwhile i < n:\n"
            "    dlogprobs[i, Yb[i]] = -1 / n\n    i += 1",
            "With `1` here not every row or position is reached.",
        ),
        (  # nor does it begin below zero
            "db2 = torch.zeros_like(b2)\ni = 0\nwhile i < n - 1:\n"
            "    db2 += dlogits[i]\n    i += 1",
            "Of `dlogits`, all but the last index of axis 0 is handed on.",
        ),
        (
            "dcounts_sum_inv = sum(dprobs * counts, 1)",
            "This `sum` is Python's own: it adds up rows, and begins with `1`.",
        ),
        ("dbngain = sum(dhpreact * bnraw, 0)", "`sum(dhpreact * bnraw, 0)` drops an axis that"),
        (
            "dlogits = dnorm_logits + dlogit_maxes * F.one_hot(max(logits, 1)[1], vocab_size)",
            "This `max` is Python's own, which knows no axes.",
        ),
        (
            "dlogits = dnorm_logits + dlogit_maxes * (logits == max(logits, dim=1)[0][:, None])",
            "This `max` is Python's own, which knows no axes.",
        ),
        (
            "dlogits = dnorm_logits + dlogit_maxes * F.one_hot(min(-logits, 1)[1], vocab_size)",
            "This `min` is Python's own, which knows no axes.",
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
            *("ex1", "dbndiff2", "dbndiff2 = dbnvar / (n - 1)"),
            "`dbnvar / (n - 1)` is one row or column; each of `bndiff2` gets a copy of it.",
        ),
        (
            *("ex3", "dvar"),
            "dvar = (dxhat * -0.5 * (var + 1e-5)**-1.5).sum(0, keepdim=True)",
            "A factor is missing beside `dxhat * -0.5 * (var + 1e-5)**-1.5`.",
        ),
        (
            *("ex3", "dbngain", "dbngain = (dhpreact * (hprebn - mu)).sum(0, keepdim=True)"),
            "`hprebn - mu` alone is not the factor that belongs here.",
        ),
        (
            *("ex3", "dhprebn"),
            "dhprebn = bngain * (var + 1e-5)**-0.5 * dhpreact - dhpreact.mean(0)"
            " - xhat * (dhpreact * xhat).sum(0) / (n - 1)",
            "`bngain * (var + 1e-5)**-0.5` multiplies the first term only.",
        ),
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
        # Names of another exercise, or of paper: nothing holds them.
        (
            *("ex2s", "dz"),
            "t = F.one_hot(Yb, vocab_size) * (1 - alpha) + alpha / vocab_size\n"
            "dz = (F.softmax(z, 1) - t) / n",
            "`alpha` is not the number that belongs here.",
        ),
        (
            *("ex3", "dvar"),
            "dvar = (-0.5 * dxhat * (hprebn - mean) * (var + 1e-5)**-1.5).sum(0, keepdim=True)",
            "`mean` is not the tensor that belongs here.",
        ),
        (
            *("ex4", "dhprebn"),
            "dhprebn = bngain * bnvar_inv / n * (n * dhpreact - dhpreact.sum(0)"
            " - n / (n - 1) * xhat * (dhpreact * xhat).sum(0))",
            "`xhat` is not the tensor that belongs here.",
        ),
        (
            *("ex1", "dW1"),
            "both = torch.cat([embcat, torch.ones(n, 1)], 1)\ndW1, db1 = both.T @ dhprebn",
            "Two names take `both.T @ dhprebn` apart row by row, and it has more than two.",
        ),
        (
            *("ex3", "dmu", "dmu = -dxhat.sum(0, keepdim=True) * bnvar_inv"),
            "`bnvar_inv` is not what belongs here: a power of `var`, with its small number, is.",
        ),
        # Sums, and what divides them.
        (
            *("ex4", "dhprebn"),
            "dhprebn = bngain * bnvar_inv * (dhpreact - dbnbias - bnraw * dbngain)",
            "In `dhpreact - dbnbias - bnraw * dbngain` neither sum is divided.",
        ),
        (
            *("ex4", "dlogits"),
            "dlogits = F.softmax(logits, 1)\ndlogits[range(n), Yb] -= 1\n"
            "dlogits = dlogits / dlogits.sum()",
            "`dlogits` is zero but for rounding; a number belongs here.",
        ),
        (
            *("ex4", "dlogits"),
            "dlogits = F.softmax(logits, 1)\nfor y in Yb:\n    dlogits[:, y] -= 1\ndlogits /= n",
            "With `:` every row gets something at `y`.",
        ),
        (
            *("ex2s", "dz"),
            "p = F.softmax(z, 1)\n"
            "q = F.one_hot(Yb, vocab_size) * (1 - smoothing) + smoothing / vocab_size\n"
            "dz = -(q * p.log()) / n",
            "`-(q * p.log())` is a term of the loss; its slope belongs here.",
        ),
        (
            *("ex2s", "dz"),
            "q = F.one_hot(Yb, vocab_size) * smoothing + (1 - smoothing) / vocab_size\n"
            "dz = (F.softmax(z, 1) - q) / n",
            "In this expression two shares stand in each other's place.",
        ),
        (
            *("ex2", "dlogits"),
            "p = F.softmax(logits, 1)\nt = F.one_hot(Yb, vocab_size)\ndlogits = p * (1 - t) / n",
            "`p` is no factor here: `t` is subtracted from it.",
        ),
        (
            *("ex2s", "dz"),
            "q = (1 - smoothing) * Yb + smoothing / vocab_size\ndz = (F.softmax(z, 1) - q) / n",
            "`Yb` holds indices, which are not numbers to compute with.",
        ),
        (
            *("ex3", "dvar"),
            "dvar = (dxhat * (xhat - mu) * -0.5 * (var + 1e-5) ** -1.5).sum(0, keepdim=True)",
            "`xhat` is not the tensor that belongs here.",
        ),
        (
            *("ex3", "dmu"),
            "dmu = dvar * 2 / (n - 1) * (mu - hprebn).sum(0, keepdim=True)",
            "What arrives is not used: `dxhat`.",
        ),
        (
            *("ex3", "dmu"),
            "dmu = torch.zeros_like(mu)\nfor i in range(n):\n"
            "    dmu -= dxhat * (var + 1e-5) ** -0.5",
            "`dxhat` is taken whole; one row of it belongs here.",
        ),
        (
            *("ex3", "dmu"),
            "dmu = -(var + 1e-5) ** -1 / 2 * dxhat.sum(0, keepdim=True)",
            "In `-(var + 1e-5) ** -1 / 2` the operations run in the wrong order.",
        ),
        (
            *("ex1", "dhpreact"),
            "dhpreact = (1 - h)(1 + h) * dh",
            "Between two pairs of brackets a sign is missing.",
        ),
        (
            *("ex1", "dhprebn"),
            "dhprebn = dbndiff + dbnmeani / len(dbnmeani)",
            "`len(dbnmeani)` is not the length that is needed.",
        ),
        (
            *("ex1", "dbndiff2"),
            "dbndiff2 = torch.ones_like(bndiff2) * dbnvar / (bndiff2.shape - 1)",
            "The shape of `bndiff2` is all its lengths; one of them belongs here.",
        ),
        (
            *("ex1", "db2"),
            "db2 = dlogits.sum(0)[0]",
            "`dlogits.sum(0)[0]` is one of the sums; all of them belong here.",
        ),
        (
            *("ex1", "dlogits"),
            "dlogits = dnorm_logits.clone()\n"
            "dlogits[range(n), logits.argmax(1)] += dlogit_maxes[range(n), logits.argmax(1)]",
            "`dlogit_maxes[range(n), logits.argmax(1)]` asks for places that `dlogit_maxes`, with",
        ),
        (
            *("ex1", "dbnvar"),
            "dbnvar = dbnvar_inv * -0.5 * bnvar_inv ** 3 * 1e-5",
            "`1e-5` is a factor too many.",
        ),
        (
            *("ex1", "demb"),
            "demb = dembcat.view_as(emb.shape)",
            "`view_as` takes a tensor, and `view` a shape.",
        ),
        (
            *("ex3", "dmu"),
            "dmu = (-1 / (var + 1e-5) ** 1 / 2 * dxhat).sum(0, keepdim=True)",
            "In `-1 / (var + 1e-5) ** 1 / 2` the operations run in the wrong order.",
        ),
        (
            *("ex3", "dmu"),
            "dmu = (dxhat * -(hprebn - mu) * (var + 1e-5) ** -0.5).sum(0, keepdim=True)",
            "`hprebn - mu` is a factor too many.",
        ),
        (
            *("ex3", "dbnbias"),
            "dbnbias = torch.zeros_like(bnbias)\nfor j in range(n_hidden):\n"
            "    dbnbias[0, j] = dhpreact[j].sum()",
            "`dhpreact[j]` is a row; a column belongs here.",
        ),
        (
            *("ex3", "dbnbias"),
            "dbnbias = dhpreact.sum(0, keepdim=True) / n_hidden",
            "`n_hidden` is a divisor too many: the sum is to stay whole.",
        ),
        (
            *("ex2", "dlogits"),
            "dlogits = F.softmax(logits, 1)\np = dlogits.clone()\n"
            "dlogits[range(n), Yb] -= p[range(n), Yb]\ndlogits /= n",
            "`p[range(n), Yb]` is not what is subtracted here: a number is.",
        ),
        (
            *("ex1", "dbnvar"),
            "dbnvar = -0.5 * bnvar**-1.5 + 1e-5 * dbnvar_inv",
            "In `-0.5 * bnvar**-1.5 + 1e-5 * dbnvar_inv` the operations run in the wrong order.",
        ),
        (
            *("ex3", "dmu"),
            "dmu = -(dxhat * (var * 1e-5) ** -0.5).sum(0, keepdim=True)",
            "`*` is not what should join `var` and `1e-5`.",
        ),
        (
            *("ex3", "dbnbias"),
            "dbnbias = dhpreact.sum(-1, keepdim=True).T",
            "The axis in `dhpreact.sum(-1, keepdim=True).T` is not the one that belongs there;",
        ),
        (
            *("ex3", "dvar"),
            "s = (var + 1e-5) ** -0.5\ndvar = -0.5 * s * (dxhat * xhat).sum(0, keepdim=True)",
            "`s` stands here to the wrong power.",
        ),
        (
            *("ex3", "dhprebn"),
            "dhprebn = dxhat * (var + 1e-5) ** -0.5 + dmu / n\n"
            "dhprebn += (dvar * 2 * (hprebn - mu)).mean(0, keepdim=True)",
            "`mean` adds up what is only to be divided.",
        ),
        (
            *("ex3", "dhprebn"),
            "total = 0\ndhprebn = torch.zeros_like(hprebn)\nfor i in range(n):\n"
            "    for j in range(n):\n        total += dxhat[j] * xhat[j]\n"
            "    dhprebn[i] = dxhat[i] - xhat[i] * total / (n - 1)\n"
            "dhprebn = (dhprebn - dxhat.mean(0)) * (var + 1e-5) ** -0.5",
            "In each round `total` should begin at 0 again.",
        ),
        (
            *("ex4", "dhprebn"),
            "dbnraw = bngain * dhpreact\ndvar = -0.5 * (dbnraw * bnraw).sum(0) * bnvar_inv**2\n"
            "dhprebn = dbnraw * bnvar_inv + dvar * (hprebn - hprebn.mean(0)) / (n - 1)\n"
            "dhprebn -= dbnraw.sum(0, keepdim=True) * bnvar_inv / n",
            "What comes to `dhprebn` through `bnvar` is 0.5 times what it should be.",
        ),
        (
            *("ex1", "dprobs"),
            "dprobs = dlogprobs.copy()\ndprobs /= probs",
            "`copy` is numpy's word for what PyTorch calls `clone`.",
        ),
        (
            *("ex2", "dlogits"),
            "dlogits = F.softmax(logits, 1)\nfor i in range(n):\n    dlogits[i] -= 1\ndlogits /= n",
            "With `i` alone every entry of a row gets something.",
        ),
        (
            *("ex2", "dlogits"),
            "dlogits = (F.nll_loss(logits, Yb) - F.one_hot(Yb, vocab_size)) / n",
            "`F.nll_loss(logits, Yb)` is the loss; the softmax belongs here.",
        ),
        (
            *("ex2", "dlogits"),
            "dlogits = F.softmax(logits, 1)\ndlogits[range(n), Yb] -= 1\n"
            "dlogits = dlogits / dlogits.sum(0)",
            "`dlogits` is divided by its own sum; the number of examples belongs there.",
        ),
        # A size that stands where it belongs, and is missing elsewhere.
        (
            *("ex2", "dlogits"),
            "dlogits = F.softmax(logits, 1)\n"
            "dlogits[range(n), Yb] = (dlogits[range(n), Yb] - 1) / n",
            "`n` belongs to all of `dlogits`, and stands at a part of it only.",
        ),
        # What is smoothed, and what is to be.
        (
            *("ex2s", "dz"),
            f"p = {SMOOTHED}\n{TARGETS}\ndz = (p - q) / n",
            KEPT.format(IN, "z.softmax(1)"),
        ),
        (
            *("ex2s", "dz"),
            f"s = z.softmax(1)\np = s * 0.9 + 0.1 / 27\n{TARGETS}\ndz = (p - q) / n",
            KEPT.format("In `s * 0.9 + 0.1 / 27`", "s"),
        ),
        (
            *("ex2s", "dz"),
            f"p = {SMOOTHED}\ndz = (p - F.one_hot(Yb, vocab_size)) / n",
            f"{IN} `z.softmax(1)` is smoothed, and the targets are to be.",
        ),
        (
            *("ex2", "dlogits"),
            "q = 0.9 * F.one_hot(Yb, vocab_size) + 0.1 / vocab_size\n"
            "dlogits = (F.softmax(logits, 1) - q) / n",
            KEPT.format(IN, "F.one_hot(Yb, vocab_size)"),
        ),
        # The chain ends at the probabilities.
        (
            *("ex2s", "dz"),
            f"{TARGETS}\ndz = -q / F.softmax(z, 1) / n",
            NO_SLOPE.format("F.softmax(z, 1)"),
        ),
        (*("ex2s", "dz"), f"p = F.softmax(z, 1)\n{TARGETS}\ndz = -q / p / n", NO_SLOPE.format("p")),
        # A counter of rows where there is one row.
        *(
            (
                "ex1",
                name,
                ROWS.format(name, name[1:], f"[i] {change}"),
                f"`i` counts rows, and `{name}` has one.",
            )
            for name, change in ONE_ROW.items()
        ),
        # A maximum along an axis is a pair.
        *(
            (
                "ex1",
                "dlogits",
                f"mask = {mask}\ndlogits = dnorm_logits + mask * dlogit_maxes",
                f"In `{mask}` `max` gives a pair,",
            )
            for mask in PAIRS
        ),
        # Half of a product multiplied out.
        ("ex4", "dhpreact", "dhpreact = dh - h**2", "`h**2` lacks the gradient that arrives."),
        (
            *("ex4", "dhpreact"),
            "dhpreact = torch.addcmul(dh, h, h, value=-1)",
            "`h` lacks the gradient that arrives.",
        ),
        # A sum in the place of what is summed.
        (
            *("ex1", "dcounts_sum_inv"),
            "dcounts_sum_inv = counts_sum * dprobs.sum(1, keepdim=True)",
            "In `counts_sum * dprobs.sum(1, keepdim=True)` the sum is taken before the product",
        ),
        (
            *("ex1", "dnorm_logits"),
            "dnorm_logits = norm_logits * dcounts",
            "`norm_logits` is not the tensor that belongs here.",
        ),
        (
            *("ex1", "dC"),
            "dC = torch.zeros_like(C)\nfor i in range(n):\n    for j in range(block_size):\n"
            "        dC[Xb[i, j]] += demb[j, i]",
            "In `j, i` the two indices stand in each other's place.",
        ),
        (
            *("ex3", "dvar"),
            "dvar = torch.zeros_like(var)\nfor i in range(n):\n"
            "    dvar -= 0.5 * (var + 1e-5) ** -1.5 * dxhat[i] * (hprebn - mu)[0]",
            "With `0` here it is the same entry every time.",
        ),
        # What is normalised for what is centred, in two places of a line.
        (
            *("ex3", "dhprebn"),
            "dhprebn = dxhat * (var + 1e-5)**-0.5 - dxhat.mean(0) * (var + 1e-5)**-0.5"
            " - xhat / (n - 1) * (var + 1e-5)**(-3/2) * (dxhat * xhat).sum(0)",
            "`xhat` is not the tensor that belongs here.",
        ),
        (
            *("ex3", "dvar"),
            "dvar = (dxhat * xhat * -0.5 * (var + 1e-5)**-1.5).sum(0, keepdim=True)",
            "`xhat` is not the tensor that belongs here.",
        ),
        # The same in two lines.
        (
            *("ex4", "dhprebn"),
            "diff = hprebn - bnmean\n"
            "dvar = (dhpreact * diff).sum(0, keepdim=True) * -0.5 * bnvar_inv**3\n"
            "dmu = -(dhpreact * bnvar_inv).sum(0, keepdim=True)\n"
            "dhprebn = dhpreact * bngain * bnvar_inv + dvar * 2 / (n - 1) * diff + dmu / n",
            "A factor is missing beside `dhpreact`. The same goes for another line.",
        ),
        # What is zero, or one axis longer, makes the right sum by another way than was meant.
        (
            *("ex1", "dbngain", "dbngain = (bnraw * dhpreact + bnbias).sum(0, keepdim=True)"),
            "`bnbias` is a term too many.",
        ),
        (
            *("ex1", "dcounts"),
            "dcounts = counts_sum_inv * dprobs\n"
            "dcounts += torch.ones_like(counts) * dcounts_sum / counts.shape[1]",
            "`counts.shape[1]` is a divisor too many.",
        ),
        # A power that is divided by, and exponents that are fractions.
        (
            *("ex1", "dcounts_sum"),
            "dcounts_sum = -(counts * dprobs).sum(1, keepdim=True) / counts_sum_inv**2",
            "`/` is not what should join the two sides of this expression.",
        ),
        (
            *("ex1", "dbnvar", "dbnvar = -0.5 * (bnvar + 1e-5)**(3/2) * dbnvar_inv"),
            "`3/2` is not the exponent that belongs here.",
        ),
        (
            *("ex1", "dbnvar", "dbnvar = -0.5 * (bnvar + 1e-5)**(-1/2) * dbnvar_inv"),
            "`-1/2` is not the exponent that belongs here.",
        ),
        (
            *("ex1", "dbnvar", "dbnvar = -0.5 * torch.pow(bnvar + 1e-5, 1/2) * dbnvar_inv"),
            "`1/2` is not the exponent that belongs here.",
        ),
        (
            *("ex3", "dmu", "dmu = -(dxhat / var).sum(0, keepdim=True)"),
            "`var` stands here to the wrong power, without its small number.",
        ),
        (
            *("ex3", "dvar", "dvar = -0.5 * (dxhat * xhat).sum(0, keepdim=True)"),
            "A factor is missing beside",
        ),
        (
            *("ex3", "dhprebn"),
            "dhprebn = dxhat * (var + 1e-5)**-0.5 + dvar * 2 / n - 1 * (hprebn - mu) + dmu / n",
            "In this expression the operations run in the wrong order.",
        ),
        # An axis of length 1.
        (
            *("ex1", "db2", "db2 = dlogits.sum(0).T.view(1, -1)"),
            "`view` does not belong in `dlogits.sum(0).T.view(1, -1)`.",
        ),
        (
            *("ex1", "dbngain", "dbngain = (bnraw * dhpreact).sum(0).T.view(-1, 1)"),
            "`(bnraw * dhpreact).sum(0).T.view(-1, 1)` puts the axis of length 1 on the wrong",
        ),
        (
            *("ex4", "db1", "db1 = dhprebn.sum(1, keepdim=True)"),
            "`dhprebn.sum(1, keepdim=True)` sums along the wrong axis, and keeps it.",
        ),
        (
            *("ex1", "dbngain", "dbngain = torch.einsum('ij,ij->i', bnraw, dhpreact)"),
            "The letter after the arrow in `'ij,ij->i'` is not the axis that belongs there.",
        ),
        (
            *("ex1", "dcounts_sum_inv"),
            "dcounts_sum_inv = torch.einsum('ij,ij->j', counts, dprobs)",
            "The letter after the arrow in `'ij,ij->j'` is not the axis that belongs there.",
        ),
        (
            *("ex1", "dbngain", "dbngain = torch.sum(bnraw) * dhpreact"),
            "In `torch.sum(bnraw) * dhpreact` the sum is taken before the product, and runs over",
        ),
        (
            *("ex1", "dlogits"),
            "dlogits = dnorm_logits + F.one_hot(logits.argmax(0), n).T * dlogit_maxes",
            "`F.one_hot(logits.argmax(0), n).T` looks for the largest in each column.",
        ),
        *(
            ("ex1", gradient, f"{gradient} = torch.{call}", f"In `torch.{call}` both matrices")
            for gradient, call in (
                ("dW2", "mm(h, dlogits.T)"),
                ("dW1", "matmul(embcat, dhprebn.T)"),
            )
        ),
        *(
            ("ex1", gradient, f"{gradient} = {product}{rest}", f"`{product}` is a matrix product")
            for gradient, product, rest in (
                ("dbnvar_inv", "torch.matmul(bndiff.T, dbnraw)", ".sum(0, keepdim=True)"),
                ("dcounts_sum_inv", "torch.mm(counts, dprobs.T)", ""),
            )
        ),
        # Copies that are lost, and lines without an effect.
        *(
            (
                "ex1",
                "dlogprobs",
                ROWS_OF.format(line),
                "This line changes a copy; `dlogprobs` stays",
            )
            for line in (
                *("dlogprobs[range(n)][range(n), Yb] -= 1 / n", "dlogprobs[:, Yb][rows] = -1 / n"),
                *("dlogprobs[rows][rows, Yb] -= 1 / n", "dlogprobs[rows][rows, Yb] = -1 / n"),
                *("dlogprobs[torch.arange(n)][:, Yb] = -1 / n",),
                *("dlogprobs[list(range(n))][range(n), Yb] = -1 / n",),
            )
        ),
        (
            *("ex1", "dC"),
            "dC = torch.zeros_like(C)\nfor i in range(n):\n    for j in range(block_size):\n"
            "        dC = dC[Xb[i, j]] + demb[i, j]",
            "This line puts one row in the place of all of `dC`.",
        ),
        (
            *("ex2", "dlogits"),
            "dlogits = torch.softmax(logits, 1).clone()\nfor i in range(n):\n"
            "    dlogits[i][Yb[i]] - 1\ndlogits /= n",
            "What this line computes is thrown away.",
        ),
        # What divides a tensor by itself is not meant.
        (
            *("ex1", "dbndiff2"),
            "share = bndiff2 / bndiff2.sum(0, keepdim=True)\ndbndiff2 = share * dbnvar",
            "`share` is a factor too many. A constant factor is wrong as well.",
        ),
        (
            *("ex2s", "dz"),
            "targets = torch.full_like(z, smoothing / (vocab_size - 1))\n"
            "targets[range(n), Yb] = 1 - smoothing\ndz = (F.softmax(z, 1) - targets) / n",
            "In `targets` the label gets nothing of what is dealt out to all.",
        ),
        # Of the loss's gradient, one entry or a logarithm.
        (
            *("ex2", "dlogits"),
            "p = torch.softmax(logits, 1)\ndlogits = p[range(n), Yb] - 1\ndlogits /= n",
            "`p[range(n), Yb] - 1` is one entry of each row; the others belong here, too.",
        ),
        (
            *("ex2", "dlogits"),
            "lse = torch.logsumexp(logits, 1, keepdim=True)\n"
            "dlogits = (logits - lse - F.one_hot(Yb, vocab_size)) / n",
            "`logits - lse` is not a probability yet.",
        ),
        (
            *("ex2s", "dz"),
            "q = F.one_hot(Yb, vocab_size)\n"
            "dz = (F.softmax(z, 1) - smoothing * q - (1 - smoothing) / vocab_size) / n",
            "In this expression two shares stand in each other's place.",
        ),
        # A term that would be zero if it were summed.
        (
            *("ex3", "dmu"),
            "dmu = -(dxhat * (var + 1e-5)**-0.5).sum(0, keepdim=True)"
            " - 2 / (n - 1) * dvar * (hprebn - mu)",
            "`2 / (n - 1) * dvar * (hprebn - mu)` still has to be summed over its axis 0.",
        ),
    ],
)
def test_in_other_exercises_too(
    prefix: str, gradient: str, code: str, said: str, runner: Runner
) -> None:
    judged = judge_one(prefix, answer_with(prefix, gradient, code), runner)
    (message,) = [one.message for one in judged if one.message]
    assert message.startswith(said)


@pytest.mark.parametrize(
    ("exercise", "gradient", "code"),
    [
        (
            *("ex1", "dbndiff"),
            "via_raw = torch.zeros_like(bndiff)\nfor i in range(n):\n"
            "    via_raw[i] = dbnraw * bnvar_inv\ndbndiff = via_raw + 2 * bndiff * dbndiff2",
        ),
        (
            *("ex3", "dxhat"),
            "rows = []\nfor i in range(n):\n    rows.append(dhpreact[i] * bngain[i])\n"
            "dxhat = torch.stack(rows)",
        ),
    ],
)
def test_a_loop_that_raises_on_the_way_is_the_reason(
    exercise: str, gradient: str, code: str, runner: Runner
) -> None:
    cells = [AnswerCell(*cell) for cell in read_cells(answer_with(exercise, gradient, code))]
    verdicts, _ = grade_exercise(BY_PREFIX[exercise], cells, runner)
    (found,) = (one for one in verdicts if one.name == gradient)
    assert found.outcome is Outcome.ERROR
    assert found.note.startswith("This line raised ")
    assert "in range(n)" not in found.code
    assert ("via_raw[i]" in found.code) or ("rows.append" in found.code)


def test_a_right_value_behind_a_loop_that_raises_passes_and_says_so(runner: Runner) -> None:
    loop = "total = 0\nfor i in range(n + 1):\n    total = total - dbndiff[i]"
    source = answer_with("ex1", "dhprebn", f"{loop}\ndhprebn = dbndiff + total / n")
    cells = [AnswerCell(*cell) for cell in read_cells(source)]
    verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    (found,) = (one for one in verdicts if one.name == "dhprebn")
    assert found.outcome is Outcome.PASS
    assert found.note.startswith("The value is right, but a line that it needs raises: This line")


def test_a_mask_is_no_number(runner: Runner) -> None:
    mask = "mask = Yb[:, None] == torch.arange(vocab_size)"
    code = f"{mask}\ndlogits = (F.softmax(logits, 1) - mask) / n"
    cells = [AnswerCell(*cell) for cell in read_cells(answer_with("ex2", "dlogits", code))]
    (found,), _ = grade_exercise(BY_PREFIX["ex2"], cells, runner)
    assert found.note.endswith(
        "A mask holds True and False; `.float()` makes ones and zeros of it."
    )
    assert not found.diagnosis


@pytest.mark.parametrize(
    "code",
    [
        "dhprebn = bngain * xhat / n * (n * dhpreact - dbnbias - n / (n - 1) * xhat * dbngain)",
        "dhprebn = xhat * (dxhat - dxhat.mean(0) - xhat * (dxhat * xhat).mean(0))",
        "dhprebn = (var + 1e-5) ** -0.5 / n * (n * dxhat - dbnbias - n / (n - 1) * xhat * dbngain)",
        "n = n_hidden\ndhprebn = dxhat * (var + 1e-5) ** -0.5 + dmu / n + dvar / n",
    ],
)
def test_a_fused_formula_needs_none_of_what_arrives_in_steps(code: str, runner: Runner) -> None:
    judged = judge_one("ex3", answer_with("ex3", "dhprebn", code), runner)
    said = " ".join(one.message for one in judged)
    for untrue in ("belong to another", "is not used", "wrong order"):
        assert untrue not in said


def test_an_upstream_that_a_loop_overwrites_is_to_blame(runner: Runner) -> None:
    loop = "dC = torch.zeros_like(C)\nfor i in range(n):\n    dembcat = 0\n    dC[Xb[i]] += demb[i]"
    judged = judge_one("ex1", answer_with("ex1", "dC", loop), runner)
    said = {one.name: one.message for one in judged}
    assert said["dembcat"] == "This line puts `0` in the place of what was in `dembcat`."


def test_a_line_by_which_another_gradient_is_right_is_not_to_blame(runner: Runner) -> None:
    source = "both = torch.cat([embcat, torch.ones(n, 1)], 1).T @ dhprebn\ndW1 = both[1:]"
    answer = re.sub(r"(?m)^db1 = .*$", "db1 = both[-1]", answer_with("ex1", "dW1", source))
    said = {one.name: one.message for one in judge_one("ex1", answer, runner)}
    assert said["dW1"] == "`both[1:]` cuts off the wrong end."
    assert not said.get("db1")


def blamed(exercise: str, gradient: str, code: str, runner: Runner) -> dict[str, str]:
    """What is said of each gradient that is to blame, with `code` for one of them."""
    judged = judge_one(exercise, answer_with(exercise, gradient, code), runner)
    return {one.name: one.message for one in judged if one.outcome in BLAMED}


FUSED = "dhprebn = bngain * bnvar_inv / n * ({})"


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (
            FUSED.format("n * dhpreact - dbnbias - bnraw * dbngain"),
            "What comes to `dhprebn` through `bnvar` is 0.96875 ((n - 1)/n) times what it should"
            " be.",
        ),
        (
            "dhprebn = bngain * bnvar / n"
            " * (n * dhpreact - dbnbias - n / (n - 1) * bnraw * dbngain)",
            "`bnvar` is not the tensor that belongs here.",
        ),
    ],
)
def test_a_fused_line_below_another_wrong_line_that_it_reads(
    formula: str, message: str, runner: Runner
) -> None:
    wrong = "dbngain = (dh * bnraw).sum(0, keepdim=True)"
    answer = re.sub(r"(?m)^dhprebn = .*$", formula, answer_with("ex4", "dbngain", wrong))
    assert formula in answer
    said = {one.name: one.message for one in judge_one("ex4", answer, runner)}
    assert said["dbngain"] == "`dh` is not the gradient that arrives here."
    assert said["dhprebn"] == message


@pytest.mark.parametrize(("share", "outcome"), [("n / (n - 1) * ", "carried"), ("", "fail")])
def test_what_arrives_as_a_value_is_what_the_others_are_made_from(
    share: str, outcome: str, runner: Runner
) -> None:
    wrong = "dbngain = (dhpreact * hprebn).sum(0, keepdim=True)"
    formula = (
        "dhprebn = bngain * (var + 1e-5) ** -0.5 / n"
        f" * (n * dhpreact - dbnbias - {share}xhat * dbngain)\n"
    )
    # It is the last statement.
    answer = answer_with("ex3", "dbngain", wrong).partition("dhprebn = ")[0] + formula
    judged = {one.name: one for one in judge_one("ex3", answer, runner)}
    assert judged["dbngain"].message == "`hprebn` is not the tensor that belongs here."
    assert judged["dhprebn"].outcome == outcome
    said = "What comes to `dhprebn` through `var` is 0.96875 ((n - 1)/n) times what it should be."
    assert judged["dhprebn"].message == ("" if share else said)


def test_a_size_that_stands_in_two_places_is_no_further_factor(runner: Runner) -> None:
    formula = (
        "dhprebn = bngain * (var + 1e-5) ** -0.5 / n_hidden"
        " * (n_hidden * dhpreact - dbnbias - n / (n - 1) * xhat * dbngain)"
    )
    assert blamed("ex3", "dhprebn", formula, runner) == {
        "dhprebn": "`n_hidden` is not the size that belongs here."
    }


def test_a_fused_formula_of_another_upstream_throughout(runner: Runner) -> None:
    formula = "n * dh - dh.sum(0) - n / (n - 1) * bnraw * (dh * bnraw).sum(0)"
    assert blamed("ex4", "dhprebn", FUSED.format(formula), runner) == {
        "dhprebn": "`dh` is not the gradient that arrives here."
    }


UNPACKED = (
    "both = torch.cat([torch.ones(n, 1), embcat], 1).T @ dhprebn\ndb1, dW1 = both[0], both[1:]\n"
)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("db1 = dhpreact.sum(0)", "`dhpreact` is not the gradient that arrives here."),
        ("db1 = dhprebn.sum(1)", "`1` is not the axis that belongs here."),
        ("db1 = both[-1]", "`-1` is not the index that belongs here."),
        ("db1 = 0", "This line puts `0` in the place of what was in `db1`."),
        ("db1 = both[:1]", "This line puts another value in the place of a right `db1`."),
    ],
)
def test_a_line_below_one_that_had_unpacked_the_gradient(
    code: str, message: str, runner: Runner
) -> None:
    judged = judge_one("ex1", answer_with("ex1", "db1", UNPACKED + code), runner)
    assert [one.message for one in judged if one.outcome in BLAMED] == [message]


@pytest.mark.parametrize(
    ("gradient", "code", "term"),
    [
        ("dprobs", "dprobs = dlogprobs / probs + 1e-7", "1e-7"),
        ("dcounts", "dcounts = counts_sum_inv * dprobs + dcounts_sum - 1e-7", "1e-7"),
        ("dbnvar", "dbnvar = -0.5 * bnvar_inv**3 * dbnvar_inv + 1e-5", "1e-5"),
        ("dbndiff", "dbndiff = dbnraw * bnvar_inv + 1e-5 + 2 * bndiff * dbndiff2", "1e-5"),
    ],
)
def test_a_line_that_is_almost_right_is_to_blame_for_what_comes_of_it(
    gradient: str, code: str, term: str, runner: Runner
) -> None:
    assert blamed("ex1", gradient, code, runner) == {gradient: f"`{term}` is a term too many."}


@pytest.mark.parametrize(
    ("gradient", "code", "changed"),
    [
        ("dcounts", "dprobs *= counts_sum_inv\ndcounts = dprobs + dcounts_sum", "dprobs"),
        (
            "dbndiff",
            "dbnraw *= bnvar_inv\ndbndiff = dbnraw + 2 * bndiff * dbndiff2",
            "dbnraw",
        ),
    ],
)
def test_a_gradient_that_becomes_a_term_of_another_in_place(
    gradient: str, code: str, changed: str, runner: Runner
) -> None:
    assert blamed("ex1", gradient, code, runner) == {
        changed: f"`{changed}` is right when it is assigned; this line changes it."
    }


def test_a_name_that_another_cell_has_for_its_gradient_is_not_for_a_part(runner: Runner) -> None:
    source = (
        "dbndiff1 = dbnraw * bnvar_inv\ndbndiff2 = 2 * bndiff * dbndiff2\n"
        "dbndiff = dbndiff1 + dbndiff2"
    )
    assert blamed("ex1", "dbndiff", source, runner) == {
        "dbndiff2": "`dbndiff2` is right when it is assigned; this line changes it."
    }


def test_the_line_that_raised_is_not_the_one_that_is_blamed(runner: Runner) -> None:
    source = (
        "q = F.one_hot(Yb, vocab_size)\nq *= 1 - smoothing\nq = q + smoothing / vocab_size\n"
        "dz = (F.softmax(z, 1) - q) / n"
    )
    cells = [AnswerCell(*cell) for cell in read_cells(answer_with("ex2s", "dz", source))]
    ((dz,), _) = grade_exercise(BY_PREFIX["ex2s"], cells, runner)
    assert dz.note.startswith("Line 3 raised RuntimeError: ")
    assert dz.code.startswith("q = F.one_hot(")


@pytest.mark.parametrize("other", ["...", "dprobs"])
def test_a_line_that_is_almost_right_passes_beside_what_is_wrong_or_to_do(
    other: str, runner: Runner
) -> None:
    source = answer_with("ex1", "dprobs", "dprobs = dlogprobs / (probs + 1e-9)")
    source = re.sub(r"(?m)^dcounts_sum_inv = .*$", f"dcounts_sum_inv = {other}", source)
    cells = [AnswerCell(*cell) for cell in read_cells(source)]
    verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    (dprobs,) = (one for one in verdicts if one.name == "dprobs")
    assert (dprobs.outcome, dprobs.note) == (Outcome.PASS, ALMOST)


def test_a_line_that_is_almost_right_passes_with_a_note_where_nothing_comes_of_it(
    runner: Runner,
) -> None:
    source = answer_with("ex1", "db1", "db1 = dhprebn.sum(0) + 1e-6")
    cells = [AnswerCell(*cell) for cell in read_cells(source)]
    verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    assert {one.outcome for one in verdicts} == {Outcome.PASS}
    assert [one.name for one in verdicts if one.note == ALMOST] == ["db1"]


@pytest.mark.parametrize(
    ("gradient", "code"),
    [
        ("dbndiff2", "dbndiff2 = dbnvar.expand(n, -1)\ndbndiff2 /= n - 1"),
        ("dhpreact", "dhpreact = dh * (1 - h ^ 2)"),
        ("dlogprobs", "dlogprobs = -(torch.arange(vocab_size) == Yb[:, None]) / n"),
    ],
)
def test_an_exception_that_says_all_is_not_explained(
    gradient: str, code: str, runner: Runner
) -> None:
    judged = judge_one("ex1", answer_with("ex1", gradient, code), runner)
    assert not any(one.message for one in judged)
