"""Calibration, logits and mean losses: each known mistake is named."""

from __future__ import annotations

import pytest

from tests.grader.notebook.training.conftest import HEADS, LOSS, SaidOf, changed

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
    # mean loss
    ("mean_loss", changed("mean_loss", ".item()", ""), "It returns a tensor; `.item()` makes"),
    (
        "mean_loss",
        changed("mean_loss", "X), Y", "Xtr), Ytr"),
        "It uses the notebook's `Xtr` in `ret",
    ),
    ("mean_loss", changed("mean_loss", "Y)", "Y, reduction='sum')"), "the sum over all windows"),
    (
        "mean_loss",
        f"mean, variance = calibrate(parameters, X)\n{LOSS}",
        "mean and variance of X itself, and not those that it is given",
    ),
    ("mean_loss", changed("mean_loss", "return ", "return -"), "The sign is wrong"),
    (
        "mean_loss",
        changed("mean_loss", "X), Y", "X[:32]), Y[:32]"),
        "Only the first 32 windows count.",
    ),
    ("mean_loss", changed("mean_loss", ".item()", ".item() / 0.6931472"), "This is in bits"),
    ("mean_loss", changed("mean_loss", "mean, variance", "variance, mean"), "in the wrong order"),
    ("mean_loss", "return X.float() @ parameters.W1", "`X` holds indices"),
    (
        "mean_loss",
        changed("mean_loss", "mean, variance, X)", "X, mean, variance)"),
        "`parameters, mean, variance, X`, in this order",
    ),
    *(
        ("mean_loss", code, said)
        for code, said in (
            (f"X, Y = X[:100], Y[:100]\n{LOSS}", "Only the first 100 windows count."),
            (f"ix = torch.randint(150, (99,))\nX, Y = X[ix], Y[ix]\n{LOSS}", "every time"),
            (f"{LOSS} / len(X)", "by the number of windows twice"),
            (
                "logits = logits_with(parameters, mean, variance, X)\n"
                "pairs = zip(logits.split(32), Y.split(32))\n"
                "losses = [F.cross_entropy(*pair).item() for pair in pairs]\n"
                "return sum(losses) / len(losses)",
                "Minibatches of 32 count alike",
            ),
        )
    ),
    *(
        (
            "mean_loss",
            f"logits = logits_with(parameters, mean, variance, X)\nreturn {value}.item()",
            sentence,
        )
        for value, sentence in (
            ("-logits.softmax(1)[range(len(Y)), Y].mean().log()", "the logarithm of the mean;"),
            ("-logits.softmax(1)[range(len(Y)), Y].mean()", "There is no logarithm in it"),
            ("-logits.softmax(0)[range(len(Y)), Y].log().mean()", "runs over the windows"),
            ("-logits.softmax(1)[:, Y].log().mean()", "`[:, Y]` takes whole columns"),
            ("-logits.softmax(1).log().mean()", "the mean over all characters"),
            ("-logits[range(len(Y)), Y].mean()", "There is no softmax in it"),
            ("F.cross_entropy(logits.softmax(1), Y)", "The softmax is taken twice"),
            ("F.cross_entropy(logits, Y).exp()", "This is e to the power of the loss"),
        )
    ),
    *(
        (
            "mean_loss",
            "logits = logits_with(parameters, mean, variance, X)\n"
            f"pairs = zip(logits.split({size}), Y.split({size}))\n"
            "losses = [F.cross_entropy(*pair).item() for pair in pairs]\n"
            "return sum(losses) / len(losses)",
            said,
        )
        for size, said in (
            *((many, f"Minibatches of {many} count alike") for many in (128, 512, 1000, 1024)),
            (1234, "Of 3,001 windows it gives"),
        )
    ),
    *(
        (
            "mean_loss",
            f"logits = logits_with(parameters, mean, variance, X)\nreturn {value}.item()",
            sentence,
        )
        for value, sentence in (
            ("-logits.softmax(1)[range(len(Y)), Y].log10().mean()", "to the base of 10"),
            ("(logits.argmax(1) == Y).float().mean()", "likeliest character is right"),
            ("-logits.log_softmax(1)[range(len(Y)), Y].median()", "This is the median"),
            ("-(logits.softmax(1) * logits.log_softmax(1)).sum(1).mean()", "This is the entropy"),
            (
                "-(logits.exp() / logits.exp().sum())[range(len(Y)), Y].log().mean()",
                "The softmax runs over all numbers at once",
            ),
            ("F.cross_entropy(logits, F.one_hot(Y, 27))", "wants the logits, a row a window"),
            ("F.cross_entropy(logits.T, Y)", "Each window is a row of the logits"),
            ("torch.tensor(math.log(logits.softmax(1)))", "its own `.sqrt()` and `.log()`."),
            ("F.cross_entropy(logits[:1000], Y[:1000])", "Only the first 1000 windows count."),
            ("(logits.argmax(1) != Y).float().mean()", "likeliest character is wrong"),
        )
    ),
]


@pytest.mark.parametrize(("part", "body", "sentence"), SENTENCES)
def test_a_mistake_is_named(part: str, body: str, sentence: str, said_of: SaidOf) -> None:
    assert sentence in said_of(part, body)
