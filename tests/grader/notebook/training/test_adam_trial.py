"""Adam's trial: right ways pass, whatever they look like; each known mistake is named."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest
import torch

from grader.notebook.training.adam_trial import adam, try_adam
from tests.grader.notebook.training.conftest import SaidOf
from tests.grader.notebook.training.conftest import changed as changed_part

HEAD = "def mine(parameters, gradients, means, squares, step, rate=0.001, eps=1e-8):\n"
LOOP = "for p, dp, m, v in zip(parameters, gradients, means, squares):\n    "
MEANS = ("m *= 0.9; m += 0.1 * dp", "v *= 0.999; v += 0.001 * dp**2")
HATS = ("a = m / (1 - 0.9**step)", "b = v / (1 - 0.999**step)")
MOVE = "p -= rate * a / (b.sqrt() + eps)"
RIGHT = LOOP + "\n    ".join((*MEANS, *HATS, MOVE))


def mine(body: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {"torch": torch}
    exec(HEAD + textwrap.indent(body, "    "), scope)
    made: Callable[..., Any] = scope["mine"]
    return made


def changed(*changes: str) -> str:
    """The right body with pieces replaced: the first by the second, and so on."""
    body = RIGHT
    for right, wrong in zip(changes[::2], changes[1::2], strict=True):
        assert right in body, right
        body = body.replace(right, wrong)
    return body


def test_right_ways_pass() -> None:
    assert try_adam(adam) == ""
    by_index = """
for i in range(len(parameters)):
    means[i] += 0.1 * (gradients[i] - means[i])
    squares[i].mul_(0.999).addcmul_(gradients[i], gradients[i], value=0.001)
    up = means[i] / (1 - torch.tensor(0.9) ** step)
    down = (squares[i] / (1 - torch.tensor(0.999) ** step)) ** 0.5
    parameters[i].addcdiv_(up, down + eps, value=-rate)
"""
    for body in (
        RIGHT,
        by_index,
        changed("m *= 0.9; m += 0.1 * dp", "m[:] = 0.9 * m + (1 - 0.9) * dp"),
        changed("p -=", "dp = dp * 2; p -="),
        LOOP.join(("", "\n    ".join(MEANS) + "\n", "\n    ".join((*HATS, MOVE)))),
    ):
        assert try_adam(mine(body)) == "", body


def test_the_courses_own_goes_where_pytorchs_goes() -> None:
    p, theirs = torch.ones(4), torch.ones(4, requires_grad=True)
    m, v, optimizer = torch.zeros(4), torch.zeros(4), torch.optim.Adam([theirs], lr=0.01)
    for step in (1, 2, 3):
        theirs.grad = torch.tensor([1.0, -2.0, 1e-8, 0.0]) / step
        adam([p], [theirs.grad], [m], [v], step, rate=0.01)
        optimizer.step()
    torch.testing.assert_close(p, theirs.detach())


MISTAKES = {
    "It goes uphill": changed("p -=", "p +="),
    "No parameter has changed": changed("p -=", "p = p -"),
    "The running mean is still zero": changed(MEANS[0], "m = 0.9 * m + 0.1 * dp"),
    "The running mean of the squares is still": changed(MEANS[1], "v = 0.001 * dp**2 + 0.999 * v"),
    "`m`: keep 0.9 of the old and take 0.1": changed(MEANS[0], "m *= 0.1; m += 0.9 * dp"),
    "`m`: all of the new is added": changed("0.1 * dp", "dp"),
    "`v`: all of the new is added": changed("0.001 * dp", "dp"),
    "`v`: nothing is forgotten: keep 0.999": changed("v *= 0.999; ", ""),
    "`m` and `v`: keep beta of the old": changed(
        *("m *= 0.9; m += 0.1 ", "m *= 0.1; m += 0.9 "),
        *("v *= 0.999; v += 0.001 ", "v *= 0.001; v += 0.999 "),
    ),
    "`v` goes by the gradient itself: square it.": changed("dp**2", "dp"),
    "`v` goes by the size of the gradient: square it.": changed("dp**2", "dp.abs()"),
    "`v` takes `rate` of the new; 0.001 is due": changed("0.001 * dp", "rate * dp"),
    "It squares the mean of the squares: take": changed("b.sqrt()", "b**2"),
    "`m`: it is divided by 0.9 ** step: divide": changed("1 - 0.9**step", "0.9**step"),
    "`v` goes by the square of `m`": changed("dp**2", "m**2"),
    "`m` and `v`: the division by 1 - beta ** step is": changed(HATS[0], "a = m", HATS[1], "b = v"),
    "`m`: the division by 1 - 0.9 ** step is missing.": changed(HATS[0], "a = m"),
    "`v`: the division by 1 - 0.999 ** step is missing.": changed(HATS[1], "b = v"),
    "`m`: the division changes the running mean": changed(HATS[0], "m /= 1 - 0.9**step; a = m"),
    "`v`: the division changes the running mean": changed(HATS[1], "v /= 1 - 0.999**step; b = v"),
    "`m` and `v`: the division changes the running": changed(
        HATS[0], "m /= 1 - 0.9**step; a = m", HATS[1], "v /= 1 - 0.999**step; b = v"
    ),
    "`m`: it is multiplied by 1 - 0.9 ** step: div": changed("m / (1", "m * (1"),
    "`m` and `v`: it is multiplied by 1 - beta ** st": changed("m / (1", "m * (1", "v /", "v *"),
    "`m`: 1 - 0.9 ** step has lost its power": changed("0.9**step", "0.9"),
    "`m` and `v`: 1 - beta ** step has lost its": changed("0.9**step", "0.9", "9**step", "9"),
    "`m`: 1 - 0.9 ** step has a power in it": changed("0.9**step", "0.9 * step"),
    "`m` and `v`: 1 - beta ** step is a step too far": changed("**step", "**(step + 1)"),
    "`m` and `v`: 1 - beta ** step is a step behind": changed("**step", "**(step - 1)"),
    "`m`: 1 - 0.9 ** step lacks its brackets": changed("(1 - 0.9**step)", "1 - 0.9**step"),
    "`v`: 1 - 0.999 ** step lacks its": changed("(1 - 0.999**step)", "1 - 0.999**step"),
    "`step` grows with each parameter": RIGHT + "; step += 1",
    "`step` grows with each": changed("m *= 0.9;", "step += 1; m *= 0.9;"),
    "The running mean is still zero: does its line": changed(MEANS[0], "m.mul(0.9).add(0.1 * dp)"),
    "zero: does its line use the gradient, and change `m` in": changed(MEANS[0], "m.mul_(0.9)"),
    "in place? `v = ...` makes": changed(MEANS[1], "v.mul(0.999).add(0.001 * dp**2)"),
    "All numbers of `v` go by the mean": changed("dp**2", "(dp**2).mean()"),
    "All numbers of `v` go by the gradient's length": changed("dp**2", "dp.norm() ** 2"),
    "The root of `v` is divided": changed(
        HATS[1], "b = v", "b.sqrt()", "b.sqrt() / (1 - 0.999**step)"
    ),
    "Nothing has changed, neither a parameter": changed(
        *(MEANS[0], "m.mul(0.9).add(0.1 * dp)"),
        *(MEANS[1], "v.mul(0.999).add(0.001 * dp**2)"),
    ),
    "0.9 and 0.999 are mixed up: 0.9 is for `m`": changed("m *= 0.9;", "m *= 0.999;")
    .replace("0.1 *", "? *")
    .replace("v *= 0.999; v += 0.001 *", "v *= 0.9; v += 0.1 *")
    .replace("?", "0.001"),
    "0.9 and 0.999 are mixed up: 0.9 is for `m`, 0.999": changed(
        "1 - 0.9**", "1 - 0.99**", "1 - 0.999**", "1 - 0.9**", "1 - 0.99**", "1 - 0.999**"
    ),
    "It divides by the mean of the squares, not by": changed(".sqrt()", ""),
    "It multiplies by the root": changed("a / (b", "a * (b"),
    "It moves by the running mean alone": changed(" / (b.sqrt() + eps)", ""),
    "eps is added below the root": changed("b.sqrt() + eps", "(b + eps).sqrt()"),
    "eps is added after the division": changed("(b.sqrt() + eps)", "b.sqrt() + eps"),
    "eps is added to the quotient": changed("a / (b.sqrt() + eps)", "(a / b.sqrt() + eps)"),
    "There is no eps in it": changed(" + eps)", ")"),
    "There is no rate in it.": changed("rate * ", ""),
    "It has 0.001 in place of `rate`.": changed("p -= rate", "p -= 0.001"),
    "It has 1e-08 in place of `eps`.": changed("+ eps", "+ 1e-8"),
    "It has 0.001 and 1e-08 in place of": changed("p -= rate", "p -= 1e-3", "+ eps", "+ 1e-8"),
    "It moves by the gradient, not by its running": changed("rate * a", "rate * dp"),
    "It moves by the means of the step before": LOOP + "\n    ".join((*HATS, MOVE, *MEANS)),
    "This is the plain step downhill": LOOP + "p -= rate * dp",
    "It goes through `means` twice": changed("means, squares", "means, means"),
    "It goes through `squares` twice": changed("means, squares", "squares, squares"),
    "`means` and `squares` are mixed up.": changed("means, squares", "squares, means"),
    "Only the last parameter moves": changed("    p -=", "p -="),
    "Of 3 parameters number 2 and number 3 did not": RIGHT + "\n    return",
    "Of 3 parameters number 1 did not move": changed(
        "zip(parameters", "zip([0.0, *parameters[1:]]"
    ),
    "It changes the gradients.": changed("p -=", "dp.zero_(); p -="),
    "It puts other tensors into the list `means`": """
for i, (p, dp, v) in enumerate(zip(parameters, gradients, squares)):
    means[i] = 0.9 * means[i] + 0.1 * dp
    v += 0.001 * (dp**2 - v)
    p -= rate * means[i] / (1 - 0.9**step) / ((v / (1 - 0.999**step)).sqrt() + eps)
""",
    "`m`: `+=` keeps all of the old, and 0.9 of it": changed("m *= 0.9; m += ", "m += 0.9 * m + "),
    "0.001 is squared with the gradient": changed("0.001 * dp**2", "(0.001 * dp) ** 2"),
    "`v` keeps 0.99 of the old; 0.999 is due.": changed("v *= 0.999", "v *= 0.99"),
    "`v` keeps 0.99 of the old and takes 0.01 of the new; 0.999 and 0.001 are due.": changed(
        *("v *= 0.999", "v *= 0.99", "0.001 * dp", "0.01 * dp")
    ),
    "`v` keeps 0.99 of the old, takes 0.01 of the new and is divided by 1 - 0.99**step;": changed(
        *("0.999", "0.99", "0.001 * dp", "0.01 * dp")
    ),
    "`v` is divided by 1 - 0.99**step; 0.999 is due.": changed("1 - 0.999", "1 - 0.99"),
    "`v` is divided by 1 - 0.9**step; 0.999 is due.": changed("1 - 0.999", "1 - 0.9"),
    "`m` takes 0.01 of the new; 0.1 is due.": changed("0.1 * dp", "0.01 * dp"),
    "`m` is divided by 1 - 0.999**step; 0.9 is due.": changed("0.9**step", "0.999**step"),
    "`v` goes by the square of `dp - v`": changed(MEANS[1], "v += 0.001 * (dp - v) ** 2"),
    "`v` goes by the square of `dp - m`": changed("dp**2", "(dp - m) ** 2"),
    "After step 1, with the gradient": changed("rate * a", "0.9 * rate * a"),
    "the running mean is nan;": changed("0.1 * dp", "float('nan') * dp"),
}


@pytest.mark.parametrize(("sentence", "body"), MISTAKES.items(), ids=range(len(MISTAKES)))
def test_a_mistake_is_named(sentence: str, body: str) -> None:
    assert sentence in try_adam(mine(body))


SENTENCES = [
    (changed_part("adam", "p -=", "p +="), "It goes uphill"),
    (changed_part("adam", "(v / (1 - 0.999**step)).sqrt()", "math.sqrt(v)"), "`.sqrt()`"),
    (changed_part("adam", "+ eps", "- eps"), "eps is subtracted"),
    (changed_part("adam", "0.999**step", "0.9**step"), "0.999 is due"),
    (changed_part("adam", "0.001 *", "0.01 *"), "`v` keeps 0.99 of the old"),
    (
        changed_part("adam", "dp**2", "dp^2"),
        "NotImplementedError in `v += 0.001 * (dp^2 - v)`: in Python `^` is no power, `**` is.",
    ),
    (
        changed_part("adam", "dp**2", "dp @ dp"),
        "`@` is the matrix product; `*` and `**2` take",
    ),
    (
        changed_part("adam", "m += 0.1 * (dp - m)", "m.mul_(0.9).add_(dp, 0.1)"),
        "`add` takes its factor by name, `alpha=...`.",
    ),
    (
        changed_part("adam", "v += 0.001 * (dp**2 - v)", "v.mul_(0.999).addcmul_(dp, dp, 0.001)"),
        "`addcmul` takes its factor by name, `value=...`.",
    ),
]


@pytest.mark.parametrize(("body", "sentence"), SENTENCES)
def test_a_mistake_is_named_in_the_notebook(body: str, sentence: str, said_of: SaidOf) -> None:
    assert sentence in said_of("adam", body)
