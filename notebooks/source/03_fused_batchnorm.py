# %% [markdown]
# # 3 · Batch normalisation in one step
#
# {{ colab }}
#
# In notebook 01 you went backwards through batch normalisation in small steps. Here the layer is
# one formula, and its gradient becomes one formula too. The derivation takes a page. It is the
# longest of this course and the most rewarding, because so much of it cancels.
#
# - **Time:** two to three hours, half of them with pencil and paper, before you type anything.
# - **You need:** notebook 01, above all its three rules and section 5.6. You should know what a
#   mean and a variance are, and the slope of a power. Notebook 02 is a good warm-up.
# - **Afterwards you can:** derive the gradient of a layer in which the examples of a batch depend
#   on each other; turn sums with indices into broadcasting; say which variance the paper,
#   `torch.var` and `BatchNorm1d` compute; and give PyTorch a backward pass of your own.
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
# The network and the exercise are those of Andrej Karpathy's lecture [*Becoming a Backprop
# Ninja*](https://www.youtube.com/watch?v=q8SA3rM6ckI), part 4 of *Building makemore*. You need not
# have seen it. Run the next two cells first.

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
# The names, the network and the batch are those of notebook 01, with the same seed. The layer's
# input is `hprebn`, a matrix of 32 examples by 64 units.

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
# Each column is normalised by itself: the layer subtracts the column's mean, divides by the root of
# its variance, multiplies by a gain and adds a bias.


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
# The slopes will tell you, because the slope is zero for every number that is not read.

# %% tags=["data-dependent"]
watched = hprebn.clone().requires_grad_()
one_output = in_one_expression(watched, bngain, bnbias)[0, 0]
(slopes,) = torch.autograd.grad(one_output, watched)
print(f"on {(slopes != 0).sum()} numbers, in {(slopes != 0).any(0).sum()} of the columns")

# %% [markdown]
# So each example influences all the others. On the way back, the gradient that comes in at one
# example therefore spreads to all 32, and the derivation is about how it does that.
#
# You computed the gradient that comes back from the rest of the network, `dhpreact`, in notebook
# 01, so now we take it as given.


# %%
def rest_of_the_network(hpreact):
    return F.cross_entropy(torch.tanh(hpreact) @ W2 + b2, Yb)


hpreact = in_one_expression(hprebn, bngain, bnbias).requires_grad_()
(dhpreact,) = torch.autograd.grad(rest_of_the_network(hpreact), hpreact)
print("dhpreact:", tuple(dhpreact.shape))

# %% [markdown]
# For the derivation this expression is a bit too much at once. In the paper by [Ioffe and Szegedy
# (2015)](https://arxiv.org/abs/1502.03167) it has four lines. Take one column of numbers $x_1,
# \dots, x_n$, one number for each example. The four lines compute its mean, its variance, the
# normalised numbers $\hat{x}_i$, and the output $y_i$, which is scaled and shifted:
#
# $$\begin{aligned}
# \mu &= \frac1n \sum_i x_i \\
# \sigma^2 &= \frac{1}{n-1} \sum_i (x_i - \mu)^2 \\
# \hat{x}_i &= (x_i - \mu)\,(\sigma^2 + \varepsilon)^{-1/2} \\
# y_i &= \gamma\,\hat{x}_i + \beta
# \end{aligned}$$
#
# (The paper divides by $n$ in the second line. Part 5 is about that.) $\varepsilon$ is a fixed
# number, written `1e-5`, which keeps the power finite if all numbers of a column are equal. `mu`
# and `var` are rows of shape (1, 64), with one number for each column, and `xhat` is a matrix, (32,
# 64).
#
# We do not need the rest of the network, because a layer never learns more about it than the
# incoming gradient. So a stand-in takes its place: it multiplies each number of `hpreact` by the
# corresponding number of `dhpreact` and adds up the products. This is not the network's loss, but
# it has the right slope, because its gradient at `hpreact` is exactly `dhpreact`. Here are the four
# lines for all columns at once, followed by the stand-in:

# %%
n = hprebn.shape[0]
mu = 1 / n * hprebn.sum(0, keepdim=True)
var = 1 / (n - 1) * ((hprebn - mu) ** 2).sum(0, keepdim=True)
xhat = (hprebn - mu) * (var + 1e-5) ** -0.5
hpreact = bngain * xhat + bnbias
loss = (dhpreact * hpreact).sum()

# %% [markdown]
# Do the four lines compute the same layer, and does the stand-in have the right slope?

# %%
difference = (hpreact - in_one_expression(hprebn, bngain, bnbias)).abs().max()
print(f"the lines and the expression differ by {difference:.5f} at most")

watched = hpreact.clone().requires_grad_()
(arriving,) = torch.autograd.grad((dhpreact * watched).sum(), watched)
print(f"what the stand-in sends back differs from dhpreact by {(arriving - dhpreact).abs().max()}")

# %% [markdown]
# # Part 2 · Count the arrows
#
# Here is one column, drawn with all its arrows. An arrow means "goes into the formula of". Look at
# the picture in stages: first the column runs forward, in blue, and then the gradients come back
# along the same arrows, in orange. At each stage back, count the arrows that bring a gradient.

# %%
figures.batchnorm_in_stages()

# %% [markdown]
# *The circuit of one column, in five stages. The dots stand for the examples 3 to 31, whose arrows
# are like those of their neighbours.*
#
# Remember rule 2 of notebook 01: if a value goes into several formulas, the gradients that come
# back are added up. So to know how many terms a gradient has, count the arrows that **leave** its
# node:
#
# | node | its arrows go to | so many |
# | :-- | :-- | :-- |
# | $\hat{x}_i$ | $y_i$ | 1 |
# | $\sigma^2$ | $\hat{x}_1, \dots, \hat{x}_{32}$ | 32 |
# | $\mu$ | $\hat{x}_1, \dots, \hat{x}_{32}$, and $\sigma^2$ | 33 |
# | $x_i$ | its own $\hat{x}_i$, and $\mu$, and $\sigma^2$ | 3 |
#
# The table is also in the order in which to work, because a node is ready once all the nodes that
# its arrows lead to are done: first $\hat{x}$, then $\sigma^2$, then $\mu$, and finally $x$.
#
# The board shows the same graph. Its arrows run backwards, as the gradients do, so here you count
# the arrows that *arrive* at a box: `dhprebn` has three. A box stands for a whole tensor, so the 32
# arrows between $\mu$ and the $\hat{x}_i$ become a single one. That is why two arrows arrive at
# `dmu`: one stands for the 32, and the other is the 33rd. `dhpreact` is given.

# %%
board("ex3")

# %% [markdown]
# # Part 3 · Gain and bias
#
# Each of the 64 columns has its own $\gamma$ and $\beta$, and they go into all 32 of the column's
# $y_i = \gamma\,\hat{x}_i + \beta$. You wrote both gradients in notebook 01. Can you write them
# from memory? The same two sums will come back later in another role.
#
# In your answers you can use the tensors of the lines above (`xhat` is notebook 01's `bnraw`), `n`,
# `n_hidden`, and the gradients that you have found so far. The check also runs your lines on hidden
# batches of other sizes, so write `n`, not 32.
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
# **Keep your two sums in sight.** Section 4.4 ends in a formula with three empty boxes, and these
# sums fill two of them.

# %% [markdown]
# # Part 4 · The derivation
#
# Write $\mathrm{d}y_i$ for the incoming gradient, the one of $y_i$, and $\mathrm{d}\hat{x}_i$ for
# the gradient of $\hat{x}_i$, and so on. On paper we look at **one column**, so that each of these
# is one number. The code does the same for all 64 columns side by side:
#
# | on paper, for one column | in code, for all columns |
# | :-- | :-- |
# | with an index $i$: $x_i$, $\hat{x}_i$, $\mathrm{d}y_i$, ... | a matrix, (32, 64) |
# | without an index: $\mu$, $\sigma^2$, $\gamma$, $\mathrm{d}\mu$, ... | a row, (1, 64) |
# | $\sum_i$ | `.sum(0, keepdim=True)`, which turns a matrix into a row |
#
# ## 4.1 One arrow: x-hat
#
# In $y_i = \gamma\,\hat{x}_i + \beta$ you see the only arrow that leaves $\hat{x}_i$. So the
# gradient is a single product: the slope times the incoming gradient.
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
# $\sigma^2$ as a single letter, because it is the name of a number and nothing is squared here.
# Along one of the arrows, $x_i - \mu$ is a constant, so the power rule gives the slope
#
# $$\frac{\partial \hat{x}_i}{\partial \sigma^2}
# = -\tfrac12\,(x_i - \mu)\,(\sigma^2 + \varepsilon)^{-3/2} .$$
#
# There are 32 such arrows. Each brings back a product, the slope times the gradient at the tip of
# the arrow, and the 32 products are added up:
#
# $$\mathrm{d}\sigma^2 = \sum_i \mathrm{d}\hat{x}_i \cdot
# \frac{\partial \hat{x}_i}{\partial \sigma^2} .$$
#
# Put the slope in. Which factors do not depend on $i$, so that you can move them in front of the
# sum?
#
# **`dvar`** (1, 64), one number for each column.
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
# ## 4.3 Thirty-three arrows: the mean
#
# Of the 33 arrows that leave $\mu$, 32 go to the $\hat{x}_i$, each with the slope
#
# $$\frac{\partial \hat{x}_i}{\partial \mu} = -\,(\sigma^2 + \varepsilon)^{-1/2} ,$$
#
# and one goes to $\sigma^2$. Let us look at this last arrow by itself. With the $x_i$ held fixed,
# the slope of $(x_i - \mu)^2$ with respect to $\mu$ is $-2\,(x_i - \mu)$, so
#
# $$\begin{aligned}
# \frac{\partial \sigma^2}{\partial \mu} &= -\frac{2}{n-1} \sum_i (x_i - \mu) \\
# &= -\frac{2}{n-1} \Big( \sum_i x_i - n\,\mu \Big) \\
# &= -\frac{2}{n-1}\,(n\,\mu - n\,\mu) = 0 .
# \end{aligned}$$
#
# The last step uses the definition of the mean, $\sum_i x_i = n\,\mu$: taken together, the numbers
# above the mean are as far away from it as those below. So this arrow carries **nothing**.
#
# A picture shows why. Take the column $x = (1, 2, 6)$, whose mean is 3, and measure its variance
# from some other number $m$:

# %%
column = torch.tensor([1.0, 2.0, 6.0])
for m in (2.9, 3.0, 3.1):
    print(f"measured from {m}: {((column - m) ** 2).sum() / 2:.3f}")

figures.lowest_at_the_mean()

# %% [markdown]
# *A parabola. Its lowest point is at the mean, 3, and there its tangent is level.*
#
# The sum of squares is smallest if you measure from the mean, and at the lowest point of a curve
# the slope is zero. Since $\mu$ always *is* the mean, the slope is always zero.
#
# So 32 of the 33 arrows are left. (The board draws the other one too, from `dvar` to `dmu`, because
# it shows which formula reads which tensor, and not how much comes back.)
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
# The last gradient is that of one of the inputs, $x_i$.
#
# **Why the i becomes j.** In 4.2 and 4.3 the index $i$ ran through all examples. From now on $i$ is
# taken, because it marks the *one* number whose gradient we want. The index of a sum may have any
# name, like the variable of a loop, so call it $j$. Then your results so far are
#
# $$\begin{aligned}
# \mathrm{d}\mu &= -(\sigma^2+\varepsilon)^{-1/2} \sum_j \mathrm{d}\hat{x}_j , \\
# \mathrm{d}\sigma^2 &= -\tfrac12\,(\sigma^2+\varepsilon)^{-3/2} \\
# &\quad \cdot \sum_j \mathrm{d}\hat{x}_j\,(x_j - \mu) .
# \end{aligned}$$
#
# With $n = 3$ and $i = 2$, for instance, the first sum is $\mathrm{d}\hat{x}_1 +
# \mathrm{d}\hat{x}_2 + \mathrm{d}\hat{x}_3$, although we are asking about $x_2$. This is what makes
# the layer special: the incoming gradients of examples 1 and 3 influence the gradient of example 2.
#
# **Three slopes.** Three arrows leave $x_i$, with these slopes:
#
# $$\begin{aligned}
# \frac{\partial \hat{x}_i}{\partial x_i} &= (\sigma^2+\varepsilon)^{-1/2} \\
# \frac{\partial \mu}{\partial x_i} &= \frac1n \\
# \frac{\partial \sigma^2}{\partial x_i} &= \frac{2}{n-1}\,(x_i - \mu)
# \end{aligned}$$
#
# In the last two the sum over $j$ is gone, because only the term with $j = i$ contains our $x_i$.
# And while we follow one arrow, we hold fixed what the other arrows carry, so $\mu$ counts as a
# constant in the first and the third slope. The chain rule gives one product for each arrow:
#
# $$\begin{aligned}
# \mathrm{d}x_i = {} & \mathrm{d}\hat{x}_i\,(\sigma^2+\varepsilon)^{-1/2} \\
# {} + {} & \mathrm{d}\mu\,\frac1n \\
# {} + {} & \mathrm{d}\sigma^2\,\frac{2}{n-1}\,(x_i - \mu) .
# \end{aligned}$$
#
# **Tidy up.** Put $\mathrm{d}\mu$ and $\mathrm{d}\sigma^2$ in, and then simplify in three steps.
#
# 1. Write $\gamma\,\mathrm{d}y$ for every $\mathrm{d}\hat{x}$, with the index $i$ and with $j$.
#    Then the **gain** $\gamma$ is a factor of all three terms, so you can take it out in front of
#    the bracket. Inside the bracket it does not appear any more.
# 2. The variance term contains $(\sigma^2+\varepsilon)^{-3/2}\,(x_i - \mu)\,(x_j - \mu)$. Its power
#    is a product of three factors $s = (\sigma^2+\varepsilon)^{-1/2}$. Give one of them to each of
#    the two differences, and one is left over. (And $-\tfrac12 \cdot 2 = -1$.)
#
#    $$s^3\,(x_i - \mu)\,(x_j - \mu) =
#    s \cdot \underbrace{s\,(x_i - \mu)}_{\hat{x}_i}
#    \cdot \underbrace{s\,(x_j - \mu)}_{\hat{x}_j}$$
#
# 3. Now every term has the factor $(\sigma^2+\varepsilon)^{-1/2}$ as well, so take
#    $\gamma\,(\sigma^2+\varepsilon)^{-1/2} / n$ out of all three. Which terms keep an $n$? The
#    **second** term, through $\mu$, has a $\frac1n$ of its own, which goes out in front, so it
#    keeps none. The **first** and the **third**, through $\hat{x}_i$ and $\sigma^2$, have no
#    $\frac1n$ to give, so each of them keeps a factor $n$ in the bracket.
#
# Your result has this form, with three boxes for you to fill in:
#
# $$\begin{aligned}
# \mathrm{d}x_i = {} & \frac{\gamma\,(\sigma^2+\varepsilon)^{-1/2}}{n} \\
# & \cdot \Big[\, n\,\mathrm{d}y_i - \Box_1 - \Box_2\;\hat{x}_i\;\Box_3 \,\Big]
# \end{aligned}$$
#
# $\Box_1$ is a sum over $j$, $\Box_2$ is a fraction made of $n$ and $n - 1$, and $\Box_3$ is
# another sum over $j$. *Fill them in before you go on.*
#
# **Test it on paper.** Take $x = (1, 2, 6)$ again, with $\mu = 3$ and $\sigma^2 = 7$, so that
# $\hat{x} = (-2, -1, 3)/\sqrt7$. Let $\gamma = 1$, leave $\varepsilon$ out, and let the incoming
# gradient be zero except at the first example: $\mathrm{d}y = (1, 0, 0)$. What is the bracket for
# the examples $i = 1$, $2$ and $3$? (All roots disappear.) Then compare with autograd:

# %%
three = column.clone().requires_grad_()
first_output = ((three - three.mean()) / three.std())[0]  # std, too, divides by n - 1
(gradient_of_three,) = torch.autograd.grad(first_output, three)
brackets = gradient_of_three * 3 * 7**0.5  # the factor before the bracket, taken away again
print("the brackets:         ", [f"{value:.3f}" for value in brackets.tolist()])
print("the same, in sevenths:", [round(value) for value in (7 * brackets).tolist()])

# %% [markdown]
# The incoming gradient of examples 2 and 3 was zero, and yet their own gradients are not, because
# they share a mean and a variance with example 1.

# %% [markdown]
# ## 4.5 All columns at once
#
# Your formula is for one column and one $i$. There are 64 columns and 32 examples, but you do not
# need a loop. A sum over $j$ is a sum along axis 0, which gives a row with one number for each
# column. This row is the same for every $i$, so broadcasting can copy it down:

# %%
figures.all_columns_at_once()

# %% [markdown]
# *Four examples and two units, a and b. H stands for n_hidden. On the right, the sum over a column
# is copied to every example of that column.*
#
# So in your formula $\mathrm{d}y_i$ and $\hat{x}_i$ become matrices, (32, 64), while $\gamma$,
# $\sigma^2$ and the two sums become rows, (1, 64). $n$ and the fraction are plain numbers.
#
# **Your turn.** Write it as one expression. (Any other way to the right numbers passes as well. If
# the fused form resists, first write the three terms of 4.4 with `dxhat`, `dvar` and `dmu`, and
# then fuse them.)
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
# <summary>Is yours wrong? Run <code>heat_map("dhprebn")</code> in a cell of your own</summary>
#
# - You see vertical stripes of one colour each: every example of a column lacks the same number.
#   Look at $\Box_1$.
# - Rows stand out as well as columns: a sum runs along the wrong axis.
# - Some columns are wrong and the others nearly right: look at the gain, which is close to 1 in
#   most columns.
# - The map is speckled all over: look at the power in front, at $\Box_2$, or at the sign before it.
#   (A plain 1 in $\Box_2$ changes that term by only one part in $n$, so your numbers look nearly
#   right. With the wrong sign they are off $2n$ times as far.)
#
# </details>

# %%
board()

# %% [markdown]
# **Worth noticing: two directions are missing.** Think of one column of `dhprebn` as a vector with
# one coordinate for each example. Your bracket takes the incoming gradient and subtracts two parts
# of it: its mean, which is its part along $(1, 1, \dots, 1)$, and its part along $\hat{x}$. For the
# column $(1, 2, 6)$ of the test on paper, these are arrows in space:

# %%
figures.two_directions_removed()

# %% [markdown]
# *Of three directions only one is left, at right angles to both. For* $n$ *examples,* $n - 2$ *of*
# $n$ *directions are left.*
#
# How much of our batch's gradients points in these two directions? The cell prints it as a share of
# a column's length:

# %% tags=["data-dependent"]
watched = hprebn.clone().requires_grad_()
normalised = in_one_expression(watched, bngain, bnbias)
(gradient,) = torch.autograd.grad((normalised * dhpreact).sum(), watched)

for name, arrows in (("incoming gradient", dhpreact), ("what gets through", gradient)):
    size = arrows.norm(dim=0)
    along_ones = (arrows.sum(0) / n**0.5 / size).abs().max()
    along_xhat = ((arrows * xhat).sum(0) / xhat.norm(dim=0) / size).abs().max()
    print(f"{name}: up to {along_ones:.3f} along ones, up to {along_xhat:.3f} along x-hat")

# %% [markdown]
# It has to be so. If you add the same number to a whole column, the mean swallows it. If you
# stretch the column away from its mean, the variance swallows that. The layer's output stays the
# same, and so does the loss, so the gradient in these two directions is zero. This means that the
# layer before the batch normalisation gains nothing by shifting or stretching a column.
#
# (Along $\hat{x}$ it is only nearly zero. Because of the $\varepsilon$, the squares of the
# $\hat{x}_j$ add up to a little less than the $n - 1$ by which your formula divides. So an exact
# projection, which divides by their sum, differs slightly from the gradient and fails the check.)
#
# The next picture shows all slopes $\partial\hat{x}_i / \partial x_j$ of one unit, 32 outputs by 32
# inputs:


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
# *Green means that the output rises if you raise the input, and purple means that it falls. On the
# left there is a strong diagonal on a nearly empty ground. On the right you see only the ground, on
# a finer scale: it is mostly faint purple, with stronger rows and columns woven into it.*
#
# On the diagonal each example talks to itself. Off the diagonal the examples talk to each other:
# through the mean, which gives the same faint purple everywhere, and through the variance, which
# gives the woven pattern, because examples far from the mean talk loudest. Without batch
# normalisation the right picture would be empty. Each example's batch is drawn at random, so this
# coupling acts as a kind of noise. It regularises a little, and it has caused many bugs. How large
# is the noise?

# %%
figures.batch_noise()

# %% [markdown]
# *The same example, normalised in 400 random batches. If a kernel is running, a slider sets the
# size of the batches. In large batches the result is nearly the same each time. In small ones the
# example itself moves the mean and the variance, so the result lands nearer to 0, and it spreads
# less than* $1/\sqrt{n}$ *says.*
#
# <details>
# <summary>An aside: layer normalisation, and why recurrent networks wanted it</summary>
#
# [Layer normalisation](https://arxiv.org/abs/1607.06450) (2016) takes the mean and the variance
# over the units of one example instead. Its authors give two reasons. Batch normalisation depends
# on the size of the batch. And a recurrent network applies the same layer again at each step of a
# sequence, so it would need separate statistics for each step.
#
# </details>
#
# <details>
# <summary>The formula of this picture, once your check says <em>pass</em></summary>
#
# With $\gamma = 1$ your formula is a sum over all the $y$ of slope times incoming gradient, so you
# can read the slopes off it. $\delta_{ij}$ is 1 if $i = j$ and 0 otherwise:
#
# $$\begin{aligned}
# \frac{\partial\hat{x}_i}{\partial x_j} = {} & (\sigma^2+\varepsilon)^{-1/2} \\
# & \cdot \Big[\, \delta_{ij} - \frac1n - \frac{\hat{x}_i\,\hat{x}_j}{n-1} \,\Big] .
# \end{aligned}$$
#
# It stays the same if $i$ and $j$ change places, so the picture is its own mirror image. And why $n
# - 1$? To remove the part along $\hat{x}$, you have to divide by the square of its length, and
# apart from the $\varepsilon$ that is $n - 1$.
#
# </details>

# %% [markdown]
# # Part 5 · n or n - 1?
#
# A variance is a sum of squares, divided by $n$ (*biased*, because on average it is too small) or
# by $n - 1$ (*unbiased*, with Bessel's correction). Notebook 01 showed why. Here you see which one
# the paper and PyTorch use. The column $(1, 2, 6)$ has the mean 3 and the squares $4 + 1 + 9 = 14$,
# so the two variances are $14/3 \approx 4.667$ and $14/2 = 7$.
#
# `BatchNorm1d` has no argument for this choice, but its output shows which variance it used. The
# layer begins with a gain of 1 and a bias of 0, so its output is $\hat{x}_i = (x_i -
# 3)\,(\text{variance} + \varepsilon)^{-1/2}$. The variance is therefore the square of $(x_i -
# 3)/\hat{x}_i$, minus $\varepsilon$.

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
# `torch.var` divides by $n - 1$ unless you pass `correction=0` (or `unbiased=False`, as it used to
# be written). For years PyTorch's documentation of `BatchNorm1d` named only the biased variance, as
# if the layer kept that one for later too. Readers kept reporting this ([issue
# 77427](https://github.com/pytorch/pytorch/issues/77427) is one of the reports), and since 2023 it
# names both.
#
# So the paper and PyTorch train with one variance and use the trained network with another. Give
# the layer the same three numbers again after the training:

# %%
layer.eval()
later = layer(column[:, None]).detach()[:, 0]
print("while training:", [f"{value:.3f}" for value in output.tolist()])
print("afterwards:    ", [f"{value:.3f}" for value in later.tolist()])

figures.output_afterwards((later / output)[0].item())

# %% [markdown]
# *The curve rises from 0.71 for a batch of two towards 1. The dot for a batch of three lies on it,
# at 0.82, and at 32 the curve has reached 0.98.*
#
# With large batches you will not notice it. But with two numbers in a column, training and use
# differ by 29 per cent, and with three by 18. It would be settled by dividing by $n - 1$ in both
# places, as we do, or by $n$ in both, but by now many trained networks depend on the difference.
#
# **One more exercise, without a check.** How would your formula look with $n$ in the variance?
# Follow the $n - 1$ through section 4.4, where it enters in one place only.
#
# <details>
# <summary>An answer</summary>
#
# The fraction $\frac{n}{n-1}$ in $\Box_2$ becomes $\frac{n}{n} = 1$. Nothing else changes except
# the number $\sigma^2$. A formula that was derived for the paper's layer, or for PyTorch's,
# therefore has no fraction.
#
# </details>
#
# If your layer's gradients agree with somebody else's to two digits but not to five, look here
# first.

# %% [markdown]
# # Part 6 · A backward pass of your own
#
# Until now your formula was only checked. In this part PyTorch runs it: whenever a backward pass
# reaches your layer, autograd calls your three lines instead of its own.
#
# ## 6.1 Two functions in a class
#
# PyTorch expects a layer and its gradient as a class with two functions.
#
# - `forward` computes the output, as in part 1, and saves the tensors that the way back needs.
# - `backward` receives the incoming gradient, `dhpreact`, and returns one gradient for each input
#   of `forward`, in the same order.
#
# Between the two calls, the whole rest of the network runs. Meanwhile the saved tensors wait in
# `ctx`, the *context*: `ctx.save_for_backward(...)` puts them in, and `ctx.saved_tensors` returns
# them.
#
# The class only keeps the two functions together. You never create an object of it, so the
# functions have no `self`, which is why they are marked `@staticmethod`. You call the layer as
# `BatchNorm.apply(hprebn, ...)`.
#
# **Your turn** (not graded). Write the lines for `dbngain`, `dbnbias` and `dhprebn` into
# `backward`. Use only `dhpreact`, `xhat`, `var`, `bngain` and `n`, which are defined there.


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
# Your check compared with autograd. `gradcheck` needs no such reference: as in the interlude of
# notebook 01, it moves each number a little to either side and compares the central difference with
# your `backward`.
#
# We give it only eight rows and three columns, because it moves each number separately, and that
# would take long on a large tensor. We also divide `hprebn` by a hundred, so that the variance
# becomes small enough to reveal a forgotten `1e-5` beside it.

# %%
# @title gradcheck on your class, with some words about what it says
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
    yours, autograds = (
        torch.autograd.grad(rest_of_the_network(layer(watched, bngain, bnbias)), watched)[0]
        for layer in (BatchNorm.apply, in_one_expression)
    )
    same = torch.allclose(yours, autograds, atol=1e-7)
    print("in the network, the same gradient as autograd's:", same)

# %% [markdown]
# It says *to do* until all three gradients are there.
#
# **Does it fail?** `gradcheck` can tell you which gradient is wrong, but not why. The check of part
# 3 and section 4.5 can. Copy your lines into the answer cells there, run them, and call `check()`.
# Then mend the class.
#
# **What it cannot see.** If you forget to sum over the examples in `dbngain` or `dbnbias`,
# `gradcheck` still passes, because autograd adds up a gradient of (8, 3) to its input's shape, (1,
# 3), before the comparison.
#
# <details>
# <summary>It fails, although your check said <em>pass</em>?</summary>
#
# If your `dhprebn` uses `dbngain` and `dbnbias`, a mistake in these shows at input 0, `hprebn`, so
# look at them first. If the message names sizes of 32 or 64, you are using a tensor of the notebook
# and not of the call: `hprebn`, `dxhat`, `dvar` and `dmu` are not saved here, and the fused form
# does without them.
#
# </details>
#
# **What you gain.** Your layer keeps only `xhat`, `var` and the gain until the way back. Left to
# itself, autograd keeps nearly three times as many numbers here.
#
# ## 6.3 What it still gets wrong
#
# A gradient that has passed is right, and yet there is one thing that you must not do with it:
# differentiate it once more.
#
# Why would anybody do that? Some losses contain a gradient, for instance to keep it small. To lower
# such a loss, autograd has to go back through your `backward`, too (`create_graph=True` asks for
# that). The results are *second derivatives*, and `gradgradcheck` compares them with differences.
#
# The next cell tries it with your class, and with `OnceOnly`, the same class with its `backward`
# marked `once_differentiable`. Guess what each will say.


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
# *Jacobian mismatch* means that the second derivatives are wrong. Without this test you would not
# know, because autograd returns them without a warning.
#
# **Why are they wrong?** Inside `forward`, autograd takes no notes. So it does not know that `xhat`
# and `var` were computed from `hprebn`. It treats them as constants, and their contribution is
# lost.
#
# **What can you do?** Write `@once_differentiable` above `backward`, as `OnceOnly` does. Then
# anybody who differentiates twice gets an exception instead of wrong numbers.
#
# Or let `forward` save its inputs, and begin `backward` by computing the rest from them once more:
#
# ```python
# hprebn, bngain = ctx.saved_tensors
# var = hprebn.var(0, keepdim=True)
# xhat = (hprebn - hprebn.mean(0, keepdim=True)) * (var + 1e-5) ** -0.5
# ```
#
# If second derivatives are asked for, autograd takes notes in `backward`, too. So `xhat` is not a
# constant any more, and `gradgradcheck` passes. The price is the time of a forward pass.

# %% [markdown]
# # Part 7 · What you have found

# %%
check()

# %% [markdown]
# | stage | arrows | what made it short |
# | :-- | :-- | :-- |
# | $\hat{x}$ | 1 | |
# | $\sigma^2$ | 32 | constants move in front of the sum |
# | $\mu$ | 33 | one of them carries nothing: the variance is lowest at the mean |
# | $x$ | 3 | $(x - \mu)$ and a root of the variance make an $\hat{x}$ again |
# | all columns | | sums over $j$ are rows, and rows broadcast |
#
# **Four questions, without a formula.** Let the gain be 1. What is the gradient of a column if the
# incoming gradient is (7, 7, ..., 7)? What if it is $\hat{x}$ itself? What changes if the incoming
# gradient is doubled? And what changes if each number of the column is doubled?
#
# <details>
# <summary>Four answers</summary>
#
# In the first case it is zero, because the mean swallows a common shift. In the second it is zero
# apart from the $\varepsilon$, because the variance swallows a stretch. If the incoming gradient is
# doubled, so is the result. If the column is doubled, the result is halved, again apart from the
# $\varepsilon$: $\hat{x}$ stays as it is, and the root by which your formula divides is twice as
# large.
#
# </details>
#
# **You can now** take a layer in which everything depends on everything, draw its graph, count the
# arrows, and arrive at a single line. You know which two directions a normalisation blocks, who
# divides by $n$ and who by $n - 1$, and how to teach autograd a formula.
#
# You can derive layer normalisation, instance normalisation and RMSNorm in the same stages. They
# divide by $n$ and sum along other axes, and RMSNorm leaves out the mean. (In layer normalisation
# and RMSNorm the gain differs from term to term of the sums, so you cannot take it out in front,
# and $\mathrm{d}\hat{x}$ stays in the place of $\gamma\,\mathrm{d}y$.)
#
# **Where next?** In notebook **04** all the pieces come together: the embedding from 01, the
# cross-entropy from 02, and the line that you have just written.
#
# In a terminal, `grader check 03_fused_batchnorm.ipynb` says the same as the cells above.
