"""What the Adam update of notebook 4's end is tried on, and the rules with a known mistake."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from grader.notebook.training.trial import MISTAKES, Part
from grader.printable import listed

RATE, EPS = 0.001, 1e-8
STEPS = 3
SHAPES = ((5,), (3, 4), (1, 6))
SETTINGS: Sequence[Mapping[str, float]] = ({}, {"rate": 0.03, "eps": 0.02})
"""What it is called with, by turns: first it has the rate and eps of its own signature."""
TOLERANCE = 2e-4
"""Of a number: how far it may be off. A 0.999 in float32 costs a tenth of that."""


MEAN, QUOTIENT, MOVE = MISTAKES["adam"]["lines"]
M, V = MISTAKES["adam"]["m"], MISTAKES["adam"]["v"]
BOTH = {"keep": "beta", "take": "1 - beta", "beta": "beta"}

Edit = tuple[str, str]
"""A piece of the lines, and what stands in its place."""

UNCHANGED: Edit = ("", "")


def _rule(
    m: Mapping[str, str] = M,
    v: Mapping[str, str] = V,
    edits: Sequence[Edit] = (UNCHANGED, UNCHANGED),
) -> list[str]:
    """What a step does with a parameter `p` and its gradient `d`; an edit each for `m` and `v`."""
    means = [*zip((m, v), edits, strict=True)]
    lines = [
        line.replace(*edit).format(**mean) for line in (MEAN, QUOTIENT) for mean, edit in means
    ]
    return [*lines, MOVE]


def _as_part(rule: Sequence[str]) -> Part:
    """A function like the student's, with this rule in its loop."""
    code = compile("\n".join(rule), "<rule>", "exec")

    def part(*lists: Sequence[Tensor], rate: float = RATE, eps: float = EPS) -> None:
        *tensors, step = lists
        for p, d, m, v in zip(*tensors, strict=True):
            names = {"p": p, "d": d, "m": m, "v": v, "step": step, "rate": rate, "eps": eps}
            exec(code, names)
            for name, tensor in (("p", p), ("m", m), ("v", v)):
                tensor.copy_(names[name])
            step = names["step"]

    return part


adam = _as_part(_rule())
"""Updates parameters and both running means in place; the first step has the number 1."""


def _wrong_rules() -> Iterator[tuple[str, Sequence[str]]]:
    """The mistakes that are known by name: what is said, and the rule with the mistake."""
    right = _rule()
    for *edit, said in MISTAKES["adam"]["in_a_mean"]:
        yield f"`m`: {said.format(**M)}", _rule(edits=(edit, UNCHANGED))
        yield f"`v`: {said.format(**V)}", _rule(edits=(UNCHANGED, edit))
        yield f"`m` and `v`: {said.format(**BOTH)}", _rule(edits=(edit, edit))
    for *edit, said in MISTAKES["adam"]["in_one_place"]:
        yield said, [line.replace(*edit) for line in right]
    constants = MOVE.replace("rate", str(RATE)).replace("eps", str(EPS))
    yield f"It has {RATE} and {EPS} in place of `rate` and `eps`.", [*right[:-1], constants]
    for keys in ({"keep", "take"}, {"beta"}, {"keep", "take", "beta"}):
        m, v = (a | {key: b[key] for key in keys} for a, b in ((M, V), (V, M)))
        yield "0.9 and 0.999 are mixed up: 0.9 is for `m`, 0.999 for `v`.", _rule(m, v)
    yield from _other_numbers()
    yield "It moves by the means of the step before: change them first.", right[2:] + right[:2]
    yield "This is the plain step downhill: it uses neither running mean.", ["p = p - rate * d"]
    counting = "`step` grows with each parameter; it has the same value for all of them."
    yield counting, ["step += 1", *right]
    yield counting, [*right, "step += 1"]
    yield "It goes through `means` twice, and never through `squares`.", _rule(v=V | {"mean": "m"})
    yield "It goes through `squares` twice, and never through `means`.", _rule(m=M | {"mean": "v"})
    yield "`means` and `squares` are mixed up.", _rule(M | {"mean": "v"}, V | {"mean": "m"})


WHERE = {
    "keep": "keeps {keep} of the old",
    "take": "takes {take} of the new",
    "beta": "is divided by 1 - {beta}**step",
}
"""Where the rule of a mean has a number, in words."""


def _other_numbers() -> Iterator[tuple[str, Sequence[str]]]:
    """What is said of other numbers in one of the means, and the rule with these."""
    for beta, rest in (("0.9", "0.1"), ("0.99", "0.01"), ("0.999", "0.001")):
        numbers = {"keep": beta, "take": rest, "beta": beta}
        for right in (M, V):
            for count in (1, 2, 3) if right["beta"] != beta else ():
                for keys in itertools.combinations(WHERE, count):
                    wrong = {**right, **{key: numbers[key] for key in keys}}
                    does = listed(WHERE[key].format(**wrong) for key in keys)
                    due = f"{listed(right[key] for key in keys)} {'is' if count == 1 else 'are'}"
                    said = f"`{right['mean']}` {does}; {due} due."
                    yield said, _rule(wrong) if right is M else _rule(v=wrong)


State = list[Tensor]
"""A parameter with both its running means, or how far the one moved and where the others are."""


def try_adam(function: Part) -> str:
    """Take three steps with three parameters of several shapes, then again at another rate."""
    g = torch.Generator().manual_seed(3)
    gradients = [[_draw_gradient(shape, g) for shape in SHAPES] for _ in range(STEPS)]
    due, mine = list[State](), list[State]()
    for part, states in ((adam, due), (function, mine)):
        for settings in SETTINGS:
            if trouble := _take_steps(part, gradients, settings, states):
                return trouble
    if _agree(mine, due):
        return ""
    for said, rule in _wrong_rules():
        wrong = list[State]()
        for settings in SETTINGS:
            _take_steps(_as_part(rule), gradients, settings, wrong)
        if _agree(mine, wrong):
            return said
    return _what_stays(mine) or _in_numbers(gradients, mine, due)


def _draw_gradient(shape: Sequence[int], g: torch.Generator) -> Tensor:
    """Numbers of either sign; one of them is as small as eps, and one is zero."""
    gradient = torch.randn(shape, generator=g, dtype=torch.float64)
    gradient.view(-1)[-2:] *= torch.tensor([EPS, 0])
    return gradient


def _take_steps(
    part: Part,
    gradients: Sequence[Sequence[Tensor]],
    settings: Mapping[str, float],
    states: list[State],
) -> str:
    """Note each parameter's state after each step; say if something changes that must not."""
    # float64: a parameter near 1 moves by a thousandth of that.
    kept = [[make(g) for g in gradients[0]] for make in (torch.ones_like, *[torch.zeros_like] * 2)]
    for step, due in enumerate(gradients, start=1):
        given, lists = [gradient.clone() for gradient in due], [[*tensors] for tensors in kept]
        before = [parameter.clone() for parameter in kept[0]]
        part(lists[0], given, lists[1], lists[2], step, **settings)
        if not all(map(torch.equal, given, due)):
            return "It changes the gradients. Only the parameters and both means are to change."
        for name, now, then in zip(("parameters", "means", "squares"), lists, kept, strict=True):
            if [*map(id, now)] != [*map(id, then)]:
                return (
                    f"It puts other tensors into the list `{name}`: change those that are in it, in"
                    " place."
                )
        moves = [now - then for now, then in zip(kept[0], before, strict=True)]
        for parameter in kept[0]:
            parameter[~parameter.isfinite()] = 1.0  # else all that follows would be NaN
        states += [[p, m.clone(), v.clone()] for p, m, v in zip(moves, *kept[1:], strict=True)]
    return ""


def _agree(found: Sequence[State], due: Sequence[State]) -> bool:
    """True if all states are the same up to rounding; where a rule gives NaN, NaN is the same."""
    return all(
        torch.allclose(one, other, rtol=TOLERANCE, atol=1e-30, equal_nan=True)
        for state, right in zip(found, due, strict=True)
        for one, other in zip(state, right, strict=True)
    )


def _what_stays(mine: Sequence[State]) -> str:
    """A sentence if a tensor that is to change never does, or ""."""
    count = len(SHAPES)
    stays = [
        [i for i in range(count) if not any(bool(state[kind].any()) for state in mine[i::count])]
        for kind in range(3)
    ]
    if all(len(one) == count for one in stays):
        return (
            "Nothing has changed, neither a parameter nor a running mean: change all of them in"
            " place. `mul`, `add` and `sub` without an underscore return new tensors."
        )
    # The means come first: where they stay at zero, a right line moves no parameter.
    for kind, name, is_still in (
        (1, "m", "The running mean is still zero: does its line use the gradient, and change"),
        (
            2,
            "v",
            "The running mean of the squares is still zero: does its line use the gradient's"
            " square, and change",
        ),
        (0, "p", "No parameter has changed: does a line change"),
    ):
        if len(stays[kind]) == count:
            return (
                f"{is_still} `{name}` in place? `{name} = ...` makes a new tensor, as do `mul`,"
                " `add` and `sub` without an underscore."
            )
    if stays[0] == [*range(count - 1)]:
        return (
            "Only the last parameter moves: the line that changes it belongs into the loop, below"
            " those of its means."
        )
    if stays[0]:
        names = listed(f"number {i + 1}" for i in stays[0])
        return f"Of {count} parameters {names} did not move: all of them have to."
    return ""


def _in_numbers(
    gradients: Sequence[Sequence[Tensor]], mine: Sequence[State], due: Sequence[State]
) -> str:
    """The first number that is wrong, the running means before the parameters that go by them."""
    count = len(SHAPES)
    for place, (found, right) in enumerate(zip(mine, due, strict=True)):
        step = place // count % STEPS
        for kind in (1, 2, 0):
            off = (
                (found[kind] - right[kind]).abs() / right[kind].abs().clamp(min=1e-30)
            ).nan_to_num(torch.inf)
            if float(off.max()) <= TOLERANCE:
                continue
            worst = off.argmax()
            d, value, wanted = (
                float(tensor.flatten()[worst])
                for tensor in (gradients[step][place % count], found[kind], right[kind])
            )
            name = ("a parameter moves by", "the running mean is", "the mean of the squares is")
            return (
                f"After step {step + 1}, with the gradient {d:.4g}, {name[kind]} {value:.4g};"
                f" {wanted:.4g} is due."
            )
    raise AssertionError("the states agree")
