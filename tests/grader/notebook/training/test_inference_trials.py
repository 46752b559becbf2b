"""Calibration and logits: each known mistake is named."""

from __future__ import annotations

import pytest

from tests.grader.notebook.training.conftest import HEADS, SaidOf, changed

SENTENCES = [
    # calibration
    (
        "calibrate",
        changed("calibrate", "hprebn.var(0,", "hprebn.var(0, unbiased=False,"),
        "The variance is divided by n, and",
    ),
    ("calibrate", changed("calibrate", ".var", ".std"), "This is the standard deviation"),
    (
        "calibrate",
        changed("calibrate", "keepdim=True), hprebn.var", "keepdim=True), 1 / hprebn.std"),
        "This is the variance to the power -0.5",
    ),
    ("calibrate", changed("calibrate", "+ b1", "+ b1\nhprebn = hprebn.tanh()"), "after the tanh"),
    ("calibrate", changed("calibrate", "hprebn =", "X = X[:32]\nhprebn ="), "it uses some of them"),
    (
        "calibrate",
        changed("calibrate", "hprebn =", "X = X[torch.randint(0, len(X), (32,))]\nhprebn ="),
        "it uses some of them",
    ),
    ("calibrate", changed("calibrate", "C[X]", "C[Xtr]", "len(X)", "len(Xtr)"), "notebook's `Xtr`"),
    ("calibrate", changed("calibrate", " + b1", ""), "The mean is that without `b1`."),
    (
        "calibrate",
        changed("calibrate", ", keepdim=True", ""),
        "The mean has the shape (7,); (1, 7)",
    ),
    (
        "calibrate",
        changed("calibrate", "mean(0", "mean(1"),
        "The mean has the shape (3000,",
    ),
    (
        "calibrate",
        changed(
            "calibrate",
            "hprebn.mean(0, keepdim=True), ",
            "",
            "True)",
            "True), hprebn.mean(0, keepdim=True)",
        ),
        "Mean and variance come in the wrong order.",
    ),
    ("calibrate", changed("calibrate", "hprebn.mean(0, keepdim=True), ", ""), "should return two"),
    ("calibrate", "X = X[:1000]\n" + HEADS["calibrate"][1], "in another order"),
    (
        "calibrate",
        "parameters[2].sub_(1.0)\n" + HEADS["calibrate"][1],
        "It changes the `b1` that it is given",
    ),
    ("calibrate", changed("calibrate", "len(X)", "32"), "X has another number of rows here"),
    ("calibrate", changed("calibrate", ".view(len(X), -1)", ""), "inner sizes are 10 and 30"),
    *(
        (part, changed(part, "C[X].view(len(X), -1)", "X.float()"), "the rows of `C` that they na")
        for part in ("calibrate", "logits")
    ),
    (
        "calibrate",
        changed("calibrate", "C[X].view(len(X), -1)", "C[X].sum(1)"),
        "inner sizes are 10 and 30, and have to be equal: a window's rows of `C` stand side by si",
    ),
    (
        "calibrate",
        changed("calibrate", "C[X].view(len(X), -1)", "C[X].mean(0).view(1, -1)"),
        "There is NaN in the variance: is it that of one row",
    ),
    (
        "calibrate",
        changed("calibrate", "hprebn.mean(0, keepdim=True)", "hprebn.sum(0)[None] / 32").replace(
            "hprebn.var(0, keepdim=True)", "((hprebn - hprebn.sum(0)[None] / 32)**2).sum(0)[None]"
        ),
        "as if its sum were divided by 32 and not by 3000",
    ),
    (
        "calibrate",
        changed("calibrate", "var(0, keepdim=True)", "var(0, keepdim=True) ** 2"),
        "The variance is squared",
    ),
    (
        "calibrate",
        changed("calibrate", "hprebn.var(0, keepdim=True)", "hprebn.var(0, keepdim=True) * 149"),
        "The variance is 149 times what is due",
    ),
    (
        "calibrate",
        changed(
            "calibrate",
            "hprebn.var(0,",
            "(hprebn - hprebn.mean(0)).sum(0, keepdim=True).square().sum(0,",
        ),
        "The variance is zero: square the differences first",
    ),
    *(
        ("calibrate", changed("calibrate", right, wrong), said)
        for right, wrong, said in (
            ("hprebn.var(0, keepdim=True)", "(hprebn**2).mean(0, keepdim=True)", "mean of the sq"),
            ("hprebn.mean(0, keepdim=True)", "hprebn.median(0, keepdim=True).values", "median"),
            (".view(len(X), -1)", ".view(-1, len(X)).T", "different windows are mixed"),
            ("C[X].view", "C[X].mT.reshape", "one row of C after the other"),
        )
    ),
    (
        "calibrate",
        changed("calibrate", "var(0, keepdim=True)", "var(0, keepdim=True) + 1e-5"),
        "1e-5 is added to the variance",
    ),
    (
        "calibrate",
        changed(
            "calibrate", "hprebn.mean(0, keepdim=True)", "hprebn.sum(0) / (len(X) - 1)"
        ).replace("hprebn.sum(0)", "hprebn.sum(0, keepdim=True)"),
        "The mean is divided by n - 1",
    ),
    (
        "calibrate",
        changed("calibrate", "mean(0, keepdim", "mean(keepdim"),
        "`keepdim` goes with an axis: `mean(0, keepdim=True)`.",
    ),
    (
        "calibrate",
        changed("calibrate", "hprebn.mean(0, keepdim=True)", "hprebn.sum(0)[None] / (len(X) + 1)"),
        "as if its sum were divided by 3001 and not by 3000",
    ),
    (
        "calibrate",
        changed("calibrate", "hprebn.mean(0, keepdim=True)", "0 * hprebn[:1]"),
        "The mean is not that of `hprebn` over all of X: 0.0000",
    ),
    # logits
    ("logits", changed("logits", "- mean", "- hprebn.mean(0, keepdim=True)"), "in another batch"),
    (
        "logits",
        "variance += 1e-5\n" + HEADS["logits"][1],
        "changes the `variance` that it is given",
    ),
    (
        "logits",
        changed("logits", "W2 + b2", "W2[:, :5] + b2[:5]"),
        "They have the shape (10, 5)",
    ),
    (
        "logits",
        changed("logits", "variance +", "hprebn.var(0, keepdim=True) +"),
        "in another batch",
    ),
    ("logits", changed("logits", " + 1e-5", ""), "There is no 1e-5 beside the variance."),
    ("logits", changed("logits", "-0.5", "0.5"), "It multiplies by the root of the variance."),
    ("logits", changed("logits", "-0.5", "-1"), "It divides by the variance and not by its root."),
    ("logits", changed("logits", "torch.tanh", ""), "There is no tanh in it."),
    (
        "logits",
        changed(
            "logits",
            "return torch.tanh(bngain * bnraw + bnbias) @ W2 + b2",
            "return F.softmax(torch.tanh(bngain * bnraw + bnbias) @ W2 + b2, 1)",
        ),
        "These are prob",
    ),
    ("logits", changed("logits", "with torch.no_grad()", "if True"), "autograd takes notes"),
    ("logits", changed("logits", "C[X]", "C[Xtr]", "len(X)", "9"), "It uses the notebook's `Xtr`"),
    ("logits", changed("logits", "no_grad()", "no_grad"), "with brackets: `with torch.no_grad():`"),
    ("logits", changed("logits", "bngain * ", ""), "There is no `bngain` in it."),
    ("logits", changed("logits", " + bnbias", ""), "There is no `bnbias` in it."),
    *(
        ("logits", changed("logits", right, wrong), said)
        for right, wrong, said in (
            ("- mean", "+ mean", "The mean is added"),
            ("(hprebn - mean)", "(mean - hprebn)", "not `mean - hprebn`"),
            ("(hprebn - mean)", "hprebn - mean", "`hprebn - mean` lacks its brackets"),
            ("(variance + 1e-5)", "variance + 1e-5", "`variance + 1e-5` lacks its brackets"),
            ("1e-5", "1e-3", "It is not 1e-5"),
            ("variance +", "variance ** 2 +", "The variance is squared"),
            ("torch.tanh", "torch.relu", "It has a ReLU"),
            ("C[X].view", "C[X].mT.reshape", "one row of C after the other"),
            ("bngain * bnraw + bnbias", "bngain * (bnraw + bnbias)", "`bnbias` is multiplied by"),
            ("bngain * bnraw + bnbias", "bnbias * bnraw + bngain", "are mixed up"),
            ("bngain * bnraw + bnbias", "bnraw", "There is no `bngain` and no `bnbias` in it."),
            (" * (variance + 1e-5) ** -0.5", "", "It does not divide by the root"),
            ("- mean", "- mean.mean()", "It subtracts the mean of all units"),
            ("variance +", "variance.mean() +", "all units' mean variance"),
            (
                "(hprebn - mean) * (variance",
                "(hprebn - hprebn.mean(0)) * (hprebn.var(0)",
                "Mean and variance are the batch's own, and not what it is given: the same window",
            ),
            ("(variance + 1e-5) ** -0.5", "(mean + 1e-5) ** -0.5", "There is NaN in them"),
        )
    ),
    ("logits", changed("logits", " + b1", "", " + b2", ""), "There is no `b1` and no `b2` in it."),
    ("logits", changed("logits", " - mean", ""), "The mean is not subtracted."),
    ("logits", changed("logits", "W2 + b2", "(W2 + b2)"), "the first is "),
    (
        "logits",
        changed("logits", "bngain * bnraw + bnbias", "hprebn"),
        "There is no batch normalisation in it.",
    ),
    (
        "logits",
        changed("logits", "bngain * bnraw", "bngain * hprebn"),
        "Neither mean nor variance is in it",
    ),
]


@pytest.mark.parametrize(("part", "body", "sentence"), SENTENCES)
def test_a_mistake_is_named(part: str, body: str, sentence: str, said_of: SaidOf) -> None:
    assert sentence in said_of(part, body)
