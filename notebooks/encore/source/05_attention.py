# %% [markdown]
# # 5 · Attention, one step at a time
#
# {{ colab }}
#
# This is the encore to the four notebooks: attention, the layer that today's networks are made of.
# It is built from steps that you know, matrix products and a softmax, and you are going to write
# every gradient in it. Then you write it once more in five lines, as the fast implementations do,
# and see a network learn with them.
#
# - **Time:** about three hours.
# - **You need:** notebook 01, above all its sections 5.2 to 5.4, notebook 02 up to its section
#   2.2, and, for part 5, part 6 of notebook 03.
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
from torch.autograd.function import once_differentiable

from grader import board, check, cmp, figures, heat_map, nudge
from makemore_data import LECTURE_SEED, build_vocabulary, load_names

figures.use_course_style()
torch.set_num_threads(1)  # matrices this small: two threads would mostly wait for each other

# %%
# @title The drawings of this notebook. Run it; there is nothing to do here.
from matplotlib.patches import Rectangle

from grader.pictures.figures import sheet

INFINITE = r"$-\infty$"


def rounded(matrix, digits):
    """A matrix as texts, with a sign for minus infinity."""
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
    page.matrix(1.2, 1.2, douts, "incoming  (3, 2)", colour=back, lit=[(1, 0), (1, 1)])
    page.matrix(5.7, 1.2, values, "v  (3, 2)", colour=forth, lit=[(0, 0), (0, 1)])
    page.arrow((8.7, 2.7), (10.4, 2.7), colour=back)
    page.matrix(10.9, 1.2, dpattern, "gradient of pattern  (3, 3)", colour=back, lit=[(1, 0)])
    dv = [[rf"$\mathrm{{d}}v_{{{s}{h}}}$" for h in (1, 2)] for s in (1, 2, 3)]
    lit = [(0, 0), (1, 0), (2, 0)]
    page.matrix(1.2, 5.8, sheet.symbols("p", 3, 3), "pattern  (3, 3)", colour=forth, lit=lit)
    page.matrix(5.7, 5.8, douts, "incoming", colour=back, lit=lit)
    page.arrow((8.7, 7.3), (10.4, 7.3), colour=back)
    page.matrix(11.4, 5.8, dv, "gradient of v  (3, 2)", colour=back, lit=[(0, 0)])
    return page.picture(
        "Above: row 2 of the incoming gradient and row 1 of v give the entry 2, 1 of the pattern's "
        "gradient. Below: the weights p11, p21, p31, a column, with which all positions looked at "
        "position 1, and the first column of the incoming gradient give v1's first number."
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
    """The mask as a gate for the gradient."""
    page = sheet.new_sheet(13.0, 5.0)
    seen = [(t, s) for t in range(3) for s in range(t + 1)]
    arriving = sheet.symbols("g", 3, 3)
    passed = [[arriving[t][s] if s <= t else "0" for s in range(3)] for t in range(3)]
    page.matrix(1.4, 1.2, passed, "gradient of scores", colour=sheet.BACKWARD, lit=seen)
    page.arrow((8.3, 2.7), (4.8, 2.7), "the mask is a gate", colour=sheet.BACKWARD)
    page.matrix(8.7, 1.2, arriving, "gradient of masked", colour=sheet.BACKWARD)
    return page.picture(
        "Right, the gradient of masked: a 3 by 3 grid of g11 to g33. Left, the gradient of the "
        "scores: the same on and below the diagonal, zero above it."
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
    """A square of a name's positions: rows look, columns are looked at; the future is hatched."""
    future = torch.ones_like(grid).triu(1) == 1
    picture = axes.imshow(grid.masked_fill(future, torch.nan), **look)
    for row, column in future.nonzero().tolist():
        corner = column - 0.5, row - 0.5
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, hatch="////", lw=0, ec=sheet.HAIRLINE))
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
# name makes a guess, and it may look at *all* the letters before it. A name is a row of `T` = 10
# positions: a dot, its letters, and empty places up to the end. The cells print what a position
# sees and, under it, what it has to guess. Names of ten letters or more are left out here.

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
# Each position is described by `C` = 24 numbers: those of its letter plus those of its place, each
# looked up in a table. (Attention itself does not know the order of the letters. Without the second
# table, the letters before a position could be shuffled, and nothing would change.)

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
# A position that has to guess wants to know things. Was there a vowel just now? Is this name
# already long? **Attention** is a way to ask. From its 24 numbers each position computes three
# short lists of 16 numbers, each by a matrix product:
#
# - a **query** `q`, what it looks for;
# - a **key** `k`, what it has to offer;
# - a **value** `v`, what it tells those who look at it.
#
# The *score* says how well the query of position $t$ fits the key of position $s$. It is their dot
# product. A softmax turns the scores of row $t$ into weights that add up to 1, and position $t$
# receives the values of all positions, multiplied by these weights and added up. Here is all of it
# for a name of three positions, with two numbers each:

# %%
# @title Figure: attention on paper
attention_on_paper(
    q=torch.tensor([[1.0, 0], [0, 2], [1, 1]]),
    k=torch.tensor([[1.0, 0], [1, 1], [0, 2]]),
    v=torch.tensor([[1.0, 0], [0, 1], [2, -1]]),
)

# %% [markdown]
# *Check one row by hand: the last one has the scores* $1, 2, 2$ *times* $2^{-1/2}$, *and its
# pattern adds up to 1.*
#
# Part 3 takes up three details one by one. First, the scores are divided by $\sqrt{H}$. Second, a
# position must not see the letters that it has to guess, so the **mask** overwrites the scores of
# later positions with $-\infty$, whose exponential is 0. And third, the softmax runs along the
# *last* axis: for each name and each position that looks, it runs over the positions that are
# looked at.
#
# ## 1.3 The forward pass
#
# It does not matter here what the rest of the network does with `out`. As in notebook 03, we take
# the gradient that comes back from it, `dout`, as given.


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
# Here is the layer in steps so small that each line does one thing. The last line is the stand-in
# for the rest of the network, because its gradient at `out` is exactly `dout`.

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
# `future` is True above the diagonal. `k.transpose(1, 2)` swaps the last two of the three axes, so
# the keys of each name are transposed by themselves.

# %% tags=["nbval-ignore-output"]
largest = (causal(q, k, v) - out).abs().max()
print(f"PyTorch's own attention differs by {largest:.0e}")
untrained = pattern[0]
show_patterns({"ninja, untrained": untrained}, letters, "A triangle of weights without a plan.")

# %% [markdown]
# *Each row is a position that looks, and each column is a position that is looked at. The stronger
# the colour, the larger the weight. The future is hatched. The weights of a row add up to 1, so the
# first dot gives all its weight to itself. Nothing has been learnt, so the weights mean nothing
# yet.*
#
# Here is the board of this layer. Three lines read `x`, so three gradients meet at `dx`.

# %%
board("ex5")

# %% [markdown]
# # Part 2 · How to work
#
# You work as in notebook 01: first comes an **answer cell**, in which you replace the `...`, and
# then a **check cell**.
#
# - The check also runs your answers on hidden numbers of other sizes, with four different values
#   for `B`, `T`, `C` and `H`. So write `H`, not 16.
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
# The shapes are (32, 10, 10) times (32, 10, 16). A matrix product of tensors with three axes is 32
# products side by side, one for each name. The first axis only counts them.
#
# So you can forget the first axis. Go back through the product of **one** name by matching shapes,
# as in section 5.4 of notebook 01. The code does the same for all names.
#
# One thing changes: `.T` would reverse all three axes, so use `.mT` (*matrix transpose*), which
# swaps the last two.
#
# **On paper,** with three positions and two numbers each. The upper half shows how one number of
# the pattern's gradient comes about, and the lower half one number of the values' gradient:

# %%
# @title Figure: backward through the weighted sum
weighted_sum_backward()

# %% [markdown]
# *Above: how much the loss cares whether position 2 looks at position 1 is a dot product of the
# incoming gradient at 2 with the value of 1. Below: the value of position 1 hears from every
# position that looked at it, weighted by how much it looked.*
#
# **`dpattern`** (32, 10, 10).
#
# {{ hints: dpattern }}
#
# **`dv`** (32, 10, 16). Which of the two factors has to be transposed now?
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
# at to the position that looks. Backward, the same pattern is transposed: the gradient flows from
# the position that looked to the position that it looked at. If no other position looks at a
# position, it learns nothing from them through `v`.
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
# lay along axis 1. Here every name has ten rows, and their numbers lie along the third and last
# axis, which has the number 2 or `-1`. What was a column there is (32, 10, 1) here, a column for
# each name. Nothing else is new, so try it without looking back.
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
# You met this in section 5.3 of notebook 01. But here some of the numbers in `masked` and `shifted`
# are infinite, so if you multiply by one of these tensors, the result is soon full of `nan`. You
# need neither of them as a factor.
#
# **`dmaxes`** (32, 10, 1).
#
# {{ hints: dmaxes }}
#
# **`dmasked`** (32, 10, 10). It has two readers.
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
# Wherever `future` is True, the score is thrown away and a constant takes its place. So if you move
# that score, nothing happens.

# %%
# @title Figure: backward through the mask
mask_backward()

# %% [markdown]
# *The mask is a gate, and on the way back it is the same gate.*
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
# and `dshifted` is something times `counts`. So there is no gradient left for the mask to stop. Try
# it and leave the mask out: `dscores = dmasked` passes as well, with a note on other incoming
# gradients.
#
# This is the merit of masking *before* the softmax. You could also let the softmax see all the
# scores and set the weights of the future to zero afterwards. The values of the future would not
# get through then either. But which scores get a gradient?

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
# If the mask comes afterwards, a weight depends on the future through the denominator, because the
# letters to come make the other weights smaller. The network can *see* how well they would have
# fitted, and its gradient tells it to make use of that. Such a network shines in training and fails
# when it has to write by itself. **A gradient is a good witness of a leak**: if there must be no
# influence, it has to be exactly zero.
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
# **Worth noticing: why the scale is there.** A product is a sum of `H` terms $q_h k_h$. If they are
# independent and each has variance 1, their sum has variance $H$, so typical scores are of the size
# $\sqrt{H}$. With 16 numbers that is 4, and with 1,024 it is 32. But a softmax of numbers that lie
# 32 apart is a maximum: one weight is 1, and the others are 0. Now look at the slopes of the
# softmax in section 2.2 of notebook 02, $p_i (1 - p_i)$ and $-p_i\,p_j$. If every $p$ is 0 or 1,
# they are **all zero**. The softmax is saturated, like the tanh of section 5.5 in notebook 01, and
# no gradient gets through.

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
# *With the scale, the gradient that gets through the softmax to the scores is about as large for
# 1,024 numbers as for 4. Without the scale it keeps falling, because in most rows one weight is
# nearly 1, and nothing moves.*
#
# ## 3.6 The products
#
# ```python
# products = q @ k.transpose(1, 2)
# ```
#
# (32, 10, 16) times (32, 16, 10) is (32, 10, 10). For one name, `products[t, s]` is the dot product
# of query $t$ and key $s$.
#
# **`dq`** (32, 10, 16).
#
# {{ hints: dq }}
#
# **`dk`** (32, 10, 16). `k` went into the product transposed. You can find the gradient of
# `k.transpose(1, 2)` first and then transpose it. Or write down one number of it, and see which
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
# **Worth noticing.** The incoming gradient is `T` by `T` for each name, and this time the shapes do
# not decide, because (10, 10) transposed is (10, 10) again. `dproducts @ q` also has the shape of
# `dk`, but it is wrong. What decides is the meaning of the axes: rows look, and columns are looked
# at. Shapes catch most mistakes, but not with square matrices.
#
# ## 3.7 Three linear layers
#
# ```python
# q = x @ Wq
# k = x @ Wk
# v = x @ Wv
# ```
#
# The shapes are (32, 10, 24) times (24, 16). The weights have no axis for the names and none for
# the positions, because the same 384 numbers serve all 320 positions. They are copied along two
# axes, so backward two axes are added up.
#
# **`dWq`**, **`dWk`**, **`dWv`** (24, 16).
#
# {{ hints: dWq }}
#
# {{ hints: dWk }}
#
# {{ hints: dWv }}
#
# **`dx`** (32, 10, 24). Here three arrows meet, because a position takes part in attention in three
# roles, and it could have done better in each:

# %%
# @title Figure: three ways to x
three_ways()

# %% [markdown]
# *As the one who asks, it learns what it should have looked for. As the one who offers, it learns
# whom it should have attracted. And as the one who answers, it learns what it should have said.*
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
# **Worth noticing.** How large is each of the three contributions? Autograd says:

# %% tags=["nbval-ignore-output"]
for part in ("q", "k", "v"):
    watched = x.clone().requires_grad_()
    given = {"q": x, "k": x, "v": x} | {part: watched}
    through = causal(given["q"] @ Wq, given["k"] @ Wk, given["v"] @ Wv)
    (gradient,) = torch.autograd.grad((dout * through).sum(), watched)
    print(f"through {part}: {gradient.norm():.4f}")

# %% [markdown]
# None of them is negligible, and all three belong to `dx`. If you forget one, no exception is
# raised, and the loss still goes down: in the training of part 5 it ends 0.02 to 0.1 higher without
# the contribution of `v`, and hardly higher (by less than 0.01) without that of `q` or of `k`. So
# the loss does not tell you.
#
# # Part 4 · In five lines
#
# The softmax took six of the gradients above. On paper they become one.
#
# ## 4.1 The softmax in one stride
#
# Take one row, with the scores $s_1, s_2, \dots$ and the weights $p_1, p_2, \dots$ The incoming
# gradients of the weights are $\mathrm{d}p_1, \mathrm{d}p_2, \dots$ For a row of three, section 2.2
# of notebook 02 gives these slopes:

# %%
# @title Figure: slopes of a row
slopes_of_a_row()

# %% [markdown]
# *In notebook 02 the loss read one probability, and one row of this table was enough. Here every
# weight goes on to* `out`, *so all rows are needed.*
#
# Score $s_i$ moves every weight: its own with the slope $p_i (1 - p_i)$, and each of the others
# with $-p_j\,p_i$. By rule 2 its gradient is the sum over all of them,
#
# $$\mathrm{d}s_i = p_i\,(1 - p_i)\,\mathrm{d}p_i - \sum_{j \ne i} p_j\,p_i\,\mathrm{d}p_j .$$
#
# The $-p_i\,p_i\,\mathrm{d}p_i$ of the first term is exactly the term that the sum lacks. Move it
# there, and take $p_i$ out:
#
# $$\mathrm{d}s_i = p_i\,\Big(\mathrm{d}p_i - \Box\Big) .$$
#
# The box is one number for the whole row. *Write it down before you go on.* What would you call it?
#
# <details>
# <summary>An answer</summary>
#
# It is $\sum_j p_j\,\mathrm{d}p_j$, the average of the incoming gradient, weighted with the pattern
# itself. What counts for a score is how much its position differs from the average of everything
# that is looked at.
#
# </details>
#
# ## 4.2 Your turn
#
# In papers the tensors have capital letters. Here this also keeps them apart from those above: in
# this exercise the check knows only the capitals, `Q` and `dO`, not `q` and `dout`. Three lines
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
# Write five lines, one for each gradient. The mask is *added* here, as 0 or $-\infty$, and a sum
# passes the incoming gradient on, so the mask does not need a line. (At a masked place the gradient
# is 0 anyway, as you saw in section 3.4.) The scale becomes a factor of the last two.
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
# The trouble with attention is its patterns, because they are `T` by `T`. With ten letters that
# does not matter. But with 100,000 words it is ten thousand million numbers for each text and head,
# and a processor spends its time carrying them to memory and back.
#
# [FlashAttention](https://arxiv.org/abs/2205.14135) never holds such a matrix. It cuts the matrix
# into **tiles** that are small enough for the fastest memory, computes a tile, uses it and forgets
# it. On the way back it computes the tile once more.
#
# Most of the five lines allow that, because they are sums of products, to which each tile adds its
# part. But the softmax needs to know something about the **whole row**:
#
# - Forward, it needs the sum of the exponentials. It is enough to remember one number for each row,
#   $L = \ln \sum_j e^{s_j}$. Then a tile of the weights is $e^{s - L}$, without any other tile.
# - Backward, it needs the box of 4.1, $\sum_j p_j\,\mathrm{d}p_j$, which runs over all the tiles of
#   a row.

# %% [markdown]
# ## 4.4 The number that is known in advance
#
# In this box $\mathrm{d}p_j$ is itself a dot product: that of the incoming gradient at `O` with the
# value $v_j$. Put it in, and swap the sums:
#
# $$\begin{aligned}
# \sum_j p_j\,\mathrm{d}p_j
# &= \sum_j p_j \sum_h \mathrm{d}o_h\,v_{jh} \\
# &= \sum_h \mathrm{d}o_h \sum_j p_j\,v_{jh} = \sum_h \Box\;\Box .
# \end{aligned}$$
#
# *Fill in the boxes.* The inner sum is something that you know since the forward pass. The outer
# sum is one number for each row, (32, 10, 1).
#
# <details>
# <summary>An answer</summary>
#
# The inner sum is the output, $\sum_j p_j\,v_{jh} = o_h$. So the box of 4.1 is $\sum_h
# \mathrm{d}o_h\,o_h$, the dot product of each row of `dO` with its row of `O`. It does not need any
# tile, so you can compute it **before** the first one. The paper calls it $D$.
#
# </details>

# %%
# try: ex5f-ahead
### BEGIN SOLUTION
D = (dO * O).sum(2, keepdim=True)  # (32, 10, 1), from O and its gradient alone
### END SOLUTION

if D is ...:
    print("D | to do")
elif D.shape != (B, T, 1):
    print(f"D | has shape {tuple(D.shape)}; one number a row is {(B, T, 1)}")
else:
    in_full = (P * (dO @ V.mT)).sum(2, keepdim=True)
    print("D | as the sum over the whole row:", torch.allclose(D, in_full, atol=1e-7))

# %% [markdown]
# Can a tile now do without the others? The cell after the drawing goes through the scores in tiles
# of two columns, so that all positions look and two are looked at. Its loop holds a fifth of the
# scores at a time. (Here `L` is computed from `S`. FlashAttention adds it up tile by tile, on its
# way forward.)
#
# Two lines are missing: `dVs` and `dSs`, the gradients of the tile's values `Vs`, (32, 2, 16), and
# of its scores `Ss`, (32, 10, 2).


# %%
# @title Figure: one tile
one_tile()

# %% [markdown]
# *A tile of two columns. From above it needs the keys and values of two positions. From the sides
# it needs, for every row, the query, the incoming gradient, and the numbers* $L$ *and* $D$.
#
# <details>
# <summary>Hint 1 of 3</summary>
#
# They are two of your five lines, with the tile's `Ps` and `Vs` instead of `P` and `V`. Which of
# the tensors have all ten rows?
#
# </details>
# <details>
# <summary>Hint 2 of 3</summary>
#
# `dO`, `L` and `D` belong to the positions that look, and all ten of them look. So use them as they
# are, without `[:, s]`.
#
# </details>
# <details>
# <summary>Hint 3 of 3</summary>
#
# (2, 10) times (10, 16) is (2, 16). For the scores, (10, 16) times (16, 2) is (10, 2), and `D`,
# (10, 1), takes the place of the box.
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
# This is the backward pass of FlashAttention, except that it also cuts the rows and cares for the
# details of a processor. (The first paper computes `D` inside the loops, and the
# [second](https://arxiv.org/abs/2307.08691) computes it once, before them.)
#
# # Part 5 · Where does it look?
#
# ## 5.1 Your five lines in a network
#
# Give PyTorch your formula, as in part 6 of notebook 03. `dO` is the incoming gradient, and the
# saved tensors are there already. Move your lines in, and put a line above them for every name that
# they use and that is not there, such as `D` or `dP`, because those of part 4 belong to other
# tensors. In the cell below, `gradcheck` tries small tensors of another size.


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
# Now the network trains: the two tables, the three weights of your layer and the last linear layer
# take 800 steps of 128 names each, with Adam as the update. (If your class does not pass yet,
# PyTorch's attention takes its place.)


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
# Most of the way down, the network learns from the letter itself. By looking back, one head gains
# another 0.04 nats a letter or so with the lecture's names, and without its scale it gains nothing.
# (The untrained network is worse than a blind guess, because it bets at random.)
#
# ## 5.2 The pattern, before and after
#
# Here is the same name before the training and after. Put in another name of up to nine small
# letters. Then watch one letter while you change a letter before it, as in `nina` and `lina`.


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
# *Before the training there is no plan. Afterwards most of the weight is on the diagonal: a letter
# itself says most about the next one, so most positions look at themselves first. The dot and the
# earlier letters share the rest.*
#
# ## 5.3 The gradient of the pattern: who is told to look where
#
# A pattern says where the network looks. The gradient of its scores, your `dS`, says where it
# should look *from now on*. The drawing shows the way downhill, against the gradient: green means
# more, and purple means less. In each drawing the strongest colour belongs to the largest number.

# %% tags=["nbval-ignore-output"]
# @title Figure: where the gradient pulls
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
# A row says what this position should have looked at more, to make a better guess. In each row
# green and purple balance, because the weights of a row are shares of a whole: if one position gets
# more, the others get less. (This is $\mathrm{d}s_i = p_i\,(\mathrm{d}p_i - \text{average})$ once
# more. Add it up over $i$.) The first row is empty, because the dot can only look at itself.
#
# # Part 6 · What you have found

# %%
board("ex5f")

# %% [markdown]
# | forward | backward |
# | :-- | :-- |
# | a matrix product for each name | the products whose shapes fit, name by name, with `.mT` |
# | who looks at whom, `pattern @ v` | the pattern transposed: from who looked to whom |
# | a mask | the same mask, which has no work left if it came before the softmax |
# | a scale | the same scale; without it most rows of the softmax would be saturated |
# | a softmax | each number less the average of its row, times its weight |
# | the same, tile by tile | the average is known in advance: the row's `dO` times its `O` |
# | weights used at `B` times `T` places | all these places added up |
# | `x` asks, offers and answers | three contributions |
#
# **You can now** go backwards through the layer that today's language models are made of, in small
# steps and in five lines, and say why the five lines can be done in tiles. Several heads are
# several of these layers side by side, each with queries, keys and values of its own. Backward they
# meet at `x`, where their gradients are added.
#
# In a terminal, `grader check 05_attention.ipynb` says the same as the cells above. If the notebook
# is alone in its folder, name the course as well: `--course 05_attention.ipynb`.
