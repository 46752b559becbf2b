# %% [markdown]
# # 7 · Training it
#
# {{ colab }}
#
# You have gone backwards through attention and through a block. Now you train the block: it has
# 14,720 numbers, a thousand steps take a few seconds, and there is not one `loss.backward()`. Such
# a training needs four things, and you write all four: a loss for names of different lengths, a
# limit for the gradients, Adam, and a schedule for its steps. Then you see what they gain. With the
# lecture's names, notebook 04 ended at 2.11 nats a character, and this network ends well below
# that, in a thirteenth of the steps.
#
# - **Time:** about three hours. The training in part 5 takes one to five minutes of that, and the
#   four short ones in part 2 take about as long.
# - **You need:** notebooks 02 and 05. The rest of the block is given here. You write it in notebook
#   06.
# - **Afterwards you can:** keep padding out of a loss and out of the work; write AdamW, warm-up,
#   cosine and clipping from memory; stop a training and resume it to the last bit; and say where
#   the time of a training step goes.
#
# | letter | stands for | here |
# | :-- | :-- | --: |
# | `B` | names in the batch | 64 |
# | `T` | places in a name | 16 |
# | `C` | numbers that describe a place | 32 |
# | `V` | characters | 27 |
#
# The names and the loss are those of Andrej Karpathy's lecture [*Becoming a Backprop
# Ninja*](https://www.youtube.com/watch?v=q8SA3rM6ckI), part 4 of *Building makemore*. You need not
# have seen it. Run the next five cells first.

# %%
# {{ cell: setup }}

# %%
# {{ cell: course }}

# %% tags=["train"]
import dis
import math
import os
import statistics
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from IPython.display import Markdown
from torch import Tensor
from torch.optim.adamw import adamw as pytorchs_adamw

from grader import LossPlot, board, check, figures, nudge
from makemore_data import (
    LECTURE_SEED,
    build_vocabulary,
    load_names,
    names_table,
    split_names,
    stop_button,
    whole_run,
)

figures.use_course_style()
torch.set_num_threads(1)  # matrices this small: two threads would mostly wait for each other
WHOLE = 15_000
ALL_STEPS = int(os.environ.get("BACKPROP_NINJA_STEPS", WHOLE))  # the tests of the course take fewer

# %%
# @title The drawings of this notebook. Run it; there is nothing to do here.
from grader.pictures.figures import sheet

SHOWN = ("mia", "zoe", "oliver")


def padded_batch():
    """Three names as rows of a batch: what counts is lit."""
    page = sheet.new_sheet(15.6, 5.6, scale=0.45)
    for left, title, first, last in ((0.6, "read", ".", ""), (8.4, "to be guessed", "", ".")):
        rows = [list(f"{first}{name}{last}".ljust(7)) for name in SHOWN]
        lit = [(row, place) for row, name in enumerate(SHOWN) for place in range(len(name) + 1)]
        page.matrix(left, 1.4, rows, title, lit=lit)
    page.write((7.8, 5.1), "filled: what counts; empty: padding", sheet.GREY, 11)
    return page.picture(
        "Two grids of three rows and seven places. Read: a dot and mia, a dot and zoe, a dot and "
        "oliver. To be guessed: the same names with the dot at the end. Of the short names' rows "
        "only the first four places are filled, the other three are empty."
    )


def pick_and_place():
    """From the places of a batch to rows and back."""
    page = sheet.new_sheet(15.6, 7.3, scale=0.45)
    counted = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0)]
    names = [["a", "b", ""], ["c", "d", "e"], ["f", "", ""]]
    zeros = [[cell or "0" for cell in row] for row in names]
    rows = [[letter] for letter in "abcdef"]
    page.matrix(0.8, 2.0, names, "names  (B, T)", lit=counted)
    page.arrow((4.2, 3.2), (6.4, 3.2), "pick")
    page.matrix(7.0, 0.9, rows, "rows  (R)")
    page.arrow((8.6, 3.2), (10.8, 3.2), "place")
    page.matrix(11.4, 2.0, zeros, "names again  (B, T)", lit=counted)
    page.arrow((6.4, 4.4), (4.2, 4.4), colour=sheet.BACKWARD)
    page.arrow((10.8, 4.4), (8.6, 4.4), colour=sheet.BACKWARD)
    page.write((5.3, 5.1), "backward: ?", sheet.BACKWARD, 11)
    page.write((9.7, 5.1), "backward: ?", sheet.BACKWARD, 11)
    return page.picture(
        "A grid of three names and three places, in which the places a to f count. An arrow, pick, "
        "leads to a column of six rows, a to f. An arrow, place, leads from there to a grid again, "
        "which has zeros where nothing was placed. Below each arrow one leads back, with a "
        "question mark."
    )


def show_first_steps(moves):
    """How far a number moves at each of the first steps, by the title of a line."""
    figure, (axes,) = sheet.new_axes(height=2.7)
    for (title, line), colour in zip(moves.items(), (sheet.GREEN, sheet.PINK), strict=True):
        axes.plot(range(1, len(line) + 1), line, color=colour)
        axes.text(len(line) + 1.5, line[-1], title, color=colour, va="center")
    axes.set_xlim(0, len(line) * 1.35)
    axes.set_xticks(range(0, len(line) + 1, 10))
    axes.set_ylim(0)
    axes.set_xlabel("step")
    axes.set_ylabel("length of the step, in rates")
    return figures.Picture(figure, "Two lines over the first 60 steps.")


def show_schedule(rates, warm):
    """The learning rate over a training."""
    figure, (axes,) = sheet.new_axes(height=2.5)
    axes.plot(range(1, len(rates) + 1), rates, color=sheet.GREEN)
    axes.axvline(warm, color=sheet.GREY, linestyle="--", linewidth=1)
    axes.text(warm * 1.6, 0, "warm-up ends", color=sheet.GREY, fontsize=10)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("step")
    axes.set_ylabel("learning rate")
    return figures.Picture(figure, "One line over all steps: a short way up, a long way down.")


def show_norms(norms, most):
    """The gradient's norm over a training, before clipping."""
    stretch = max(1, len(norms) // 200)
    points = torch.tensor(norms[: len(norms) // stretch * stretch]).view(-1, stretch)
    steps = [stretch * (number + 1) for number in range(len(points))]
    figure, (axes,) = sheet.new_axes(height=2.7)
    axes.plot(steps, points.amax(1), color=sheet.PALER[sheet.BACKWARD])
    axes.plot(steps, points.mean(1), color=sheet.BACKWARD)
    axes.axhline(most, color=sheet.GREY, linestyle="--", linewidth=1)
    axes.text(steps[len(steps) // 4], most + 0.05, "clipped to this", color=sheet.GREY, fontsize=10)
    axes.set_ylim(0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("training step")
    axes.set_ylabel("norm of the gradient")
    return figures.Picture(figure, "Two lines over the steps, the mean norm and the largest.")


# %% tags=["train"]
# @title The checks of part 4. Run it; there is nothing to do here.
PASS, TO_DO = "pass", "to do"


def untouched(function):
    """True of a body that does nothing: a docstring, `pass` or `...`."""
    code = getattr(function, "__code__", None)
    if code is None or not {*code.co_consts} <= {function.__doc__, None, ...}:
        return False
    idle = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
    return {each.opname for each in dis.get_instructions(code)} <= idle


def compared(found, due, slips, **inputs):
    """`pass`, or what is wrong: a known slip by its name, else a number beside the expected one.

    A slip is what it makes of the number, or several such. The inputs, too, are said of a number.
    """
    is_tensor = isinstance(found, Tensor) and found.shape == due.shape
    if is_tensor and torch.allclose(found, due, rtol=1e-5, atol=0):
        return PASS
    for sentence, values in slips.items() if is_tensor else ():
        for value in values if isinstance(values, tuple) else (values,):
            slip = torch.as_tensor(value, dtype=due.dtype).broadcast_to(due.shape)
            if torch.allclose(found, slip, rtol=1e-5, atol=0, equal_nan=True):
                return f"fail: {sentence}"
    if not is_tensor or not found.isfinite().all():
        return f"fail: it has become {found}"
    worst = int(((found - due) / due).abs().argmax())
    at = {name: torch.as_tensor(each).broadcast_to(due.shape) for name, each in inputs.items()}
    given = ", ".join(f"{name} = {each.flatten()[worst].item():.4g}" for name, each in at.items())
    pair = f"{found.flatten()[worst]:.6g}, where {due.flatten()[worst]:.6g} is expected"
    return f"fail: {pair} ({given})" if given else f"fail: {pair}"


def verdict(pieces, mine, own):
    """Print what is said of each piece; return your function if all is right, else PyTorch's."""
    for piece, said in pieces.items():
        print(f"{piece:<32} | {said}")
    if {*pieces.values()} == {PASS}:
        return mine
    print("Until it passes, the cells below use PyTorch's.")
    return own


def attempt(function, *arguments):
    """What a function returns, or a sentence about what it raised."""
    try:
        return function(*arguments), ""
    except Exception as error:  # a student's function: whatever it raises is said
        return None, f"fail: it raises {type(error).__name__}: {error}"


def own_clip(gradients, most):
    """Clipping as PyTorch does it, which wants parameters around the gradients."""
    holders = [torch.empty_like(gradient) for gradient in gradients]
    for holder, gradient in zip(holders, gradients, strict=True):
        holder.grad = gradient
    return torch.nn.utils.clip_grad_norm_(holders, most).item()


def clip_slips(large, most):
    """What becomes of the gradients, as one vector, slip by slip."""
    flat = torch.cat([each.flatten() for each in large])
    lengths = torch.stack([each.norm() for each in large])
    length = lengths.square().sum().sqrt()
    so_far = [lengths[0], (min(lengths[0], most) ** 2 + lengths[1] ** 2).sqrt()]
    rms = flat.square().mean().sqrt()
    means = sum(each.square().mean() for each in large).sqrt()

    def each_by(sizes):
        pairs = zip(large, sizes, strict=True)
        return torch.cat([each.flatten() * min(1, most / size) for each, size in pairs])

    return {
        "nothing has changed; multiply the tensors in place": flat,
        "each tensor is clipped by itself; the norm is that of all numbers together": each_by(
            lengths
        ),
        "a tensor that is short by itself has to shrink, too: one factor for all": torch.cat(
            [each.flatten() * (most / length if each.norm() > most else 1) for each in large]
        ),
        "one is clipped before the norm of all is known: take two loops": (
            each_by((lengths[0], length)),
            each_by(so_far),
        ),
        "each number is clipped by itself, which turns the gradient": flat.clamp(-most, most),
        "the norm has no root": flat * most / length**2,
        "the length has become 1 instead of `most`": flat / length,
        "the factor is turned over: it is `most` by the norm": flat * length / most,
        "the lengths of the tensors are added; add the squares": flat * most / lengths.sum(),
        "the norm is that of the mean of the squares; take their sum": (
            flat * most / rms,
            flat * most / means,
        ),
        "the sizes are added; add the squares and take the root": flat * most / flat.abs().sum(),
        "the largest number is not the norm": flat * most / flat.abs().max(),
        "divided by the bound": flat / most,
    }


def check_clip(mine):
    """Clip a large gradient and a small one, each of two tensors."""
    g = torch.Generator().manual_seed(7)
    # The small one is longer than 1: a bound of 1, written out, would cut it.
    small = [0.375 * torch.randn(s, generator=g, dtype=torch.float64) for s in ((3, 2), (4,))]
    large = [6 * small[0], 2 * small[1]]  # the second is short, taken by itself
    most, pieces = 2.0, {}
    if untouched(mine):
        return verdict(dict.fromkeys(("a large gradient", "a small one"), TO_DO), mine, own_clip)
    for piece, gradients in (("a large gradient", large), ("a small one", small)):
        copies = [each.clone() for each in gradients]
        handed = [*copies]
        norm, raised = attempt(mine, handed, most)
        found = torch.cat([each.flatten() for each in copies])
        start = torch.cat([each.flatten() for each in gradients])
        if raised:
            pieces[piece] = raised
            continue
        length = start.norm()
        slips = clip_slips(large, most) if gradients is large else {}
        if gradients is small:
            slips["a gradient that is short enough stays as it is"] = start * most / length
        due = start * most / length if gradients is large else start
        pieces[piece] = compared(found, due, slips, norm=length, most=most)
        if any(one is not other for one, other in zip(handed, copies, strict=False)):
            pieces[piece] = "fail: the list has new tensors; change those that were in it, in place"
        if pieces[piece] == PASS and gradients is large:
            pieces["the norm returned"] = "fail: return it"
            if norm is not None:
                after = {"this is the norm after clipping": most}
                number = torch.tensor(float(norm), dtype=start.dtype)
                pieces["the norm returned"] = compared(number, length, after)
            if isinstance(norm, Tensor):
                pieces["the norm returned"] = "fail: it is a tensor; return a number: `.item()`"
        elif norm is None and pieces.get("the norm returned") == PASS:
            pieces["the norm returned"] = "fail: return it when nothing is clipped, too"
    return verdict(pieces, mine, own_clip)


BETA1, BETA2, EPS = 0.9, 0.99, 1e-8


def own_adamw(p, dp, m, v, step, rate, decay):
    """AdamW as PyTorch does it."""
    counter = [torch.tensor(step - 1.0)]  # it counts on by itself
    constants = {"amsgrad": False, "beta1": BETA1, "beta2": BETA2, "eps": EPS, "maximize": False}
    pytorchs_adamw([p], [dp], [m], [v], [], counter, lr=rate, weight_decay=decay, **constants)


NEW_TENSOR = "it still is what it was: what you computed is a new tensor; change `{0}` in place"


def mean_slips(m, g, t):
    """What becomes of the running mean of the gradients after a step, slip by slip."""
    return {
        "the shares are 0.9 and 0.1; 0.99 and 0.01 belong to the squares": (
            m + (1 - BETA2) * (g - m),
            BETA1 * m + (1 - BETA2) * g,
            BETA2 * m + (1 - BETA1) * g,
        ),
        "the shares are exchanged: the old counts 0.9, the new 0.1": g + (1 - BETA1) * (m - g),
        "nothing is forgotten: the old counts 0.9": m + (1 - BETA1) * g,
        "the new counts in full; its share is 0.1": BETA1 * m + g,
        "moments mixed up: m takes the gradient, v takes its square": m + (1 - BETA1) * (g * g - m),
        "the sign of the gradient is wrong": m - (1 - BETA1) * (g + m),
        "no gradient reaches it; `m = ...` makes a new tensor": (1.1 * m, 0.99 * m, BETA1 * m),
        "0.9 m is added to m; it is what stays of it": (1.9 * m + 0.1 * g, 1.9 * m),
        "the share is divided out of a copy; `m` itself stays": (m + (1 - BETA1) * (g - m))
        / (1 - BETA1**t),
        NEW_TENSOR.format("m"): m,
    }


def square_slips(v, g, t):
    """The same of the running mean of the squares."""
    return {
        "the shares are 0.99 and 0.01; 0.9 and 0.1 belong to the gradients": (
            v + (1 - BETA1) * (g * g - v),
            BETA2 * v + (1 - BETA1) * g * g,
            BETA1 * v + (1 - BETA2) * g * g,
        ),
        "this mean keeps 0.99, not 0.999": v + 0.001 * (g * g - v),
        "the shares are exchanged: the old counts 0.99, the new 0.01": g * g + 0.01 * (v - g * g),
        "nothing is forgotten: the old counts 0.99": v + (1 - BETA2) * g * g,
        "the new counts in full; its share is 0.01": BETA2 * v + g * g,
        "moments mixed up: v takes the square of the gradient": v + (1 - BETA2) * (g - v),
        "it takes the gradient's size; the square is expected": v + (1 - BETA2) * (g.abs() - v),
        "the share is squared, too; only the gradient is": BETA2 * v + (0.01 * g) ** 2,
        "all numbers share a mean; each has its own": (
            BETA2 * v + 0.01 * (g * g).mean(),
            BETA2 * v + 0.01 * (g * g).sum(),
        ),
        "no gradient reaches it; `v = ...` makes a new tensor": (
            1.01 * v,
            0.99 * 1.01 * v,
            BETA2 * v,
        ),
        "the share is divided out of a copy; `v` itself stays": (v + (1 - BETA2) * (g * g - v))
        / (1 - BETA2**t),
        NEW_TENSOR.format("v"): v,
    }


def step_slips(m, v, g, t, m_old, v_old):
    """How far p moves at a rate of 1, slip by slip, from the right means."""
    share1, share2 = 1 - BETA1**t, 1 - BETA2**t
    mean, square = m / share1, v / share2
    root = square.sqrt()
    slips = {
        "no bias correction: both means are divided by their share": -m / (v.sqrt() + EPS),
        "m has no bias correction": -m / (root + EPS),
        "v has no bias correction": -mean / (v.sqrt() + EPS),
        "epsilon is inside the root; it belongs beside it": -mean / (square + EPS).sqrt(),
        "epsilon is inside the root, and v has no bias correction": -mean / (v + EPS).sqrt(),
        "there is no epsilon beside the root": -mean / root,
        "m's correction: 1 - 0.9**step needs a bracket of its own": -(m - BETA1**t) / (root + EPS),
        "v's correction has 0.9; 0.99 is expected": -mean / ((v / share1).sqrt() + EPS),
        "epsilon is another; 1e-8 is expected": tuple(
            -mean / (root + wrong) for wrong in WRONG_EPS
        ),
        "v is corrected after its root and epsilon": -mean * share2**0.5 / (v.sqrt() + EPS),
        "divided by the mean of the squares itself, not by its root": -mean / (square + EPS),
        "moments mixed up: m stands above, v below": -square / (mean.abs().sqrt() + EPS),
        "the corrections are exchanged: 0.9 is m's, 0.99 is v's": -(m / share2)
        / ((v / share1).sqrt() + EPS),
        "it goes by the means as they were; change them first": -(m_old / share1)
        / ((v_old / share2).sqrt() + EPS),
        "it moves by the gradient; the running mean is expected": -g / (root + EPS),
        "it moves by the mean alone, which the root has to divide": -mean,
        "uphill: the sign is wrong": mean / (root + EPS),
        "a root of something negative; the share 1 - 0.99**step is positive": mean * math.nan,
        NEW_TENSOR.format("p"): torch.zeros_like(m),
    }
    for sentence, share in WRONG_SHARES.items():
        one, two = share(BETA1, t), share(BETA2, t)
        for whose, top, below in (("both", one, two), ("m", one, share2), ("v", share1, two)):
            by = m / top / ((v / below).sqrt() + EPS)
            slips[f"the share of {whose}: {sentence}"] = -by
    return slips


WRONG_EPS = tuple(
    factor * 10.0**-power for power in range(3, 13) for factor in (1, 10) if power != 8
)
WRONG_SHARES = {
    "the power comes before 1 is taken, 1 - 0.9**step": lambda beta, t: (1 - beta) ** t,
    "the first step is 1 already": lambda beta, t: 1 - beta ** (t + 1),
    "the first step is 1, not 0": lambda beta, t: 1 - beta ** (t - 1),
    "it is 1 less the power": lambda beta, t: beta**t,
    "`step` is an exponent": lambda beta, t: 1 - beta * t,
    "the exponent `step` is missing": lambda beta, t: 1 - beta,
    "divide by it": lambda beta, t: 1 / (1 - beta**t),
}


def decay_slips(before, taken, rate, decay):
    """The parameter after some steps, slip by slip; `taken` are the right ones without decay."""
    share = rate * decay
    slips = {
        "none: each step takes rate * decay of p away from it": lambda p, s: p + s.move,
        "it takes its share of `p` after the step; take it of `p` as it was before": lambda p, s: (
            (p + s.move) * (1 - share)
        ),
        "weight decay without the rate": lambda p, s: p * (1 - decay) + s.move,
        "weight decay makes p grow: the sign is wrong": lambda p, s: p * (1 + share) + s.move,
        "the rate alone, without `decay`": lambda p, s: p * (1 - rate) + s.move,
        "a number is taken away, not a share of p": lambda p, s: p - share + s.move,
        "weight decay by the sign of p": lambda p, s: p - p.sign() * share + s.move,
        "a share of p, not of its square": lambda p, s: p - share * p**2 + s.move,
        "a share of p, not of the gradient": lambda p, s: p - share * s.gradient + s.move,
        "a share of p, not of the mean": lambda p, s: p + decay * s.move * s.root + s.move,
        "a share of p, not of the step": lambda p, s: p + (1 + decay) * s.move,
        "it stands above the root, which divides it; it belongs beside the step": lambda p, s: (
            p - share * p / s.root + s.move
        ),
        "it stands below, beside the root; it belongs beside the step": lambda p, s: (
            p + s.move * s.root / (s.root + decay * p)
        ),
    }
    ends = {}
    for sentence, step in slips.items():
        p = before.clone()
        for each in taken:
            p = step(p, each)
        ends[sentence] = p
    return ends


class Taken(NamedTuple):
    """A right step without decay."""

    gradient: Tensor
    move: Tensor
    root: Tensor  # with epsilon


def check_adamw(mine):
    """Take steps with known gradients, first without weight decay and then with it."""
    g = torch.Generator().manual_seed(3)
    sizes = torch.tensor([1, -1, 0.1, 1, 1e-8], dtype=torch.float64)  # one as small as epsilon
    gradients = [sizes * (1.5 + torch.rand(5, generator=g, dtype=torch.float64)) for _ in range(3)]
    start = torch.tensor([1.0, -2, 0.5, 3, 0.01], dtype=torch.float64)
    rate, decay = 0.1, 0.25
    of_m, of_v = "m, the mean of the gradients", "v, the mean of the squares"
    pieces = dict.fromkeys((of_m, of_v, "the step", "weight decay"), PASS)
    if untouched(mine):
        return verdict(dict.fromkeys(pieces, TO_DO), mine, own_adamw)
    state, states, taken = [torch.zeros_like(start) for _ in range(3)], [], []
    for t, gradient in enumerate(gradients, start=1):
        before = [each.clone() for each in state]
        own_adamw(state[0], gradient, *state[1:], t, rate, 0.0)
        states.append((t, gradient, before, [each.clone() for each in state]))
        root = (state[2] / (1 - BETA2**t)).sqrt() + EPS
        taken.append(Taken(gradient, state[0] - before[0], root))
    spoilt = False
    for t, gradient, before, due in states[::-1]:  # at step 1 some slips look alike
        p, m, v, dp = (each.clone() for each in (*before, gradient))
        places = {"p": p.data_ptr(), "m": m.data_ptr(), "v": v.data_ptr()}
        _, raised = attempt(mine, p, dp, m, v, t, rate, 0.0)
        for name, tensor in (("p", p), ("m", m), ("v", v)):
            if not raised and tensor.data_ptr() != places[name]:  # what views it sees nothing of it
                raised = f"fail: `{name}.data = ...` puts it elsewhere; change it where it is"
        if raised:
            return verdict(dict.fromkeys(pieces, f"{raised} (step = {t})"), mine, own_adamw)
        spoilt |= not torch.equal(dp, gradient)
        inputs = {"step": t, "dp": gradient}
        said = {
            of_m: compared(m, due[1], mean_slips(before[1], gradient, t), **inputs, m=before[1]),
            of_v: compared(v, due[2], square_slips(before[2], gradient, t), **inputs, v=before[2]),
        }
        if {*said.values()} != {PASS}:  # the step goes by both
            waiting = {"the step": "waits for the means", "weight decay": "waits"}
            return verdict(pieces | said | waiting, mine, own_adamw)
        p_old, move = before[0], due[0] - before[0]
        slips = step_slips(*due[1:], gradient, t, *before[1:])
        moved = {
            sentence: tuple(
                p_old + rate * far for far in (value if type(value) is tuple else (value,))
            )
            for sentence, value in slips.items()
        }
        moved["the rate is missing"] = p_old + move / rate
        moved["a share of p is taken away although `decay` is 0"] = p_old * (1 - rate) + move
        moved["`p` is multiplied by rate * decay; that share is what goes"] = move
        if torch.equal(p, p_old):
            alone = torch.zeros_like(p)  # nothing of it can decay
            attempt(mine, alone, gradient.clone(), *(each.clone() for each in before[1:]), t, 1, 1)
            if alone.any():
                moved = {"the step has `decay` as a factor; only the decay has": p_old}
        told = compared(p, due[0], moved, **inputs, p=p_old, rate=rate)
        if told != PASS:
            waiting = {"the step": told, "weight decay": "waits for the step"}
            return verdict(pieces | waiting, mine, own_adamw)
    p, m, v = start.clone(), torch.zeros_like(start), torch.zeros_like(start)
    right, in_gradient = start.clone(), start.clone()
    means = [torch.zeros_like(start), torch.zeros_like(start)]
    adam = torch.optim.Adam(
        [in_gradient], lr=rate, betas=(BETA1, BETA2), eps=EPS, weight_decay=decay
    )
    raised = ""
    for t, gradient in enumerate(gradients, start=1):
        dp = gradient.clone()
        raised = raised or attempt(mine, p, dp, m, v, t, rate, decay)[1]
        spoilt |= not torch.equal(dp, gradient)
        own_adamw(right, gradient, *means, t, rate, decay)
        in_gradient.grad = gradient.clone()
        adam.step()
    slips = {
        "weight decay is in the gradient, where the root takes it away again; it belongs beside "
        "the step": in_gradient
    }
    slips |= decay_slips(start, taken, rate, decay)
    inputs = {"steps": len(taken), "p": start, "rate": rate, "decay": decay}
    pieces["weight decay"] = raised or compared(p, right, slips, **inputs)
    if spoilt and {*pieces.values()} == {PASS}:
        pieces["dp"] = "fail: it has changed; only `p`, `m` and `v` may"
    return verdict(pieces, mine, own_adamw)


def own_rate(step, all_steps, warm, peak):
    """Warm-up and cosine; a squared cosine of half the angle is the same."""
    along = max(0, step - warm) / (all_steps - warm)
    return min(step / warm, math.cos(math.pi / 2 * along) ** 2) * peak


def rate_slips(all_steps, warm, peak):
    """What the rate of a step t would be, slip by slip, in the warm-up and along the cosine."""
    fall = all_steps - warm

    def cosine(t, begin=warm, length=fall):
        return peak * (1 + math.cos(math.pi * (t - begin) / length)) / 2

    def turned(function, t, turns=1.0):
        return function(math.pi * turns * (t - warm) / fall)

    anywhere = {
        "the first step has the number 1: yours counts from 0": lambda t: own_rate(
            t - 1, all_steps, warm, peak
        ),
        "the peak is missing": lambda t: own_rate(t, all_steps, warm, 1.0),
        "it stays at its peak": lambda t: peak,
    }
    upward = {
        "there is no warm-up": lambda t: cosine(t, 0, all_steps),
        "no warm-up: it falls at once": cosine,
        "the warm-up ends at step `warm`, not at the last": lambda t: peak * t / all_steps,
        "the first step has the number 1 already: no need to add 1": lambda t: (
            peak * (t + 1) / warm
        ),
        "the warm-up is turned over: it begins high": lambda t: peak * (warm - t) / warm,
        "the cosine begins at step 0; let it begin where the warm-up ends": lambda t: (
            t / warm * cosine(t, 0, all_steps)
        ),
    }
    downward = {
        "the cosine begins at step 0; let it begin where the warm-up ends": lambda t: cosine(
            t, 0, all_steps
        ),
        "the cosine ends too late: it has all_steps - warm steps": lambda t: cosine(
            t, warm, all_steps
        ),
        "the cosine ends a step early: it has all_steps - warm steps": lambda t: cosine(
            t, warm, fall - 1
        ),
        "the last step has w = 1: no need to add to `step`": lambda t: cosine(t + 1),
        "a cosine alone becomes negative: add 1 and halve": lambda t: peak * turned(math.cos, t),
        "a cosine alone becomes negative: add 1": lambda t: peak / 2 * turned(math.cos, t),
        "1 + cos(...) needs a bracket of its own": lambda t: peak / 2 + turned(math.cos, t),
        "the half is missing": lambda t: 2 * cosine(t),
        "the way is turned over: it climbs": lambda t: peak - cosine(t),
        "a whole turn; half of one is expected": lambda t: peak * (1 + turned(math.cos, t, 2)) / 2,
        "a quarter of a turn; half of one is expected": lambda t: peak * turned(math.cos, t, 0.5),
        "a sine; a cosine is expected": lambda t: peak * (1 + turned(math.sin, t)) / 2,
        "a straight line; a cosine is expected": lambda t: peak * (all_steps - t) / fall,
        "w stands outside of the cosine": lambda t: peak / 2 * (1 - (t - warm) / fall),
        "pi is missing": lambda t: peak * (1 + turned(math.cos, t, 1 / math.pi)) / 2,
        "half a turn is pi, not 180": lambda t: peak * (1 + turned(math.cos, t, 180 / math.pi)) / 2,
        "step - warm and all_steps - warm need brackets": lambda t: cosine(
            t - warm / all_steps - warm, 0, 1
        ),
        "it climbs on, as in the warm-up": lambda t: peak * t / warm,
    }
    return {"warm-up": upward | anywhere, "cosine": anywhere | downward}


def check_rate(mine):
    """Ask for the rates of a short training, on the way up and on the way down."""
    all_steps, warm, peak = 50, 10, 0.3
    slips, pieces = rate_slips(all_steps, warm, peak), {}
    for piece, steps in (("warm-up", range(1, warm)), ("cosine", range(warm + 1, 50))):
        answers = [attempt(mine, t, all_steps, warm, peak) for t in steps]
        raised = next((text for _, text in answers if text), "")
        rates = [rate for rate, _ in answers]
        if untouched(mine):
            pieces[piece] = TO_DO
        elif raised:
            pieces[piece] = raised
        elif any(rate is None for rate in rates):
            pieces[piece] = "fail: it returns nothing here"
        elif any(isinstance(rate, Tensor) for rate in rates):
            pieces[piece] = "fail: it is a tensor, perhaps rounded to 32 bits; a number is expected"
        else:
            due = torch.tensor(
                [own_rate(t, all_steps, warm, peak) for t in steps], dtype=torch.float64
            )
            known = {
                sentence: torch.tensor([slip(t) for t in steps], dtype=torch.float64)
                for sentence, slip in slips[piece].items()
            }
            found = torch.tensor([float(rate) for rate in rates], dtype=torch.float64)
            inputs = {"step": torch.tensor([*steps]), "all_steps": all_steps}
            pieces[piece] = compared(found, due, known, **inputs, warm=warm, peak=peak)
    if {*pieces.values()} == {PASS} and abs(mine(warm, all_steps, warm, peak) - peak) > 1e-9:
        pieces["warm-up"] = "fail: at step `warm` exactly the peak is expected"
    return verdict(pieces, mine, own_rate)


# %% [markdown]
# # Part 1 · The network and its names
#
# The names and their split are those of the four notebooks. Here a name is a row of `T` = 16
# places: a dot, its letters, and empty places up to the end. Each place has to guess the next
# character, and the last guess of a name is the dot that ends it.

# %% tags=["train", "nbval-ignore-output"]
B, T, C, M = 64, 16, 32, 128
stoi, itos = build_vocabulary()
V = len(itos)


class Names(NamedTuple):
    """What is read and what is to be guessed, (N, T) each, and how many letters a name has, (N,).

    The places behind a name hold zeros, which is also the number of the dot.
    """

    X: Tensor
    Y: Tensor
    lengths: Tensor


def as_rows(names):
    """The names with fewer letters than there are places."""
    spelt = [[stoi[letter] for letter in name] for name in names if len(name) < T]
    padding = [[0] * (T - 1 - len(name)) for name in spelt]
    X = torch.tensor([[0, *name, *zeros] for name, zeros in zip(spelt, padding, strict=True)])
    Y = torch.cat([X[:, 1:], torch.zeros(len(X), 1, dtype=torch.int64)], 1)
    return Names(X, Y, torch.tensor([len(name) for name in spelt]))


known = load_names()
training, validation, _ = map(as_rows, split_names(known))
for what, names in (("training", training), ("validation", validation)):
    places, characters = names.X.numel(), int((names.lengths + 1).sum())
    share = characters / places
    print(f"{what:<10} {places:>7,} places, {characters:>7,} of them characters: {share:.0%}")

# %%
# @title Figure: a padded batch
padded_batch()

# %% [markdown]
# *Each name appears once with the dot in front and once with the dot behind it. In a name of* $n$
# *letters,* $n + 1$ *characters have to be guessed. The rest is padding, which is only there to
# make a rectangle.*
#
# More than half of all places are padding. (There are as many characters as notebook 01 had
# windows, so you can compare a loss in nats a character here with one there.)
#
# The network is a block of notebook 06 between two tables and a last linear layer. It has one head,
# and only the layer norms have biases. Here it is in PyTorch's own functions. Its parameters are
# stretches of one long vector, which will pay off later.

# %% tags=["train"]
SHAPES = {
    "letters": (V, C),
    "places": (T, C),
    "gain1": (C,),
    "bias1": (C,),
    "Wqkv": (C, 3 * C),  # Wq, Wk and Wv side by side
    "Wo": (C, C),
    "gain2": (C,),
    "bias2": (C,),
    "W1": (C, M),
    "W2": (M, C),
    "gain3": (C,),
    "bias3": (C,),
    "W_last": (C, V),
}
SIZES = [math.prod(shape) for shape in SHAPES.values()]


def views(flat):
    """The tensors of a network by name: stretches of one vector, not copies."""
    pieces = zip(SHAPES.items(), flat.split(SIZES), strict=True)
    return {name: piece.view(shape) for (name, shape), piece in pieces}


def new_parameters(g):
    """A network before training, as one vector."""
    flat = torch.zeros(sum(SIZES))
    for name, tensor in views(flat).items():
        if name.startswith("gain"):
            tensor.fill_(1)
        elif not name.startswith("bias"):
            halved = name in ("Wo", "W2")  # what is added to x should be small at first
            size = {"letters": 0.5, "places": 0.2}.get(name, len(tensor) ** -0.5 / (1 + halved))
            tensor.normal_(0, size, generator=g)
    return flat


def network(P, X):
    """The logits (B, T, V) for the letters X (B, T)."""
    x = P["letters"][X] + P["places"]
    normed = F.layer_norm(x, (C,), P["gain1"], P["bias1"])
    q, k, v = (normed @ P["Wqkv"]).unsqueeze(1).chunk(3, 3)  # one head: (B, 1, T, C)
    x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(1) @ P["Wo"]
    normed = F.layer_norm(x, (C,), P["gain2"], P["bias2"])
    x = x + F.gelu(normed @ P["W1"]) @ P["W2"]
    return F.layer_norm(x, (C,), P["gain3"], P["bias3"]) @ P["W_last"]


print(f"{sum(SIZES):,} parameters")

# %% [markdown]
# # Part 2 · A loss for names of different lengths
#
# ## 2.1 What counts
#
# The network also makes guesses at the places of padding, but these must not count. So we strike
# them out: the log-probability of each right character is multiplied by `seen`, which is 1 if the
# place counts and 0 if it does not, and the sum is divided by **how many count**.

# %%
g = torch.Generator().manual_seed(LECTURE_SEED)
P = views(new_parameters(g))
ix = torch.randint(0, len(training.X), (B,), generator=g)
Xb, Yb, lengths = (each[ix] for each in training)
logits = network(P, Xb)

# %%
T = logits.shape[1]
seen = (torch.arange(T) <= lengths.unsqueeze(1)).to(logits.dtype)
log_sums = logits.logsumexp(2, keepdim=True)
logprobs = logits - log_sums
picked = logprobs.gather(2, Yb.unsqueeze(2)).squeeze(2)
kept = picked * seen
n_seen = seen.sum()
loss = -kept.sum() / n_seen

# %% [markdown]
# | name | shape | |
# | :-- | :-- | :-- |
# | `logits`, `logprobs` | (64, 16, 27) | B, T, V |
# | `log_sums` | (64, 16, 1) | B, T, 1 |
# | `seen`, `picked`, `kept` | (64, 16) | B, T |
#
# `logsumexp` adds up the exponentials and takes the logarithm. `gather` takes, at each place, the
# number at the index `Yb` along axis 2. You write five gradients, with two questions in mind: what
# is the gradient at a place of padding? And what has become of notebook 02's $n$?
#
# **`dkept`**, **`dpicked`** (64, 16), **`dlogprobs`** (64, 16, 27), **`dlog_sums`** (64, 16, 1),
# **`dlogits`** (64, 16, 27).
#
# {{ hints: dkept }}
#
# {{ hints: dpicked }}
#
# {{ hints: dlogprobs }}
#
# {{ hints: dlog_sums }}
#
# {{ hints: dlogits }}

# %%
# answer: ex7-loss
### BEGIN SOLUTION
dkept = -torch.ones_like(kept) / n_seen
dpicked = dkept * seen
dlogprobs = torch.zeros_like(logprobs).scatter(2, Yb.unsqueeze(2), dpicked.unsqueeze(2))
dlog_sums = -dlogprobs.sum(2, keepdim=True)
dlogits = dlogprobs + dlog_sums * logprobs.exp()
### END SOLUTION

# %%
# check: ex7-loss
check("dkept", "dpicked", "dlogprobs", "dlog_sums", "dlogits")

# %%
board("ex7")

# %% [markdown]
# **Worth noticing.** At a padded place all 27 numbers of `dlogits` are zero, so everything that the
# chain rule computes from them on the way back is zero as well, as far as attention. There a later
# place may look at an earlier one. But padding comes after the name, and the mask stops the name
# from looking there. So padding does not reach any parameter. Everywhere else `dlogits` is notebook
# 02's $(p - \text{one-hot}) / n$, except that $n$ counts characters instead of rows.
#
# ## 2.2 What padding teaches if you let it
#
# Three other losses also run without an exception. The network learns from each loss for a thousand
# steps, with PyTorch's optimizer, and then all four networks are measured in the same way: in nats
# a character, on the validation names.
#
# - **padding counts as a dot**: `F.cross_entropy` over all 16 places, which are filled with zeros;
# - **struck out, divided by all places**: `kept.mean()`;
# - **a mean of means**: first the mean of each name, then the mean over the names.


# %% tags=["train"]
def per_place(logits, Y, lengths):
    """Minus the log-probability at each place, (B, T), and where it counts."""
    counts = (torch.arange(T) <= lengths.unsqueeze(1)).to(logits.dtype)
    return F.cross_entropy(logits.mT, Y, reduction="none"), counts


def over_characters(logits, Y, lengths):
    surprise, counts = per_place(logits, Y, lengths)
    return (surprise * counts).sum() / counts.sum()


def over_all_places(logits, Y, lengths):
    return per_place(logits, Y, lengths)[0].mean()


def struck_out_only(logits, Y, lengths):
    surprise, counts = per_place(logits, Y, lengths)
    return (surprise * counts).mean()


def mean_of_means(logits, Y, lengths):
    surprise, counts = per_place(logits, Y, lengths)
    return ((surprise * counts).sum(1) / counts.sum(1)).mean()


@torch.no_grad()
def nats(P, names):
    """The loss over whole names, in nats a character."""
    return over_characters(network(P, names.X), names.Y, names.lengths).item()


# %%
def taught_by(loss_of, steps):
    """The mean of the last hundred losses, and the loss on the validation names."""
    g = torch.Generator().manual_seed(LECTURE_SEED)
    leaves = {name: each.requires_grad_() for name, each in views(new_parameters(g)).items()}
    optimizer = torch.optim.AdamW(leaves.values(), lr=0.005, betas=(BETA1, BETA2))
    losses = []
    for _ in range(steps):
        ix = torch.randint(0, len(training.X), (B,), generator=g)
        Xb, *goals = (each[ix] for each in training)
        loss = loss_of(network(leaves, Xb), *goals)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return statistics.mean(losses[-100:]), nats(leaves, validation)


# %% tags=["whole-run", "nbval-ignore-output"]
lines = ["| loss | the loss it reports | nats a character |", "| :-- | --: | --: |"]
for title, loss_of in {
    "over characters": over_characters,
    "padding counts as a dot": over_all_places,
    "struck out, divided by all places": struck_out_only,
    "a mean of means": mean_of_means,
}.items():
    said, measured = taught_by(loss_of, min(ALL_STEPS, 1000))
    lines.append(f"| {title} | {said:.3f} | {measured:.3f} |")
Markdown("\n".join(lines))

# %% [markdown]
# The middle column has four numbers, and most of them do not say what was learnt.
#
# - **Padding counts as a dot.** More than half of this loss is about a dot after a dot, which is
#   soon learnt. So the loss is less than half of the honest number. But with the lecture's names
#   its network is worse than the first, by 0.009 nats, and by 0.006 to 0.010 with four other seeds.
# - **Struck out, divided by all places.** The gradient is the right one times the share of places
#   that count, which is less than a half. Adam divides such a factor away again, as you will see,
#   so the network is as good as the first. With notebook 04's update, it would have meant a
#   learning rate less than half as large.
# - **A mean of means.** A character of a short name counts more than a character of a long one.
#   With the lecture's names that costs 0.008 nats, and 0.003 to 0.014 with the other seeds. But
#   nothing looks wrong, because the loss is close to the honest one.
#
# # Part 3 · Leave the padding out
#
# ## 3.1 Pick and place
#
# If we know that a gradient is zero, we need not compute it, nor the logits that it belongs to. The
# layer norms and linear layers treat each place by itself, so they can work on only the **rows**
# that count, fewer than half of the 1,024. Only attention needs whole names. So the rows are
# *placed* into a rectangle of zeros for it, and *picked* out again afterwards.

# %%
# @title Figure: pick and place
pick_and_place()

# %% [markdown]
# *What does each arrow bring back? You met one of them in notebook 01, as* `C[Xb]`.
#
# The network of this exercise has no queries. Its pattern is fixed: each place looks equally at all
# places up to its own.

# %%
x = P["letters"][Xb] + P["places"]
H = 24
Wv = C**-0.5 * torch.randn((C, H), generator=g)
W_last = H**-0.5 * torch.randn((H, V), generator=g)
pattern = (torch.ones(T, T).tril() / torch.arange(1, T + 1).unsqueeze(1)).expand(B, T, T)

# %%
B = x.shape[0]
T = x.shape[1]
counted = torch.arange(T) <= lengths.unsqueeze(1)
at = counted.flatten().nonzero().squeeze(1)
n_rows = counted.sum().to(x.dtype)
targets = Yb.flatten()[at]
# pick: only the places that count
rows = x.flatten(0, 1)[at]
v = rows @ Wv
# place: every name as long as the others, for attention
spread = v.new_zeros(B * T, v.shape[1]).index_copy(0, at, v)
out = pattern @ spread.view(B, T, v.shape[1])
# pick again
heard = out.flatten(0, 1)[at]
guesses = heard @ W_last
loss = F.cross_entropy(guesses, targets, reduction="sum") / n_rows

# %% tags=["nbval-ignore-output"]
print(f"{len(at)} rows of {B * T} places")

# %% [markdown]
# `at` holds the numbers of the places that count, from 0 to 1,023, each at most once.
# `zeros.index_copy(0, at, v)` writes row $r$ of `v` to row `at[r]` of the zeros. `n_rows` is R, as
# a float.
#
# | name | shape | |
# | :-- | :-- | :-- |
# | `x` | (64, 16, 32) | B, T, C |
# | `rows`, `v`, `heard`, `guesses` | (R, 32), (R, 24), (R, 24), (R, 27) | R rows |
# | `spread` | (1024, 24) | B·T, H |
# | `out` | (64, 16, 24) | B, T, H |
#
# ## 3.2 Your turn
#
# Write nine gradients, of which only two need a new idea. Besides the names above, your answers
# find the sizes `B`, `T`, `C`, `H` and `V`. The check uses other sizes, and patterns that look at
# padding.
#
# {{ hints: dguesses }}
#
# {{ hints: dW_last }}
#
# {{ hints: dheard }}
#
# {{ hints: dout }}

# %%
# answer: ex7p-last
### BEGIN SOLUTION
dguesses = (F.softmax(guesses, 1) - F.one_hot(targets, V)) / n_rows
dW_last = heard.T @ dguesses
dheard = dguesses @ W_last.T
dout = dheard.new_zeros(B * T, H).index_copy(0, at, dheard).view(out.shape)
### END SOLUTION

# %%
# check: ex7p-last
check("dguesses", "dW_last", "dheard", "dout")

# %% [markdown]
# Now go from `out` to `x`. `spread` is read as names, (64, 16, 24), although it is itself (1024,
# 24).
#
# {{ hints: dspread }}
#
# {{ hints: dv }}
#
# {{ hints: dWv }}
#
# {{ hints: drows }}
#
# {{ hints: dx }}

# %%
# answer: ex7p-first
### BEGIN SOLUTION
dspread = (pattern.mT @ dout).flatten(0, 1)
dv = dspread[at]
dWv = rows.T @ dv
drows = dv @ Wv.T
dx = drows.new_zeros(B * T, C).index_copy(0, at, drows).view(x.shape)
### END SOLUTION

# %%
# check: ex7p-first
check("dspread", "dv", "dWv", "drows", "dx")

# %%
board("ex7p")

# %% [markdown]
# **Worth noticing.** If you pick forward, you place backward, and if you place forward, you pick
# backward. In terms of matrices, picking is a product with rows of a single 1, and on the way back
# the matrix is transposed.
#
# ## 3.3 The whole network, on rows
#
# The next cell holds the backward pass of all 14,720 parameters, by hand: your loss, your picking
# and placing, attention from notebook 05, and layer norm and GELU from notebook 06. It is folded,
# and it is written for speed, which part 6 explains. Open it now, or after notebook 06.

# %% tags=["train"]
# @title The network by hand: forward, then backward
FUTURE = torch.full((T, T), -torch.inf).triu(1)


class Batch(NamedTuple):
    """The characters of some names, R rows in all, without padding."""

    letters: Tensor  # (R,)
    places: Tensor  # (R,), from 0 to T - 1
    goals: Tensor  # (R, 1)
    at: Tensor  # (R,), from 0 to n_names * T - 1
    n_names: int


def pick(names, ix):
    """The characters of the names with the numbers `ix`."""
    X, Y, lengths = (each[ix] for each in names)
    at = (torch.arange(T) <= lengths.unsqueeze(1)).flatten().nonzero().squeeze(1)
    return Batch(X.flatten()[at], at % T, Y.flatten()[at].unsqueeze(1), at, len(ix))


def normalised(x, gain, bias):
    """Layer norm: the output, and two tensors that its backward pass needs."""
    centred = x - x.mean(1, keepdim=True)
    inv = (centred * centred).mean(1, keepdim=True).add_(1e-5).rsqrt_()
    xhat = centred.mul_(inv)
    return torch.addcmul(bias, xhat, gain), xhat, inv


def normalised_backward(down, xhat, inv, gain, dgain, dbias):
    """The gradient of a layer norm's input. Those of gain and bias are written in place."""
    torch.sum(down, 0, out=dbias)
    dxhat = down * gain
    torch.sum(down.mul_(xhat), 0, out=dgain)
    along = down.mul_(gain).mean(1, keepdim=True)
    return dxhat.sub_(dxhat.mean(1, keepdim=True)).addcmul_(xhat, along, value=-1).mul_(inv)


def by_hand(P, batch, G):
    """The loss of a batch; the gradients are written into the tensors of G."""
    letters, places, goals, at, n = batch
    # forward
    x0 = P["letters"].index_select(0, letters).add_(P["places"].index_select(0, places))
    a1, xhat1, inv1 = normalised(x0, P["gain1"], P["bias1"])
    qkv = x0.new_zeros(n * T, 3 * C).index_copy_(0, at, a1 @ P["Wqkv"]).view(n, T, 3 * C)
    q, k, v = qkv.chunk(3, 2)
    weights = torch.baddbmm(FUTURE.to(x0.dtype), q, k.mT, alpha=C**-0.5).softmax(2)
    o = (weights @ v).view(n * T, C).index_select(0, at)
    x1 = torch.addmm(x0, o, P["Wo"])
    a2, xhat2, inv2 = normalised(x1, P["gain2"], P["bias2"])
    wide = a2 @ P["W1"]
    cdf = (wide * 0.5**0.5).erf_().add_(1).mul_(0.5)
    bent = wide * cdf
    x2 = torch.addmm(x1, bent, P["W2"])
    a3, xhat3, inv3 = normalised(x2, P["gain3"], P["bias3"])
    logprobs = (a3 @ P["W_last"]).log_softmax(1)
    loss = -logprobs.gather(1, goals).mean()
    # backward: the loss and the last layer
    top = logprobs.exp_()
    top.scatter_add_(1, goals, top.new_full(goals.shape, -1)).div_(len(goals))
    torch.mm(a3.T, top, out=G["W_last"])
    down = top @ P["W_last"].T
    dx2 = normalised_backward(down, xhat3, inv3, P["gain3"], G["gain3"], G["bias3"])
    # the perceptron
    torch.mm(bent.T, dx2, out=G["W2"])
    bell = (wide * wide).mul_(-0.5).exp_().mul_((2 * math.pi) ** -0.5)
    dwide = (dx2 @ P["W2"].T).mul_(bell.mul_(wide).add_(cdf))
    torch.mm(a2.T, dwide, out=G["W1"])
    down = dwide @ P["W1"].T
    dx1 = normalised_backward(down, xhat2, inv2, P["gain2"], G["gain2"], G["bias2"]).add_(dx2)
    # attention
    torch.mm(o.T, dx1, out=G["Wo"])
    do = dx1 @ P["Wo"].T
    ahead = do.new_zeros(n * T, 1).index_copy_(0, at, (do * o).sum(1, keepdim=True))
    do = do.new_zeros(n * T, C).index_copy_(0, at, do).view(n, T, C)
    dscores = (do @ v.mT).sub_(ahead.view(n, T, 1)).mul_(weights).mul_(C**-0.5)
    dqkv = torch.cat((dscores @ k, dscores.mT @ q, weights.mT @ do), 2)
    dqkv = dqkv.view(n * T, 3 * C).index_select(0, at)
    torch.mm(a1.T, dqkv, out=G["Wqkv"])
    down = dqkv @ P["Wqkv"].T
    dx0 = normalised_backward(down, xhat1, inv1, P["gain1"], G["gain1"], G["bias1"]).add_(dx1)
    # the tables
    G["letters"].zero_().index_add_(0, letters, dx0)
    G["places"].zero_().index_add_(0, places, dx0)
    return loss


# %% [markdown]
# Is it right? Autograd says which gradient each tensor should get. Its loss runs over all places,
# with the mask of part 2.

# %% tags=["nbval-ignore-output"]
leaves = {name: each.clone().requires_grad_() for name, each in P.items()}
over_characters(network(leaves, Xb), Yb, lengths).backward()
gradient = torch.zeros(sum(SIZES))
G = views(gradient)
by_hand(P, pick(training, ix), G)
for name, leaf in leaves.items():
    off = (leaf.grad - G[name]).abs().max() / leaf.grad.abs().max()
    print(f"{name:<8} differs by {off:.0e} of its size")

# %% [markdown]
# # Part 4 · The update
#
# You write three functions. Below each is a check, which runs your function on a few numbers, says
# piece by piece what is wrong with it, and returns it if it is right. Until then the cells further
# down use PyTorch's.
#
# ## 4.1 Clipping
#
# A gradient can be far longer than those before it, in the first steps or if a batch is odd. With
# the update of notebook 04, such a step goes farther in proportion, and it may undo what many steps
# have learnt. Adam, in section 4.2, divides sizes away, but it does not forget quickly: after one
# long gradient, its steps are too short for a hundred steps or more. So we bound the length
# of the gradient: that of **all** its numbers, in all its tensors, as if they were one vector,
#
# $$\lVert g \rVert = \sqrt{\textstyle\sum_i g_i^2} .$$
#
# If this norm is more than `most`, multiply every tensor by the same factor, so that the norm
# becomes `most` and the direction stays the same. A shorter gradient stays as it is. Change the
# tensors in place, not the list, and return the norm from before the change, as a plain number.
#
# <details>
# <summary>Hint 1 for <code>my_clip</code></summary>
#
# The norm is that of all numbers in all tensors. Can you know it before you have gone through the
# last tensor?
#
# </details>
#
# <details>
# <summary>Hint 2 for <code>my_clip</code></summary>
#
# One loop adds up the squares, and after it comes a root. A second loop multiplies, if necessary. A
# plain `=` in it would give the name to a new tensor. Which assignment changes the old one?
#
# </details>
#
# <details>
# <summary>Hint 3 for <code>my_clip</code></summary>
#
# Test two tensors, the gradients (3, 0) and (0, 4). If `most` is 1, they become (0.6, 0) and (0,
# 0.8). If `most` is 6, they stay as they are. In both cases the function returns 5.
#
# </details>


# %% tags=["train"]
# try: ex7-clip
def my_clip(gradients, most):
    """Limit the norm of all gradients together, in place; return what it was."""
    ### BEGIN SOLUTION
    norm = sum((gradient**2).sum() for gradient in gradients).item() ** 0.5
    if norm > most:
        for gradient in gradients:
            gradient *= most / norm
    return norm
    ### END SOLUTION


# %% tags=["train"]
clip = check_clip(my_clip)

# %% [markdown]
# ## 4.2 AdamW
#
# Notebook 04 took the same step for every number: rate times gradient. **Adam** keeps two running
# means for each number, $m$ of its gradients and $v$ of their squares,
#
# $$\begin{aligned}
# m &\leftarrow 0.9\,m + 0.1\,g \\
# v &\leftarrow 0.99\,v + 0.01\,g^2
# \end{aligned}$$
#
# and divides the first by the root of the second. So a step is about as long as the rate, whether
# the gradients are large or small. A step is long if the sign of the gradients is **steady**.
#
# **Bias correction.** Both means begin at zero, so they are too small at first: after step $t$ they
# have only the shares $1 - 0.9^t$ and $1 - 0.99^t$ of their proper size. So divide each by its
# share, $\hat m = m / (1 - 0.9^t)$ and $\hat v = v / (1 - 0.99^t)$. The first step has $t = 1$.
# Then
#
# $$p \leftarrow p - \text{rate} \cdot \frac{\hat m}{\sqrt{\hat v} + 10^{-8}} .$$
#
# **Weight decay.** Each step also takes a share of each number away, $\text{rate} \cdot
# \text{decay} \cdot p$, where `p` is the number before the step. So a number falls unless gradients
# hold it up. For years the decay was a part of the gradient. But then it is divided by $\sqrt{\hat
# v}$, and numbers with large gradients hardly decay. It belongs *beside* the step, which is the W
# in [AdamW](https://arxiv.org/abs/1711.05101). Change `p`, `m` and `v` in place, and nothing else.
#
# <details>
# <summary>Hint 1 for <code>my_adamw</code></summary>
#
# You need two means, a correction for each, the decay and the step. Which of these change a tensor
# in place, and which make a new one?
#
# </details>
#
# <details>
# <summary>Hint 2 for <code>my_adamw</code></summary>
#
# The next step goes on from `m` and `v`, so give the corrected means other names. And the decay is
# a share of `p` before the step. Does it come before the step or after it?
#
# </details>
#
# <details>
# <summary>Hint 3 for <code>my_adamw</code></summary>
#
# Test one number, at step 1 with rate 0.1 and decay 0.5: if `p` is 1, `dp` is 2 and both means are
# 0, then `m` becomes 0.2 and `v` becomes 0.04. Corrected they are 2 and 4. The step takes 0.1 away
# from `p`, the decay takes 0.05, and 0.85 is left.
#
# </details>


# %% tags=["train"]
# try: ex7-adamw
def my_adamw(p, dp, m, v, step, rate, decay):
    """Change a parameter and both of its running means in place; the first step is 1."""
    ### BEGIN SOLUTION
    m += 0.1 * (dp - m)
    v += 0.01 * (dp**2 - v)
    m_hat = m / (1 - 0.9**step)
    v_hat = v / (1 - 0.99**step)
    p -= rate * decay * p
    p -= rate * m_hat / (v_hat.sqrt() + 1e-8)
    ### END SOLUTION


# %% tags=["train"]
adamw = check_adamw(my_adamw)

# %% [markdown]
# What would happen without the correction? Take one number whose gradient is always 1:

# %%
moves = {"corrected": [], "not corrected": []}
number, mean, square = torch.zeros(1), torch.zeros(1), torch.zeros(1)
for step in range(1, 61):
    before = number.clone()
    adamw(number, torch.ones(1), mean, square, step, 1.0, 0.0)
    moves["corrected"].append((before - number).item())
    moves["not corrected"].append((mean / (square.sqrt() + EPS)).item())
show_first_steps(moves)

# %% [markdown]
# *With the correction, each step is as long as the rate. Without it, the first step is equally
# long, but then the steps grow to more than twice the rate, because the mean of the squares takes
# ten times as long to fill as that of the gradients, and meanwhile the root divides by too little.*
# So the steps are too long just when the network knows least.
#
# ## 4.3 Warm-up and cosine
#
# The first gradients say little, but Adam takes long steps all the same. So in the first `warm`
# steps the rate climbs from 0 to its peak in a straight line, which it reaches at step `warm`. From
# there it falls to 0 at the last step, along half a turn of a cosine:
#
# $$\text{rate} = \frac{\text{peak}}{2} \, \Big(1 + \cos\big(\pi \cdot w \big)\Big) ,$$
#
# where $w$ goes from 0 at the end of the warm-up to 1 at the last step. The first step is 1.
#
# <details>
# <summary>Hint 1 for <code>my_rate</code></summary>
#
# You need two formulas, one for the way up and one for the way down. What does each of them give at
# step `warm`?
#
# </details>
#
# <details>
# <summary>Hint 2 for <code>my_rate</code></summary>
#
# How many steps does the way down have, and how many of them are done at `step`? $w$ is the second
# number divided by the first.
#
# </details>
#
# <details>
# <summary>Hint 3 for <code>my_rate</code></summary>
#
# Test 50 steps, with 10 of warm-up and a peak of 0.3: the rate is 0.03 at step 1, 0.3 at step 10,
# 0.15 at step 30, and 0 at step 50.
#
# </details>


# %% tags=["train"]
# try: ex7-rate
def my_rate(step, all_steps, warm, peak):
    """The learning rate of a step, a plain number."""
    ### BEGIN SOLUTION
    if step <= warm:
        return peak * step / warm
    way = (step - warm) / (all_steps - warm)
    return peak * (1 + math.cos(math.pi * way)) / 2
    ### END SOLUTION


# %% tags=["train"]
rate = check_rate(my_rate)

# %% tags=["train"]
PEAK, WARM = 0.01, max(1, ALL_STEPS // 50)

# %% tags=["whole-run"]
# @title Figure: the schedule
show_schedule([rate(t, ALL_STEPS, WARM, PEAK) for t in range(1, ALL_STEPS + 1)], WARM)

# %% [markdown]
# *The rate goes up in a fiftieth of the steps, and then down. In notebook 04 it fell from 0.1 to
# 0.01 at once, but here it falls all the way, slowly at first and slowly at the end.*
#
# ## 4.4 A hundred steps beside autograd
#
# A gradient can be right on one batch by accident. So two networks take a hundred steps of the real
# training from the same start: one with `loss.backward()` and PyTorch's AdamW, the other by hand
# with your AdamW. (Both use your clipping, because PyTorch's divides by the norm plus a millionth.)
# Each goes its own way, and after each step all 14,720 gradients are compared, first in float32 and
# then in float64.

# %% tags=["train"]
MOST, DECAY = 1.0, 0.1


@dataclass
class Run:
    """A training as far as it has come: everything that its next step depends on."""

    flat: Tensor
    m: Tensor
    v: Tensor
    generator: torch.Generator
    losses: list = field(default_factory=list)
    norms: list = field(default_factory=list)

    @property
    def step(self):
        return len(self.losses)

    def draw(self):
        """The numbers of the next names."""
        return torch.randint(0, len(training.X), (B,), generator=self.generator)


def begin_run(dtype=torch.float32):
    """A run before its first step."""
    g = torch.Generator().manual_seed(LECTURE_SEED)
    flat = new_parameters(g).to(dtype)
    return Run(flat, torch.zeros_like(flat), torch.zeros_like(flat), g)


def one_step(run, P, gradient, G):
    """One training step by hand. P and G are the views of the run's vector and its gradient."""
    loss = by_hand(P, pick(training, run.draw()), G)
    run.norms.append(clip([gradient], MOST))
    step = run.step + 1
    now = rate(step, ALL_STEPS, WARM, PEAK)
    adamw(run.flat, gradient, run.m, run.v, step, now, DECAY)
    run.losses.append(loss.item())


# %%
def autograds_leaves(run):
    """The tensors of a run as autograd wants them, with PyTorch's optimizer."""
    leaves = {name: each.clone().requires_grad_() for name, each in views(run.flat).items()}
    options = {"betas": (BETA1, BETA2), "eps": EPS, "weight_decay": DECAY}
    return leaves, torch.optim.AdamW(leaves.values(), **options)


def autograds_step(run, leaves, optimizer, loss, clipping=torch.nn.utils.clip_grad_norm_):
    """What everybody writes."""
    optimizer.zero_grad()
    loss.backward()
    run.norms.append(float(clipping(leaves.values(), MOST)))
    now = rate(run.step + 1, ALL_STEPS, WARM, PEAK)
    optimizer.param_groups[0]["lr"] = now
    optimizer.step()
    run.losses.append(loss.item())


def clip_leaves(leaves, most):
    """Your clipping, for autograd's gradients."""
    return clip([leaf.grad for leaf in leaves], most)


def side_by_side(dtype, steps=100):
    """How far gradients and parameters are apart, at most, relative to the largest of a tensor."""
    mine, theirs = begin_run(dtype), begin_run(dtype)
    leaves, optimizer = autograds_leaves(theirs)
    gradient = torch.zeros_like(mine.flat)
    P, G = views(mine.flat), views(gradient)
    worst = 0.0
    for _ in range(steps):
        one_step(mine, P, gradient, G)
        ix = theirs.draw()
        Xb, *goals = (each[ix] for each in training)
        loss = over_characters(network(leaves, Xb), *goals)
        autograds_step(theirs, leaves, optimizer, loss, clip_leaves)
        for name, leaf in leaves.items():
            off = (G[name] - leaf.grad).abs().max() / leaf.grad.abs().max()
            worst = max(worst, off.item())
    apart = max(
        ((P[name] - leaf).abs().max() / leaf.abs().max()).item() for name, leaf in leaves.items()
    )
    return worst, apart


# %% tags=["nbval-ignore-output"]
steps = min(100, ALL_STEPS)
for dtype in (torch.float32, torch.float64):
    gradients, apart = side_by_side(dtype, steps)
    print(
        f"{dtype} | {steps} steps: gradients differ by at most {gradients:.0e} of a tensor's "
        f"largest, parameters in the end by {apart:.0e}"
    )

# %% [markdown]
# If the difference all but vanishes with 64 bits, the difference with 32 bits is rounding. (It
# grows from step to step, because each network computes its gradients at its own parameters.)
#
# # Part 5 · The training
#
# ## 5.1 Stopped and resumed, to the last bit
#
# `Run` holds everything that the next step depends on: the parameters, **both of Adam's means**,
# the generator, and the number of the step, which is the length of `losses`. If you forget one of
# them, you resume another training. The test is strict: it compares 60 steps in one go with 30
# steps, written to a file and read from it, and 30 more.


# %% tags=["train"]
@torch.no_grad()
def train(run, until, watch=None):
    """Take steps until so many are done, or the stop button is pressed."""
    gradient = torch.zeros_like(run.flat)
    P, G = views(run.flat), views(gradient)
    with stop_button() as pressed:
        while run.step < until and not pressed():
            one_step(run, P, gradient, G)
            if watch is not None and run.step % 100 == 0:
                watch(run)


def save(run, path):
    """Write a run to a file."""
    torch.save(vars(run) | {"generator": run.generator.get_state()}, path)


def resume(path):
    """Read a run from a file."""
    saved = torch.load(path)
    generator = torch.Generator()
    generator.set_state(saved["generator"])
    return Run(**saved | {"generator": generator})


# %%
whole, stopped = begin_run(), begin_run()
train(whole, 60)
train(stopped, 30)
with tempfile.TemporaryDirectory() as folder:
    save(stopped, Path(folder, "run.pt"))
    resumed = resume(Path(folder, "run.pt"))
train(resumed, 60)
for name in ("flat", "m", "v", "losses"):
    one, other = getattr(whole, name), getattr(resumed, name)
    same = torch.equal(one, other) if isinstance(one, Tensor) else one == other
    print(f"{name:<6} | to the last bit: {same}")

# %% [markdown]
# ## 5.2 All of it
#
# Now train for 15,000 steps of 64 names, on one thread. Press the stop button whenever you like. It
# waits for the end of a step, and if you run the cell again, the training goes on.

# %%
run = begin_run()  # run this cell again to begin anew

# %% tags=["whole-run", "nbval-ignore-output"]
plot = LossPlot(run)
start, start_cpu = time.perf_counter(), time.process_time()
train(run, ALL_STEPS, watch=plot)
seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
plot(run, last=True)
print(f"{run.step:,} of {ALL_STEPS:,} steps, {seconds:.0f} seconds, {cpu:.0f} of them at work")

# %% [markdown]
# *The loss falls steeply for a few hundred steps, and then slowly. The last third still gains
# nearly as much as the second, because the rate goes to zero.*

# %% tags=["whole-run", "nbval-ignore-output"]
before = whole_run()
print("| nats a character     | training | validation |")
print(f"| notebook 04's        | {before.training_loss:8.3f} | {before.validation_loss:10.3f} |")
P = views(run.flat)
trained, tried = nats(P, training), nats(P, validation)
print(f"| this one, {run.step:>6,} st. | {trained:8.3f} | {tried:10.3f} |")

# %% [markdown]
# With the lecture's names, the validation loss is 2.04 nats, compared with 2.11 in notebook 04, in
# a thirteenth of the steps. The two networks are similar in size, with 14,720 and 12,297 numbers.
# But this one sees the whole name so far, and each of its steps learns from about 456 characters
# instead of 32. It finds a name of seven characters 1.6 times as probable as notebook 04's network
# does. The training loss is 0.05 nats lower than the validation loss, because the network has begun
# to learn its names by heart.

# %% tags=["whole-run", "nbval-ignore-output"]
# @title Figure: the norms
show_norms(run.norms, MOST)

# %% [markdown]
# *The dark line is the mean norm over 75 steps, and the light line is the largest norm among them.
# In the very first steps the norm is far above the bound. Then it is mostly below the bound for ten
# thousand steps, and at the end it grows beyond it once more.*
#
# Which of these measures has helped here? The same run without clipping ends within 0.001 nats of
# this one, and so does a run without weight decay. Without the warm-up, nothing is lost after 3,000
# steps either (with one seed each). A network as small as this one is forgiving. A large network is
# trained with all of them, because it is too expensive to train twice and find out.
#
# ## 5.3 Names
#
# The network makes up a name place by place: it reads what is there, and the next character is
# drawn from its guess at the last place.


# %% tags=["train"]
@torch.no_grad()
def make_up(P, count=20, seed=LECTURE_SEED + 10):
    """Names, drawn one after the other."""
    g = torch.Generator().manual_seed(seed)
    names = []
    for _ in range(count):
        X, name = torch.zeros(1, T, dtype=torch.int64), ""
        while len(name) < T - 1:
            guess = network(P, X)[0, len(name)].softmax(0)
            drawn = int(torch.multinomial(guess, 1, generator=g))
            if drawn == 0:
                break
            name += itos[drawn]
            X[0, len(name)] = drawn
        names.append(name)
    return names


# %% tags=["whole-run", "nbval-ignore-output"]
columns = {"notebook 04": before.names, "this network": make_up(views(run.flat))}
Markdown(names_table(columns, known))

# %% [markdown]
# *Names in italics are in the list.*
#
# # Part 6 · The race
#
# Five loops compete. They take the same kind of step on the same names. The sixth line is a bound:
#
# 1. **autograd**: all places, PyTorch's own functions, `loss.backward()`, AdamW, clipping;
# 2. **autograd, on rows**: the same without the padding;
# 3. **by hand**: the loop of part 5, with your three functions;
# 4. **tuned**: a hundred batches picked at once, and the update in as few calls as possible;
# 5. **tuned and compiled**: the same through `torch.compile`, which needs a C++ compiler;
# 6. and, out of the race, **the matrix products of a step alone**: the bound.

# %%
# @title The tuned loop, and what the compiler reads


def lean_update(flat, gradient, m, v, now, step):
    """Clipping and AdamW over one vector, in place."""
    most = MOST / float(gradient.norm())
    if most < 1:
        gradient.mul_(most)
    m.lerp_(gradient, 1 - BETA1)
    v.lerp_(gradient * gradient, 1 - BETA2)
    root = (v / (1 - BETA2**step)).sqrt_().add_(EPS)
    flat.mul_(1 - now * DECAY).addcdiv_(m, root, value=-now / (1 - BETA1**step))


def ahead(run, steps):
    """Batches for many steps, picked in one go and cut up."""
    ix = torch.stack([run.draw() for _ in range(steps)]).flatten()
    letters, places, goals, at, _ = pick(training, ix)
    number = at // (B * T)
    sizes = torch.bincount(number, minlength=steps).tolist()
    pieces = zip(
        *(each.split(sizes) for each in (letters, places, goals, at % (B * T))), strict=True
    )
    return [Batch(*piece, B) for piece in pieces]


@torch.no_grad()
def tuned_loop(run, steps):
    """The loop of part 5 in fewer calls."""
    gradient = torch.zeros_like(run.flat)
    P, G = views(run.flat), views(gradient)
    losses = []
    for batch in ahead(run, steps):
        losses.append(by_hand(P, batch, G))
        step = run.step + len(losses)
        now = own_rate(step, ALL_STEPS, WARM, PEAK)
        lean_update(run.flat, gradient, run.m, run.v, now, step)
    run.losses += torch.stack(losses).tolist()


def layer_norm_lines(x, gain, bias):
    centred = x - x.mean(1, keepdim=True)
    inv = torch.rsqrt((centred * centred).mean(1, keepdim=True) + 1e-5)
    return gain * (centred * inv) + bias, centred * inv, inv


def layer_norm_lines_backward(down, xhat, inv, gain):
    dxhat = down * gain
    along = (dxhat * xhat).mean(1, keepdim=True)
    dx = inv * (dxhat - dxhat.mean(1, keepdim=True) - along * xhat)
    return dx, (down * xhat).sum(0), down.sum(0)


def whole_step(flat, m, v, letters, places, goals, at, now, share1, share2):
    """A training step in plain lines; the loss of each character comes back."""
    P = views(flat)
    x0 = P["letters"][letters] + P["places"][places]
    a1, xhat1, inv1 = layer_norm_lines(x0, P["gain1"], P["bias1"])
    qkv = x0.new_zeros(B * T, 3 * C).index_copy(0, at, a1 @ P["Wqkv"]).view(B, T, 3 * C)
    q, k, values = qkv.chunk(3, 2)
    weights = torch.softmax(q @ k.mT * C**-0.5 + FUTURE, 2)
    out = weights @ values
    o = out.view(B * T, C)[at]
    x1 = x0 + o @ P["Wo"]
    a2, xhat2, inv2 = layer_norm_lines(x1, P["gain2"], P["bias2"])
    wide = a2 @ P["W1"]
    cdf = 0.5 * (1 + torch.erf(wide * 0.5**0.5))
    bent = wide * cdf
    a3, xhat3, inv3 = layer_norm_lines(x1 + bent @ P["W2"], P["gain3"], P["bias3"])
    probs = torch.softmax(a3 @ P["W_last"], 1)
    hit = (torch.arange(V) == goals).float()
    top = (probs - hit) / len(goals)
    G = {"W_last": a3.T @ top}
    dx2, G["gain3"], G["bias3"] = layer_norm_lines_backward(
        top @ P["W_last"].T, xhat3, inv3, P["gain3"]
    )
    G["W2"] = bent.T @ dx2
    bell = (2 * math.pi) ** -0.5 * torch.exp(-0.5 * wide * wide)
    dwide = (dx2 @ P["W2"].T) * (cdf + wide * bell)
    G["W1"] = a2.T @ dwide
    da2, G["gain2"], G["bias2"] = layer_norm_lines_backward(
        dwide @ P["W1"].T, xhat2, inv2, P["gain2"]
    )
    dx1 = da2 + dx2
    G["Wo"] = o.T @ dx1
    do_rows = dx1 @ P["Wo"].T
    do = do_rows.new_zeros(B * T, C).index_copy(0, at, do_rows).view(B, T, C)
    average = (do * out).sum(2, keepdim=True)
    dscores = weights * (do @ values.mT - average) * C**-0.5
    in_names = (dscores @ k, dscores.mT @ q, weights.mT @ do)
    dqkv = torch.cat([each.view(B * T, C)[at] for each in in_names], 1)
    G["Wqkv"] = a1.T @ dqkv
    da1, G["gain1"], G["bias1"] = layer_norm_lines_backward(
        dqkv @ P["Wqkv"].T, xhat1, inv1, P["gain1"]
    )
    dx0 = da1 + dx1
    G["letters"] = torch.zeros_like(P["letters"]).index_add(0, letters, dx0)
    G["places"] = torch.zeros_like(P["places"]).index_add(0, places, dx0)
    gradient = torch.cat([G[name].flatten() for name in SHAPES])
    gradient = gradient * (MOST / gradient.norm()).clamp(max=1)
    m.copy_(BETA1 * m + (1 - BETA1) * gradient)
    v.copy_(BETA2 * v + (1 - BETA2) * gradient * gradient)
    move = (m / share1) / ((v / share2).sqrt() + EPS)
    flat.copy_(flat - now * (DECAY * flat + move))
    return probs.gather(1, goals).log()


def compiled_loop():
    """A loop around the compiled step, or a sentence that says why there is none."""
    torch.compiler.reset()
    sizes_stay = torch.compiler.skip_guard_on_globals_unsafe  # else it looks at each call
    options = {"cpp_wrapper": True, "guard_filter_fn": sizes_stay}
    compiled = torch.compile(whole_step, fullgraph=True, options=options)

    @torch.no_grad()
    def loop(run, steps, batches=None):
        said = []
        for batch in batches or ahead(run, steps):
            step = run.step + len(said) + 1
            now = own_rate(step, ALL_STEPS, WARM, PEAK)
            numbers = torch.tensor([now, 1 - BETA1**step, 1 - BETA2**step]).unbind()
            said.append(compiled(run.flat, run.m, run.v, *batch[:4], *numbers).mean())
        run.losses += (-torch.stack(said)).tolist()

    first = begin_run()
    batches = ahead(first, 2)
    for batch in batches:
        for each in batch[:4]:
            torch._dynamo.mark_dynamic(each, 0)  # how many rows there are differs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are about torch's own modules
        try:
            loop(first, 2, batches)
        except Exception as error:  # no compiler, one too old, a Python without headers
            reason = str(error).strip().partition("\n")[0]
            return f"torch.compile does not work here: {reason}"
    return loop


# %%
# @title The other loops


def autograd_loop():
    """All places, padding masked."""
    state = begin_run()
    leaves, optimizer = autograds_leaves(state)

    def loop(run, steps):
        for _ in range(steps):
            ix = run.draw()
            Xb, Yb, lengths = (each[ix] for each in training)
            goals = Yb.masked_fill(torch.arange(T) > lengths.unsqueeze(1), -100)
            logits = network(leaves, Xb).flatten(0, 1)
            loss = F.cross_entropy(logits, goals.flatten())  # -100: leave this one out
            autograds_step(run, leaves, optimizer, loss)

    return loop


def network_on_rows(P, batch):
    """The logits (R, V) of the characters of a batch."""
    letters, places, _, at, n = batch
    x = P["letters"][letters] + P["places"][places]
    qkv = F.layer_norm(x, (C,), P["gain1"], P["bias1"]) @ P["Wqkv"]
    qkv = x.new_zeros(n * T, 3 * C).index_copy(0, at, qkv).view(n, 1, T, 3 * C)
    out = F.scaled_dot_product_attention(*qkv.chunk(3, 3), is_causal=True)
    x = x + out.reshape(n * T, C)[at] @ P["Wo"]
    normed = F.layer_norm(x, (C,), P["gain2"], P["bias2"])
    x = x + F.gelu(normed @ P["W1"]) @ P["W2"]
    return F.layer_norm(x, (C,), P["gain3"], P["bias3"]) @ P["W_last"]


def autograd_on_rows_loop():
    """Only the places that count."""
    state = begin_run()
    leaves, optimizer = autograds_leaves(state)

    def loop(run, steps):
        for _ in range(steps):
            batch = pick(training, run.draw())
            loss = F.cross_entropy(network_on_rows(leaves, batch), batch.goals.squeeze(1))
            autograds_step(run, leaves, optimizer, loss)

    return loop


def hand_loop(run, steps):
    """The loop of part 5."""
    train(run, run.step + steps)


def products_alone():
    """The 21 matrix products of a step, for as many rows as a batch has on average."""
    n_rows = round(B * (training.lengths + 1).float().mean().item())
    calls = []
    for name in ("Wqkv", "Wo", "W1", "W2", "W_last"):
        n_in, n_out = SHAPES[name]
        above, weights, below = (
            torch.ones(shape) for shape in ((n_rows, n_in), (n_in, n_out), (n_rows, n_out))
        )
        results = torch.empty_like(below), torch.empty_like(above), torch.empty_like(weights)
        calls += [(torch.mm, above, weights, results[0]), (torch.mm, below, weights.T, results[1])]
        calls += [(torch.mm, above.T, below, results[2])]
    square, tall = torch.ones(B, T, T), torch.ones(B, T, C)
    for _ in range(2):  # scores and their gradient
        calls += [(torch.bmm, tall, tall.mT, torch.empty_like(square))]
    for left in (square, square.mT, square, square.mT):  # out, dv, dq, dk
        calls += [(torch.bmm, left, tall, torch.empty_like(tall))]

    def loop(run, steps):
        for _ in range(steps):
            for product, left, right, result in calls:
                product(left, right, out=result)

    return loop


# %% tags=["whole-run", "nbval-ignore-output"]
loops = {
    "autograd": autograd_loop(),
    "autograd, on rows": autograd_on_rows_loop(),
    "by hand": hand_loop,
    "tuned": tuned_loop,
}
if ALL_STEPS < WHOLE:
    print("a short run: nothing is compiled")
else:
    print("compiling; this can take a minute or two ...")
    compiled = compiled_loop()
    if isinstance(compiled, str):
        print(compiled)
    else:
        loops["tuned and compiled"] = compiled
loops["the matrix products alone"] = products_alone()


# %% tags=["whole-run", "nbval-ignore-output"]
# @title They run by turns
def race(loops, steps, rounds):
    """Steps a second of each, the median of the rounds; the first round is for warming up."""
    runs = {name: begin_run() for name in loops}
    taken = {name: [] for name in loops}
    for _ in range(rounds + 1):
        for name, loop in loops.items():
            start = time.process_time()  # this program's own work: others slow nobody down
            loop(runs[name], steps)
            taken[name].append(time.process_time() - start)
    return {name: steps / statistics.median(seconds[1:]) for name, seconds in taken.items()}


rates = race(loops, steps=min(100, ALL_STEPS // 10), rounds=9)
figures.race_chart(rates)

# %% tags=["whole-run", "nbval-ignore-output"]
first, bound = rates["autograd"], rates["the matrix products alone"]
lines = ["| loop | a step | times autograd's | of the bound |", "| :-- | --: | --: | --: |"]
lines += [
    f"| {name} | {1000 / each:.2f} ms | {each / first:.1f} | {each / bound:.0%} |"
    for name, each in rates.items()
]
Markdown("\n".join(lines))

# %% [markdown]
# *The longer the bar, the faster the loop. The number in brackets says how many times as fast as
# autograd it is. The loops take turns on one thread, and only working time counts.*
#
# Where do the factors come from? The numbers are those of the table in the guide, from one core of
# one machine:
#
# - **No padding** (1.3 times as fast). More than half of the rows are gone. Autograd can use this,
#   too.
# - **By hand** (another 1.5 times as fast). The computation is not recorded. GELU's cdf is kept,
#   while PyTorch's own backward pass computes it again. Tensors that are no longer needed are
#   overwritten. Above all, the 13 tensors are **one** vector, so a dozen calls clip and update it,
#   while the optimizer makes a dozen calls for each tensor.
# - **Tuned** (1.1 times). A hundred batches are picked at once, for the price of a few, and the
#   update is in place.
# - **Compiled** (1.5 times). The compiler turns all the small operations between two products into
#   one loop of C++, or a few, which reads each number once, does all the operations, and writes it
#   once. The products, too, are called from C++.
#
# A large part of what is left is the bound: in the guide's table, the 21 matrix products take more
# than half of the compiled step. In notebook 04 calls took nearly all of the time. Here the
# matrices are about fourteen times as tall, so a hand-written step gains less. With a thousand
# times as many numbers, the products would take practically all of the time.
#
# Is it still the same training? The next cell compares a hundred steps of the tuned loops with
# those by hand, from the same start:

# %% tags=["whole-run", "nbval-ignore-output"]
reference = begin_run()
hand_loop(reference, min(100, ALL_STEPS))
for name in ("tuned", "tuned and compiled"):
    if name in loops:
        other = begin_run()
        loops[name](other, min(100, ALL_STEPS))
        off = (other.flat - reference.flat).abs().max() / reference.flat.abs().max()
        print(f"{name:<18} | parameters differ by {off:.0e} of the largest")

# %% [markdown]
# # Part 7 · What you have found
#
# | what | how |
# | :-- | :-- |
# | names of different lengths | strike out the padding, then divide by **how many count** |
# | padding | pick the rows that count; forward and backward change places |
# | a gradient too long | one factor for all tensors, from the norm of all numbers |
# | Adam | the mean over the root of the mean square, both divided by their share |
# | weight decay | beside the step, times the rate |
# | the rate | up in a line, down along a cosine |
# | to resume | parameters, both means, generator, step |
#
# **You can now** train a transformer without an engine: you can write the line for every gradient,
# for every update, and for the length of every step. Large transformers have more blocks, more
# heads and more machines.
#
# In a terminal, `make train-encore` runs this training from the project's folder and prints its
# losses and twenty names. `grader check 07_training.ipynb` checks the gradients. If the notebook is
# alone in its folder, name the course as well: `--course 07_training.ipynb`.
