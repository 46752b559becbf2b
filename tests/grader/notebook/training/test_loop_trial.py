"""Loops: each known mistake is named."""

from __future__ import annotations

import pytest

from tests.grader.notebook.training.conftest import LOOP, SaidOf, changed

SENTENCES = [
    (
        "loop",
        """
ix = torch.randint(0, len(X), (32,), generator=run.generator)
while run.step < until:
    loss, gradients = backward(X[ix], Y[ix], *run.parameters)
    update(run.parameters, gradients, learning_rate(run.step))
    run.losses.append(loss.item())
""",
        "Each step trains on the same minibatch",
    ),
    (
        "loop",
        """
ix = torch.randint(0, len(X), (32,), generator=run.generator)
loss, gradients = backward(X[ix], Y[ix], *run.parameters)
while run.step < until:
    update(run.parameters, gradients, learning_rate(run.step))
    run.losses.append(loss.item())
""",
        "It asks for gradients 1 time and notes 6 losses: each step needs new gradients, and",
    ),
    (
        "loop",
        LOOP + "    run.losses.append(loss.log10().item())\n",
        "It asks for gradients 3 times and notes 6 losses: each step needs new gradients, and not",
    ),
    (
        "loop",
        changed("loop", "X[ix], Y[ix], *run.parameters", ""),
        "in `loss, gradients = backward()`: backward() missing 2 required",
    ),
    (
        "loop",
        """
gradients = [torch.zeros_like(p) for p in run.parameters]
while run.step < until:
    update(run.parameters, gradients, learning_rate(run.step))
    ix = torch.randint(0, len(X), (32,), generator=run.generator)
    loss, gradients = backward(X[ix], Y[ix], *run.parameters)
    run.losses.append(loss.item())
""",
        "It updates before it asks for gradients",
    ),
    (
        "loop",
        """
while run.step < until:
    update(run.parameters, gradients, learning_rate(run.step))
    ix = torch.randint(0, len(X), (32,), generator=run.generator)
    loss, gradients = backward(X[ix], Y[ix], *run.parameters)
    run.losses.append(loss.item())
""",
        "`gradients` is used in `update(run.parameters, gradients, learning_rate(run.step))` be",
    ),
    (
        "loop",
        """
rate = learning_rate(run.step)
while run.step < until:
    ix = torch.randint(0, len(X), (32,), generator=run.generator)
    loss, gradients = backward(X[ix], Y[ix], *run.parameters)
    update(run.parameters, gradients, rate)
    run.losses.append(loss.item())
""",
        "The learning rate never falls",
    ),
    (
        "loop",
        """
rate = 0.1
while run.step < until:
    ix = torch.randint(0, len(X), (32,), generator=run.generator)
    loss, gradients = backward(X[ix], Y[ix], *run.parameters)
    update(run.parameters, gradients, rate)
    rate = learning_rate(run.step)
    run.losses.append(loss.item())
""",
        "It uses the learning rate of the step before",
    ),
    (
        "loop",
        """
while run.step < until:
    ix = torch.randint(0, len(X), (32,), generator=run.generator)
    loss, gradients = backward(X[ix], Y[ix], *run.parameters)
    run.losses.append(loss.item())
    update(run.parameters, gradients, learning_rate(run.step))
""",
        "It uses the learning rate of the next step",
    ),
    (
        "loop",
        changed("loop", "    run.losses.append(loss.item())\n", ""),
        "`run.losses` does not grow. Its length is `run.step`, the number of steps done: append",
    ),
    (
        "loop",
        changed(
            "loop",
            "while run.step < until",
            "for step in range(until)",
            "    run.losses.append(loss.item())\n",
            "",
        ),
        "`run.losses` does not grow. Its length is `run.step`, the number of steps done: append",
    ),
    (
        "loop",
        changed(
            "loop",
            "while run.step < until",
            "for step in range(until)",
            "    run.losses",
            "    if step % 100 == 0:\n        run.losses",
        ),
        "It notes 3 losses in 300 steps: note that of each.",
    ),
    (
        "loop",
        changed("loop", "run.losses.append(loss.item())", "run.losses = [loss.item()]"),
        "`run.losses` does not grow. Its length is `run.step`, the number of steps done",
    ),
    ("loop", changed("loop", "run.step < until", "True"), "It goes on past `until`, which counts"),
    (
        "loop",
        changed("loop", "while run.step < until", "for _ in range(until)"),
        "take steps while `run.step < until`",
    ),
    (
        "loop",
        changed("loop", "run.step < until", "run.step <= until"),
        "It asks for gradients 7 times and notes 7",
    ),
    ("loop", changed("loop", "while run.step < until", "for _ in range(6)"), "it takes one more"),
    ("loop", changed("loop", ".item()", ""), "`run.losses` gets tensors"),
    ("loop", changed("loop", "generator=run.generator", ""), "not drawn with `run.generator`"),
    ("loop", changed("loop", "(32,)", "(64,)"), "A minibatch has the shapes (64, 3) and (64,)"),
    ("loop", changed("loop", "len(X), (32", "32, (32"), "come from the first rows alone"),
    ("loop", changed("loop", "Y[ix]", "Y[torch.arange(32)]"), "come from different rows"),
    (
        "loop",
        changed("loop", "X[ix], Y[ix]", "Xtr[ix], Ytr[ix]"),
        "It uses the notebook's `Xtr` in",
    ),
    (
        "loop",
        changed("loop", "update(run.parameters", "update(map(torch.clone, run.parameters)"),
        "do not move",
    ),
    (
        "loop",
        changed("loop", "    update(run.parameters, gradients, rate)\n", ""),
        "do not move. Is `update` called",
    ),
    ("loop", changed("loop", "0, len(X)", "0, len(X) - 1"), "The last row is never drawn"),
    ("loop", changed("loop", "0, len(X)", "1, len(X)"), "The first row is never drawn"),
    ("loop", changed("loop", "0, len(X)", "0, len(X) + 1"), "`randint` leaves its upper limit"),
    (
        "loop",
        changed("loop", "run.parameters, gradients, rate", "gradients, run.parameters, rate"),
        "`update` takes the parameters first.",
    ),
    (
        "loop",
        changed("loop", "rate(run.step)", "rate(until - run.step)"),
        "The learning rate never falls: ask at every step for that of `run.step`.",
    ),
    ("loop", changed("loop", "rate(run.step)", "rate(until)"), "ask for that of `run.step`."),
    (
        "loop",
        changed("loop", "gradients, rate)", "gradients, run.step)"),
        "number of the step, not",
    ),
    ("loop", changed("loop", "rate(run.step)", "rate(run)"), "wants the number of the step"),
    ("loop", changed("loop", "rate(run.step)", "rate", ", rate)", ", -rate)"), "call it, to have"),
    ("loop", changed("loop", ", gradients, rate", ", *gradients, rate"), "takes three things"),
    ("loop", changed("loop", "*run.parameters", "*run"), "of a run are `run.parameters`"),
    ("loop", changed("loop", "randint(0, len(X)", "rand(len(X)"), "`torch.randint` draws them"),
    ("loop", changed("loop", "X[ix]", "X[ix / 2]"), "`torch.randint` draws them"),
    *(
        ("loop", changed("loop", "loss, gradients =", f"{names} ="), "`backward` returns two thi")
        for names in ("loss, *gradients", "gradients = loss, _")
    ),
    (
        "loop",
        changed("loop", "loss.item()", "round(loss.item(), 3)"),
        "The losses are rounded",
    ),
    ("loop", changed("loop", "run.losses.append(", "run.losses += ("), "`append` adds a number"),
    (
        "loop",
        changed("loop", "loss, gradients =", "gradients, loss ="),
        "`backward` returns the loss first",
    ),
    ("loop", changed("loop", "gradients, rate)", "gradients, learning_rate)"), "call it, to have"),
    ("loop", changed("loop", "(32,)", "32"), "then a shape, such as `(32,)`"),
    ("loop", changed("loop", "    run.losses", "    run.step += 1\n    run.losses"), "by itself"),
    (
        "loop",
        changed("loop", "loss, gradients = backward", "loss, dC, dW1, db1 = backward"),
        "`backward` returns two things, `loss, gradients = backward(...)`",
    ),
    (
        "loop",
        changed(
            "loop",
            "loss, gradients = backward(X[ix], Y[ix], *run.parameters)",
            "loss = backward(X[ix], Y[ix], *run.parameters)\n    gradients = loss[1]",
        ),
        "`backward` returns two things: `loss, gradients",
    ),
    (
        "loop",
        changed("loop", "    run.losses.append", "    run.losses = run.losses.append"),
        "`append` changes the list, and returns nothing",
    ),
    ("loop", changed("loop", "*run.parameters", "run.parameters"), "`*run.parameters` takes the"),
    ("loop", changed("loop", "(32,)", "(32, 1)"), "the shapes (32, 1, 3) and (32, 1); (32, 3)"),
    (
        "loop",
        changed("loop", "while run.step", "if run.step"),
        "It asks for gradients 1 time and notes 1 loss ",
    ),
    (
        "loop",
        changed("loop", "update(run", "update(run.parameters, gradients, rate)\n    update(run"),
        "Every step is taken twice",
    ),
    *(
        (
            "loop",
            changed("loop", "    ix =", f"    run.generator.manual_seed({seed})\n    ix ="),
            said,
        )
        for seed, said in (
            ("run.step", "do not depend on where `run.generator` stands"),
            ("1", "Each step trains on the same minibatch"),
        )
    ),
    (
        "loop",
        changed("loop", "X[ix], Y[ix], *run.parameters", "*run.parameters, X[ix], Y[ix]"),
        "`backward` wants the minibatch first",
    ),
    *(
        (
            "loop",
            changed("loop", "X[ix], Y[ix], *run.parameters", arguments),
            "`backward` wants the minibatch first, then the parameters",
        )
        for arguments in (
            "X[ix], *run.parameters, Y[ix]",
            "X[ix], Y[ix], *run.parameters[::-1]",
            "(X[ix], Y[ix]), *run.parameters",
            "X[ix], Y[ix], *run.parameters, 0.1",
        )
    ),
    (
        "loop",
        changed("loop", "run.step < until", "True") + "    if run.step == until: break\n",
        "it takes one more: the test comes too late.",
    ),
    ("loop", LOOP + "    return\n", "Is it a `while`, and does no `return` end it?"),
    (
        "loop",
        changed(
            "loop", "run.parameters, gradients, rate)", "run.parameters, gradients, rate / 32)"
        ),
        "It divides by 32: the loss is a mean",
    ),
]


@pytest.mark.parametrize(("part", "body", "sentence"), SENTENCES)
def test_a_mistake_is_named(part: str, body: str, sentence: str, said_of: SaidOf) -> None:
    assert sentence in said_of(part, body)
