# %% [markdown]
# # 5 · Attention, one step at a time
#
# {{ colab }}
#
# The four notebooks are behind you, and this is the encore: the layer that today's networks are
# made of. It is built from steps that you know, matrix products and a softmax, and you are going to
# write every gradient in it. Then you do it once more in five lines, the way the fast
# implementations do, and see a network learn with them.
#
# - **Time:** about three hours.
# - **You need:** notebook 01, above all its sections 5.2 to 5.4, notebook 02 up to its section
#   2.2, and for part 5 part 6 of notebook 03.
# - **Afterwards you can:** go backwards through a batch of matrix products, say what a mask and
#   a scale do to a gradient, read an attention pattern and its gradient, and explain the row-wise
#   dot product that *FlashAttention* computes ahead.
#
# | letter | stands for | here |
# | :-- | :-- | --: |
# | `B` | names in the batch | 32 |
# | `T` | positions in a name | 10 |
# | `C` | numbers that describe a position | 24 |
# | `H` | numbers in a query, a key or a value (the size of the *head*) | 16 |
#
# Run the next four cells first.

# %%
# {{ cell: setup }}

# %%
# {{ cell: course }}

# %%
import math

import torch
import torch.nn.functional as F
from torch.autograd.function import once_differentiable

from grader import board, check, cmp, figures, heat_map, nudge
from makemore_data import LECTURE_SEED, build_vocabulary, load_names

figures.use_course_style()
torch.set_num_threads(1)  # matrices this small: two threads would mostly wait for each other

# %%
# @title The drawings of this notebook. Run it; there is nothing to do here.
from grader.pictures.figures import sheet

INFINITE = r"$-\infty$"


def rounded(matrix, digits):
    """A matrix as texts, what the mask has written as a sign."""
    rows = matrix.tolist()
    return [[INFINITE if x < -1e9 else f"{x:.{digits}f}" for x in row] for row in rows]


def attention_on_paper(q, k, v):
    """All of attention for one name of three positions, in numbers."""
    seen = [(t, s) for t in range(3) for s in range(t + 1)]
    masked = (q @ k.T * 2**-0.5).masked_fill(torch.ones(3, 3).triu(1) == 1, -torch.inf)
    pattern = masked.softmax(1)
    page = sheet.new_sheet(15.2, 10.6, scale=0.45)
    page.matrix(0.8, 1.4, rounded(q, 0), "q  (3, 2)")
    page.write((3.4, 2.9), "times", sheet.GREY)
    page.matrix(4.0, 1.9, rounded(k.T, 0), "k, turned over  (2, 3)")
    page.arrow((7.3, 2.9), (9.3, 2.9), "scaled,\nmasked")
    page.matrix(9.7, 1.4, rounded(masked, 2), "masked  (3, 3)", lit=seen, cell_width=1.5)
    page.arrow((11.0, 4.6), (4.4, 6.2))
    page.write((8.4, 5.75), "softmax, row by row", sheet.FORWARD, ha="left")
    page.matrix(0.8, 6.9, rounded(pattern, 2), "pattern  (3, 3)", lit=seen, cell_width=1.3)
    page.write((5.4, 8.4), "times", sheet.GREY)
    page.matrix(6.1, 6.9, rounded(v, 0), "v  (3, 2)")
    page.arrow((8.4, 8.4), (9.9, 8.4), "is")
    page.matrix(10.4, 6.9, rounded(pattern @ v, 2), "out  (3, 2)", cell_width=1.5)
    return page.picture(
        "Above: q, three rows of two numbers, times k turned over, is scaled and masked: three "
        "rows of three scores, with minus infinity above the diagonal. Below: the softmax of each "
        "row is the pattern, zero above the diagonal; times v, three rows of two, it is out."
    )


def weighted_sum_backward():
    """Which numbers make one entry of each gradient."""
    page = sheet.new_sheet(15.2, 9.4, scale=0.45)
    back, forth = sheet.BACKWARD, sheet.FORWARD
    douts = [[rf"$\mathrm{{d}}o_{{{t}{h}}}$" for h in (1, 2)] for t in (1, 2, 3)]
    values = sheet.symbols("v", 3, 2)
    dpattern = [[rf"$\mathrm{{d}}p_{{{t}{s}}}$" for s in (1, 2, 3)] for t in (1, 2, 3)]
    page.matrix(1.2, 1.2, douts, "what arrives  (3, 2)", colour=back, lit=[(1, 0), (1, 1)])
    page.matrix(5.7, 1.2, values, "v  (3, 2)", colour=forth, lit=[(0, 0), (0, 1)])
    page.arrow((8.7, 2.7), (10.4, 2.7), colour=back)
    page.matrix(10.9, 1.2, dpattern, "gradient of pattern  (3, 3)", colour=back, lit=[(1, 0)])
    dv = [[rf"$\mathrm{{d}}v_{{{s}{h}}}$" for h in (1, 2)] for s in (1, 2, 3)]
    lit = [(0, 0), (1, 0), (2, 0)]
    page.matrix(1.2, 5.8, sheet.symbols("p", 3, 3), "pattern  (3, 3)", colour=forth, lit=lit)
    page.matrix(5.7, 5.8, douts, "what arrives", colour=back, lit=lit)
    page.arrow((8.7, 7.3), (10.4, 7.3), colour=back)
    page.matrix(11.4, 5.8, dv, "gradient of v  (3, 2)", colour=back, lit=[(0, 0)])
    return page.picture(
        "Above: row 2 of what arrives and row 1 of v give the entry 2, 1 of the pattern's "
        "gradient. Below: the weights p11, p21, p31, a column, with which all positions "
        "looked at position 1, and the first column of what arrives give v1's first number."
    )


def slopes_of_a_row():
    """How each weight of a row moves with each of its scores."""
    page = sheet.new_sheet(12.4, 5.2)
    names = range(1, 4)
    slopes = [
        [f"$p_{i}(1 - p_{i})$" if i == j else f"$-p_{i}\\,p_{j}$" for j in names] for i in names
    ]
    page.write((7.0, 0.55), "raise this score ...", sheet.GREY, 10.5)
    page.write((2.35, 3.0), "... and this\nweight\nmoves by", sheet.GREY, 10.5, ha="right")
    for i in names:
        page.write((3.4 + (i - 0.5) * 2.4, 1.35), f"$s_{i}$", sheet.FORWARD, va="bottom")
        page.write((3.1, 1.0 + i), f"$p_{i}$", sheet.FORWARD, ha="right")
    page.matrix(3.4, 1.5, slopes, colour=sheet.BACKWARD, cell_width=2.4, size=12)
    return page.picture(
        "A 3 by 3 grid: how each weight moves with each score. On the diagonal p i times (1 minus "
        "p i), elsewhere minus p i times p j."
    )


def mask_backward():
    """What passes the mask on the way back."""
    page = sheet.new_sheet(13.0, 5.0)
    seen = [(t, s) for t in range(3) for s in range(t + 1)]
    arriving = sheet.symbols("g", 3, 3)
    passed = [[arriving[t][s] if s <= t else "0" for s in range(3)] for t in range(3)]
    page.matrix(1.4, 1.2, passed, "gradient of scores", colour=sheet.BACKWARD, lit=seen)
    page.arrow((8.3, 2.7), (4.8, 2.7), "the mask is a gate", colour=sheet.BACKWARD)
    page.matrix(8.7, 1.2, arriving, "what arrives at masked", colour=sheet.BACKWARD)
    return page.picture(
        "Right, what arrives: a 3 by 3 grid of g11 to g33. Left, the gradient of the scores: the "
        "same on and below the diagonal, zero above it."
    )


def three_ways():
    """x goes to three linear layers, and three gradients come back."""
    page = sheet.new_sheet(15.2, 7.4, scale=0.45)
    page.box((2.2, 3.7), "x", colour=sheet.FORK, width=2.4)
    for height, name, words in (
        (1.3, "q", "asks: what do I look for?"),
        (3.7, "k", "offers: what have I got?"),
        (6.1, "v", "answers: what do I tell?"),
    ):
        page.box((8.0, height), name, colour=sheet.FORWARD, width=2.0)
        page.arrow((3.6, 3.55 + (height - 3.7) * 0.2), (6.8, height - 0.22))
        page.arrow((6.8, height + 0.28), (3.6, 3.95 + (height - 3.7) * 0.2), colour=sheet.BACKWARD)
        page.write((9.4, height), words, sheet.INK, 11.5, ha="left")
    return page.picture(
        "From x, one arrow each to q, which asks: what do I look for; to k, which offers: what "
        "have I got; and to v, which answers: what do I tell. From each of the three an arrow "
        "leads back to x."
    )


def draw_grid(axes, grid, letters, **look):
    """A square of a name's positions: rows look, columns are looked at; the future is grey."""
    axes.set_facecolor((sheet.HAIRLINE, 0.35))
    future = torch.ones_like(grid).triu(1) == 1
    picture = axes.imshow(grid.masked_fill(future, torch.nan), **look)
    axes.set_xticks(range(len(letters)), letters)
    axes.set_yticks(range(len(letters)), letters)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.set_xlabel("looked at")
    return picture


def show_patterns(patterns, letters, words):
    """Attention patterns of one name side by side, by their titles."""
    figure, axes = sheet.new_axes(3.1 * len(patterns) + 1.0, 3.4, columns=len(patterns))
    for one, (title, pattern) in zip(axes, patterns.items(), strict=True):
        grid = pattern[: len(letters), : len(letters)]
        picture = draw_grid(one, grid, letters, cmap=sheet.fading_in(sheet.FORWARD), vmin=0, vmax=1)
        one.set_title(title)
    axes[0].set_ylabel("who looks")
    figure.colorbar(picture, ax=axes, label="weight")
    return figures.Picture(figure, words)


def show_pulls(pulls, letters, words):
    """Gradients of one name's scores, by their titles: green for more, purple for less."""
    figure, axes = sheet.new_axes(3.1 * len(pulls) + 1.2, 3.4, columns=len(pulls))
    for one, (title, pull) in zip(axes, pulls.items(), strict=True):
        grid = -pull[: len(letters), : len(letters)]  # downhill: against the gradient
        most = grid.abs().max()
        picture = draw_grid(one, grid / most, letters, cmap=sheet.SIGNED, vmin=-1, vmax=1)
        one.set_title(title)
    axes[0].set_ylabel("who looks")
    bar = figure.colorbar(picture, ax=axes, ticks=[-1, 0, 1])
    bar.set_ticklabels(["look less", "no news", "look more"])
    return figures.Picture(figure, words)


def show_saturation(sizes, raw, scaled):
    """How large the gradient is that gets through the softmax, with the scale and without."""
    figure, (axes,) = sheet.new_axes(5.6, 3.0)
    axes.loglog(sizes, scaled, marker="o", color=sheet.GREEN)
    axes.loglog(sizes, raw, marker="o", color=sheet.PINK)
    axes.text(sizes[-1] * 1.4, scaled[-1], "scaled", color=sheet.GREEN, va="center")
    axes.text(sizes[-1] * 1.4, raw[-1], "as they are", color=sheet.PINK, va="center")
    axes.set_xlim(sizes[0] * 0.8, sizes[-1] * 1.2)
    heights = [0.005, 0.01, 0.02, 0.04]
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_yticks(heights, [str(height) for height in heights])
    axes.minorticks_off()
    axes.set_xlabel("numbers in a query, H")
    axes.set_ylabel("gradient at the scores")
    return figures.Picture(figure, "Two lines over the size of the head, on logarithmic scales.")


def one_tile():
    """What a tile of two columns of the scores needs for its gradient."""
    page = sheet.new_sheet(15.2, 10.6, scale=0.45)
    forth, back = sheet.FORWARD, sheet.BACKWARD
    rows, columns = [(t, 0) for t in range(6)], [(0, 2), (0, 3)]
    for top, name in ((0.9, "K"), (2.2, "V")):
        page.matrix(4.6, top, [[""] * 6], colour=forth, lit=columns)
        page.write((4.3, top + 0.5), name, forth, ha="right")
    page.write((10.9, 2.05), "two positions", sheet.GREY, 11, ha="left")
    tile = [(t, s) for t in range(6) for s in (2, 3)]
    page.matrix(4.6, 3.6, [[""] * 6] * 6, colour=forth, lit=tile)
    page.write((7.6, 10.0), "S, of which a tile is held", sheet.INK, 11)
    for left, name, colour in ((0.8, "Q", forth), (2.4, "dO", back)):
        page.matrix(left, 3.6, [[""]] * 6, name, colour=colour, lit=rows)
    for left, name, colour in ((11.6, "L", forth), (13.2, "D", back)):
        page.matrix(left, 3.6, [[""]] * 6, name, colour=colour, lit=rows)
    page.write((2.1, 10.0), "all rows", sheet.GREY, 11)
    page.write((12.9, 10.0), "one number a row", sheet.GREY, 11)
    return page.picture(
        "A grid of six by six scores, of which two columns are filled. Above it the rows K and V, "
        "of which the same two places are filled. Beside it the columns Q, dO, L and D, all filled."
    )


# %% [markdown]
# # Part 1 · Looking back
#
# ## 1.1 Names, letter by letter
#
# The network of the four notebooks sees three letters and guesses the next. Now every position of a
# name makes a guess, and may look at *all* the letters before it. A name is a row of `T` = 10
# positions: a dot, its letters, and empty places up to the end. Under each position stands what has
# to be guessed there. Names of ten letters and more are left out here.

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

# %%
letters = [itos[i] for i in X[0, : len("ninja") + 1].tolist()]
print("seen:   ", *letters)
print("guessed:", *(itos[i] for i in Y[0, : len(letters)].tolist()))

# %% [markdown]
# Each position is described by `C` = 24 numbers: those of its letter plus those of its place, both
# looked up in a table. (A plain sum. Attention itself does not know what stands where; without the
# second table the letters before a position could stand in any order.)

# %% tags=["nbval-ignore-output"]
B, C, H = 32, 24, 16


def new_parameters():
    """Random tables and weights: letters, places, Wq, Wk, Wv and the last layer's."""
    g = torch.Generator().manual_seed(LECTURE_SEED)
    shapes = ((vocab_size, C), (T, C), (C, H), (C, H), (C, H), (H, vocab_size))
    sizes = (1, 1, C**-0.5, C**-0.5, C**-0.5, H**-0.5)
    return [
        size * torch.randn(shape, generator=g) for size, shape in zip(sizes, shapes, strict=True)
    ]


of_letter, of_place, Wq, Wk, Wv, W_last = new_parameters()
Xb, Yb = X[:B], Y[:B]
x = of_letter[Xb] + of_place
print("x:", tuple(x.shape))

# %% [markdown]
# ## 1.2 Ask, offer, answer
#
# A position that has to guess wants to know things: was there a vowel just now? Has this name been
# going on for long? **Attention** is a way to ask. From its 24 numbers each position makes three
# short lists of 16, by a matrix product each:
#
# - a **query** `q`, what it looks for;
# - a **key** `k`, what it has got to offer;
# - a **value** `v`, what it tells those who look at it.
#
# How well the query of position $t$ fits the key of position $s$ is their dot product, the *score*.
# A softmax turns the scores of a row $t$ into weights that add up to 1, and position $t$ receives
# the values of all positions, weighted so. All of it for a name of three positions, with two
# numbers each:

# %%
attention_on_paper(
    q=torch.tensor([[1.0, 0], [0, 2], [1, 1]]),
    k=torch.tensor([[1.0, 0], [1, 1], [0, 2]]),
    v=torch.tensor([[1.0, 0], [0, 1], [2, -1]]),
)

# %% [markdown]
# *Check one row by hand: the last has the scores* $1, 2, 2$ *times* $2^{-1/2}$, *and its pattern
# adds up to 1.*
#
# Three details, which part 3 takes up one by one. The scores are divided by $\sqrt{H}$. A position
# must not see the letters that it is to guess, so the scores with later positions are overwritten
# with $-\infty$, whose exponential is 0: the **mask**. And the softmax runs along the *last* axis:
# for each name, for each position that looks, over the positions that it looks at.
#
# ## 1.3 The forward pass
#
# What the rest of the network does with `out` is not our business here. As in notebook 03, we take
# the gradient that comes back from it as given, `dout`.


# %% tags=["nbval-ignore-output"]
def rest_of_the_network(out, W_last, Yb):
    """The loss: guess the next letter at each position, by one linear layer."""
    return F.cross_entropy((out @ W_last).flatten(0, 1), Yb.flatten(), ignore_index=-100)


def causal(q, k, v):
    """The whole of attention from q, k and v, as PyTorch has it."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


out = causal(x @ Wq, x @ Wk, x @ Wv).requires_grad_()
(dout,) = torch.autograd.grad(rest_of_the_network(out, W_last, Yb), out)
print("dout:", tuple(dout.shape))

# %% [markdown]
# The layer, in steps so small that each line does one thing. The last line is the stand-in for the
# rest of the network, which has the right slope at `out`: exactly `dout`.

# %%
T = x.shape[1]
H = Wq.shape[1]
future = torch.ones(T, T).triu(1) == 1
# every position asks, offers and answers
q = x @ Wq
k = x @ Wk
v = x @ Wv
# how well each question fits each offer
products = q @ k.transpose(1, 2)
scores = products * H**-0.5
masked = scores.masked_fill(future, -torch.inf)
# softmax along the last axis
maxes = masked.max(2, keepdim=True).values
shifted = masked - maxes
counts = shifted.exp()
counts_sum = counts.sum(2, keepdim=True)
counts_sum_inv = counts_sum**-1
pattern = counts * counts_sum_inv
# a weighted sum of the answers
out = pattern @ v
loss = (dout * out).sum()

# %% [markdown]
# | name | shape | |
# | :-- | :-- | :-- |
# | `x` | (32, 10, 24) | B, T, C |
# | `Wq`, `Wk`, `Wv` | (24, 16) | C, H |
# | `q`, `k`, `v`, `out` | (32, 10, 16) | B, T, H |
# | `products`, `scores`, `masked`, `shifted`, `counts`, `pattern` | (32, 10, 10) | B, T, T |
# | `maxes`, `counts_sum`, `counts_sum_inv` | (32, 10, 1) | B, T, 1 |
#
# `future` is True above the diagonal. `k.transpose(1, 2)` exchanges the last two of the three axes:
# each name's keys are turned over by themselves.

# %% tags=["nbval-ignore-output"]
largest = (causal(q, k, v) - out).abs().max()
print(f"PyTorch's own attention differs by {largest:.0e}")
untrained = pattern[0]
show_patterns({"ninja, untrained": untrained}, letters, "A triangle of weights without a plan.")

# %% [markdown]
# *Row by row: who looks; column by column: at whom. Dark is much, grey is the future. The weights
# of a row add up to 1; the first dot can only look at itself. Nothing has been learnt, so the
# weights mean nothing yet.*
#
# The board, as you know it. Three arrows meet at `dx`.

# %%
board("ex5")

# %% [markdown]
# # Part 2 · How to work
#
# As in notebook 01: an **answer cell**, in which you replace the `...`, then a **check cell**.
#
# - The check runs your answers again on hidden numbers of other sizes, where no two of `B`, `T`,
#   `C` and `H` are equal. So write `H`, not 16.
# - Your answers find `torch`, `F`, `math`, every name of the forward cell, and these four sizes.
# - Hints are folded above each answer, the second inside the first and the third inside the second.

# %% [markdown]
# # Part 3 · From the output back to the letters
#
# ## 3.1 The weighted sum
#
# ```python
# out = pattern @ v
# ```
#
# (32, 10, 10) times (32, 10, 16). A matrix product of tensors with three axes is 32 products side
# by side, one for each name. The first axis only counts them.
#
# So forget it. Go back through the product of **one** name by matching shapes, as in section 5.4 of
# notebook 01: the code does it for all of them.
#
# One thing changes. `.T` would turn over all three axes; `.mT` (*matrix transpose*) turns over the
# last two.
#
# **On paper.** Three positions, two numbers. Above, one number of the pattern's gradient; below,
# one of the values' gradient:

# %%
weighted_sum_backward()

# %% [markdown]
# *Above: how much the loss cares whether position 2 looks at position 1 is a dot product, of what
# arrives at 2 with what 1 tells. Below: the value of position 1 hears from everybody who looked at
# it, as loudly as they looked.*
#
# **`dpattern`** (32, 10, 10).
#
# {{ hints: dpattern }}
#
# **`dv`** (32, 10, 16). Which of the two has to be turned over now?
#
# {{ hints: dv }}

# %%
# answer: ex5-sum
### BEGIN SOLUTION
dpattern = dout @ v.mT
dv = pattern.mT @ dout
### END SOLUTION

# %%
# check: ex5-sum
check("dpattern", "dv")

# %% [markdown]
# **Worth noticing.** Forward, information flows from `s` to `t`, from the position that is looked
# at to the one that looks. Backward the same pattern is used turned over: a gradient flows from the
# one that looked to the one it looked at. A position that nobody looks at learns nothing through
# `v`.
#
# ## 3.2 The softmax, along the last axis
#
# ```python
# counts = shifted.exp()
# counts_sum = counts.sum(2, keepdim=True)
# counts_sum_inv = counts_sum**-1
# pattern = counts * counts_sum_inv
# ```
#
# These are the lines of section 5.2 of notebook 01. There each row was an example, and its numbers
# lay along axis 1. Here every name has ten rows, and their numbers lie along the third axis: number
# 2, or `-1`, the last. What is a column there is (32, 10, 1) here: a column for each name. Nothing
# else is new, so do it without looking back.
#
# **`dcounts_sum_inv`** (32, 10, 1).
#
# {{ hints: dcounts_sum_inv }}
#
# **`dcounts_sum`** (32, 10, 1).
#
# {{ hints: dcounts_sum }}
#
# **`dcounts`** (32, 10, 10). Count its readers first.
#
# {{ hints: dcounts }}
#
# **`dshifted`** (32, 10, 10).
#
# {{ hints: dshifted }}

# %%
# answer: ex5-softmax
### BEGIN SOLUTION
dcounts_sum_inv = (dpattern * counts).sum(2, keepdim=True)
dcounts_sum = -dcounts_sum_inv * counts_sum**-2
dcounts = dpattern * counts_sum_inv + dcounts_sum  # two readers: the product and the sum
dshifted = dcounts * counts
### END SOLUTION

# %%
# check: ex5-softmax
check("dcounts_sum_inv", "dcounts_sum", "dcounts", "dshifted")

# %% [markdown]
# ## 3.3 The maximum
#
# ```python
# maxes = masked.max(2, keepdim=True).values
# shifted = masked - maxes
# ```
#
# Section 5.3 of notebook 01. Mind that some of the numbers in `masked` and `shifted` are infinite:
# a line that multiplies by one of these tensors is soon full of `nan`. You need neither as a
# factor.
#
# **`dmaxes`** (32, 10, 1).
#
# {{ hints: dmaxes }}
#
# **`dmasked`** (32, 10, 10). Two readers.
#
# {{ hints: dmasked }}

# %%
# answer: ex5-max
### BEGIN SOLUTION
dmaxes = -dshifted.sum(2, keepdim=True)
winners = torch.nn.functional.one_hot(masked.argmax(2), T)
dmasked = dshifted + winners * dmaxes
### END SOLUTION

# %%
# check: ex5-max
check("dmaxes", "dmasked")

# %% [markdown]
# ## 3.4 The mask
#
# ```python
# masked = scores.masked_fill(future, -torch.inf)
# ```
#
# Where `future` is True, a score is thrown away and a constant is written in its place. Move that
# score, and nothing happens.

# %%
mask_backward()

# %% [markdown]
# *Forward a gate, backward the same gate.*
#
# **`dscores`** (32, 10, 10).
#
# {{ hints: dscores }}

# %%
# answer: ex5-mask
### BEGIN SOLUTION
dscores = dmasked.masked_fill(future, 0)
### END SOLUTION

# %%
# check: ex5-mask
check("dscores")

# %% [markdown]
# **Worth noticing: the gate was closed already.** Above the diagonal `counts` is $e^{-\infty} = 0$,
# and `dshifted` is something times `counts`. So nothing arrives there to be stopped. Try it: leave
# the mask out, and `dscores = dmasked` passes as well, with a note on other incoming gradients.
#
# That is luck, or rather the merit of masking *before* the softmax. One might as well let the
# softmax see all the scores, and set the future's weights to zero afterwards. Out of the future no
# value gets through then either. But who hears of the loss?

# %% tags=["nbval-ignore-output"]
for way in ("before the softmax", "after the softmax"):
    watched = scores.detach().clone().requires_grad_()
    if way.startswith("before"):
        weights = watched.masked_fill(future, -torch.inf).softmax(2)
    else:
        weights = watched.softmax(2).masked_fill(future, 0)
    (gradient,) = torch.autograd.grad((dout * (weights @ v)).sum(), watched)
    largest = gradient[:, future].abs().max()
    print(f"masked {way:<18}: largest gradient of a future score {largest:.6f}")

# %% [markdown]
# Masked afterwards, a weight depends on the future through the denominator: the letters to come
# make the other weights smaller. The network can *see* how well they would have fitted, and its
# gradient tells it to make use of that. Such a network shines in training and fails when it has to
# write by itself. **A gradient is a good witness of a leak**: where there must be no influence, it
# has to be exactly zero.
#
# ## 3.5 The scale
#
# ```python
# scores = products * H**-0.5
# ```
#
# **`dproducts`** (32, 10, 10).
#
# {{ hints: dproducts }}

# %%
# answer: ex5-scale
### BEGIN SOLUTION
dproducts = dscores * H**-0.5
### END SOLUTION

# %%
# check: ex5-scale
check("dproducts")

# %% [markdown]
# **Worth noticing: why the scale is there.** A product is a sum of `H` terms $q_h k_h$. If they
# do not depend on each other and each has variance 1, their sum has variance $H$: typical scores
# are of the size $\sqrt{H}$. With 16 numbers that is 4, with 1,024 it is 32, and a softmax of
# numbers that lie 32 apart is a maximum: one weight is 1, the others are 0. Now look at the
# softmax's slopes in section 2.2 of notebook 02, $p_i (1 - p_i)$ and $-p_i\,p_j$. Where every $p$
# is 0 or 1, they are **all zero**. The softmax is saturated, like the tanh of section 5.5 in
# notebook 01, and whatever arrives, nothing gets through.

# %%
generator = torch.Generator().manual_seed(3)
sizes = [4, 16, 64, 256, 1024]
raw, scaled = [], []
for size in sizes:
    some_q, some_k = torch.randn(2, 400, 10, size, generator=generator)
    arriving = torch.randn(400, 10, 10, generator=generator)
    for factor, found in ((1, raw), (size**-0.5, scaled)):
        some_scores = (some_q @ some_k.mT * factor).requires_grad_()
        weights = some_scores.softmax(2)
        (gradient,) = torch.autograd.grad((arriving * weights).sum(), some_scores)
        found.append(gradient.abs().mean().item())
        if size in (16, 1024):
            largest = weights.max(2).values.mean()
            print(f"H = {size:>4}, factor {factor:.3f}: largest weight of a row {largest:.2f}")
show_saturation(sizes, raw, scaled)

# %% [markdown]
# *With the scale, the gradient that gets through the softmax, to the scores, is as large for 1,024
# numbers as for 4. Without it, it falls and falls: in most rows one weight is nearly 1, and nothing
# moves.*
#
# ## 3.6 The products
#
# ```python
# products = q @ k.transpose(1, 2)
# ```
#
# (32, 10, 16) times (32, 16, 10) is (32, 10, 10). For one name: `products[t, s]` is the dot product
# of query $t$ and key $s$.
#
# **`dq`** (32, 10, 16).
#
# {{ hints: dq }}
#
# **`dk`** (32, 10, 16), which went into the product turned over. You may find the gradient of
# `k.transpose(1, 2)` first and turn it over then. Or you write down one number of it, and see which
# index is added up.
#
# {{ hints: dk }}

# %%
# answer: ex5-products
### BEGIN SOLUTION
dq = dproducts @ k
dk = dproducts.mT @ q
### END SOLUTION

# %%
# check: ex5-products
check("dq", "dk")

# %% [markdown]
# **Worth noticing.** `T` times `T` numbers arrive, and here the shapes do not decide: (10, 10)
# turned over is (10, 10) again. `dproducts @ q` has the shape of `dk` as well, and is wrong. What
# decides is the meaning of the axes: rows look, columns are looked at. Shapes catch most mistakes;
# square matrices are where they do not.
#
# ## 3.7 Three linear layers
#
# ```python
# q = x @ Wq
# k = x @ Wk
# v = x @ Wv
# ```
#
# (32, 10, 24) times (24, 16). The weights have no axis for the names and none for the positions:
# the same 384 numbers serve 320 positions. They are copied along two axes, so backward two axes are
# added up.
#
# **`dWq`**, **`dWk`**, **`dWv`** (24, 16).
#
# {{ hints: dWq }}
#
# {{ hints: dWk }}
#
# {{ hints: dWv }}
#
# **`dx`** (32, 10, 24). Here three arrows meet. A position takes part in attention three times, and
# each time it could have been better:

# %%
three_ways()

# %% [markdown]
# *As the one who asks it hears what it should have looked for; as the one who offers, whom it
# should have attracted; as the one who answers, what it should have said.*
#
# {{ hints: dx }}

# %%
# answer: ex5-linear
### BEGIN SOLUTION
rows = x.flatten(0, 1)  # (320, 24): all positions of all names, one below the other
dWq = rows.T @ dq.flatten(0, 1)
dWk = rows.T @ dk.flatten(0, 1)
dWv = rows.T @ dv.flatten(0, 1)
dx = dq @ Wq.T + dk @ Wk.T + dv @ Wv.T  # three readers
### END SOLUTION

# %%
# check: ex5-linear
check("dWq", "dWk", "dWv", "dx")

# %%
board("ex5")

# %% [markdown]
# **Worth noticing.** How much would be lost with one of the three? Autograd says:

# %% tags=["nbval-ignore-output"]
for part in ("q", "k", "v"):
    watched = x.clone().requires_grad_()
    given = {"q": x, "k": x, "v": x} | {part: watched}
    through = causal(given["q"] @ Wq, given["k"] @ Wk, given["v"] @ Wv)
    (gradient,) = torch.autograd.grad((dout * through).sum(), watched)
    print(f"through {part}: {gradient.norm():.4f}")

# %% [markdown]
# None of them is small change, and all three belong to `dx`. Forget one, and nothing raises an
# exception. The loss goes down all the same: in the training of part 5 it ends 0.02 to 0.07 higher
# without that of `v`, and no higher at all without that of `q`, or of `k`. A loss does not tell.
#
# # Part 4 · In five lines
#
# The softmax took six of the gradients above. On paper they are one.
#
# ## 4.1 The softmax in one stride
#
# Take one row, with the scores $s_1, s_2, \dots$ and the weights $p_1, p_2, \dots$ At the weights
# arrives $\mathrm{d}p_1, \mathrm{d}p_2, \dots$ The slopes of section 2.2 in notebook 02, for three
# of them:

# %%
slopes_of_a_row()

# %% [markdown]
# *In notebook 02 the loss read one probability, and one row of this table was enough. Here every
# weight goes on to* `out`, *so all rows are needed.*
#
# Score $s_i$ moves every weight: its own with the slope $p_i (1 - p_i)$, each other with
# $-p_j\,p_i$. By rule 2 its gradient is the sum over all of them,
#
# $$\mathrm{d}s_i = p_i\,(1 - p_i)\,\mathrm{d}p_i - \sum_{j \ne i} p_j\,p_i\,\mathrm{d}p_j .$$
#
# The $-p_i\,p_i\,\mathrm{d}p_i$ of the first term is just what the sum lacks. Move it there and
# take $p_i$ out:
#
# $$\mathrm{d}s_i = p_i\,\Big(\mathrm{d}p_i - \Box\Big) .$$
#
# The box is one number for the whole row. *Write it down before you go on.* What would you call it?
#
# <details>
# <summary>An answer</summary>
#
# $\sum_j p_j\,\mathrm{d}p_j$, the average of what arrives, weighted with the pattern itself. What
# counts for a score is how far its position differs from the average of what is being looked at.
#
# </details>
#
# ## 4.2 Your turn
#
# In papers the tensors have capital letters. Here this also keeps them apart from those above: in
# this exercise the check knows the capitals only, `Q` and `dO`, not `q` and `dout`. Three lines
# take the place of ten.

# %% tags=["nbval-ignore-output"]
Q, K, V, dO = q, k, v, dout

# %%
T = Q.shape[1]
H = Q.shape[2]
mask = torch.full((T, T), -torch.inf).triu(1)
S = Q @ K.transpose(1, 2) * H**-0.5 + mask
P = torch.softmax(S, 2)
O = P @ V
loss = (dO * O).sum()

# %% [markdown]
# Five lines, one for each gradient. The mask is *added* here, as 0 or $-\infty$, and a sum passes
# on what arrives: it needs no line. (What arrives at a masked place is 0 anyway, as you have seen
# in section 3.4.) The scale comes along in the last two.
#
# **`dV`**, **`dP`**, **`dS`**, **`dQ`**, **`dK`**.
#
# {{ hints: dV }}
#
# {{ hints: dP }}
#
# {{ hints: dS }}
#
# {{ hints: dQ }}
#
# {{ hints: dK }}

# %%
# answer: ex5f-fused
### BEGIN SOLUTION
dV = P.mT @ dO
dP = dO @ V.mT
dS = P * (dP - (dP * P).sum(2, keepdim=True))
dQ = dS @ K * H**-0.5
dK = dS.mT @ Q * H**-0.5
### END SOLUTION

# %%
# check: ex5f-fused
check("dV", "dP", "dS", "dQ", "dK")

# %% [markdown]
# ## 4.3 In tiles
#
# The patterns are the trouble with attention: they are `T` times `T`. With ten letters that is
# nothing. With 100,000 words it is ten thousand million numbers for each text and head, and a
# processor spends its time carrying them to memory and back.
#
# [FlashAttention](https://arxiv.org/abs/2205.14135) never holds such a matrix. It cuts it into
# **tiles** small enough for the fastest memory, computes a tile, uses it and forgets it. Backward
# it computes the tile once more.
#
# Most of the five lines allow that: they are sums of products, to which each tile adds its part.
# The softmax does not. It wants to know something about the **whole row**:
#
# - Forward, the sum of the exponentials. One number a row is enough to remember,
#   $L = \ln \sum_j e^{s_j}$; then a tile of the weights is $e^{s - L}$, without any other tile.
# - Backward, the box of 4.1, $\sum_j p_j\,\mathrm{d}p_j$. It runs over all the tiles of a row.

# %% [markdown]
# ## 4.4 The number that is known in advance
#
# In this box $\mathrm{d}p_j$ is itself a dot product, of what arrives at `O` with the value $v_j$.
# Put it in, and exchange the sums:
#
# $$\begin{aligned}
# \sum_j p_j\,\mathrm{d}p_j
# &= \sum_j p_j \sum_h \mathrm{d}o_h\,v_{jh} \\
# &= \sum_h \mathrm{d}o_h \sum_j p_j\,v_{jh} = \sum_h \Box\;\Box .
# \end{aligned}$$
#
# *Fill in the boxes.* The inner sum is something that you have had since the forward pass. The
# outer one is one number a row: (32, 10, 1).
#
# <details>
# <summary>An answer</summary>
#
# $\sum_j p_j\,v_{jh} = o_h$ is the output. So the box of 4.1 is $\sum_h \mathrm{d}o_h\,o_h$: the
# dot product of each row of `dO` with its row of `O`. No tile is needed for it, so it can be
# computed **before** the first one. In the paper it is called $D$.
#
# </details>

# %%
# try: ex5f-ahead
### BEGIN SOLUTION
D = (dO * O).sum(2, keepdim=True)  # (32, 10, 1), from O and what arrives at it alone
### END SOLUTION

if D is ...:
    print("D | to do")
elif D.shape != (B, T, 1):
    print(f"D | has shape {tuple(D.shape)}; one number a row is {(B, T, 1)}")
else:
    in_full = (P * (dO @ V.mT)).sum(2, keepdim=True)
    print("D | as the sum over the whole row:", torch.allclose(D, in_full, atol=1e-7))

# %% [markdown]
# Does a tile now find its way alone? The cell after the drawing goes through the scores in tiles of
# two columns: all positions look, two are looked at. Its loop holds a fifth of the scores at a
# time. (`L` is taken from `S` here. FlashAttention adds it up tile by tile, on its way forward.)
#
# Two lines are missing: `dVs` and `dSs`, the gradients of the tile's values `Vs`, (32, 2, 16), and
# of its scores `Ss`, (32, 10, 2).


# %%
one_tile()

# %% [markdown]
# *A tile of two columns. From above it needs the keys and values of two positions; from the sides,
# for every row, the query, what arrives, and the numbers* $L$ *and* $D$.
#
# <details>
# <summary>Hint 1 of 3</summary>
#
# They are two of your five lines, with the tile's letters `Ps`, `Vs` in the place of `P`, `V`.
# Which of the tensors have all ten rows?
#
# </details>
# <details>
# <summary>Hint 2 of 3</summary>
#
# `dO`, `L` and `D` belong to those who look, and all ten do. So they go in as they are, without
# `[:, s]`.
#
# </details>
# <details>
# <summary>Hint 3 of 3</summary>
#
# (2, 10) times (10, 16) is (2, 16). For the scores: (10, 16) times (16, 2) is (10, 2), and `D`,
# (10, 1), stands where the box was.
#
# </details>

# %%
# try: ex5f-tiles
L = S.logsumexp(2, keepdim=True)  # what the forward pass has remembered: one number a row
tiled = {"dQ": torch.zeros_like(Q), "dK": torch.zeros_like(K), "dV": torch.zeros_like(V)}
for s in (slice(first, first + 2) for first in range(0, T, 2)):
    Ks, Vs = K[:, s], V[:, s]
    Ss = Q @ Ks.mT * H**-0.5 + mask[:, s]
    Ps = (Ss - L).exp()
    ### BEGIN SOLUTION
    dVs = Ps.mT @ dO
    dSs = Ps * (dO @ Vs.mT - D)
    ### END SOLUTION
    if dVs is not ... and dSs is not ...:
        assert dVs.shape == Vs.shape, f"dVs has shape {tuple(dVs.shape)}, Vs {tuple(Vs.shape)}"
        assert dSs.shape == Ss.shape, f"dSs has shape {tuple(dSs.shape)}, Ss {tuple(Ss.shape)}"
        tiled["dQ"] += H**-0.5 * (dSs @ Ks)  # each tile adds its part
        tiled["dK"][:, s] = H**-0.5 * (dSs.mT @ Q)
        tiled["dV"][:, s] = dVs

for name, whole in (("dQ", dQ), ("dK", dK), ("dV", dV)):
    if whole is ... or not tiled[name].any():
        print(f"{name} in tiles | to do")
    else:
        same = torch.allclose(tiled[name], whole, atol=1e-7)
        print(f"{name} in tiles | as in one piece: {same}")
        if name != "dV" and not same:
            print("    Does dSs take off the sum of the whole row, or the tile's own?")

# %% [markdown]
# This is the backward pass of FlashAttention, but that it cuts the rows, too, and for what a
# processor needs besides. (In the first paper `D` is computed inside of the loops, in the
# [second](https://arxiv.org/abs/2307.08691) once, before them.)
#
# # Part 5 · Where does it look?
#
# ## 5.1 Your five lines in a network
#
# As in part 6 of notebook 03, give PyTorch your formula. What arrives is `dO`, what was saved is
# there. Move your lines in, and above them a line for `D`: the one of 4.4 belongs to other tensors.
# `gradcheck`, in the cell below it, tries small tensors of another size.


# %%
# try: ex5f-function
class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, Q, K, V):
        T, H = Q.shape[1:]
        S = Q @ K.mT * H**-0.5 + torch.full((T, T), -torch.inf).triu(1)
        P = S.softmax(2)
        O = P @ V
        ctx.save_for_backward(Q, K, V, P, O)
        return O

    @staticmethod
    @once_differentiable
    def backward(ctx, dO):
        Q, K, V, P, O = ctx.saved_tensors
        H = Q.shape[2]
        # Yours: first D, from this dO and this O, then the gradients.
        ### BEGIN SOLUTION
        D = (dO * O).sum(2, keepdim=True)
        dV = P.mT @ dO
        dS = P * (dO @ V.mT - D)
        dQ = dS @ K * H**-0.5
        dK = dS.mT @ Q * H**-0.5
        ### END SOLUTION
        return dQ, dK, dV


# %%
small = [tensor[:2, :5, :3].double().requires_grad_() for tensor in (Q, K, V)]
is_yours = False
try:
    is_yours = torch.autograd.gradcheck(Attention.apply, small)
    print("Attention.backward | passes gradcheck")
except Exception as trouble:
    is_blank = "ellipsis" in str(trouble)  # what autograd calls a `...`
    first_line = str(trouble).partition("\n")[0].rstrip(",")
    for i, name in enumerate("QKV"):
        first_line = first_line.replace(f"input {i}", f"input {i} ({name})")
    print("Attention.backward | to do" if is_blank else f"Attention.backward | fail: {first_line}")

# %% [markdown]
# Now it trains: the two tables, the three weights of your layer and the last linear layer, 800
# steps of 128 names each. The update is Adam's. (Where your class
# does not pass yet, PyTorch's attention takes its place.)


# %%
def train(attend, n_steps=800):
    """The parameters after training; every gradient of the attention is `attend`'s own."""
    parameters = [parameter.requires_grad_() for parameter in new_parameters()]
    of_letter, of_place, Wq, Wk, Wv, W_last = parameters
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    g = torch.Generator().manual_seed(LECTURE_SEED)
    for _ in range(n_steps):
        ix = torch.randint(0, len(X), (128,), generator=g)
        x = of_letter[X[ix]] + of_place
        loss = rest_of_the_network(attend(x @ Wq, x @ Wk, x @ Wv), W_last, Y[ix])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [parameter.detach() for parameter in parameters]


def loss_with(parameters, attend=causal):
    """The loss on 2,000 names, in nats for each letter."""
    of_letter, of_place, Wq, Wk, Wv, W_last = parameters
    x = of_letter[X[:2000]] + of_place
    return rest_of_the_network(attend(x @ Wq, x @ Wk, x @ Wv), W_last, Y[:2000])


def alone(q, k, v):
    """Nobody looks at anybody."""
    return v


def without_scale(q, k, v):
    """Attention that forgets its scale."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)


# %% tags=["nbval-ignore-output"]
trained = train(Attention.apply if is_yours else causal)
print("trained by", "your lines" if is_yours else "PyTorch's attention, for now")
print(f"untrained: {loss_with(new_parameters()):.2f} nats a letter")
print(f"a blind guess: {torch.tensor(vocab_size).log():.2f}")
print(f"trained: {loss_with(trained):.2f}")
print(f"trained, and nobody looks: {loss_with(train(alone), alone):.2f}")
print(f"trained without the scale: {loss_with(train(without_scale), without_scale):.2f}")

# %% [markdown]
# Most of the way down is learnt from the letter itself. What one head adds by looking back is some
# 0.04 nats a letter, and without its scale it adds nothing. (Untrained the network is worse than
# blind: it bets at random.)
#
# ## 5.2 The pattern, before and after
#
# Here is the same name again, before the training and after. Put in another one, of up to nine
# small letters. Then watch one letter while you change one before it: `nina`, `lina`.


# %%
def steps_for(word, parameters):
    """The pattern of one name, and the gradient of its scores if the name itself is the lesson."""
    of_letter, of_place, Wq, Wk, Wv, W_last = parameters
    spelt = [stoi[letter] for letter in f".{word}"]
    x = of_letter[torch.tensor([spelt])] + of_place[: len(spelt)]
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    mask = torch.full((len(spelt), len(spelt)), -torch.inf).triu(1)
    scores = (q @ k.mT * H**-0.5 + mask).requires_grad_()
    pattern = scores.softmax(2)
    goals = torch.tensor([[*spelt[1:], stoi["."]]])
    (pull,) = torch.autograd.grad(rest_of_the_network(pattern @ v, W_last, goals), scores)
    return pattern[0].detach(), pull[0]


# %% tags=["nbval-ignore-output"]
name = "ninja"
before, after = (steps_for(name, parameters) for parameters in (new_parameters(), trained))
show_patterns(
    {"before training": before[0], "after training": after[0]},
    [".", *name],
    "The pattern of a name before training and after: two triangles of weights.",
)

# %% [markdown]
# *Before: without a plan. After: mostly the diagonal. A letter itself says most about the next one,
# so most positions look at themselves first; what is left over, the dot and the letters behind have
# between them.*
#
# ## 5.3 The gradient of the pattern: who is told to look where
#
# A pattern says where the network looks. The gradient of its scores, your `dS`, says where it is
# told to look *from now on*. Drawn is the way downhill, against the gradient: green means more,
# purple means less. The deepest colour of each drawing is its largest number.

# %% tags=["nbval-ignore-output"]
show_pulls(
    {"before training": before[1], "after training": after[1]},
    [".", *name],
    "The gradient of a name's scores before training and after: two triangles of green and purple.",
)
# %% tags=["nbval-ignore-output"]
for when, (_, pull) in (("before", before), ("after", after)):
    rows = pull.sum(1).abs().max()
    print(f"{when:<6}: largest number {pull.abs().max():.3f}, largest sum of a row {rows:.0e}")

# %% [markdown]
# Read a row: what this position should look at more, to have made a better guess. In each row green
# and purple balance, for the weights of a row are shares of one whole: nobody can be looked at more
# without somebody being looked at less. (That is $\mathrm{d}s_i = p_i\,(\mathrm{d}p_i -
# \text{average})$ once more; add it up over $i$.) The first row is empty. The dot can look at
# nothing but itself, so there is nothing to be told.
#
# # Part 6 · What you have found

# %%
board("ex5f")

# %% [markdown]
# | forward | backward |
# | :-- | :-- |
# | a matrix product for each name | the products whose shapes fit, name by name: `.mT` |
# | who looks at whom, `pattern @ v` | the pattern turned over: from who looked to whom |
# | a mask | the same mask; before the softmax it has no work left |
# | a scale | the same scale; without it most rows of the softmax would be shut |
# | a softmax | each number less the average of its row, times its weight |
# | the same, tile by tile | the average is known in advance: the row's `dO` times its `O` |
# | weights used at `B` times `T` places | all these places added up |
# | `x` asks, offers and answers | three contributions |
#
# **You can now** go backwards through the layer that today's language models are made of, in small
# steps and in five lines, and say why the five lines can be done in tiles. Several heads are
# several of these layers side by side, each with queries, keys and values of its own; backward they
# meet at `x`, where what they send back is added.
#
# In a terminal, `grader check 05_attention.ipynb` says the same as the cells above; where the
# notebook lies alone, tell it the course as well: `--course 05_attention.ipynb`.
