"""The trials: right pieces pass whatever they look like, and known mistakes are recognised."""

from __future__ import annotations

import pytest

from grader.notebook.training.own_loop import TRIALS, check_own
from grader.notebook.training.trial import (
    edited,
    find_difference,
    mistakes,
    recognise,
)
from tests.grader.notebook.training.conftest import (
    HEADS,
    LOOP,
    LOSS,
    NAME,
    SaidOf,
    changed,
    function,
)

RIGHT = {
    "update": (
        "for p, d in zip(parameters, gradients): p.sub_(d, alpha=learning_rate)",
        "for p, d in zip(parameters, gradients): p.data = p.data - learning_rate * d",
        "for i in range(len(parameters)): parameters[i].add_(gradients[i] * -learning_rate)",
        "for p, d in zip(parameters, gradients): p[:] = p - learning_rate * d",
        "[p.copy_(p - learning_rate * d) for p, d in zip(parameters, gradients)]",
    ),
    "learning_rate": (
        "if step >= 100_000:\n    return 0.01\nreturn 0.1",
        "return 10 ** -(1 + step // 100_000)",
        "return [0.1, 0.01][int(step > 99_999)]",
    ),
    "loop": (
        changed("loop", "torch.randint(0, len(X), (32,)", "torch.randint(len(X), size=[32]"),
        changed(
            "loop",
            "torch.randint(0, len(X), (32,), generator=run.generator)",
            "torch.randperm(len(X), generator=run.generator)[:32]",
        ),
        changed("loop", "while run.step < until", "for _ in range(until - run.step)"),
        changed("loop", "while run.step < until", "for step in range(run.step, until)"),
        changed("loop", "loss.item()", "float(loss)"),
        changed("loop", ".append(loss.item())", " += [loss.item()]"),
        changed("loop", "*run.parameters", "**run.parameters._asdict()"),
        changed(
            "loop",
            "    update(run.parameters, gradients, rate)\n",
            "    for p, d in zip(run.parameters, gradients): p -= rate * d\n",
        ),
    ),
    "calibrate": (
        changed("calibrate", "C[X].view(len(X), -1)", "torch.cat(C[X].unbind(1), 1)"),
        """
hprebn = parameters.C[X].flatten(1) @ parameters.W1 + parameters.b1
mean = hprebn.sum(0, keepdim=True) / len(X)
return [mean, ((hprebn - mean) ** 2).sum(0, keepdim=True) / (len(X) - 1)]
""",
        """
C, W1, b1, *_ = parameters
hprebn = torch.stack([C[x].view(-1) @ W1 + b1 for x in X])
return hprebn.mean(0)[None], hprebn.std(0)[None] ** 2
""",
        """
C, W1, b1, *_ = parameters
parts = [C[x].view(len(x), -1) @ W1 + b1 for x in X.split(512)]
mean = sum(part.sum(0, keepdim=True) for part in parts) / len(X)
return mean, sum(((part - mean) ** 2).sum(0, keepdim=True) for part in parts) / (len(X) - 1)
""",
    ),
    "logits": (
        changed(
            "logits",
            "(hprebn - mean) * (variance + 1e-5) ** -0.5",
            "(hprebn - mean) / (variance + 1e-5).sqrt()",
        ),
        changed(
            "logits",
            "(hprebn - mean) * (variance + 1e-5) ** -0.5",
            "(hprebn - mean) * torch.rsqrt(variance + 0.00001)",
        ),
        changed(
            "logits",
            "torch.tanh(bngain * bnraw + bnbias)",
            "(2 * torch.sigmoid(2 * (bngain * bnraw + bnbias)) - 1)",
        ),
        changed("logits", "with torch.no_grad()", "with torch.inference_mode()"),
    ),
    "mean_loss": (
        """
logits = logits_with(parameters, mean, variance, X)
return -logits.log_softmax(1)[torch.arange(len(Y)), Y].mean().item()
""",
        """
losses = [F.cross_entropy(logits_with(parameters, mean, variance, x), y, reduction="sum")
          for x, y in zip(X.split(32), Y.split(32))]
return float(sum(losses) / len(X))
""",
        f"return round({LOSS.removeprefix('return ')}, 4)",
    ),
    "sample_name": (
        """
window, letters = [0] * block_size, []
while True:
    ix = torch.multinomial(predict(window)[0].softmax(0), 1, generator=g)[0].item()
    window = window[1:] + [ix]
    if itos[ix] == ".": return "".join(letters)
    letters.append(itos[ix])
""",
        changed(
            "sample_name", "[0] * block_size", "torch.zeros(block_size, dtype=torch.int64)"
        ).replace("window[1:] + [ix]", "torch.cat([window[1:], torch.tensor([ix])])"),
        """
def go_on(window):
    ix = torch.multinomial(F.softmax(predict(window), dim=-1), 1, True, generator=g).item()
    return itos[ix] + go_on(window[1:] + [ix]) if ix else ""
return go_on([0] * block_size)
""",
        """
window, name, ix = [0] * block_size, "", None
while ix != 0:
    exps = torch.exp(predict(window))
    probs = exps / exps.sum(1, keepdim=True)
    ix = (torch.rand(1, generator=g) < probs.cumsum(1)[0]).float().argmax().item()
    name, window = name + itos[ix], window[1:] + [ix]
return name[:-1]
""",
    ),
}


@pytest.mark.parametrize(("part", "body"), [(part, b) for part in RIGHT for b in RIGHT[part]])
def test_a_right_piece_passes_in_any_style(
    part: str, body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    right = function(part, body)
    assert check_own(part, right) is right, capsys.readouterr().out


@pytest.mark.parametrize("part", TRIALS)
def test_each_row_of_the_table_is_recognised(part: str) -> None:
    trial = TRIALS[part]
    restated = edited(part, trial.own, [])
    assert restated is not None
    assert find_difference(trial, restated) is None
    for sentence, edits in mistakes(part):
        wrong = edited(part, trial.own, edits)
        assert wrong is not None, f"{edits} finds no place"
        difference = find_difference(trial, wrong)
        assert difference is not None, sentence
        assert recognise(part, trial, difference) == sentence


Body = str | tuple[str, ...]
"""A whole body, or what is changed in the right one: a piece, what takes its place, and so on."""


def text_of(part: str, body: Body) -> str:
    return body if isinstance(body, str) else changed(part, *body)


# Mistakes in other words than the table has, and what no row of it knows.
SAID: list[tuple[str, Body, str]] = [
    ("update", ("p -= learning_rate * dp", "p = p - learning_rate * dp"), "No par"),
    ("update", ("-=", "+="), "It goes uphill"),
    ("update", ("* dp", "* dp**3"), "The step of C has the number"),
    ("update", ("zip(parameters", "zip(parameters[:3]"), "Only C, W1 and b1 changed"),
    ("update", ("p -=", "dp *= 2\n    p -="), "It changes the gradients."),
    (
        "update",
        ("p -= learning_rate", "p += learning_rate / 32"),
        "uphill: with this sign the loss grows. It divides by 32.",
    ),
    ("update", ("learning_rate * dp", "float('nan') * dp"), "The step of C has NaN in it."),
    ("learning_rate", "return 0.1", "It never falls"),
    ("learning_rate", "return 0.1 if step <= 100_000 else 0.01", "It falls a step too late."),
    (
        "learning_rate",
        "return 0.1 * (1 - step / 200_000)",
        "step 10,000 is 0.095, but it should be 0.1.",
    ),
    (
        "learning_rate",
        "0.1 if step < 100_000 else 0.01",
        "step 0 is None. Is a line missing, or a `return`?",
    ),
    ("loop", ("run.step < until", "True"), "It does not end."),
    ("loop", ("    run.losses.append(loss.item())\n", ""), "Append the loss of each step"),
    ("loop", ("while run.step < until", "for _ in range(until)"), "`until` counts all steps"),
    (
        "loop",
        LOOP + "    return\n",
        "1 time and notes 1 loss in `run.losses`, but it should take 6 steps.",
    ),
    (
        "loop",
        "ix = torch.randint(0, len(X), (32,), generator=run.generator)\n"
        + LOOP.replace("    ix = torch.randint(0, len(X), (32,), generator=run.generator)\n", ""),
        "Each step trains on the same minibatch",
    ),
    ("loop", (".item()", ""), "`run.losses` gets tensors"),
    ("loop", (", generator=run.generator", ""), "not drawn with `run.generator`"),
    (
        "loop",
        ("    ix =", "    run.generator.manual_seed(run.step)\n    ix ="),
        "where `run.generator` stands",
    ),
    ("loop", ("(32,)", "(64,)"), "A minibatch has the shapes (64, 3) and (64,)"),
    ("loop", ("Y[ix]", "Y[torch.arange(32)]"), "come from different rows"),
    (
        "loop",
        ("len(X), (32", "32, (32"),
        "8 of 40 rows never came up; the first of them is row 32.",
    ),
    (
        "loop",
        ("0, len(X)", "1, len(X)"),
        "1 of 40 rows never came up; the first of them is row 0.",
    ),
    (
        "loop",
        ("run.parameters, gradients, rate", "gradients, run.parameters, rate"),
        "do not move. Is `update` called with `run.parameters` first",
    ),
    (
        "loop",
        changed("loop", "    run.losses.append(loss.item())\n", "").replace(
            "    rate =", "    run.losses.append(loss.item())\n    rate ="
        ),
        "the learning rate of the next step",
    ),
    (
        "loop",
        ("update(run", "update(run.parameters, gradients, rate)\n    update(run"),
        "Every step is taken twice",
    ),
    (
        "loop",
        ("X[ix], Y[ix], *run.parameters", "X[ix], Y[ix], *run.parameters[::-1]"),
        "`backward` wants the minibatch first",
    ),
    (
        "loop",
        changed("loop", "while", "stale = [p.clone() for p in run.parameters]\nwhile").replace(
            "*run.parameters", "*stale"
        ),
        "as they are now",
    ),
    (
        "loop",
        ("gradients, rate", "[g * (1 + run.step % 2) for g in gradients], rate"),
        "A step must be minus the learning rate times that step's own gradients.",
    ),
    (
        "loop",
        ("loss.item()", "loss.item() / 32"),
        "The loss noted at step 99,997 is 0.098214, but it should be 3.1429.",
    ),
    (
        "calibrate",
        ("hprebn.var(0,", "hprebn.var(0, unbiased=False,"),
        "The variance is divided by n, but",
    ),
    (
        "calibrate",
        (", keepdim=True", ""),
        "but it should have (1, 7), one column for each of the 7 hidden units of the check's"
        " smaller network. Is a `keepdim=True` missing?",
    ),
    ("calibrate", ("hprebn =", "X = X[:32]\nhprebn ="), "Only the first 32 windows"),
    ("calibrate", ("hprebn.mean(0, keepdim=True), ", ""), "but it should return two"),
    (
        "calibrate",
        ("mean(0, keepdim=True)", "sum(0, keepdim=True) / 32"),
        "The mean is 93.781 times what it should be.",
    ),
    ("calibrate", "parameters[2].sub_(1.0)\n" + HEADS["calibrate"][1], "It changes the `b1`"),
    ("logits", ("- mean", "- hprebn.mean(0, keepdim=True)"), "The mean is the batch's own"),
    (
        "logits",
        ("(hprebn - mean) * (variance", "(hprebn - hprebn.mean(0)) * (hprebn.var(0)"),
        "so a window's logits depend on the other windows. The variance",
    ),
    (
        "logits",
        ("bngain * bnraw + bnbias", "bnraw"),
        "`bngain` is missing. `bnbias` is missing.",
    ),
    ("logits", (" + 1e-5", ""), "The 1e-5 that is added to the variance is missing."),
    ("logits", ("with torch.no_grad()", "if True"), "autograd takes notes"),
    ("logits", ("W2 + b2", "W2[:, :5] + b2[:5]"), "(10, 5), but it should have (10, 27)."),
    ("logits", "variance += 1e-5\n" + HEADS["logits"][1], "It changes the `variance`"),
    ("mean_loss", (".item()", ""), "`.item()` turns it into one."),
    ("mean_loss", ("return ", "return -"), "The sign is wrong"),
    ("mean_loss", ("X), Y", "X[:32]), Y[:32]"), "Only the first 32 windows count."),
    ("mean_loss", f"{LOSS} / len(X)", "by the number of windows twice"),
    (
        "mean_loss",
        """
logits = logits_with(parameters, mean, variance, X)
pairs = zip(logits.split(1234), Y.split(1234))
losses = [F.cross_entropy(*pair).item() for pair in pairs]
return sum(losses) / len(losses)
""",
        "The loss of 3,001 windows is",
    ),
    (
        "sample_name",
        ("if ix == 0", "if ix == 0 and name"),
        "It asks `predict` for 2 characters, but it should ask for 1: 0 letters and then the dot",
    ),
    ("sample_name", ("window[1:] + [ix]", "[ix] + window[:-1]"), "on the left"),
    (
        "sample_name",
        ("[0] * block_size", "[0, 0, 0]"),
        "gets the window [0, 0, 0], but it should get [0, 0, 0, 0]. (`block_size` is 4 here.)",
    ),
    (
        "sample_name",
        ("torch.multinomial(probs, 1, generator=g)", "probs.argmax()"),
        "It makes the same name every time.",
    ),
    ("sample_name", f"g.manual_seed(3)\n{NAME}", "It makes the same name every time."),
    ("sample_name", (", generator=g", ""), "With the same seed in `g`, other names come out"),
    (
        "sample_name",
        ("F.softmax(predict(window), 1)", "(predict(window) > -9).float()"),
        "The characters are not drawn with the right",
    ),
    ("sample_name", ("ix == 0", "ix == 99"), "The name never ends."),
    (
        "sample_name",
        ("return name", "return list(name)"),
        "The name, when emaly. is drawn, is ['e', 'm', 'a', 'l', 'y'], but it should be 'emaly'.",
    ),
    (
        "sample_name",
        ("predict(window)", "predict('...')"),
        "`predict` wants the window as a list of indices, but it is given '...'.",
    ),
]


@pytest.mark.parametrize(("part", "body", "sentence"), SAID)
def test_what_is_wrong_is_said(part: str, body: Body, sentence: str, said_of: SaidOf) -> None:
    assert sentence in said_of(part, text_of(part, body))


RAISED: list[tuple[str, Body, str]] = [
    ("update", "for p in parameters: p -= learning_rate * p.grad", "so a `.grad` is None"),
    ("update", "for p, d in parameters, gradients: p -= d", "`zip(x, y)` goes through both"),
    ("loop", ("X[ix], Y[ix], *run.parameters", ""), "wants the minibatch first"),
    ("loop", ("loss, gradients =", "loss, *gradients ="), "`backward` returns two things"),
    ("loop", ("loss, gradients =", "gradients, loss ="), "`backward` returns two things"),
    ("loop", ("rate(run.step)", "rate", ", rate)", ", -rate)"), "Call it to get the"),
    ("loop", ("randint(0, len(X)", "rand(len(X)"), "`torch.randint` draws whole"),
    ("loop", ("X[ix], Y[ix]", "Xtr[ix], Ytr[ix]"), "It uses the notebook's `Xtr`"),
    (
        "calibrate",
        ("@ W1 + b1", "@ W1 + b1.view(1, n_hidden)"),
        "`W1.shape[1]` is its number of hidden units.",
    ),
    (
        "calibrate",
        ("+ b1", "+ torch.zeros(200)"),
        "(7) must match the size of tensor b (200) at non-singleton dimension 1. (The check's"
        " network has 7 hidden units.)",
    ),
    ("calibrate", ("len(X)", "32"), "X has another number of rows here."),
    ("logits", ("C[X].view(len(X), -1)", "X.float()"), "the rows of `C` that they na"),
    ("logits", ("no_grad()", "no_grad"), "with brackets: `with torch.no_grad():`"),
    ("sample_name", ("predict(window)", "predict(*window)"), "takes the window"),
    ("sample_name", ("generator=g).item()", "generator=g)"), "finds numbers"),
    ("update", ("-= learning_rate * dp", "-= dp^2"), "in Python `^` is no power, `**` is."),
]


@pytest.mark.parametrize(("part", "body", "sentence"), RAISED)
def test_what_an_exception_means_is_said(
    part: str, body: Body, sentence: str, said_of: SaidOf
) -> None:
    assert sentence in said_of(part, text_of(part, body))


def test_a_loop_with_an_end_gets_a_true_sentence(said_of: SaidOf) -> None:
    body = changed("sample_name", "while True", "for _ in range(10)", "break", "return name")
    for returned in ("", "return name"):  # without it, a name that has not ended is None
        said = said_of("sample_name", body.removesuffix("return name\n") + returned)
        assert "It asks `predict` for 10 characters, but it should ask for 61: 60 letters" in said
