"""Sampling: each known mistake is named."""

from __future__ import annotations

import pytest

from tests.grader.notebook.training.conftest import NAME, SaidOf, changed

SENTENCES = [
    (
        "sample_name",
        changed("sample_name", "if ix == 0", "if ix == 0 and name"),
        "Where the first character is the dot",
    ),
    (
        "sample_name",
        changed("sample_name", "    window = window[1:] + [ix]\n", ""),
        "with the first window again: shift each new",
    ),
    (
        "sample_name",
        changed("sample_name", "while True:", "while True:\n    window = [0] * block_size"),
        "and begin with zeros once, before the loop.",
    ),
    (
        "sample_name",
        changed("sample_name", "predict(window)", "predict(*window)"),
        "predict() takes 1 positional argument but 3 were given. `predict` takes the window as it",
    ),
    *(
        (
            "sample_name",
            changed("sample_name", *changes),
            "Characters are not drawn with the right probabilities: these are the softmax",
        )
        for changes in (
            ("torch.multinomial(probs, 1,", "torch.randint(0, 27, (1,),"),
            ("predict(window), 1)", "predict(window), 0)"),
        )
    ),
    (
        "sample_name",
        changed("sample_name", "window[1:] + [ix]", "[ix] + window[:-1]"),
        "on the left",
    ),
    (
        "sample_name",
        changed("sample_name", "window[1:] + [ix]", "window + [ix]"),
        "has 4 characters",
    ),
    (
        "sample_name",
        changed("sample_name", "[0] * block_size", "[1] * block_size"),
        "It begins with",
    ),
    (
        "sample_name",
        changed("sample_name", "torch.multinomial(probs, 1, generator=g)", "probs.argmax()"),
        "It always takes the likeliest character",
    ),
    ("sample_name", changed("sample_name", ", generator=g", ""), "The same seed gives other names"),
    (
        "sample_name",
        changed("sample_name", "[0] * block_size", "[0, 0, 0]"),
        "Where `block_size` is 4, it begins with 3",
    ),
    ("sample_name", changed("sample_name", "ix == 0", "ix == 99"), "The name never ends"),
    (
        "sample_name",
        changed("sample_name", "while True", "logits = predict(window)\nwhile True").replace(
            "softmax(predict(window)", "softmax(logits"
        ),
        "ask anew for every character, inside the loop.",
    ),
    (
        "sample_name",
        changed(
            "sample_name",
            "    name += itos[ix]\n",
            "",
            "    if ix",
            "    name += itos[ix]\n    if ix",
        ),
        "The dot ends the name; it is no part of it.",
    ),
    (
        "sample_name",
        changed("sample_name", "F.softmax(predict(window), 1)", "(predict(window) > -9).float()"),
        "Characters are not drawn with the right",
    ),
    (
        "sample_name",
        changed("sample_name", "F.softmax(predict(window), 1)", "predict(window)"),
        "These are no probabilities yet",
    ),
    ("sample_name", changed("sample_name", '"", [0]', "[], [0]"), "and it returns ['e'"),
    (
        "sample_name",
        changed("sample_name", "return name", "return list(name)"),
        "and it returns ['e'",
    ),
    (
        "sample_name",
        changed(
            "sample_name",
            "    if ix == 0:\n        break\n",
            "",
            "    window =",
            "    break\n    window =",
        ),
        "It stops after one character.",
    ),
    (
        "sample_name",
        changed("sample_name", "while True:", "for _ in range(10):"),
        "It ends a name after 10 characters",
    ),
    (
        "sample_name",
        changed("sample_name", "generator=g).item()", "generator=g)"),
        "A dictionary finds numbers, not tensors",
    ),
    *(
        ("sample_name", changed("sample_name", right, wrong), said)
        for right, wrong, said in (
            ("name += itos[ix]", "name = itos[ix]", "the last character alone"),
            ("name += itos[ix]", "name = itos[ix] + name", "back to front"),
            ("while True", "for _ in range(3)", "It ends a name after 3 characters"),
            ("if ix == 0", "if itos[ix] == 0", "The name never ends"),
        )
    ),
    *(
        ("sample_name", f"{seeded}\n{NAME}", "It makes the same name every time")
        for seeded in ("g.manual_seed(3)", "g = torch.Generator().manual_seed(3)")
    ),
    (
        "sample_name",
        changed("sample_name", "generator=g", "generator=torch.Generator().manual_seed(3)"),
        "made or seeded inside begins anew at every character",
    ),
]


@pytest.mark.parametrize(("part", "body", "sentence"), SENTENCES)
def test_a_mistake_is_named(part: str, body: str, sentence: str, said_of: SaidOf) -> None:
    assert sentence in said_of(part, body)
