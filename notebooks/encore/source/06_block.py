# %% [markdown]
# # 6 · The block
#
# {{ colab }}
#
# A transformer is a stack of equal **blocks**. A block lets the positions of a text look at each
# other, then lets each position think by itself, and adds the results to its input. You wrote the
# first half in notebook 05. Here you write the rest, layer by layer, and then the whole block in
# one go, from `out` to `x`: 25 gradients in about thirty lines.
#
# - **Time:** about three hours, one of them for the whole block.
# - **You need:** notebook 05, above all its five lines; part 4 of notebook 03.
# - **Afterwards you can:** write the backward pass of a transformer block, explain what layer
#   normalisation does that batch normalisation does not, and explain which two things make a
#   network of many blocks trainable.
#
# | letter | stands for | here |
# | :-- | :-- | --: |
# | `B` | names in the batch | 32 |
# | `T` | positions in a name | 10 |
# | `C` | numbers that describe a position | 24 |
# | `H` | numbers in a query, a key or a value | 16 |
# | `M` | numbers in the middle of the perceptron, four times `C` | 96 |
#
# The network grows out of that of Andrej Karpathy's lecture [*Becoming a Backprop
# Ninja*](https://www.youtube.com/watch?v=q8SA3rM6ckI), part 4 of *Building makemore*. You need not
# have seen it. Run the next four cells first.

# %%
# {{ cell: setup }}

# %%
# {{ cell: course }}

# %%
import math

import torch
import torch.nn.functional as F

from grader import board, check, cmp, figures, heat_map, nudge
from makemore_data import LECTURE_SEED, build_vocabulary, load_names

figures.use_course_style()
torch.set_num_threads(1)  # matrices this small: two threads would mostly wait for each other

# %%
# @title The drawings of this notebook. Run it; there is nothing to do here.
from grader.pictures.figures import sheet


def whole_block():
    """The stream from x to out, and the two branches beside it."""
    page = sheet.new_sheet(17.0, 6.6, scale=0.42)
    stream, aside = 5.2, 1.7
    page.box((1.0, stream), "x", colour=sheet.FORK, width=1.6)
    page.box((8.6, stream), "mid", colour=sheet.FORK, width=1.8)
    page.box((16.0, stream), "out", colour=sheet.FORK, width=1.8)
    halves = ((1.8, 7.7, "attention"), (9.5, 15.1, "perceptron"))
    for left, right, name in halves:
        middle = (left + right) / 2
        page.arrow((left, stream), (right - 0.85, stream))
        page.box((right - 0.5, stream), "+", width=0.8, height=0.8)
        page.box((middle - 1.55, aside), "norm", colour=sheet.FORWARD, width=1.9)
        page.box((middle + 1.35, aside), name, colour=sheet.FORWARD, width=2.9)
        page.arrow((left + 0.3, stream - 0.1), (middle - 2.0, aside + 0.9))
        page.arrow((middle - 0.55, aside), (middle - 0.15, aside), head=10)
        page.arrow((middle + 1.6, aside + 0.9), (right - 0.6, stream - 0.5))
    page.write((8.6, 6.35), "the residual stream", sheet.GREY, 11)
    return page.picture(
        "A line from x over mid to out. Two branches leave it and come back to a plus sign: from x "
        "through a norm and attention to mid, from mid through a norm and a perceptron to out."
    )


def two_axes():
    """Which numbers share a mean: a column of all positions, or a row of one position."""
    page = sheet.new_sheet(14.0, 6.2)
    numbers = sheet.symbols("z", 4, 4)
    column, row = [(i, 1) for i in range(4)], [(1, j) for j in range(4)]
    page.matrix(1.6, 1.4, numbers, "batch normalisation", lit=column)
    page.matrix(8.4, 1.4, numbers, "layer normalisation", colour=sheet.FORK, lit=row)
    page.write((3.6, 5.8), "one number, all positions", sheet.GREY, 11)
    page.write((10.4, 5.8), "one position, all its numbers", sheet.GREY, 11)
    return page.picture(
        "Twice a matrix of four positions by four numbers. For batch normalisation a column is "
        "filled, for layer normalisation a row."
    )


def norm_on_paper():
    """A position of four numbers, forward; and what gets back through the norm."""
    page = sheet.new_sheet(15.2, 6.0, scale=0.45)
    page.matrix(0.8, 1.3, [["2", "2", "4", "4"]], "z")
    page.arrow((5.1, 1.8), (9.4, 1.8), "minus 3, divided by 1", size=10)
    page.matrix(9.8, 1.3, [["-1", "-1", "1", "1"]], "zhat")
    back = sheet.BACKWARD
    page.matrix(9.8, 3.9, [["1", "0", "0", "0"]], "gradient of zhat", colour=back)
    page.arrow((9.4, 4.4), (5.1, 4.4), "through the norm", colour=back, size=10)
    page.matrix(0.8, 3.9, [["?", "?", "?", "?"]], "gradient of z", colour=back)
    return page.picture(
        "Above: z is 2, 2, 4, 4; less its mean 3 and divided by 1 it is zhat: -1, -1, 1, 1. Below: "
        "the gradient of zhat is 1, 0, 0, 0, and that of z is four question marks."
    )


def show_slopes(slopes, words):
    """All slopes of four positions with four numbers each, by their titles."""
    figure, axes = sheet.new_axes(6.8, 3.4, columns=len(slopes))
    for one, (title, grid) in zip(axes, slopes.items(), strict=True):
        most = grid.abs().max()
        one.imshow(grid, cmap=sheet.SIGNED, vmin=-most, vmax=most)
        for edge in (3.5, 7.5, 11.5):
            one.axhline(edge, color=sheet.HAIRLINE, linewidth=0.8)
            one.axvline(edge, color=sheet.HAIRLINE, linewidth=0.8)
        one.set_xticks([1.5, 5.5, 9.5, 13.5], [".", *"nin"])
        one.set_yticks([1.5, 5.5, 9.5, 13.5], [".", *"nin"])
        one.tick_params(length=0)
        one.grid(visible=False)
        one.set_xlabel("numbers before")
        one.set_title(title)
    axes[0].set_ylabel("numbers after")
    return figures.Picture(figure, words)


def show_gelu():
    """GELU beside ReLU, and the slopes of both."""
    w = torch.linspace(-4, 4, 401)
    density = torch.exp(-(w**2) / 2) / (2 * torch.pi) ** 0.5
    cdf = 0.5 * (1 + torch.erf(w * 0.5**0.5))
    figure, (left, right) = sheet.new_axes(6.8, 3.0, columns=2)
    for axes, relu, gelu, title in (
        (left, w.clamp(min=0), w * cdf, "value"),
        (right, (w > 0).float(), cdf + w * density, "slope"),
    ):
        axes.plot(w, relu, color=sheet.PINK, linestyle="--", label="ReLU")
        axes.plot(w, gelu, color=sheet.GREEN, label="GELU")
        axes.set_title(title)
    left.legend(loc="upper left")
    return figures.Picture(
        figure,
        "Left the values of ReLU, a bent line, and GELU, a smooth one that dips below zero. Right "
        "their slopes: a step from 0 to 1, and a curve from 0 down to -0.13, up to 1.13 and to 1.",
    )


def sum_and_copy():
    """A residual connection: a sum forward, a copy backward."""
    page = sheet.new_sheet(15.2, 5.6, scale=0.45)
    for left, colour, words in ((0.6, sheet.FORWARD, "a sum"), (8.4, sheet.BACKWARD, "a copy")):
        forth = colour == sheet.FORWARD
        names = ("u", "change", "moved") if forth else ("?", "?", "(4, 8)")
        numbers = ("(1, 2)", "(3, -1)", "(4, 1)") if forth else names
        shown = [f"{n}\n{v}" if forth else v for n, v in zip(names, numbers, strict=True)]
        page.box((left + 1.3, 1.6), shown[0], colour=colour, width=2.4, size=11)
        page.box((left + 1.3, 4.2), shown[1], colour=colour, width=2.4, size=11)
        page.box((left + 5.0, 2.9), shown[2], colour=colour, width=2.4, size=11)
        for height in (1.6, 4.2):
            ends = ((left + 2.55, height), (left + 3.75, 2.9 + (height - 2.9) * 0.25))
            page.arrow(*(ends if forth else ends[::-1]), colour=colour)
        page.write((left + 3.2, 0.4), words, colour, 12)
    return page.picture(
        "Left, forward: u is 1, 2 and change is 3, -1; moved is their sum 4, 1. Right, backward: "
        "the gradient of moved is 4, 8, and two arrows lead back to two question marks."
    )


def four_ways():
    """The ways from the loss to x past and through two blocks."""
    page = sheet.new_sheet(15.2, 7.0, scale=0.45)
    ways = (((), "1"), ((1,), "$s_1$"), ((2,), "$s_2$"), ((1, 2), "$s_1 s_2$"))
    for number, (through, slope) in enumerate(ways):
        height = 0.9 + 1.7 * number
        page.box((1.2, height), "x", colour=sheet.FORK, width=1.4, height=1.1)
        page.box((11.0, height), "out", colour=sheet.FORK, width=1.6, height=1.1)
        right = 10.1
        for block in (2, 1):
            middle = 3.0 + 2.6 * block
            if block in through:
                page.arrow((right, height), (middle + 0.8, height), colour=sheet.BACKWARD)
                name = f"$f_{block}$"
                look = {"colour": sheet.BACKWARD, "width": 1.5, "height": 1.1}
                page.box((middle, height), name, **look)
                right = middle - 0.8
        page.arrow((right, height), (2.0, height), colour=sheet.BACKWARD)
        page.write((13.3, height), slope, sheet.INK, 13)
    return page.picture(
        "Four arrows from out back to x: one straight, with the slope 1; one through the first "
        "block, s1; one through the second, s2; one through both, s1 times s2."
    )


ENDINGS = dict(zip(("both", "residual alone", "neither", "norm alone"), sheet.LINES, strict=True))


def show_depth(depths, lines, label, words, log=True):
    """A line for each kind of stack over its number of blocks."""
    figure, (axes,) = sheet.new_axes(6.4, 3.3)
    for name, values in lines.items():
        colour, line = ENDINGS[name]
        axes.plot(depths, values, line, marker="o", color=colour)
        axes.text(depths[-1] * 1.25, values[-1], name, color=colour, va="center")
    axes.set_xscale("log", base=2)
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, 1.05)
    axes.set_xticks(depths, [str(depth) for depth in depths])
    axes.set_xlim(depths[0] * 0.9, depths[-1] * 1.1)
    axes.set_xlabel("blocks")
    axes.set_ylabel(label)
    return figures.Picture(figure, words)


def lookup_on_paper():
    """Where the rows of a gradient come from and where they go."""
    page = sheet.new_sheet(15.2, 7.2, scale=0.45)
    back = sheet.BACKWARD
    arriving = [["$g_1$", "."], ["$g_2$", "a"], ["$g_3$", "n"], ["$g_4$", "n"], ["$g_5$", "a"]]
    page.matrix(5.9, 1.4, arriving, "rows of dx", colour=back)
    # What is given back to the tables is a gradient: orange.
    table = [[".", "$g_1$"], ["a", "?"], ["b", "0"], ["n", "?"]]
    page.matrix(0.6, 1.9, table, "dletters", colour=back, cell_width=1.4)
    page.arrow((5.6, 3.9), (3.8, 3.9), colour=back)
    places = [[str(t), f"$g_{t}$"] for t in range(1, 6)]
    page.arrow((8.2, 3.9), (10.0, 3.9), colour=back)
    page.matrix(10.4, 1.4, places, "dplaces, of this name", colour=back, cell_width=1.4)
    return page.picture(
        "In the middle the rows g1 to g5 of dx for the letters dot, a, n, n, a. Left dletters: dot "
        "gets g1, b gets 0, a and n are question marks. Right dplaces: each gets the row at its "
        "own place."
    )


# %% [markdown]
# # Part 1 · From x to out
#
# ## 1.1 A block in five lines
#
# The names are those of notebook 05. Each name is a row of `T` = 10 positions, and at each position
# the network guesses the next letter. A position begins as the sum of the numbers of its letter and
# those of its place, `x`.

# %% tags=["nbval-ignore-output"]
T = 10
stoi, itos = build_vocabulary()
vocab_size = len(itos)
names = ["ninja", *(name for name in load_names() if len(name) < T)]

X = torch.zeros(len(names), T, dtype=torch.int64)  # dots
Y = torch.full((len(names), T), -100)  # cross_entropy's word for: nothing to guess here
for row, name in enumerate(names):
    spelt = torch.tensor([stoi[letter] for letter in name])
    X[row, 1 : len(name) + 1] = spelt
    Y[row, : len(name)] = spelt
    Y[row, len(name)] = stoi["."]
print(f"{len(names):,} names")

# %% [markdown]
# Next come a batch and random parameters. As in notebook 01, the gains and biases are a little off
# from 1 and 0, because exact zeros and ones would hide mistakes.

# %% tags=["nbval-ignore-output"]
B, C, H, M = 32, 24, 16, 96
g = torch.Generator().manual_seed(LECTURE_SEED)


def random(*shape, size, around=0.0):
    return around + size * torch.randn(shape, generator=g)


letters, places = random(vocab_size, C, size=1), random(T, C, size=1)
gain1, bias1 = random(C, size=0.1, around=1), random(C, size=0.1)
Wq, Wk, Wv = (random(C, H, size=C**-0.5) for _ in range(3))
Wo = random(H, C, size=H**-0.5)
gain2, bias2 = random(C, size=0.1, around=1), random(C, size=0.1)
W1, b1 = random(C, M, size=C**-0.5), random(M, size=0.1)
W2, b2 = random(M, C, size=M**-0.5), random(C, size=0.1)
W_last = random(C, vocab_size, size=C**-0.5)

Xb, Yb = X[:B], Y[:B]
x = letters[Xb] + places
print("x:", tuple(x.shape))


# %% [markdown]
# Here is the block, written with PyTorch's layers. Both of its halves are built in the same way:
# take what is there, normalise it, do something with it, and **add** the result to what is there.


# %%
def in_pytorch(x):
    """One transformer block."""
    normed1 = F.layer_norm(x, (C,), gain1, bias1)
    q, k, v = normed1 @ Wq, normed1 @ Wk, normed1 @ Wv
    mid = x + F.scaled_dot_product_attention(q, k, v, is_causal=True) @ Wo
    normed2 = F.layer_norm(mid, (C,), gain2, bias2)
    return mid + F.gelu(normed2 @ W1 + b1) @ W2 + b2


whole_block()

# %% [markdown]
# *The line at the bottom is called the residual stream. There are only two sums on it. All the work
# on a position happens beside it.*
#
# You know attention already. Its output has `H` = 16 numbers, so one more matrix, `Wo`, brings it
# back to `C` = 24 before it is added. The norm (part 2), the perceptron with its non-linearity
# (part 3) and the sum (part 4) are new. In part 5 you put them together.
#
# As before, the rest of the network is one linear layer and the loss. We need only the gradient
# that comes back from it:


# %%
def rest_of_the_network(out):
    """The loss: guess the next letter at each position, by one linear layer."""
    return F.cross_entropy((out @ W_last).flatten(0, 1), Yb.flatten(), ignore_index=-100)


def arriving_at(output):
    """The gradient that the rest of the network sends back to its input."""
    watched = output.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(rest_of_the_network(watched), watched)
    return gradient


# %% [markdown]
# You work as in notebook 05, with an answer cell, a check cell, and folded hints above. The checks
# also run your lines on hidden numbers of other sizes, so write `C`, not 24.
#
# # Part 2 · Layer normalisation
#
# ## 2.1 Which numbers share a mean?
#
# Batch normalisation takes a column: *one* number of *all* examples. Layer normalisation takes a
# row: *all* numbers of *one* position.

# %%
# @title Figure: two axes
two_axes()

# %% [markdown]
# *Rows are positions, and columns are the numbers that describe them. The filled numbers share a
# mean and a variance.*
#
# Otherwise the formula is the same. What does the other axis change? Let us give both layers the
# same position, with more or fewer other positions in the batch. What happens to its first number,
# and how large is its gradient?

# %% tags=["nbval-ignore-output"]
rows = x.flatten(0, 1)  # (320, 24), one position a row
sent_back = torch.randn(rows.shape, generator=torch.Generator().manual_seed(1))


def normalise(rows, axis):
    """Less the mean, divided by the root of the variance, along an axis."""
    var = rows.var(axis, keepdim=True, correction=0)
    return (rows - rows.mean(axis, keepdim=True)) * (var + 1e-5) ** -0.5


print("positions   batch norm: first number, gradient   layer norm: first number, gradient")
for n in (320, 8, 2, 1):
    line = f"{n:>9}"
    for axis in (0, 1):
        watched = rows[-n:].clone().requires_grad_()
        normed = normalise(watched, axis)
        (gradient,) = torch.autograd.grad((sent_back[-n:] * normed).sum(), watched)
        line += f"{normed[-1, 0]:>22.3f} {gradient[-1].norm():>12.3f}"
    print(line)

# %% [markdown]
# Layer normalisation does not notice how many others there are, but batch normalisation changes its
# result with each of them. It turns two positions into $\pm1$, and next to no gradient gets
# through, because two numbers have only two directions, and both are taken away. With **a batch of
# one** nothing is left: a single number minus its mean is always 0, and the gradient of a constant
# is 0. (With notebook 03's $n - 1$ it would be $0/0$.)
#
# And a network that writes has a batch of one, because it writes one text, one letter at a time.
# For this case batch normalisation needs a second mode, with averages kept from the training. Layer
# normalisation always works in the same way.
#
# There is another reason. In a name, a position must not know the letters that come after it.
# Section 3.4 of notebook 05 showed that a gradient is a good witness. So compute the gradient of
# only the *first* positions' outputs, and look where it goes.

# %%
is_first = torch.zeros(B, T, 1)
is_first[:, 0] = 1
for name, axes in (("batch norm, over names and positions", (0, 1)), ("layer norm", 2)):
    watched = x.clone().requires_grad_()
    var = watched.var(axes, keepdim=True, correction=0)
    normed = (watched - watched.mean(axes, keepdim=True)) * (var + 1e-5) ** -0.5
    (gradient,) = torch.autograd.grad((is_first * arriving_at(x) * normed).sum(), watched)
    is_told = bool(gradient[:, 1:].any())
    print(f"{name}: the first position hears of the later ones: {is_told}")

# %% [markdown]
# A batch norm would be a leak here, because the letters to come would influence every mean.
#
# ## 2.2 Forward
#
# For this part, `x` goes into a single layer norm, whose output goes straight to the rest of the
# network. The input is called `z` here, so that you do not confuse it with the block's `x`.

# %%
z, gain, bias = x, gain1, bias1
dy = arriving_at(F.layer_norm(z, (C,), gain, bias))

# %%
mean = z.mean(2, keepdim=True)
var = z.var(2, keepdim=True, correction=0)
zhat = (z - mean) * (var + 1e-5) ** -0.5
y = gain * zhat + bias
loss = (dy * y).sum()

# %% tags=["nbval-ignore-output"]
print("z, y:", tuple(y.shape), " mean, var:", tuple(var.shape), " gain, bias:", tuple(gain.shape))
print(f"PyTorch's layer norm differs by {(F.layer_norm(z, (C,), gain, bias) - y).abs().max():.0e}")
board("ex6n")

# %% [markdown]
# `correction=0` divides by `C`, not by `C - 1`. The paper and PyTorch do the same, in training and
# afterwards.
#
# ## 2.3 Gain and bias
#
# ```python
# y = gain * zhat + bias
# ```
#
# The shapes are (24,) times (32, 10, 24). In batch normalisation both the gain and the mean are
# rows, copied along the batch. Here they differ: the **mean** is a column, copied along a
# position's numbers. The **gain** is still a row, with one number for each of the 24, the same for
# all 320 positions.
#
# **`dgain`** (24,) and **`dbias`** (24,). Mind the shape.
#
# {{ hints: dgain }}
#
# {{ hints: dbias }}

# %%
# answer: ex6n-scale
### BEGIN SOLUTION
dgain = (dy * zhat).sum((0, 1))
dbias = dy.sum((0, 1))
### END SOLUTION

# %%
# check: ex6n-scale
check("dgain", "dbias")

# %% [markdown]
# ## 2.4 In one expression
#
# **`dzhat`** (32, 10, 24) first. It needs no sum.
#
# {{ hints: dzhat }}
#
# **`dz`** (32, 10, 24). You have derived this already, in section 4.4 of notebook 03: three arrows
# leave each $z_i$. Look at one position. Then $i$ and $j$ run through its $C$ numbers, and $C$
# takes the place of both $n$ and $n - 1$.
#
# One thing is different. There the gain was the same for all terms of a sum, so it went out in
# front. Here each term has its own $\gamma_j$, so it stays inside, in $\mathrm{d}\hat{z}_j$. Fill
# in the boxes:
#
# $$\mathrm{d}z_i = (\sigma^2 + \varepsilon)^{-1/2}
# \Big[\, \mathrm{d}\hat{z}_i - \Box - \hat{z}_i\;\Box \,\Big]$$
#
# If you take the $\frac1C$ into the boxes, both are **means** over the position's numbers.
#
# **On paper.** The four numbers of this position have the mean 3 and the variance 1 (leave
# $\varepsilon$ out). The incoming gradient is zero except at the first number. What is the gradient
# of `z`?

# %%
# @title Figure: a norm on paper
norm_on_paper()

# %% [markdown]
# *Fill in the four question marks before you open the answer.*
#
# <details>
# <summary>An answer</summary>
#
# The first box is the mean of (1, 0, 0, 0), which is $\tfrac14$. The second is the mean of
# $\mathrm{d}\hat{z} \cdot \hat{z}$ = ($-1$, 0, 0, 0), which is $-\tfrac14$. So the gradient is
# $(1 - \tfrac14 - \tfrac14,\; 0 - \tfrac14 - \tfrac14,\; 0 - \tfrac14 + \tfrac14,\;
# 0 - \tfrac14 + \tfrac14) = (\tfrac12, -\tfrac12, 0, 0)$.
#
# The second number has the same value as the first, and so it gets a gradient although its incoming
# gradient is zero.
#
# </details>
#
# {{ hints: dz }}

# %%
# answer: ex6n-normalise
### BEGIN SOLUTION
dzhat = gain * dy
dz = (var + 1e-5) ** -0.5 * (
    dzhat - dzhat.mean(2, keepdim=True) - zhat * (dzhat * zhat).mean(2, keepdim=True)
)
### END SOLUTION

# %%
# check: ex6n-normalise
check("dzhat", "dz")

# %% [markdown]
# **Worth noticing.** As in notebook 03, two directions are missing from the gradient that gets
# through: along $(1, 1, \dots, 1)$ and along $\hat{z}$. There they were directions of a *column*,
# and shifting or stretching all examples together changed nothing. Here they are directions of a
# *position*. All of its 24 numbers may grow tenfold, and the block that reads them does not notice:

# %%
for factor in (1, 10, 100):
    watched = (factor * z).requires_grad_()
    normed = F.layer_norm(watched, (C,), gain, bias)
    (gradient,) = torch.autograd.grad((dy * normed).sum(), watched)
    print(f"z times {factor:>3}: y has the size {normed.norm():.1f}, dz {gradient.norm():.6f}")

# %% [markdown]
# The output stays as it is. But the gradient is **divided** by the factor, because $(\sigma^2 +
# \varepsilon)^{-1/2}$ is in front of it. So a position with large numbers is harder to move.
# Remember this for part 4.
#
# So which numbers depend on which? Here are all slopes $\partial\hat{z} / \partial z$ of four
# positions with four numbers each, for both norms: 16 outputs by 16 inputs.

# %% tags=["nbval-ignore-output"]
few = x[0, :4, :4]
show_slopes(
    {
        title: torch.autograd.functional.jacobian(norm, few).view(16, 16)
        for title, norm in (
            ("layer norm", lambda few: normalise(few, 1)),
            ("batch norm", lambda few: normalise(few, 0)),
        )
    },
    "Two grids of 16 by 16 slopes. For layer norm all colour is in four blocks along the diagonal, "
    "for batch norm in stripes that run through all blocks.",
)

# %% [markdown]
# *Green means that the output rises if you raise the input, and purple means that it falls. With a
# layer norm the numbers of a position talk only to each other. With a batch norm each number talks
# to the same number of all positions.*
#
# # Part 3 · The perceptron
#
# ## 3.1 GELU
#
# After the positions have looked around, each of them thinks by itself: a linear layer goes from 24
# numbers up to 96, a function bends them, and a second linear layer goes back down to 24. In
# notebook 01 the function was tanh. In transformers it is often GELU, the *Gaussian error linear
# unit*,
#
# $$\text{gelu}(w) = w\,\Phi(w) ,$$
#
# where $\Phi(w)$ is the probability that a standard normal number is smaller than $w$, the
# *cumulative distribution function*. Far to the right $\Phi$ is 1, and the number passes. Far to
# the left $\Phi$ is 0, and the number is stopped. In between it passes in part: $\Phi(1) = 0.841$,
# so $\text{gelu}(1) = 0.841$, and $\text{gelu}(-1) = -1 \cdot 0.159$.

# %%
# @title Figure: GELU
show_gelu()

# %% [markdown]
# *GELU is a ReLU with a round corner. To the left of* $-0.75$ *it falls: if you raise the number,
# the output gets smaller. To the right of 0.75 its slope is larger than 1.*
#
# In PyTorch you write $\Phi$ with the *error function*: $\Phi(w) = \tfrac12\,\big(1 +
# \text{erf}(w/\sqrt2)\big)$.
#
# ## 3.2 Forward
#
# Here is the perceptron, without its norm but with its residual connection. Its input is `x` again,
# under the name `u`.

# %%
u, W_up, b_up, W_down, b_down = x, W1, b1, W2, b2
dmoved = arriving_at(u + F.gelu(u @ W_up + b_up) @ W_down + b_down)

# %%
wide = u @ W_up + b_up
cdf = 0.5 * (1 + torch.erf(wide * 0.5**0.5))
bent = wide * cdf
moved = u + bent @ W_down + b_down
loss = (dmoved * moved).sum()

# %% [markdown]
# | name | shape | |
# | :-- | :-- | :-- |
# | `u`, `moved` | (32, 10, 24) | B, T, C |
# | `wide`, `cdf`, `bent` | (32, 10, 96) | B, T, M |
# | `W_up`, `b_up` | (24, 96), (96,) | C, M and M |
# | `W_down`, `b_down` | (96, 24), (24,) | M, C and C |

# %%
board("ex6p")

# %% [markdown]
# ## 3.3 Down
#
# ```python
# moved = u + bent @ W_down + b_down
# ```
#
# In a residual connection the layer computes a *change*, not the result. If you call `bent @ W_down
# + b_down` the change, `moved` is a sum of two terms, and each of them has the slope 1.

# %%
# @title Figure: a sum and a copy
sum_and_copy()

# %% [markdown]
# *A sum of two terms. Which two gradients belong at the question marks?*
#
# **`dbent`** (32, 10, 96), **`dW_down`** (96, 24), **`db_down`** (24,). This is a linear layer over
# 320 positions, as in section 3.7 of notebook 05, but now with a bias.
#
# {{ hints: dbent }}
#
# {{ hints: dW_down }}
#
# {{ hints: db_down }}

# %%
# answer: ex6p-down
### BEGIN SOLUTION
dbent = dmoved @ W_down.T
dW_down = bent.flatten(0, 1).T @ dmoved.flatten(0, 1)
db_down = dmoved.sum((0, 1))
### END SOLUTION

# %%
# check: ex6p-down
check("dbent", "dW_down", "db_down")

# %% [markdown]
# ## 3.4 The bend
#
# ```python
# cdf = 0.5 * (1 + torch.erf(wide * 0.5**0.5))
# bent = wide * cdf
# ```
#
# **`dcdf`** (32, 10, 96).
#
# {{ hints: dcdf }}
#
# **`dwide`** (32, 10, 96). Two lines read `wide`. For the first of them you need the slope of
# $\Phi$, which is the probability *density*, the bell curve
#
# $$\varphi(w) = \frac{1}{\sqrt{2\pi}}\,e^{-w^2/2} .$$
#
# *Check it on paper:* the slope of $\text{erf}(t)$ is $\frac{2}{\sqrt\pi}\,e^{-t^2}$; put in $t =
# w/\sqrt2$, and do not forget the slope of $t$ itself. ($\pi$ is `torch.pi`.)
#
# {{ hints: dwide }}

# %%
# answer: ex6p-gelu
### BEGIN SOLUTION
dcdf = dbent * wide
density = torch.exp(-(wide**2) / 2) / (2 * torch.pi) ** 0.5
dwide = dbent * cdf + dcdf * density  # two readers: the product and the distribution
### END SOLUTION

# %%
# check: ex6p-gelu
check("dcdf", "dwide")

# %% [markdown]
# **Worth noticing.** All in all the slope is $\Phi(w) + w\,\varphi(w)$. At $w = 1$ that is $0.841 +
# 0.242 = 1.083$. A ReLU lets no gradient through if its number is negative (section 5.5 of notebook
# 01). GELU still lets something through a little to the left of zero: at $w = -1$ the slope is
# $-0.083$. But far out it is shut too: at $w = -15$ the slope is 0 to the last digit.
#
# <details>
# <summary>The other GELU</summary>
#
# In old code, and in GPT-2, you meet $\tfrac12 w\,\big(1 + \tanh(\sqrt{2/\pi}\,(w +
# 0.044715\,w^3))\big)$. It saved time when `erf` was slow. But it is *another function*: the two
# differ by up to 0.0005, as the next cell shows, and so do their slopes. A gradient derived for one
# of them is wrong for the other, by up to 0.001. If yours agrees with somebody else's to only two
# or three digits, look here first.
#
# </details>

# %%
some_w = torch.linspace(-6, 6, 2001).double().requires_grad_()
values = [F.gelu(some_w, approximate=form) for form in ("none", "tanh")]
slopes = [torch.autograd.grad(value.sum(), some_w)[0] for value in values]
for what, (exact, approximate) in (("values", values), ("slopes", slopes)):
    largest = (exact - approximate).abs().max()
    print(f"{what} of the exact and the tanh form differ by up to {largest:.4f}")

# %% [markdown]
# ## 3.5 Up
#
# ```python
# wide = u @ W_up + b_up
# moved = u + bent @ W_down + b_down
# ```
#
# **`dW_up`** (24, 96), **`db_up`** (96,).
#
# {{ hints: dW_up }}
#
# {{ hints: db_up }}
#
# **`du`** (32, 10, 24). `u` went two ways.
#
# {{ hints: du }}

# %%
# answer: ex6p-up
### BEGIN SOLUTION
dW_up = u.flatten(0, 1).T @ dwide.flatten(0, 1)
db_up = dwide.sum((0, 1))
du = dmoved + dwide @ W_up.T  # past the perceptron, and through it
### END SOLUTION

# %%
# check: ex6p-up
check("dW_up", "db_up", "du")

# %% [markdown]
# # Part 4 · Why depth became trainable
#
# ## 4.1 On paper
#
# Let each block have one number and one slope, $s$. Without a residual connection 32 of them have
# the slope $s^{32}$, because the chain rule multiplies. With a residual connection, a block is $u +
# f(u)$ and has the slope $1 + s$.
#
# | | one block | 32 blocks |
# | :-- | --: | --: |
# | $f(u)$ with $s = 0.5$ | 0.5 | 0.0000000002 |
# | $u + f(u)$ with $s = 0.02$ | 1.02 | 1.9 |
# | $u + f(u)$ with $s = -0.02$ | 0.98 | 0.5 |
#
# For two such blocks, multiply out:
#
# $$(1 + s_1)(1 + s_2) = 1 + s_1 + s_2 + s_1 s_2 .$$
#
# So four ways lead back to `x`:

# %%
# @title Figure: four ways
four_ways()

# %% [markdown]
# *The ways lead past both blocks, through the first, through the second, and through both.*
#
# With 32 blocks there are $2^{32}$ ways. One of them, the **1**, goes past all the blocks. On this
# way the gradient reaches the first block unchanged, however many blocks are in between. This is
# what the copy in your `du` is for.
#
# The table also shows the condition: $s$ has to be small. With $s = 0.5$ the second line would be
# $1.5^{32}$, nearly half a million, and a gradient that explodes is no better than one that
# vanishes.
#
# ## 4.2 Measured
#
# Here are stacks of 1 to 32 real blocks (random weights, attention and perceptron) in four kinds:
# with and without the residual connection, and with and without the norm. The incoming gradient at
# the end always has the size 1. How large is the gradient of `x`? We take the median of five
# stacks.


# %%
def stack(x, n_blocks, with_residual, with_norm, seed):
    """The output of so many blocks with random weights of the usual sizes."""
    generator = torch.Generator().manual_seed(seed)
    shapes = ((C, H), (C, H), (C, H), (H, C), (C, M), (M, C))
    for _ in range(n_blocks):
        q, k, v, o, up, down = (torch.randn(s, generator=generator) * s[0] ** -0.5 for s in shapes)
        a = F.layer_norm(x, (C,)) if with_norm else x
        heard = F.scaled_dot_product_attention(a @ q, a @ k, a @ v, is_causal=True) @ o
        x = x + heard if with_residual else heard
        a = F.layer_norm(x, (C,)) if with_norm else x
        thought = F.gelu(a @ up) @ down
        x = x + thought if with_residual else thought
    return x


def size_at_x(*kind):
    """How much gets through to x, of a gradient of size 1."""
    watched = x.clone().requires_grad_()
    arriving = sent_back.view_as(x) / sent_back.norm()
    (gradient,) = torch.autograd.grad((arriving * stack(watched, *kind)).sum(), watched)
    return gradient.norm()


kinds = {
    "both": (True, True),
    "residual alone": (True, False),
    "norm alone": (False, True),
    "neither": (False, False),
}
depths = [1, 2, 4, 8, 16, 32]


def middle_of_five(measure, kinds):
    """What is measured at each depth, by kind of stack."""
    return {
        name: [
            torch.stack([measure(n, *kind, seed) for seed in range(5)]).median().item()
            for n in depths
        ]
        for name, kind in kinds.items()
    }


# %% tags=["nbval-ignore-output"]
sizes = middle_of_five(size_at_x, kinds)
for name, found in sizes.items():
    print(f"{name:<15}" + "".join(f"{size:>11.1e}" for size in found))
show_depth(
    depths,
    sizes,
    "size of the gradient at x",
    "Four lines over 1 to 32 blocks on a logarithmic scale. Neither falls to about 1e-10, residual "
    "alone rises beyond ten million; both and norm alone stay within a factor of ten.",
)

# %% [markdown]
# *With neither, nothing is left. With only the residual connection the gradient explodes, because
# nothing keeps the part through a block small compared with the part that goes past. With both it
# grows slowly.*
#
# Remember section 2.4: the norm divides by the size of its input. So every block adds about the
# same amount, however large the stream has become. Compared with the stream that is less and less,
# so $s$ gets smaller with depth by itself, just as the table above asks for.

# %% [markdown]
# ## 4.3 Is size everything?
#
# The line "norm alone" is a surprise. There is no residual connection, and yet the median of the
# five sizes is nearly right (although they lie far apart), because the norm rescales its input. So
# can we do without the residual connection?
#
# The size of a gradient says nothing about the information in it. Look at the output of the stacks
# at the sixth position of all 32 names. How similar are two of these outputs? Take the cosine of
# the angle between them, averaged over all pairs: 1 means that they all point the same way.


# %%
def likeness_of(outputs):
    """How alike the names are at the sixth position: 1 is the same for all."""
    directions = F.normalize(F.layer_norm(outputs[:, 5], (C,)), dim=1)
    return ((directions @ directions.T).sum() - B) / (B * B - B)


def likeness(*kind):
    """How alike the names come out of a stack."""
    with torch.no_grad():
        return likeness_of(stack(x, *kind))


# %% tags=["nbval-ignore-output"]
print(f"x itself, before any block: {likeness_of(x):.2f}")
alike = middle_of_five(likeness, {each: kinds[each] for each in ("both", "norm alone")})
show_depth(
    depths,
    alike,
    "likeness of the names",
    "Two lines over 1 to 32 blocks: with both the likeness stays near 0.7; with the norm alone it "
    "is 1 from 8 blocks on.",
    log=False,
)

# %% [markdown]
# *With both, 32 blocks still distinguish the names nearly as well as* `x` *itself. With only the
# norm, all names look the same after eight blocks.*
#
# Attention takes averages over the positions up to its own. The first position sees only itself,
# which is the same dot in all names, so with each average every position drifts towards it.
# (Without a mask the positions of one name become alike: [Dong and others,
# 2021](https://arxiv.org/abs/2103.03404).) The gradient has the right size, but it carries no
# information. Something similar happened in 2015 with networks for images. Batch normalisation had
# already given gradients a good size, and yet more layers made the networks worse, until [residual
# connections](https://arxiv.org/abs/1512.03385) came.
#
# The stream keeps the information, and the norm keeps the stream from growing too fast. You need
# both.
#
# # Part 5 · The whole block
#
# ## 5.1 Forward
#
# Here is the whole block, with small steps only where you need their values. `inv1` and `inv2` are
# the $(\sigma^2 + \varepsilon)^{-1/2}$ of the two norms. Attention has the capital letters of
# notebook 05's five lines.

# %% tags=["nbval-ignore-output"]
dout = arriving_at(in_pytorch(x))

# %%
T = x.shape[1]
H = Wq.shape[1]
mask = torch.full((T, T), -torch.inf).triu(1)
# look at the others
inv1 = (x.var(2, keepdim=True, correction=0) + 1e-5) ** -0.5
xhat1 = (x - x.mean(2, keepdim=True)) * inv1
normed1 = gain1 * xhat1 + bias1
Q = normed1 @ Wq
K = normed1 @ Wk
V = normed1 @ Wv
S = Q @ K.transpose(1, 2) * H**-0.5 + mask
P = torch.softmax(S, 2)
O = P @ V
mid = x + O @ Wo
# think about it
inv2 = (mid.var(2, keepdim=True, correction=0) + 1e-5) ** -0.5
xhat2 = (mid - mid.mean(2, keepdim=True)) * inv2
normed2 = gain2 * xhat2 + bias2
hidden = normed2 @ W1 + b1
active = F.gelu(hidden)
out = mid + active @ W2 + b2
loss = (dout * out).sum()

# %% tags=["nbval-ignore-output"]
print(f"the block in PyTorch's layers differs by {(in_pytorch(x) - out).abs().max():.0e}")
board("ex6")

# %% [markdown]
# ## 5.2 Backward
#
# You go from `dout` to `dx`. You have written every line before, under other names:
#
# | gradients | where you have them from |
# | :-- | :-- |
# | `dactive`, `dW2`, `db2` | 3.3 |
# | `dhidden` | 3.4, in one line: `F.gelu` keeps no $\Phi$, so compute it again |
# | `dW1`, `db1`, `dnormed2` | 3.5 |
# | `dgain2`, `dbias2`, `dxhat2` | 2.3, 2.4 |
# | `dmid` | 2.4, and the residual connection of 3.5 |
# | `dWo`, `dO` | a linear layer without a bias, like 3.3 |
# | `dV`, `dS`, `dQ`, `dK` | 4.2 of notebook 05, word for word; `dP` is a name of your own here |
# | `dWq`, `dWk`, `dWv`, `dnormed1` | 3.7 of notebook 05 |
# | `dgain1`, `dbias1`, `dxhat1`, `dx` | as for the second norm |
#
# Before you begin, read the forward lines: three of the tensors in the table have more than one
# reader.
# *Write their names down.* (Leave `inv1` and `inv2` out, because your one expression includes their
# way.)
#
# <details>
# <summary>An answer</summary>
#
# `x` is read by the norm and by the first sum, `mid` by the norm and by the second sum, and
# `normed1` by queries, keys and values.
#
# </details>
#
# Check as often as you like. The check blames only the line with the mistake. Right lines that use
# its result are *carried* and keep their points.

# %% [markdown]
# **The perceptron.** `dactive`, `dhidden` (32, 10, 96), `dnormed2` (32, 10, 24).
#
# {{ hints: dactive }}
#
# {{ hints: dW2 }}
#
# {{ hints: db2 }}
#
# {{ hints: dhidden }}
#
# {{ hints: dW1 }}
#
# {{ hints: db1 }}
#
# {{ hints: dnormed2 }}

# %%
# answer: ex6-perceptron
### BEGIN SOLUTION
dactive = dout @ W2.T
dW2 = active.flatten(0, 1).T @ dout.flatten(0, 1)
db2 = dout.sum((0, 1))
cdf = 0.5 * (1 + torch.erf(hidden * 0.5**0.5))
density = torch.exp(-(hidden**2) / 2) / (2 * torch.pi) ** 0.5
dhidden = dactive * (cdf + hidden * density)
dW1 = normed2.flatten(0, 1).T @ dhidden.flatten(0, 1)
db1 = dhidden.sum((0, 1))
dnormed2 = dhidden @ W1.T
### END SOLUTION

# %%
# check: ex6-perceptron
check("dactive", "dW2", "db2", "dhidden", "dW1", "db1", "dnormed2")

# %% [markdown]
# **The second norm, and `mid`.** `dgain2`, `dbias2` (24,), `dxhat2`, `dmid` (32, 10, 24).
#
# {{ hints: dgain2 }}
#
# {{ hints: dbias2 }}
#
# {{ hints: dxhat2 }}
#
# {{ hints: dmid }}

# %%
# answer: ex6-norm2
### BEGIN SOLUTION
dgain2 = (dnormed2 * xhat2).sum((0, 1))
dbias2 = dnormed2.sum((0, 1))
dxhat2 = dnormed2 * gain2
dmid = dout + inv2 * (
    dxhat2 - dxhat2.mean(2, keepdim=True) - xhat2 * (dxhat2 * xhat2).mean(2, keepdim=True)
)
### END SOLUTION

# %%
# check: ex6-norm2
check("dgain2", "dbias2", "dxhat2", "dmid")

# %% [markdown]
# **Attention.** `dWo` (16, 24), `dO` (32, 10, 16), the five lines, three weights (24, 16) and
# `dnormed1` (32, 10, 24).
#
# {{ hints: dWo }}
#
# {{ hints: dO }}
#
# {{ hints: dV }}
#
# {{ hints: dS }}
#
# {{ hints: dQ }}
#
# {{ hints: dK }}
#
# {{ hints: dWq }}
#
# {{ hints: dWk }}
#
# {{ hints: dWv }}
#
# {{ hints: dnormed1 }}

# %%
# answer: ex6-attention
### BEGIN SOLUTION
dWo = O.flatten(0, 1).T @ dmid.flatten(0, 1)
dO = dmid @ Wo.T
dV = P.mT @ dO
dP = dO @ V.mT
dS = P * (dP - (dP * P).sum(2, keepdim=True))
dQ = dS @ K * H**-0.5
dK = dS.mT @ Q * H**-0.5
rows = normed1.flatten(0, 1)
dWq = rows.T @ dQ.flatten(0, 1)
dWk = rows.T @ dK.flatten(0, 1)
dWv = rows.T @ dV.flatten(0, 1)
dnormed1 = dQ @ Wq.T + dK @ Wk.T + dV @ Wv.T
### END SOLUTION

# %%
# check: ex6-attention
check("dWo", "dO", "dV", "dS", "dQ", "dK", "dWq", "dWk", "dWv", "dnormed1")

# %% [markdown]
# **The first norm, and `x`.** The same comes once more. Which gradient plays the part of `dout`?
#
# {{ hints: dgain1 }}
#
# {{ hints: dbias1 }}
#
# {{ hints: dxhat1 }}
#
# {{ hints: dx }}

# %%
# answer: ex6-norm1
### BEGIN SOLUTION
dgain1 = (dnormed1 * xhat1).sum((0, 1))
dbias1 = dnormed1.sum((0, 1))
dxhat1 = dnormed1 * gain1
dx = dmid + inv1 * (
    dxhat1 - dxhat1.mean(2, keepdim=True) - xhat1 * (dxhat1 * xhat1).mean(2, keepdim=True)
)
### END SOLUTION

# %%
# check: ex6-norm1
check("dgain1", "dbias1", "dxhat1", "dx")

# %% [markdown]
# <details>
# <summary>Is there a mistake that you cannot find?</summary>
#
# - If everything below `dmid` is *carried*, look at `dmid` first, and check whether `dout` is in
#   it.
# - If `dhidden` fails although your number and autograd's look the same on the card, you may have
#   the slope of the other GELU of section 3.4.
# - If `dmid` or `dx` fails although it looks nearly right, run `heat_map("dx")` in a cell of your
#   own. Rows of one colour lack the first box of 2.4.
# - If the gradient of a gain or a bias has the wrong shape: it should be (24,), summed over names
#   and positions, but not over the last axis.
#
# </details>
#
# **Worth noticing: how much goes past.** Two gradients meet at `mid`, and again two at `x`: one
# goes past half of the block, and one goes through it. Autograd says how much of `dx` is `dout`,
# unchanged:

# %% tags=["nbval-ignore-output"]
watched = x.clone().requires_grad_()
(whole,) = torch.autograd.grad((dout * in_pytorch(watched)).sum(), watched)
along = F.cosine_similarity(whole.flatten(), dout.flatten(), 0)
print(f"dout: {dout.norm():.4f}; dx: {whole.norm():.4f}")
print(f"of which unchanged, past both halves: {dout.norm():.4f}")
print(f"through one of them or both: {(whole - dout).norm():.4f}")
print(f"cosine of dx and dout: {along:.2f}")

# %% [markdown]
# This is section 4.1 with real numbers: the **1** of the product, and the rest. So the layers below
# this block, another block or the tables, receive the loss's own gradient plus the block's
# contribution.
#
# # Part 6 · What comes twice
#
# ## 6.1 Back to the tables
#
# ```python
# x = letters[Xb] + places
# ```
#
# Take the name `.anna`. Its five positions took the rows of `.`, `a`, `n`, `n`, `a` from the first
# table, and the first five rows of the second:

# %%
# @title Figure: lookups on paper
lookup_on_paper()

# %% [markdown]
# *What belongs at the two question marks? And what would be in `places`, if there were a second
# name in the batch?*
#
# <details>
# <summary>An answer</summary>
#
# `a` gets $g_2 + g_5$, and `n` gets $g_3 + g_4$. With a second name, each row of `places` would be
# the sum of two gradients, because row $t$ adds up the gradients of both names at position $t$.
#
# </details>
#
# Both tables were copied, but in different ways. Broadcasting copied a place to each **name**.
# Indexing copied a letter to wherever it **occurs**, as in section 5.8 of notebook 01.
#
# Here `dx` comes from autograd, so that you can go on even if yours is not finished.

# %%
dx = whole

# %%
x = letters[Xb] + places
loss = (dx * x).sum()

# %% [markdown]
# **`dletters`** (27, 24).
#
# {{ hints: dletters }}
#
# **`dplaces`** (10, 24).
#
# {{ hints: dplaces }}

# %%
# answer: ex6e-tables
### BEGIN SOLUTION
dletters = torch.zeros_like(letters).index_put_((Xb,), dx, accumulate=True)
dplaces = dx.sum(0)
### END SOLUTION

# %%
# check: ex6e-tables
check("dletters", "dplaces")

# %%
board("ex6e")

# %% [markdown]
# **Worth noticing.** Look at the dot. It is the first position of every name and fills all the
# empty places at the end, so its row collects more gradients than any other. How many?

# %% tags=["nbval-ignore-output"]
times = torch.bincount(Xb.flatten(), minlength=vocab_size)
most = times.argsort(descending=True)[:5].tolist()
print("copied how often:", ", ".join(f"{itos[i]} {times[i]}" for i in most))
print("never in this batch:", " ".join(itos[i] for i in (times == 0).nonzero().flatten().tolist()))

# %% [markdown]
# (The gradients of the empty places are zero, because there is nothing to guess there. Notebook 07
# looks at this more closely.)
#
# ## 6.2 One table, two uses: a thought
#
# At the end of the network another table turns `C` numbers into 27 scores, one for each letter:
# `W_last`, (24, 27). Its transpose has the shape of `letters`. So why not use `letters` itself?
#
# ```python
# logits = out @ letters.T
# ```
#
# Then a letter is *scored* by how well the position's numbers fit those that *describe* the letter.
# Many language models do this, and their embeddings are called **tied**. It saves 648 parameters
# here, and nearly 39 of 163 million in the smallest GPT-2.
#
# What is the gradient of `letters` then? *Answer before you run the cell:* how many contributions
# does it have, and which rows does each of them reach?

# %% tags=["nbval-ignore-output"]
as_table, as_layer = (letters.clone().requires_grad_() for _ in range(2))
tied = F.cross_entropy(
    (in_pytorch(as_table[Xb] + places) @ as_layer.T).flatten(0, 1), Yb.flatten(), ignore_index=-100
)
parts = torch.autograd.grad(tied, (as_table, as_layer))
for use, part in zip(("as the table of letters", "as the last layer"), parts, strict=True):
    reached = part.any(1).sum()
    print(f"{use}: size {part.norm():.3f}, reaches {reached} of {vocab_size} rows")
print(f"together: {sum(parts).norm():.3f}")

# %% [markdown]
# The table has two readers, so two contributions add up, by rule 2 of notebook 01. In its role as a
# table, only the letters that occur get a gradient. In its role as the last layer *all* of them do,
# in every step, because even a letter that does not occur in the batch was a wrong guess.
#
# # Part 7 · What you have found

# %%
board("ex6")

# %% [markdown]
# | forward | backward |
# | :-- | :-- |
# | layer norm | the gradient, minus its mean and its part along $\hat{x}$, over the size of `x` |
# | its gain | stays inside the means; its own gradient is a sum over all positions |
# | GELU | $\Phi(w) + w\,\varphi(w)$ |
# | up, bend, down | linear layers whose weights serve `B` times `T` positions |
# | a residual connection, a sum | a copy: the gradient goes on unchanged, and into the branch |
# | `x` and `mid` are read twice | two contributions each, one of which goes past everything |
# | `places` serves all names | a sum over the names |
# | `letters` serves wherever a letter occurs | a sum over these places |
#
# **You can now** write the backward pass of a transformer. For a deep one you put these lines into
# a loop: the `dx` of a block is the `dout` of the block below. In notebook **07** you train it.
#
# In a terminal, `grader check 06_block.ipynb` says the same as the cells above. If the notebook is
# alone in its folder, name the course as well: `--course 06_block.ipynb`.
