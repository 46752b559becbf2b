"""The backward pass of the deeper network: each known mistake is named."""

from __future__ import annotations

import pytest

from tests.grader.notebook.training.conftest import SaidOf, changed

SENTENCES = [
    ("deep_backward", changed("deep_backward", "return loss", "return loss.item()"), "`.item()`"),
    ("deep_backward", changed("deep_backward", "return loss, (", "return ("), "return two things"),
    (
        "deep_backward",
        changed("deep_backward", ", dW3, db3)", ")"),
        "It returns 7 gradients, and there are 9 parameters: dC, dW1,",
    ),
    *(
        ("deep_backward", changed("deep_backward", *changes), sentence)
        for *changes, sentence in (
            (" / n\ndW2", "\ndW2", "`dlogits` is n times what is due"),
            (" / n\ndW2", " / n**2\ndW2", "`dlogits` is divided by n twice."),
            ("- F.one", "+ F.one", "In `dlogits` the 1 at the right characters is added"),
            ("- F.one_hot(Yb, 27)", "", "`dlogits` is the softmax alone"),
            ("dlogits = (", "dlogits = -(", "The sign of `dlogits` is wrong"),
            ("softmax(logits, 1)", "softmax(logits, 0)", "The softmax in `dlogits` runs over"),
            ("(1 - h2**2) * ", "", "The slope of the tanh that makes `h2` is missing."),
            ("(1 - h**2) * ", "", "The slope of the tanh that makes `h` is missing."),
            ("(1 - h2**2)", "(1 - h2)", "the tanh that makes `h2` lacks its square."),
            ("(1 - h**2)", "h**2", "the tanh that makes `h` is the square alone"),
            ("(1 - h**2)", "(1 + h**2)", "the tanh that makes `h` has a plus for the minus"),
            ("h2**2", "(h @ W3 + b3) ** 2", "at its output, squared: not at `hpreact2`."),
            ("dlogits.sum", "dlogits.mean", "`db2` is divided by n once more"),
            ("h.T @ dhpreact2", "h.T @ dhpreact2 / n", "`dW3` is divided by n once more"),
            ("dhpreact2.sum(0)", "dhpreact2.mean(0)", "`db3` is divided by n once more"),
            ("dhpreact2 @ W3.T", "dlogits @ W2.T @ W3.T", "`dh` is made of `dhpreact2`, not"),
            (
                "/ n * (n * dhpreact - dbnbias - n / (n - 1) * bnraw * dbngain)",
                "* dhpreact",
                "through the mean and through the variance is missing.",
            ),
            (" - dbnbias", "", "The part of `dhprebn` that comes through the mean is missing."),
            (
                "n / (n - 1) * bnraw",
                "0",
                "The part of `dhprebn` that comes through the variance is",
            ),
            ("n / (n - 1) * ", "", "`dhprebn` lacks n / (n - 1): Bessel's correction."),
            ("bngain * bnvar_inv", "bnvar_inv", "There is no `bngain` in `dhprebn`."),
            ("bngain * bnvar_inv", "bngain", "There is no `bnvar_inv` in `dhprebn`."),
            ("bnvar_inv / n", "bnvar_inv", "`dhprebn` is n times what is due"),
            ("view(emb.shape)", "reshape(n, 10, 3).mT.contiguous()", "`demb` are in another order"),
            (
                "dC = torch.zeros(27, 10).index_add_(0, Xb.view(-1), demb.view(-1, 10))",
                "dC = torch.zeros(27, 10)\ndC[Xb] += demb",
                "`dC` has the last contribution only: they add.",
            ),
        )
    ),
    (  # the layers below may have a mistake of their own
        "deep_backward",
        changed(
            "deep_backward", " / n\ndW2", "\ndW2", "demb.view(-1, 10)", "0 * demb.view(-1, 10)"
        ),
        "`dlogits` is n times what is due",
    ),
    (  # of one gradient alone it is said only if all beside it are as they would be
        "deep_backward",
        changed("deep_backward", "h2.T @ dlogits", "n * h2.T @ dlogits"),
        "dW2 is the first that is not autograd's, from the loss down",
    ),
    (
        "deep_backward",
        changed("deep_backward", "(dlogits @ W2.T)", "(dlogits @ W2.T) ** 2"),
        "dW2 and db2 are right. dW3 and db3 are the first that are not autograd's, from the loss"
        " down: look first at `dhpreact2`, which they are made of.",
    ),
    (
        "deep_backward",
        changed("deep_backward", "dhpreact2 @ W3.T", "(dhpreact2 @ W3.T) ** 2"),
        "dbngain and dbnbias are the first that are not autograd's, from the loss down: look first",
    ),
    (
        "deep_backward",
        changed("deep_backward", "h.T @ dhpreact2", "h2.T @ dhpreact2"),
        "dW3 has the shape (5, 5), but W3 has (7, 5) here. `W3` reads `h`, not `h2`.",
    ),
    (
        "deep_backward",
        changed("deep_backward", "h2.T @ dlogits", "h.T @ dlogits"),
        "dW2 has the shape (7, 27), but W2 has (5, 27) here. `W2` reads `h2`, not `h`.",
    ),
    (
        "deep_backward",
        changed("deep_backward", "h.T @ dhpreact2", "W2.T @ dhpreact2"),
        "9 examples. `W3`, from `h` to `h2`, is 7 by 5; `W2`, from `h2` to the logits, is 5 by 27.",
    ),
    (
        "deep_backward",
        changed("deep_backward", "W3, db3)", "W3.T, db3)"),
        "dW3 has the shape (5, 7), but W3 has (7, 5) here.",
    ),
    (
        "deep_backward",
        changed("deep_backward", "dW2, db2, dW3, db3)", "dW3, db3, dW2, db2)"),
        "What it returns for dW2 is dW3: are two lines mixed up, or the order of the gradients?",
    ),
    (
        "deep_backward",
        changed("deep_backward", "dbngain, dbnbias,", "dbnbias, dbngain,"),
        "What it returns for dbngain is dbnbias: are two lines mixed up",
    ),
    (
        "deep_backward",
        changed(
            "deep_backward", "dbnbias = dhpreact.sum(0, keepdim=True)", "dbnbias = dhpreact.sum(0)"
        ),
        "dbnbias has the shape (7,), but bnbias has (1, 7) here. Is there a `keepdim=True`?",
    ),
    (
        "deep_backward",
        changed("deep_backward", "dW3, db3)", "dW3, None)"),
        "db3 is a NoneType, not a tensor.",
    ),
    (
        "deep_backward",
        changed("deep_backward", "dC = ", "dC = 0 * "),
        "b1 are right. dC is the first",
    ),
    (
        "deep_backward",
        changed("deep_backward", "F.cross_entropy(logits", "F.cross_entropy(2 * logits"),
        "this is not the loss",
    ),
]


@pytest.mark.parametrize(("part", "body", "sentence"), SENTENCES)
def test_a_mistake_is_named(part: str, body: str, sentence: str, said_of: SaidOf) -> None:
    assert sentence in said_of(part, body)
