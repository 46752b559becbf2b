"""Steps and learning rates: each known mistake is named."""

from __future__ import annotations

import pytest

from tests.grader.notebook.training.conftest import SaidOf, changed

SENTENCES = [
    # update
    (
        "update",
        changed("update", "p -= learning_rate * dp", "p = p - learning_rate * dp"),
        "No par",
    ),
    ("update", "return [p - learning_rate * d for p, d in zip(parameters, gradients)]", "No par"),
    ("update", changed("update", "-=", "+="), "uphill"),
    ("update", changed("update", "learning_rate * ", ""), "The learning rate makes no difference"),
    (
        "update",
        changed("update", "p -= learning_rate * dp", "p -= float('nan') * dp"),
        "moves by nan.",
    ),
    ("update", changed("update", "zip(parameters", "zip(parameters[:3]"), "bngain, bnbias, W2 and"),
    ("update", changed("update", "* dp", "* dp / 32"), "It divides by 32: the loss is a mean"),
    ("update", changed("update", "* dp", "* dp.mean()"), "by the mean of its gradient; each"),
    (
        "update",
        "for p in parameters:\n    for dp in gradients: p -= learning_rate * dp",
        "Each parameter goes with its own gradient, as it is",
    ),
    (
        "update",
        changed("update", "p -= learning_rate * dp", "p -= learning_rate; p *= dp"),
        "multiply the two first, then subtract.",
    ),
    ("update", changed("update", "p -=", "dp *= 2\n    p -="), "It changes the gradients."),
    (
        "update",
        changed("update", "zip(parameters", "zip(run.parameters"),
        "notebook's `run` in `for",
    ),
    ("update", "for p in parameters: p -= learning_rate * p.grad", "a `.grad` is None"),
    ("update", "parameters -= learning_rate * gradients", "That is several tensors"),
    (
        "update",
        "for p, dp in parameters, gradients: p -= learning_rate * dp",
        "`zip(x, y)` goes through both",
    ),
    (
        "update",
        "for i, dp in enumerate(gradients): parameters[i] = parameters[i] - dp",
        "The entries of a tuple cannot be replaced",
    ),
    ("update", changed("update", "learning_rate * dp", "0.1 * dp"), "It steps by 0.1"),
    ("update", changed("update", "learning_rate * dp", "dp / learning_rate"), "It divides by the"),
    ("update", changed("update", "rate * dp", "rate + dp"), "It adds the learning rate"),
    ("update", changed("update", "rate * dp", "rate * p"), "by its own value"),
    (
        "update",
        changed("update", "p -= learning_rate * dp", "p *= 1 - learning_rate * dp"),
        "It multiplies each parameter by its step",
    ),
    *(
        ("update", changed("update", "rate * dp", f"rate{wrong}"), said)
        for wrong, said in (
            (" * dp / len(parameters)", "by the number of parameters"),
            (" ** dp", "`**` is a power"),
            (" * dp.sign()", "the sign of the gradient only"),
            (" * dp.abs()", "the size of the gradient only"),
            (" * dp ** 2", "It goes by the square"),
            (" * dp / dp.norm()", "by its length"),
            (" * dp * p", "It multiplies each parameter by its step"),
        )
    ),
    ("update", "torch.add(parameters[0], gradients[0], learning_rate)", "by name, `alpha=...`."),
    # learning rate
    ("learning_rate", "return 0.1", "It is still 0.1 at step 199,999: it never falls."),
    ("learning_rate", "return 0.1 if step <= 100_000 else 0.01", "at step 100,001, and not at 100"),
    *(
        ("learning_rate", f"return 0.1 if step < {step} else 0.01", f"{falls}, and not at 100,000.")
        for step, falls in (
            ("10_000", "It falls at step 10,000"),
            ("100.000", "It falls at step 100"),
            ("150_000", "It falls at step 150,000"),
        )
    ),
    (
        "learning_rate",
        "return 0.1 if step < 99_999 else 0.01",
        "100,000. (The first step has the number 0.)",
    ),
    ("learning_rate", "return 0.1 if step < 9 else 0.05", "At step 50,000 it gives 0.05; 0.1 is"),
    *(
        ("learning_rate", f"return 0.1 * {factor}", f"{given}; 0.1 is due. It falls all the time")
        for factor, given in (
            ("0.1 ** (step / 100_000)", "At step 50,000 it gives 0.03162"),
            ("(1 - step / 200_000)", "At step 50,000 it gives 0.075"),
            ("0.999 ** step", "At step 1 it gives 0.0999"),
        )
    ),
    ("learning_rate", "return 0.01 if step < 100_000 else 0.1", "At step 0 it gives 0.01; 0.1 is"),
    ("learning_rate", "return 0.1 if step < 100_000 else 0.001", "gives 0.001; 0.01 is due."),
    ("learning_rate", "return 0.1 if step != 100_000 else 0.01", "0.1 again."),
    ("learning_rate", "if step > 100_000: return 0.01", "At step 0 it gives None; 0.1 is due."),
    ("learning_rate", "0.1 if step < 100_000 else 0.01", "Is there a `return`?"),
]


@pytest.mark.parametrize(("part", "body", "sentence"), SENTENCES)
def test_a_mistake_is_named(part: str, body: str, sentence: str, said_of: SaidOf) -> None:
    assert sentence in said_of(part, body)
