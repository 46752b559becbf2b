# %% [markdown]
# # 3 · Batch normalisation in one step
#
# {{ colab }}
#
# In notebook 01 you went backwards through batch normalisation in seven small steps. Here the layer
# is one formula, and its gradient becomes one formula too. The derivation takes a page. It is the
# longest of this course and the most rewarding, because so much of it cancels.
#
# - **Time:** two to three hours. Half of it with pencil and paper, before you type anything.
# - **You need:** notebook 01, its three rules and section 5.6; what a mean and a variance
#   are; the slope of a power. Notebook 02 is a good warm-up.
# - **Afterwards you can:** derive the gradient of a layer in which the examples of a batch depend
#   on each other, turn sums with indices into broadcasting, say which variance the paper,
#   `torch.var` and `BatchNorm1d` compute, and give PyTorch a backward pass of your own.
#
# | in the paper | here | in 01 | in 04 |
# | :-- | :-- | :-- | :-- |
# | $x$ | `hprebn` (before batch norm) | `hprebn` | `hprebn` |
# | $\mu$ | `mu` | `bnmeani` | `bnmean` |
# | $\sigma^2$ | `var` | `bnvar` | `bnvar` |
# | $\hat{x}$, say *x-hat* | `xhat` | `bnraw` | `bnraw` |
# | $\gamma$, $\beta$ | `bngain`, `bnbias` | the same | the same |
# | $y$ | `hpreact` | `hpreact` | `hpreact` |
#
# Run the next two cells first.

# %%
# {{ cell: setup }}

# %%
import math

import torch
import torch.nn.functional as F
from torch.autograd.function import once_differentiable

from grader import board, check, figures, heat_map, nudge
from makemore_data import (
    LECTURE_SEED,
    build_splits,
    build_vocabulary,
    init_parameters,
    load_names,
)

figures.use_course_style()

# %% [markdown]
# # Part 1 · The layer as one expression
#
# Names, network and batch are those of notebook 01, with the same seed. What goes into the layer is
# `hprebn`, a matrix of 32 examples by 64 units.

# %% tags=["data-dependent"]
names = load_names()
stoi, itos = build_vocabulary()
(Xtr, Ytr), _, _ = build_splits(names, block_size=3)

n_hidden = 64
g = torch.Generator().manual_seed(LECTURE_SEED)
C, W1, b1, bngain, bnbias, W2, b2 = init_parameters(
    g, vocab_size=len(itos), n_embd=10, n_hidden=n_hidden, block_size=3
)
ix = torch.randint(0, Xtr.shape[0], (32,), generator=g)
Xb, Yb = Xtr[ix], Ytr[ix]

hprebn = C[Xb].view(32, -1) @ W1 + b1
print("hprebn:", tuple(hprebn.shape))


# %% [markdown]
# Each column is normalised by itself: minus its mean, divided by the root of its variance, times a
# gain, plus a bias.


# %%
def in_one_expression(hprebn, bngain, bnbias):
    return (
        bngain
        * (hprebn - hprebn.mean(0, keepdim=True))
        / torch.sqrt(hprebn.var(0, keepdim=True, unbiased=True) + 1e-5)
        + bnbias
    )


# %% [markdown]
# **Guess:** on how many of the 2,048 numbers of `hprebn` does a single number of the output depend?
# The slopes tell: where a number is not read, the slope is zero.

# %% tags=["data-dependent"]
watched = hprebn.clone().requires_grad_()
one_output = in_one_expression(watched, bngain, bnbias)[0, 0]
(slopes,) = torch.autograd.grad(one_output, watched)
print(f"on {(slopes != 0).sum()} numbers, in {(slopes != 0).any(0).sum()} of the columns")

# %% [markdown]
# So each example has a say in what becomes of the others. Backwards, what arrives at one of them
# spreads to all 32: that is what the derivation is about.
#
# All we need of the rest of the network is the gradient that comes back, `dhpreact`. In notebook 01
# you computed it; now we take it as given.


# %%
def rest_of_the_network(hpreact):
    return F.cross_entropy(torch.tanh(hpreact) @ W2 + b2, Yb)


hpreact = in_one_expression(hprebn, bngain, bnbias).requires_grad_()
(dhpreact,) = torch.autograd.grad(rest_of_the_network(hpreact), hpreact)
print("dhpreact:", tuple(dhpreact.shape))

# %% [markdown]
# For the derivation the expression is a bit too much at once. In the paper by
# [Ioffe and Szegedy (2015)](https://arxiv.org/abs/1502.03167) it has four lines. For a column of
# numbers $x_1, \dots, x_n$, one for each example, they are the mean, the variance, the normalised
# numbers $\hat{x}_i$, and these scaled and shifted:
#
# $$\begin{aligned}
# \mu &= \frac1n \sum_i x_i \\
# \sigma^2 &= \frac{1}{n-1} \sum_i (x_i - \mu)^2 \\
# \hat{x}_i &= (x_i - \mu)\,(\sigma^2 + \varepsilon)^{-1/2} \\
# y_i &= \gamma\,\hat{x}_i + \beta
# \end{aligned}$$
#
# (The paper divides by $n$ in the second line. Part 5 is about that.) $\varepsilon$ is a fixed
# number, written `1e-5`, which keeps the power finite where all numbers of a column are equal. `mu`
# and `var` are rows of shape (1, 64), with one number for each column; `xhat` is a matrix, (32,
# 64).
#
# What comes after the layer is not needed: a layer never learns more about it than the gradient
# that arrives. So a stand-in takes its place. It multiplies each number of `hpreact` by the number
# of `dhpreact` at its place and adds up. That is not the network's loss, but its slope is the right
# one: the gradient which arrives at `hpreact` is exactly `dhpreact`. The four lines for all columns
# at once, and the stand-in:

# %%
n = hprebn.shape[0]
mu = 1 / n * hprebn.sum(0, keepdim=True)
var = 1 / (n - 1) * ((hprebn - mu) ** 2).sum(0, keepdim=True)
xhat = (hprebn - mu) * (var + 1e-5) ** -0.5
hpreact = bngain * xhat + bnbias
loss = (dhpreact * hpreact).sum()

# %% [markdown]
# Are they the same layer, and is the stand-in's slope the right one?

# %%
difference = (hpreact - in_one_expression(hprebn, bngain, bnbias)).abs().max()
print(f"the lines and the expression differ by {difference:.5f} at most")

watched = hpreact.clone().requires_grad_()
(arriving,) = torch.autograd.grad((dhpreact * watched).sum(), watched)
print(f"what the stand-in sends back differs from dhpreact by {(arriving - dhpreact).abs().max()}")

# %% [markdown]
# # Part 2 · Count the arrows
#
# Here is one column, drawn with all its arrows. An arrow means "goes into the formula of". Go
# through the stages: first the column runs forward, in blue, then the gradients come back along
# the same arrows, in orange.

# %%
figures.batchnorm_in_stages()

# %% [markdown]
# *The circuit of one column, in five stages. The dots stand for the examples 3 to 31, with arrows
# like those of their neighbours.*
#
# Rule 2 of notebook 01: where a value goes into several formulas, the gradients that come back are
# added up. So to know how many terms a gradient has, count the arrows that **leave** its node:
#
# | node | its arrows go to | so many |
# | :-- | :-- | :-- |
# | $\hat{x}_i$ | $y_i$ | 1 |
# | $\sigma^2$ | $\hat{x}_1, \dots, \hat{x}_{32}$ | 32 |
# | $\mu$ | $\hat{x}_1, \dots, \hat{x}_{32}$, and $\sigma^2$ | 33 |
# | $x_i$ | its own $\hat{x}_i$, and $\mu$, and $\sigma^2$ | 3 |
#
# This is also the order in which to go: a node is ready when all the nodes that its arrows lead to
# are done. First $\hat{x}$, then $\sigma^2$, then $\mu$, and $x$ at last.
#
# Here is the same as a board. Its arrows run backwards, as the gradients do. So on the board, count
# the arrows that *arrive* at a box: at `dhprebn` there are three. A box is a whole tensor, and the
# 32 arrows between $\mu$ and the $\hat{x}_i$ are one arrow. So two arrive at `dmu`: one stands for
# the 32, the other is the 33rd. `dhpreact` is given.

# %%
board("ex3")

# %% [markdown]
# # Part 3 · Gain and bias
#
# $\gamma$ and $\beta$ go into all 32 of the $y_i = \gamma\,\hat{x}_i + \beta$, each of the 64
# columns having its own. You have met both in notebook 01: can you write them from memory? They
# will come back, and not as gain and bias.
#
# What stands ready in this notebook's answers: the tensors of the lines above (`xhat` is notebook
# 01's `bnraw`), `n`, `n_hidden`, and what you have found so far. The check runs your lines on
# hidden batches of other sizes as well, so write `n`, not 32.
#
# **`dbngain`** (1, 64).
#
# {{ hints: dbngain }}
#
# **`dbnbias`** (1, 64).
#
# {{ hints: dbnbias }}

# %%
# answer: ex3-scale
### BEGIN SOLUTION
dbngain = (dhpreact * xhat).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
### END SOLUTION

# %%
# check: ex3-scale
check("dbngain", "dbnbias")

# %% [markdown]
# **Keep your two sums in sight.** Section 4.4 ends in a formula with three empty boxes, and they
# fill two of them.

# %% [markdown]
# # Part 4 · The derivation
#
# Write $\mathrm{d}y_i$ for what arrives at $y_i$, $\mathrm{d}\hat{x}_i$ for the gradient of
# $\hat{x}_i$, and so on. On paper we look at **one column**, so that each of these is one number.
# The code does the same for all 64 columns side by side:
#
# | on paper, for one column | in code, for all columns |
# | :-- | :-- |
# | with an index $i$: $x_i$, $\hat{x}_i$, $\mathrm{d}y_i$, ... | a matrix, (32, 64) |
# | without: $\mu$, $\sigma^2$, $\gamma$, $\mathrm{d}\mu$, ... | a row, (1, 64) |
# | $\sum_i$ | `.sum(0, keepdim=True)`, which makes a row of a matrix |
#
# ## 4.1 One arrow: x-hat
#
# $y_i = \gamma\,\hat{x}_i + \beta$, and $\hat{x}_i$ goes nowhere else. One arrow, one product.
#
# **`dxhat`** (32, 64).
#
# {{ hints: dxhat }}

# %%
# answer: ex3-xhat
### BEGIN SOLUTION
dxhat = bngain * dhpreact
### END SOLUTION

# %%
# check: ex3-xhat
check("dxhat")

# %% [markdown]
# ## 4.2 Thirty-two arrows: the variance
#
# $\sigma^2$ goes into every $\hat{x}_i = (x_i - \mu)\,(\sigma^2 + \varepsilon)^{-1/2}$. Read
# $\sigma^2$ as one letter, the name of a number; nothing is squared here. Along one of the arrows,
# $x_i - \mu$ is a constant, and the power rule gives the slope
#
# $$\frac{\partial \hat{x}_i}{\partial \sigma^2}
# = -\tfrac12\,(x_i - \mu)\,(\sigma^2 + \varepsilon)^{-3/2} .$$
#
# There are 32 such arrows, so there are 32 products "slope times what arrives at the tip of the
# arrow", to be added up:
#
# $$\mathrm{d}\sigma^2 = \sum_i \mathrm{d}\hat{x}_i \cdot
# \frac{\partial \hat{x}_i}{\partial \sigma^2} .$$
#
# Put the slope in. Which factors do not depend on $i$ and may stand in front of the sum?
#
# **`dvar`** (1, 64). One number for each column.
#
# {{ hints: dvar }}

# %%
# answer: ex3-variance
### BEGIN SOLUTION
dvar = -0.5 * (var + 1e-5) ** -1.5 * (dxhat * (hprebn - mu)).sum(0, keepdim=True)
### END SOLUTION

# %%
# check: ex3-variance
check("dvar")

# %% [markdown]
# <details>
# <summary>A fail, although <code>maxdiff</code> is tiny?</summary>
#
# Rounding would leave a `maxdiff` near $10^{-9}$. Where it is larger, something small is missing,
# even if the line says *approximate*: compare the base of your power with the forward line's, to
# the last term.
#
# </details>
#
# ## 4.3 Thirty-three arrows: the mean
#
# Of the 33 arrows that leave $\mu$, 32 go to the $\hat{x}_i$, each with the slope
#
# $$\frac{\partial \hat{x}_i}{\partial \mu} = -\,(\sigma^2 + \varepsilon)^{-1/2} ,$$
#
# and one goes to $\sigma^2$. Let us look at that one by itself. With the $x_i$ held fixed, the
# slope of $(x_i - \mu)^2$ with respect to $\mu$ is $-2\,(x_i - \mu)$, so
#
# $$\begin{aligned}
# \frac{\partial \sigma^2}{\partial \mu} &= -\frac{2}{n-1} \sum_i (x_i - \mu) \\
# &= -\frac{2}{n-1} \Big( \sum_i x_i - n\,\mu \Big) \\
# &= -\frac{2}{n-1}\,(n\,\mu - n\,\mu) = 0 .
# \end{aligned}$$
#
# The last step is the definition of the mean, $\sum_i x_i = n\,\mu$: the numbers above the mean are
# as far away from it, all in all, as those below. So this arrow carries **nothing**.
#
# There is a picture for it. Take the column $x = (1, 2, 6)$ and measure its variance not from its
# mean, 3, but from any number $m$:

# %%
column = torch.tensor([1.0, 2.0, 6.0])
for m in (2.9, 3.0, 3.1):
    print(f"measured from {m}: {((column - m) ** 2).sum() / 2:.3f}")

figures.lowest_at_the_mean()

# %% [markdown]
# *A parabola. Its lowest point is at the mean, 3, and there its tangent is level.*
#
# The mean is the place from which the sum of squares is smallest, and at the lowest point of a
# curve the slope is zero. And $\mu$ always *is* the mean.
#
# So 32 of the 33 arrows are left. (The board draws the other one too, from `dvar` to `dmu`: it
# shows which formula reads which tensor, not how much comes back.)
#
# **`dmu`** (1, 64).
#
# {{ hints: dmu }}

# %%
# answer: ex3-mean
### BEGIN SOLUTION
dmu = -((var + 1e-5) ** -0.5) * dxhat.sum(0, keepdim=True)
### END SOLUTION

# %%
# check: ex3-mean
check("dmu")

# %% [markdown]
# ## 4.4 Three arrows: x
#
# Now one of the inputs, $x_i$.
#
# **Why the i becomes j.** In 4.2 and 4.3 the letter that ran through the examples was $i$. From now
# on $i$ is taken: it is the *one* number whose gradient we want. A letter that runs through a sum
# may be called anything, like the variable of a loop, so call it $j$. What you have found so far is
# then
#
# $$\begin{aligned}
# \mathrm{d}\mu &= -(\sigma^2+\varepsilon)^{-1/2} \sum_j \mathrm{d}\hat{x}_j , \\
# \mathrm{d}\sigma^2 &= -\tfrac12\,(\sigma^2+\varepsilon)^{-3/2} \\
# &\quad \cdot \sum_j \mathrm{d}\hat{x}_j\,(x_j - \mu) .
# \end{aligned}$$
#
# With $n = 3$ and $i = 2$, for instance, the first sum is $\mathrm{d}\hat{x}_1 +
# \mathrm{d}\hat{x}_2 + \mathrm{d}\hat{x}_3$, although it is $x_2$ that we ask about. This is what
# makes the layer special: what arrives at the examples 1 and 3 has a say in the gradient of example
# 2.
#
# **Three slopes.** The arrows that leave $x_i$ have these:
#
# $$\begin{aligned}
# \frac{\partial \hat{x}_i}{\partial x_i} &= (\sigma^2+\varepsilon)^{-1/2} \\
# \frac{\partial \mu}{\partial x_i} &= \frac1n \\
# \frac{\partial \sigma^2}{\partial x_i} &= \frac{2}{n-1}\,(x_i - \mu)
# \end{aligned}$$
#
# In the last two the sum over $j$ is gone, because only one of its terms contains our $x_i$: the
# one with $j = i$. And along one arrow, what the other arrows carry is held fixed; that is why
# $\mu$ counts as a constant in the first and the third. The chain rule, one product for each arrow:
#
# $$\begin{aligned}
# \mathrm{d}x_i = {} & \mathrm{d}\hat{x}_i\,(\sigma^2+\varepsilon)^{-1/2} \\
# {} + {} & \mathrm{d}\mu\,\frac1n \\
# {} + {} & \mathrm{d}\sigma^2\,\frac{2}{n-1}\,(x_i - \mu) .
# \end{aligned}$$
#
# **Tidy up.** Put $\mathrm{d}\mu$ and $\mathrm{d}\sigma^2$ in, then simplify with three moves.
#
# 1. Put $\gamma\,\mathrm{d}y$ for every $\mathrm{d}\hat{x}$, with $i$ and with $j$. So $\gamma$ is
#    in every term.
# 2. The term of the variance contains $(\sigma^2+\varepsilon)^{-3/2}\,(x_i - \mu)\,(x_j - \mu)$.
#    The power is the product of three factors $s = (\sigma^2+\varepsilon)^{-1/2}$. Give one to each
#    of the brackets, and one is left over. (And $-\tfrac12 \cdot 2 = -1$.)
#
#    $$s^3\,(x_i - \mu)\,(x_j - \mu) =
#    s \cdot \underbrace{s\,(x_i - \mu)}_{\hat{x}_i}
#    \cdot \underbrace{s\,(x_j - \mu)}_{\hat{x}_j}$$
#
# 3. Now $(\sigma^2+\varepsilon)^{-1/2}$ is in every term as well. Take
#    $\gamma\,(\sigma^2+\varepsilon)^{-1/2} / n$ out of all three. The second has a $\frac1n$; the
#    first and the third have none, so with $\frac1n$ in front an $n$ stays behind in each.
#
# Your result has this form, and the three boxes are for you to fill in:
#
# $$\begin{aligned}
# \mathrm{d}x_i = {} & \frac{\gamma\,(\sigma^2+\varepsilon)^{-1/2}}{n} \\
# & \cdot \Big[\, n\,\mathrm{d}y_i - \Box_1 - \Box_2\;\hat{x}_i\;\Box_3 \,\Big]
# \end{aligned}$$
#
# $\Box_1$ is a sum over $j$, $\Box_2$ a fraction made of $n$ and $n - 1$, $\Box_3$ another sum over
# $j$. *Do not go on before you have filled them in.*
#
# **Test it on paper.** Take $x = (1, 2, 6)$ again, with $\mu = 3$ and $\sigma^2 = 7$, so that
# $\hat{x} = (-2, -1, 3)/\sqrt7$. Let $\gamma = 1$, leave $\varepsilon$ out, and let something
# arrive at the first example only: $\mathrm{d}y = (1, 0, 0)$. What is the bracket for the examples
# $i = 1$, $2$ and $3$? (All roots disappear.) Then let autograd say what it finds:

# %%
three = column.clone().requires_grad_()
first_output = ((three - three.mean()) / three.std())[0]  # std, too, divides by n - 1
(gradient_of_three,) = torch.autograd.grad(first_output, three)
brackets = gradient_of_three * 3 * 7**0.5  # the factor before the bracket, taken away again
print("the brackets:         ", [f"{value:.3f}" for value in brackets.tolist()])
print("the same, in sevenths:", [round(value) for value in (7 * brackets).tolist()])

# %% [markdown]
# Nothing arrived at the examples 2 and 3, and yet their gradients are not zero: they share a mean
# and a variance with example 1.

# %% [markdown]
# ## 4.5 All columns at once
#
# Your formula is for one column and one $i$. There are 64 columns and 32 examples, but not a single
# loop is needed. A sum over $j$ is a sum along axis 0, one number for each column. Such a row is
# the same for every $i$, so let broadcasting copy it down:

# %%
figures.all_columns_at_once()

# %% [markdown]
# *Four examples, two units a and b; H stands for n_hidden. On the right, every example finds the
# sum over its own column in its place.*
#
# So in your formula $\mathrm{d}y_i$ and $\hat{x}_i$ are matrices, (32, 64); $\gamma$, $\sigma^2$
# and the two sums are rows, (1, 64); $n$ and the fraction are plain numbers.
#
# **Your turn.** One expression. (Any other way to the right numbers passes as well. If the fused
# form resists, write the three terms of 4.4 with `dxhat`, `dvar` and `dmu` first, then fuse.)
#
# **`dhprebn`** (32, 64).
#
# {{ hints: dhprebn }}

# %%
# answer: ex3-batchnorm
### BEGIN SOLUTION
dhprebn = (
    bngain
    * (var + 1e-5) ** -0.5
    / n
    * (
        n * dhpreact
        - dhpreact.sum(0, keepdim=True)
        - n / (n - 1) * xhat * (dhpreact * xhat).sum(0, keepdim=True)
    )
)
### END SOLUTION

# %%
# check: ex3-batchnorm
check("dhprebn")

# %% [markdown]
# <details>
# <summary>A wrong one? What <code>heat_map("dhprebn")</code> says, in a cell of your own</summary>
#
# - Stripes, each of one colour from top to bottom: every example of a column lacks the same number.
#   Look at $\Box_1$.
# - Rows stand out as well as columns: a sum along the wrong axis.
# - Some columns are wrong, the others nearly right: the gain, which is close to 1 in most columns.
# - Speckled all over: the power in front, $\Box_2$, or the sign before it. (With a plain 1 in that
#   box `maxdiff` is as small as $3 \cdot 10^{-5}$; with the wrong sign it is $2n$ times that.)
#
# </details>

# %%
board()

# %% [markdown]
# **Worth noticing: two directions are missing.** Think of one column of `dhprebn` as a vector with
# one coordinate for each example. Your bracket takes what arrives and subtracts two things: its
# mean, which is its part along $(1, 1, \dots, 1)$, and its part along $\hat{x}$. Here for the
# column $(1, 2, 6)$ of the test on paper, as arrows in space:

# %%
figures.two_directions_removed()

# %% [markdown]
# *Of three directions one is left, at right angles to both. For* $n$ *examples it is* $n - 2$ *of*
# $n$.
#
# In autograd's gradient of our batch, as the share of a column's length that points there:

# %% tags=["data-dependent"]
watched = hprebn.clone().requires_grad_()
normalised = in_one_expression(watched, bngain, bnbias)
(gradient,) = torch.autograd.grad((normalised * dhpreact).sum(), watched)

for name, arrows in (("what arrives", dhpreact), ("what gets through", gradient)):
    size = arrows.norm(dim=0)
    along_ones = (arrows.sum(0) / n**0.5 / size).abs().max()
    along_xhat = ((arrows * xhat).sum(0) / xhat.norm(dim=0) / size).abs().max()
    print(f"{name}: up to {along_ones:.3f} along ones, up to {along_xhat:.3f} along x-hat")

# %% [markdown]
# It has to be so. Add the same number to a whole column: the mean swallows it. Stretch the whole
# column away from its mean: the variance swallows it. The layer's output does not change, so the
# loss does not, so the gradient in these two directions is zero. A layer before batch normalisation
# cannot gain anything by shifting or stretching.
#
# (Along $\hat{x}$ it is nearly zero only: with the $\varepsilon$ the squares of the $\hat{x}_j$ add
# up to a little less than the $n - 1$ by which your formula divides, so an exact projection, which
# divides by their sum, differs from the gradient by $2 \cdot 10^{-8}$ here and fails the check.)
#
# Here are all slopes $\partial\hat{x}_i / \partial x_j$ of one unit, 32 outputs by 32 inputs:


# %% tags=["data-dependent"]
def normalise(x):
    return (x - x.mean()) / torch.sqrt(x.var() + 1e-5)


slopes = torch.autograd.functional.jacobian(normalise, hprebn[:, 0])
figures.slopes_of_a_column(slopes)

# %% tags=["data-dependent"]
on_diagonal = slopes.diag().abs().mean()
off_diagonal = (slopes - slopes.diag().diag()).abs().sum() / (n * (n - 1))
print(f"on the diagonal {on_diagonal:.3f} on average, off it {off_diagonal:.3f}")

# %% [markdown]
# *Green: raise one input, and that output rises; purple: it falls. Left, a strong diagonal on a
# nearly empty ground. Right, on a finer scale, the ground alone: mostly pale purple, with stronger
# rows and columns woven into it.*
#
# On the diagonal each example talks to itself. Off it, they talk to each other: through the mean
# (the pale purple, the same for all) and through the variance (the woven pattern; examples far from
# the mean talk loudest). Without batch normalisation the right picture would be empty. Since each
# example's batch is drawn at random, this coupling is a kind of noise. It regularises a little, and
# it has caused many a bug. How much noise is it?

# %%
figures.batch_noise()

# %% [markdown]
# *One and the same example, normalised in 400 random batches. Where a kernel runs, a slider sets
# their size: in larger ones it becomes nearly the same each time. In small ones the example itself
# moves mean and variance, so it lands nearer to 0, and spreads less than* $1/\sqrt{n}$ *says.*
#
# [Layer normalisation](https://arxiv.org/abs/1607.06450) (2016) takes mean and variance over the
# units of one example instead. Its authors give two reasons: batch normalisation depends on the
# size of the batch, and a recurrent network, which applies one layer again at each step of a
# sequence, would need other statistics for each step.
#
# <details>
# <summary>The formula of this picture, once your check says <em>pass</em></summary>
#
# With $\gamma = 1$ your formula is a sum over all the $y$, slope times what arrives. Read the
# slopes off it; $\delta_{ij}$ is 1 where $i = j$ and 0 elsewhere:
#
# $$\begin{aligned}
# \frac{\partial\hat{x}_i}{\partial x_j} = {} & (\sigma^2+\varepsilon)^{-1/2} \\
# & \cdot \Big[\, \delta_{ij} - \frac1n - \frac{\hat{x}_i\,\hat{x}_j}{n-1} \,\Big] .
# \end{aligned}$$
#
# It stays the same when $i$ and $j$ change places, so the picture is its own mirror image. And why
# $n - 1$? To remove what points along $\hat{x}$, one has to divide by the square of its length, and
# that is $n - 1$, but for the $\varepsilon$.
#
# </details>

# %% [markdown]
# # Part 5 · n or n - 1?
#
# A variance is a sum of squares, divided by $n$ (*biased*: on average too small) or by $n - 1$
# (*unbiased*, Bessel's correction). Notebook 01 showed why; here is who does what. The column
# $(1, 2, 6)$ has the mean 3 and the squares $4 + 1 + 9 = 14$, so the two variances are
# $14/3 \approx 4.667$ and $14/2 = 7$.
#
# `BatchNorm1d` cannot be told which to use; it has no argument for it. But its output says which it
# used: a gain of 1 and a bias of 0, with which the layer begins, make it $\hat{x}_i = (x_i -
# 3)\,(\text{variance} + \varepsilon)^{-1/2}$. So the variance is the square of $(x_i -
# 3)/\hat{x}_i$, less $\varepsilon$.

# %%
print(f"torch.var:               {column.var():.3f}")
print(f"torch.var, correction=0: {column.var(correction=0):.3f}")

mean_square = (column - 3).square().sum() / 3
print(f"the paper, batch:        {mean_square:.3f}")
print(f"the paper, later:        {3 / (3 - 1) * mean_square:.3f}")

layer = torch.nn.BatchNorm1d(1, momentum=1.0)  # momentum 1: store the latest batch only
output = layer(column[:, None]).detach()[:, 0]
used = ((column - 3) / output).square().mean() - layer.eps  # three times the same number
print(f"BatchNorm1d, batch:      {used:.3f}")
print(f"BatchNorm1d, later:      {layer.running_var.item():.3f}")

# %% [markdown]
# | | the batch is normalised with | kept for later, after training |
# | :-- | :-- | :-- |
# | the paper | $n$ (its algorithm 1) | $n - 1$ (algorithm 2: $\frac{n}{n-1}$ times the average) |
# | `torch.nn.BatchNorm1d` | $n$ | $n - 1$ |
# | this course | $n - 1$ | $n - 1$ |
#
# `torch.var` is only a function, and divides by $n - 1$ unless it is told `correction=0` (or, as it
# used to be written, `unbiased=False`). For years PyTorch's documentation of `BatchNorm1d` named
# the biased variance alone, as if it were kept for later too. Readers kept reporting it ([issue
# 77427](https://github.com/pytorch/pytorch/issues/77427) is one); since 2023 it names both.
#
# So the paper and PyTorch train with one variance and then use the network with another. Give the
# layer the same three numbers again, once the training is over:

# %%
layer.eval()
later = layer(column[:, None]).detach()[:, 0]
print("while training:", [f"{value:.3f}" for value in output.tolist()])
print("afterwards:    ", [f"{value:.3f}" for value in later.tolist()])

figures.output_afterwards((later / output)[0].item())

# %% [markdown]
# *The curve rises from 0.71 for a batch of two towards 1; the dot for three lies on it, at 0.82. At
# 32 it has reached 0.98.*
#
# For large batches nobody notices. With two numbers in a column, training and use differ by 29 per
# cent, with three by 18. Dividing by $n - 1$ in both places, as we do, or by $n$ in both, would
# settle it; but many a trained network depends on it now.
#
# **One more, without a check.** How would your formula look with $n$ in the variance? Follow the
# $n - 1$ through section 4.4: it enters in one place only.
#
# <details>
# <summary>An answer</summary>
#
# The fraction $\frac{n}{n-1}$ in $\Box_2$ becomes $\frac{n}{n} = 1$, and nothing else changes but
# the number $\sigma^2$. A formula that was derived for the paper's layer, or for PyTorch's, has
# no fraction.
#
# </details>
#
# If your layer's gradients agree with somebody else's to two digits but not to five, look here
# first.

# %% [markdown]
# # Part 6 · A backward pass of your own
#
# Until now your formula was checked and put away. In this part PyTorch runs it: when a backward
# pass comes to your layer, autograd calls your three lines in place of its own.
#
# ## 6.1 Two functions in a class
#
# PyTorch takes a layer with its gradient as a class that holds two functions.
#
# - `forward` computes the output, as in part 1, and puts aside the tensors that the way back needs.
# - `backward` is handed what arrives, `dhpreact`, and returns one gradient for each input of
#   `forward`, in the same order.
#
# Between the two lies the whole rest of the network. What `forward` puts aside waits in `ctx`, the
# *context*: `ctx.save_for_backward(...)` puts tensors in, `ctx.saved_tensors` gives them back.
#
# The class only keeps the two functions together. Nobody makes an object of it, so there is no
# `self`, and `@staticmethod` says so. One calls the layer with `BatchNorm.apply(hprebn, ...)`.
#
# **Your turn** (not graded). Write the lines for `dbngain`, `dbnbias` and `dhprebn` into
# `backward`. Use nothing but `dhpreact`, `xhat`, `var`, `bngain` and `n`, which stand ready there.


# %%
# try: ex3-function
class BatchNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hprebn, bngain, bnbias):
        mu = hprebn.mean(0, keepdim=True)
        var = hprebn.var(0, keepdim=True)
        xhat = (hprebn - mu) * (var + 1e-5) ** -0.5
        ctx.save_for_backward(xhat, var, bngain)
        return bngain * xhat + bnbias

    @staticmethod
    def backward(ctx, dhpreact):
        xhat, var, bngain = ctx.saved_tensors
        n = dhpreact.shape[0]
        ### BEGIN SOLUTION
        dbngain = (dhpreact * xhat).sum(0, keepdim=True)
        dbnbias = dhpreact.sum(0, keepdim=True)
        scale = bngain * (var + 1e-5) ** -0.5 / n
        along_xhat = n / (n - 1) * xhat * dbngain
        dhprebn = scale * (n * dhpreact - dbnbias - along_xhat)
        ### END SOLUTION
        return dhprebn, dbngain, dbnbias


# %% [markdown]
# ## 6.2 A judge without calculus
#
# Your check asked autograd. `gradcheck` asks nobody: as in the interlude of notebook 01, it moves
# each number a little to either side, and compares the central difference with your `backward`.
#
# It gets eight rows and three columns, which is enough, and quick: each number is moved by itself.
# The numbers of `hprebn` are divided by a hundred for it. Then the variance is so small that a
# forgotten `1e-5` beside it shows as well.

# %%
small = [
    tensor[:, :3].double().requires_grad_()  # float64: differences need the digits
    for tensor in (hprebn[:8] / 100, bngain, bnbias)
]
passes = False
try:
    passes = torch.autograd.gradcheck(BatchNorm.apply, small)
except Exception as trouble:
    said = str(trouble).partition("\n")[0].rstrip(",")
    is_blank = "ellipsis" in said  # what autograd calls a `...`
    print("BatchNorm.backward |", "to do" if is_blank else f"fail: {said}")
    if "must match the size" in said:
        print("  Is a tensor of the notebook in it, such as hprebn or dxhat? It has other sizes.")
    for i, name in enumerate(("hprebn", "bngain", "bnbias")):
        if f"with respect to input {i}" in said:
            print(f"  Your d{name} is not what the differences give.")
        if f"at index {i}" in said:
            print(f"  What you return for d{name} has the wrong shape.")
    if "index 0 - got [1, 3]" in said or "input 1" in said:
        print("  If it is right: is the order that of forward's inputs, dhprebn, dbngain, dbnbias?")
    elif "at index" in said:
        print("  Is a keepdim missing, or does a sum run along the wrong axis?")
else:
    print("BatchNorm.backward | passes gradcheck")
    watched = hprebn.clone().requires_grad_()
    value = rest_of_the_network(BatchNorm.apply(watched, bngain, bnbias))
    (through_yours,) = torch.autograd.grad(value, watched)
    same = torch.allclose(through_yours, gradient, atol=1e-7)
    print("in the network, the same gradient as autograd's:", same)

# %% [markdown]
# It says *to do* until all three gradients are there.
#
# **A fail?** `gradcheck` can tell which gradient is wrong, but not why. The check of part 3 and
# section 4.5 can. Copy your lines into the answer cells there, run them, and call `check()`. Then
# mend the class.
#
# **What it cannot see.** Forget to sum over the examples where you return `dbngain` or `dbnbias`,
# and `gradcheck` passes all the same: autograd adds up a gradient of (8, 3) to its input's shape,
# (1, 3), before anybody compares.
#
# <details>
# <summary>It fails, although your check said <em>pass</em>?</summary>
#
# Where `dhprebn` uses `dbngain` and `dbnbias`, a mistake in these shows at input 0, `hprebn`: look
# there first. If it names sizes of 32 or 64, you use a tensor of the notebook, not of the call:
# `hprebn`, `dxhat`, `dvar` and `dmu` are not saved here. The fused form does without them.
#
# </details>
#
# **What you gain.** Your layer keeps `xhat`, `var` and the gain until the way back. Autograd, left
# to itself, keeps nearly three times as many numbers here.
#
# ## 6.3 What it still gets wrong
#
# A gradient that has passed is right, and yet there is something that one must not do with it:
# differentiate it once more.
#
# Who would? Some losses contain a gradient, for instance to keep it small. To lower such a loss,
# autograd has to go back through your `backward`, too (`create_graph=True` asks for that). What
# comes out are *second derivatives*, and `gradgradcheck` compares these with differences.
#
# The next cell tries it twice: with your class, and with `OnceOnly`, the same class whose
# `backward` is marked `once_differentiable`. Guess what each will say.


# %%
class OnceOnly(BatchNorm):
    backward = staticmethod(once_differentiable(BatchNorm.backward))


def differentiate_twice(function):
    cubes = function.apply(*small).pow(3).sum()
    (first,) = torch.autograd.grad(cubes, small[0], create_graph=True)
    first.square().sum().backward()


if not passes:
    print("BatchNorm.backward | has to pass gradcheck first")
else:
    for name, attempt in (
        ("gradgradcheck", lambda: torch.autograd.gradgradcheck(BatchNorm.apply, small)),
        ("OnceOnly, twice", lambda: differentiate_twice(OnceOnly)),
    ):
        try:
            attempt()
        except RuntimeError as trouble:
            print(f"{name:<15} | {str(trouble).splitlines()[0].rstrip(',')}")
        else:
            print(f"{name:<15} | no complaint")

# %% [markdown]
# *Jacobian mismatch*: the second derivatives are wrong. Without this test nobody would know, since
# autograd hands them out without a word.
#
# **Why.** Inside `forward` autograd takes no notes. So it does not know that `xhat` and `var` were
# made from `hprebn`; to autograd they are constants, and what they contribute is lost.
#
# **What to do.** Write `@once_differentiable` above `backward`; `OnceOnly` does the same. Whoever
# differentiates twice then gets an exception in place of wrong numbers.
#
# Or let `forward` save its inputs, and begin `backward` by making the rest of them once more:
#
# ```python
# hprebn, bngain = ctx.saved_tensors
# var = hprebn.var(0, keepdim=True)
# xhat = (hprebn - hprebn.mean(0, keepdim=True)) * (var + 1e-5) ** -0.5
# ```
#
# In `backward` autograd does take notes. So `xhat` is no constant any more, and `gradgradcheck`
# has nothing to complain about. The price is the time of a forward pass.

# %% [markdown]
# # Part 7 · What you have found

# %%
check()

# %% [markdown]
# | stage | arrows | what made it short |
# | :-- | :-- | :-- |
# | $\hat{x}$ | 1 | |
# | $\sigma^2$ | 32 | constants in front of the sum |
# | $\mu$ | 33 | one of them carries nothing: the variance is lowest at the mean |
# | $x$ | 3 | $(x - \mu)$ and a root of the variance make an $\hat{x}$ again |
# | all columns | | sums over $j$ are rows, and rows broadcast |
#
# **Four questions, without a formula.** The gain is 1. What leaves at a column when (7, 7, ..., 7)
# arrives? When $\hat{x}$ itself arrives? What changes when twice as much arrives? And when each
# number of the column is doubled?
#
# <details>
# <summary>Four answers</summary>
#
# Nothing: the mean swallows a common shift. Nothing, but for the $\varepsilon$: the variance
# swallows a stretch. Twice as much leaves. Half as much leaves, but for the $\varepsilon$:
# $\hat{x}$ stays as it is, and the root by which your formula divides is twice as large.
#
# </details>
#
# **You can now** take a layer in which everything depends on everything, draw its graph, count the
# arrows, and come out with one line. You know which two directions a normalisation blocks, who
# divides by $n$ and who by $n - 1$, and how to teach autograd a formula.
#
# Layer normalisation, instance normalisation and RMSNorm can be derived in the same stages. They
# divide by $n$, sum along other axes, and the last leaves out the mean. (In layer normalisation and
# RMSNorm the gain differs from term to term of the sums. It cannot be taken out in front, so there
# $\mathrm{d}\hat{x}$ stays where $\gamma\,\mathrm{d}y$ stood.)
#
# **Where next.** In notebook **04** all the pieces come together: the embedding from 01, the
# cross-entropy from 02, and the line you have just written.
#
# In a terminal, `grader check 03_fused_batchnorm.ipynb` says the same as the cells above.
