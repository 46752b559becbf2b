"""Mean losses: each known mistake is named."""

from __future__ import annotations

import pytest

from tests.grader.notebook.training.conftest import LOSS, SaidOf, changed

SENTENCES = [
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
