"""The parts of the training loop: right ones pass, each known mistake is named."""

from __future__ import annotations

import linecache
import math
import textwrap
from collections.abc import Callable
from typing import Any

import jupytext
import pytest
import torch
import torch.nn.functional as F

from grader.authoring.source import role_of
from grader.notebook.training import own_loop
from grader.notebook.training.own_loop import TRIALS, check_own
from makemore_data import begin_run
from makemore_data.training.train import learning_rate, train_steps, update
from tests.helpers.places import PROJECT

SOURCE = PROJECT / "notebooks/source/04_manual_training.py"
OWN = ("my_", "deep_backward")
"""How the names of functions begin that `check_own` judges."""

UPDATE = """
for p, dp in zip(parameters, gradients):
    p -= learning_rate * dp
"""
LOOP = """
while run.step < until:
    ix = torch.randint(0, len(X), (32,), generator=run.generator)
    loss, gradients = backward(X[ix], Y[ix], *run.parameters)
    rate = learning_rate(run.step)
    update(run.parameters, gradients, rate)
    run.losses.append(loss.item())
"""
CALIBRATE = """
C, W1, b1, *_ = parameters
hprebn = C[X].view(len(X), -1) @ W1 + b1
return hprebn.mean(0, keepdim=True), hprebn.var(0, keepdim=True)
"""
LOGITS = """
C, W1, b1, bngain, bnbias, W2, b2 = parameters
with torch.no_grad():
    hprebn = C[X].view(len(X), -1) @ W1 + b1
    bnraw = (hprebn - mean) * (variance + 1e-5) ** -0.5
    return torch.tanh(bngain * bnraw + bnbias) @ W2 + b2
"""
LOSS = "return F.cross_entropy(logits_with(parameters, mean, variance, X), Y).item()"
NAME = """
name, window = "", [0] * block_size
while True:
    probs = F.softmax(predict(window), 1)
    ix = torch.multinomial(probs, 1, generator=g).item()
    if ix == 0:
        break
    name += itos[ix]
    window = window[1:] + [ix]
return name
"""
ADAM = """
for p, dp, m, v in zip(parameters, gradients, means, squares):
    m += 0.1 * (dp - m)
    v += 0.001 * (dp**2 - v)
    p -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + eps)
"""

DEEP = """
n = Xb.shape[0]
emb = C[Xb]
embcat = emb.view(n, -1)
hprebn = embcat @ W1 + b1
bnvar_inv = (hprebn.var(0, keepdim=True) + 1e-5) ** -0.5
bnraw = (hprebn - hprebn.mean(0, keepdim=True)) * bnvar_inv
h = torch.tanh(bngain * bnraw + bnbias)
h2 = torch.tanh(h @ W3 + b3)
logits = h2 @ W2 + b2
loss = F.cross_entropy(logits, Yb)
dlogits = (F.softmax(logits, 1) - F.one_hot(Yb, 27)) / n
dW2, db2 = h2.T @ dlogits, dlogits.sum(0)
dhpreact2 = (1 - h2**2) * (dlogits @ W2.T)
dW3, db3 = h.T @ dhpreact2, dhpreact2.sum(0)
dh = dhpreact2 @ W3.T
dhpreact = (1 - h**2) * dh
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dhprebn = bngain * bnvar_inv / n * (n * dhpreact - dbnbias - n / (n - 1) * bnraw * dbngain)
dW1, db1 = embcat.T @ dhprebn, dhprebn.sum(0)
demb = (dhprebn @ W1.T).view(emb.shape)
dC = torch.zeros(27, 10).index_add_(0, Xb.view(-1), demb.view(-1, 10))
return loss, (dC, dW1, db1, dbngain, dbnbias, dW2, db2, dW3, db3)
"""

HEADS = {
    "update": ("parameters, gradients, learning_rate", UPDATE),
    "learning_rate": ("step", "return 0.1 if step < 100_000 else 0.01"),
    "loop": ("run, backward, X, Y, until", LOOP),
    "calibrate": ("parameters, X", CALIBRATE),
    "logits": ("parameters, mean, variance, X", LOGITS),
    "mean_loss": ("parameters, mean, variance, X, Y", LOSS),
    "sample_name": ("predict, itos, block_size, g", NAME),
    "adam": ("parameters, gradients, means, squares, step, rate=0.001, eps=1e-8", ADAM),
    "deep_backward": ("Xb, Yb, C, W1, b1, bngain, bnbias, W2, b2, W3, b3", DEEP),
}


def function(part: str, body: str, **names: Any) -> Callable[..., Any]:
    """The part as a notebook's cell would define it, among the names of notebook 4."""
    arguments, _ = HEADS[part]
    source = f"def mine({arguments}):\n{textwrap.indent(body.strip(), '    ')}\n"
    linecache.cache["<cell>"] = (len(source), None, source.splitlines(keepends=True), "<cell>")
    scope: dict[str, Any] = {
        "math": math,
        "torch": torch,
        "F": F,
        "update": update,
        "learning_rate": learning_rate,
        "logits_with": TRIALS["logits"][0],
        "calibrate": TRIALS["calibrate"][0],
        "run": begin_run(5),
        "Xtr": torch.zeros(9, 3, dtype=torch.int64),
        "Ytr": torch.zeros(9, dtype=torch.int64),
        **names,
    }
    exec(compile(source, "<cell>", "exec"), scope)
    made: Callable[..., Any] = scope["mine"]
    return made


def changed(part: str, *changes: str) -> str:
    """The right body with pieces replaced: the first by the second, and so on."""
    body = HEADS[part][1]
    for right, wrong in zip(changes[::2], changes[1::2], strict=True):
        assert right in body, right
        body = body.replace(right, wrong)
    return body


@pytest.mark.parametrize("part", HEADS)
def test_a_right_part_passes_and_is_used(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    right = function(part, HEADS[part][1])
    assert check_own(part, right) is right
    assert capsys.readouterr().out == "mine             | pass\n"


@pytest.mark.parametrize("part", HEADS)
def test_the_courses_own_passes_its_trial(part: str) -> None:
    own, trial = TRIALS[part]
    assert trial(own) == ""


@pytest.mark.parametrize("part", HEADS)
def test_a_blank_is_to_do(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    blank = function(part, '"""What it does."""\n...  # your turn')
    assert check_own(part, blank) is TRIALS[part][0]
    said = capsys.readouterr().out
    assert said.startswith("mine             | to do\n")
    assert "the course's own" in said


def test_an_earlier_function_is_not_judged_for_a_cell_that_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = function("update", UPDATE)
    monkeypatch.setattr(own_loop, "has_failed", lambda name: name == "mine")
    assert check_own("update", right) is update
    said = "mine             | fail\n  Its cell ended in an error: mend what stands below that cell"
    assert capsys.readouterr().out.startswith(said)


@pytest.mark.parametrize("part", HEADS)
def test_nothing_and_nan_never_pass(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    for body in (
        "pass",
        "return None",
        "return float('nan')",
        "return torch.tensor(float('nan'))",
        "return (torch.full((1, 7), float('nan')), torch.full((1, 7), float('nan')))",
        "1 / 0",
        "raise SystemExit",
        "yield 1",
    ):
        assert check_own(part, function(part, body)) is TRIALS[part][0], body
        assert "| fail\n  " in capsys.readouterr().out


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
    # loop
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
        "It goes on for ever: the",
    ),
    (
        "loop",
        changed("loop", "run.losses.append(loss.item())", "run.losses = [loss.item()]"),
        "It goes on for ever: the number of steps done is the length of `run.losses`",
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
    # the loss
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
    ("calibrate", "X = X[:1000]\n" + HEADS["calibrate"][1], "in another order"),
    (
        "calibrate",
        "parameters[2].sub_(1.0)\n" + HEADS["calibrate"][1],
        "It changes the `b1` that it is given",
    ),
    (
        "loop",
        changed("loop", "loss.item()", "round(loss.item(), 3)"),
        "The losses are rounded",
    ),
    (
        "sample_name",
        changed("sample_name", "if ix == 0", "if ix == 0 and name"),
        "Where the first character is the dot",
    ),
    # a name
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
    # what exceptions mean
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
    ("loop", changed("loop", "run.losses.append(", "run.losses += ("), "`append` adds a number"),
    (
        "loop",
        changed("loop", "loss, gradients =", "gradients, loss ="),
        "`backward` returns the loss first",
    ),
    ("loop", changed("loop", "gradients, rate)", "gradients, learning_rate)"), "call it, to have"),
    ("loop", changed("loop", "(32,)", "32"), "then a shape, such as `(32,)`"),
    ("loop", changed("loop", "    run.losses", "    run.step += 1\n    run.losses"), "by itself"),
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
    ("mean_loss", "return X.float() @ parameters.W1", "`X` holds indices"),
    # numbers beside numbers
    ("update", changed("update", "learning_rate * dp", "0.1 * dp"), "It steps by 0.1"),
    ("update", changed("update", "learning_rate * dp", "dp / learning_rate"), "It divides by the"),
    ("update", changed("update", "rate * dp", "rate + dp"), "It adds the learning rate"),
    ("update", changed("update", "rate * dp", "rate * p"), "by its own value"),
    (
        "update",
        changed("update", "p -= learning_rate * dp", "p *= 1 - learning_rate * dp"),
        "It multiplies each parameter by its step",
    ),
    ("learning_rate", "0.1 if step < 100_000 else 0.01", "Is there a `return`?"),
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
    ("logits", changed("logits", "no_grad()", "no_grad"), "with brackets: `with torch.no_grad():`"),
    (
        "mean_loss",
        changed("mean_loss", "mean, variance, X)", "X, mean, variance)"),
        "`parameters, mean, variance, X`, in this order",
    ),
    ("adam", changed("adam", "(v / (1 - 0.999**step)).sqrt()", "math.sqrt(v)"), "`.sqrt()`"),
    ("loop", changed("loop", "*run.parameters", "run.parameters"), "`*run.parameters` takes the"),
    ("loop", changed("loop", "(32,)", "(32, 1)"), "the shapes (32, 1, 3) and (32, 1); (32, 3)"),
    (
        "loop",
        changed("loop", "while run.step", "if run.step"),
        "It asks for gradients 1 time and notes 1 loss ",
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
    ("logits", changed("logits", "bngain * ", ""), "There is no `bngain` in it."),
    ("logits", changed("logits", " + bnbias", ""), "There is no `bnbias` in it."),
    # two readers' mistakes that got numbers alone, or a wrong sentence
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
    (
        "loop",
        changed("loop", "update(run", "update(run.parameters, gradients, rate)\n    update(run"),
        "Every step is taken twice",
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
        ("sample_name", changed("sample_name", right, wrong), said)
        for right, wrong, said in (
            ("name += itos[ix]", "name = itos[ix]", "the last character alone"),
            ("name += itos[ix]", "name = itos[ix] + name", "back to front"),
            ("while True", "for _ in range(3)", "It ends a name after 3 characters"),
            ("if ix == 0", "if itos[ix] == 0", "The name never ends"),
        )
    ),
    *(
        ("adam", changed("adam", right, wrong), said)
        for right, wrong, said in (
            ("+ eps", "- eps", "eps is subtracted"),
            ("0.999**step", "0.9**step", "0.999 is due"),
            ("0.001 *", "0.01 *", "`v` keeps 0.99 of the old"),
        )
    ),
    ("logits", changed("logits", " - mean", ""), "The mean is not subtracted."),
    ("logits", changed("logits", "W2 + b2", "(W2 + b2)"), "the first is "),
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
    # a third reading's: what passed, what was named wrongly, what had numbers alone
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
    *(
        ("sample_name", f"{seeded}\n{NAME}", "It makes the same name every time")
        for seeded in ("g.manual_seed(3)", "g = torch.Generator().manual_seed(3)")
    ),
    (
        "sample_name",
        changed("sample_name", "generator=g", "generator=torch.Generator().manual_seed(3)"),
        "made or seeded inside begins anew at every character",
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
    (
        "adam",
        changed("adam", "dp**2", "dp^2"),
        "NotImplementedError in `v += 0.001 * (dp^2 - v)`: in Python `^` is no power, `**` is.",
    ),
    ("adam", changed("adam", "dp**2", "dp @ dp"), "`@` is the matrix product; `*` and `**2` take"),
    (
        "adam",
        changed("adam", "m += 0.1 * (dp - m)", "m.mul_(0.9).add_(dp, 0.1)"),
        "`add` takes its factor by name, `alpha=...`.",
    ),
    ("update", "torch.add(parameters[0], gradients[0], learning_rate)", "by name, `alpha=...`."),
    (
        "adam",
        changed("adam", "v += 0.001 * (dp**2 - v)", "v.mul_(0.999).addcmul_(dp, dp, 0.001)"),
        "`addcmul` takes its factor by name, `value=...`.",
    ),
    # the network of two layers
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
            (" - dbnbias", "", "What comes to `dhprebn` through the mean is missing."),
            ("n / (n - 1) * bnraw", "0", "What comes to `dhprebn` through the variance is"),
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
    # Adam; its other mistakes are in test_adam_trial.py
    ("adam", changed("adam", "p -=", "p +="), "It goes uphill"),
]


@pytest.mark.parametrize(("part", "body", "sentence"), SENTENCES)
def test_a_mistake_is_named(
    part: str, body: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_own(part, function(part, body)) is TRIALS[part][0]
    said = capsys.readouterr().out
    assert said.startswith("mine             | fail\n  ")
    assert sentence in said
    assert said.count("\n") == 3


def test_what_does_not_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(own_loop, "SECONDS", 0.2)
    body = """
while True:
    try:
        while True:
            pass
    except Exception:
        pass
"""
    assert check_own("learning_rate", function("learning_rate", body)) is learning_rate
    assert "It did not end within 0.2 seconds." in capsys.readouterr().out


def test_the_notebooks_tensors_and_draws_stay_as_they_are() -> None:
    run = begin_run(5)
    before = run.parameters.C.clone()
    body = "for p, d in zip(run.parameters, gradients): p -= 1\ntorch.manual_seed(3)"
    mine = function("update", body, run=run)
    state = torch.get_rng_state()
    check_own("update", mine)
    assert torch.equal(run.parameters.C, before)
    assert mine.__globals__["run"] is run
    assert torch.equal(torch.get_rng_state(), state)


def test_a_decorated_function_is_judged_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    for part in ("update", "logits"):
        right = torch.no_grad()(function(part, changed(part)))
        assert check_own(part, right) is right
    hidden = torch.no_grad()(function("update", changed("update", "zip(p", "zip(run.p")))
    check_own("update", hidden)
    assert "It uses the notebook's `run`" in capsys.readouterr().out


def test_what_is_no_function_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    thing: Any = 3
    assert check_own("update", thing) is update
    assert "It is int, not a function." in capsys.readouterr().out
    assert check_own("updat", update) is update
    assert 'There is no part "updat" of the loop' in capsys.readouterr().out


def test_a_blank_between_given_lines_is_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    line, blank = "dW3, db3 = h.T @ dhpreact2, dhpreact2.sum(0)", "dW3 = ...  # your turn\n"
    check_own("deep_backward", function("deep_backward", changed("deep_backward", line, blank)))
    assert capsys.readouterr().out.startswith("mine             | to do\n")
    both = changed("deep_backward", line, f"{blank}{line} / n")
    check_own("deep_backward", function("deep_backward", both))
    assert capsys.readouterr().out.startswith("mine             | fail\n")


def test_a_blank_that_was_left_in_place_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    for body in ("...  # your turn\n" + UPDATE.strip(), UPDATE.strip() + "\n...  # your turn"):
        right = function("update", body)
        assert check_own("update", right) is right
    check_own("update", function("update", "...  # your turn\nparameters += 1"))
    assert "fail\n  It raises TypeError in `parameters += 1`: " in capsys.readouterr().out


def test_the_notebooks_own_solutions_pass_and_train_as_the_course_does() -> None:
    cells = jupytext.read(SOURCE, fmt="py:percent").cells
    scope: dict[str, Any] = {"torch": torch, "F": F, "check_own": check_own}
    for cell in cells:
        role = role_of(cell)
        if role and role.kind == "try" and cell.source.split("def ")[-1].startswith(OWN):
            exec(cell.source, scope)
        elif cell.cell_type == "code" and " = check_own(" in cell.source:
            line = next(line for line in cell.source.splitlines() if "check_own" in line)
            exec(line, scope)
            name, _, call = line.partition(" = ")
            assert scope[name] is eval(call.rpartition(", ")[2].rstrip(")"), scope)

    def backward(*given: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        return given[0].sum() / 7, [p.cos() for p in given[2:]]

    X, Y = torch.arange(300).view(100, 3) % 27, torch.arange(100) % 27
    runs = begin_run(5), begin_run(5)
    for run, loop in zip(runs, (scope["loop"], train_steps), strict=True):
        loop(run, backward, X, Y, 20)
    assert runs[0].losses == runs[1].losses
    assert all(map(torch.equal, runs[0].parameters, runs[1].parameters))
