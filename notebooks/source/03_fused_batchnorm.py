# %% [markdown]
# # 3 · Batch normalisation in one step
#
# {{ colab }}
#
# In notebook 01 you went backwards through batch normalisation in seven small steps. Here the layer
# is one formula, and its gradient becomes one formula too. The derivation takes a page. It is the
# longest of this course and the most rewarding, because so much of it cancels; people who have done
# it once are not afraid of any layer any more.
#
# - **Time:** two to three hours. Half of it with pencil and paper, before you type anything.
# - **You need:** notebook 01, part 4 (the three rules) and section 5.6; what a mean and a variance
#   are; the slope of a power. Notebook 02 is a good warm-up.
# - **Afterwards you can:** derive the gradient of a layer in which the examples of a batch depend
#   on each other, turn sums with indices into broadcasting, say which variance the paper,
#   `torch.var` and `BatchNorm1d` compute, and give PyTorch a backward pass of your own.
#
# The way there: **part 1** writes the layer as one expression, **part 2** draws its graph and
# counts the arrows, **part 3** does gain and bias, **part 4** is the derivation, in four stages
# with a check after each, **part 5** settles the matter of $n$ and $n - 1$, and in **part 6** your
# formula becomes a part of PyTorch.
#
# Run the next two cells first.

# %%
# {{ cell: setup }}

# %%
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F

from grader import board, check, figures
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
# What the rest of the network does with the result is not our business here. All we need of it is
# the gradient that comes back, `dhpreact`. In notebook 01 you computed it; now we take it as given.


# %%
def rest_of_the_network(hpreact):
    return F.cross_entropy(torch.tanh(hpreact) @ W2 + b2, Yb)


hpreact = in_one_expression(hprebn, bngain, bnbias).requires_grad_()
(dhpreact,) = torch.autograd.grad(rest_of_the_network(hpreact), hpreact)
print("dhpreact:", tuple(dhpreact.shape))

# %% [markdown]
# For the derivation the expression is a bit too much at once. In the paper by Ioffe and Szegedy
# (2015) it has four lines. For a column of numbers $x_1, \dots, x_n$, one for each example, they
# are the mean, the variance, the normalised numbers $\hat{x}_i$ (say *x-hat*), and these scaled and
# shifted:
#
# $$\begin{aligned}
# \mu &= \frac1n \sum_i x_i \\
# \sigma^2 &= \frac{1}{n-1} \sum_i (x_i - \mu)^2 \\
# \hat{x}_i &= (x_i - \mu)\,(\sigma^2 + \varepsilon)^{-1/2} \\
# y_i &= \gamma\,\hat{x}_i + \beta
# \end{aligned}$$
#
# (The paper divides by $n$ in the second line. Part 5 is about that.) In code $x$ is `hprebn`, $y$
# is `hpreact`, $\gamma$ and $\beta$ are `bngain` and `bnbias`, and $\sigma^2$ is `var`.
# $\varepsilon$ is a fixed number, written `1e-5`, which keeps the power finite where all numbers of
# a column are equal. It is part of the formula, forward and backward. `mu` and `var` are rows of
# shape (1, 64), with one number for each column; `xhat` is a matrix, (32, 64).

# %%
n = hprebn.shape[0]
mu = 1 / n * hprebn.sum(0, keepdim=True)
var = 1 / (n - 1) * ((hprebn - mu) ** 2).sum(0, keepdim=True)
xhat = (hprebn - mu) * (var + 1e-5) ** -0.5
hpreact = bngain * xhat + bnbias
loss = (dhpreact * hpreact).sum()

# %%
one_expression = in_one_expression(hprebn, bngain, bnbias)
print("the lines and the expression agree:", torch.allclose(hpreact, one_expression, atol=1e-6))

# %% [markdown]
# The line after those four, `loss`, is a stand-in for the rest of the network. It is not the
# network's loss, but it has the right slope: each number of `hpreact` is multiplied by the number
# of `dhpreact` at its place, so the gradient that arrives at `hpreact` is exactly `dhpreact`. That
# is all a layer ever learns about what comes after it.

# %% [markdown]
# # Part 2 · Count the arrows
#
# Here is one column, drawn with all its arrows. An arrow means "goes into the formula of".

# %%
figures.batchnorm_arrows()

# %% [markdown]
# *All arrows run forwards; the colour says at which kind of node an arrow begins. The dots stand
# for the examples 3 to 31, with arrows like those of their neighbours.*
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
# The same as a board. Its arrows run backwards, as the gradients do, so that now the arrows which
# *arrive* are those to count: three at `dhprebn`. A box is a whole tensor here, so the 32 arrows
# between $\mu$ and the $\hat{x}_i$ are one, and two arrive at `dmu`: one for the 32, one for the
# 33rd. `dhpreact` is given.

# %%
board("ex3")

# %% [markdown]
# # Part 3 · Gain and bias
#
# You have done these two in notebook 01, so consider them a stretch before the run. $\gamma$ and
# $\beta$ go into all 32 of the $y_i = \gamma\,\hat{x}_i + \beta$, each of the 64 columns having its
# own. What stands ready in this notebook's answers: the tensors of the lines above, `n`,
# `n_hidden`, and what you have found so far. The check works as in notebook 01: it runs your lines
# on hidden batches of other sizes as well, so write `n`, not 32.
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
# (Here and further on: a check may fail although `maxdiff` is below $10^{-6}$, even where it says
# *approximate*. That is no rounding, which would be near $10^{-9}$. Compare the base of your power
# with the forward line's, to the last term.)
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
m = torch.linspace(0, 6, 121)
measured_from_m = ((column[:, None] - m) ** 2).sum(0) / 2

fig, axes = plt.subplots()
axes.plot(m, measured_from_m)
axes.plot([1.5, 4.5], [7, 7], "--", color="C1", label="the tangent there")
axes.plot(3, 7, "o", color="C1", label="the mean")
axes.set(title="the variance of (1, 2, 6), measured from m", xlabel="m", ylim=(0, 22))
axes.legend(loc="upper center")
plt.show()

print("it is smallest at m =", round(m[measured_from_m.argmin()].item(), 2))

# %% [markdown]
# *A parabola. Its lowest point is at the mean, 3, and there its tangent is level.*
#
# The mean is the place from which the sum of squares is smallest, and at the lowest point of a
# curve the slope is zero. Measured from any other place the variance would have a slope, and the
# arrow would carry something. But $\mu$ always *is* the mean.
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
# \mathrm{d}\sigma^2 &= -\tfrac12\,(\sigma^2+\varepsilon)^{-3/2}
# \sum_j \mathrm{d}\hat{x}_j\,(x_j - \mu) .
# \end{aligned}$$
#
# With $n = 3$ and $i = 2$, for instance, the first sum is $\mathrm{d}\hat{x}_1 +
# \mathrm{d}\hat{x}_2 + \mathrm{d}\hat{x}_3$, although it is $x_2$ that we ask about. This is what
# makes the layer special: what arrives at the examples 1 and 3 has a say in the gradient of example
# 2. With $i$ for both, nobody could tell our own example from all the others.
#
# **Three slopes.** The arrows that leave $x_i$ have these:
#
# | to | slope |
# | :-- | :-- |
# | $\hat{x}_i = (x_i - \mu)\,(\sigma^2+\varepsilon)^{-1/2}$ | $(\sigma^2+\varepsilon)^{-1/2}$ |
# | $\mu = \frac1n \sum_j x_j$ | $\frac1n$ |
# | $\sigma^2 = \frac{1}{n-1} \sum_j (x_j - \mu)^2$ | $\frac{2}{n-1}\,(x_i - \mu)$ |
#
# In the last two the sum is gone, because only one of its terms contains our $x_i$: the one with
# $j = i$. And along one arrow, what the other arrows carry is held fixed; that is why $\mu$ counts
# as a constant in the first and the third. The chain rule, one product for each arrow:
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
#    The power is the product of three factors $(\sigma^2+\varepsilon)^{-1/2}$. Give one to each of
#    the brackets: they become $\hat{x}_i$ and $\hat{x}_j$, and one such factor is left over. (And
#    $-\tfrac12 \cdot 2 = -1$.)
# 3. Now $(\sigma^2+\varepsilon)^{-1/2}$ is in every term as well. Take
#    $\gamma\,(\sigma^2+\varepsilon)^{-1/2} / n$ out of all three. Taking out $\frac1n$ leaves an
#    $n$ behind wherever there was no $\frac1n$.
#
# Your result has this form, and the boxes are for you to fill in:
#
# $$\mathrm{d}x_i = \frac{\gamma\,(\sigma^2+\varepsilon)^{-1/2}}{n}
# \Big[\; n\,\mathrm{d}y_i \;-\; \Box \;-\; \Box\;\hat{x}_i\;\Box \;\Big]$$
#
# The first box is a sum over $j$, the second a fraction made of $n$ and $n - 1$, the third another
# sum over $j$. *Do not go on before you have filled them in.*
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
# and a variance with example 1. Add the three up, too: after 4.5 we come back to that.

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
# form resists, write the three terms of 4.4 with `dxhat`, `dvar` and `dmu` first, see them pass,
# and then fuse.)
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
# A wrong one? Draw where: `from grader import heat_map`, then `heat_map("dhprebn")`, in a cell of
# your own. Rounding would leave a `maxdiff` near $10^{-9}$; anything much larger is a mistake.
#
# <details>
# <summary>What the picture says</summary>
#
# - Stripes, each of one colour from top to bottom: every example of a column lacks the same number.
#   Look at the first box.
# - Rows stand out as well as columns: a sum along the wrong axis.
# - Some columns are wrong, the others nearly right: the gain, which is close to 1 in most columns.
# - Speckled all over: the power in front, or the second box. (With a plain 1 in that box `maxdiff`
#   is as small as $3 \cdot 10^{-5}$.)
#
# </details>

# %%
board()

# %% [markdown]
# **Worth noticing: two directions are missing.** Think of one column of `dhprebn` as a vector with
# 32 coordinates. How much it has in common with another such vector is told by their *dot product*:
# multiply place by place, add up. Divided by both lengths it is 1 for vectors of the same direction
# and 0 for two at right angles.
#
# Your bracket takes what arrives and subtracts two things. The first makes each column add up to
# zero, and its sum is its dot product with $(1, 1, \dots, 1)$. The second removes whatever points
# along $\hat{x}$. Autograd's gradient shows both:

# %%
watched = hprebn.clone().requires_grad_()
normalised = in_one_expression(watched, bngain, bnbias)
(gradient,) = torch.autograd.grad((normalised * dhpreact).sum(), watched)

size = gradient.norm(dim=0)
along_ones = (gradient.sum(0) / n**0.5 / size).abs().max()
along_xhat = ((gradient * xhat).sum(0) / xhat.norm(dim=0) / size).abs().max()
print("nothing points along (1, 1, ..., 1):", bool(along_ones < 1e-3))
print("nothing points along x-hat:", bool(along_xhat < 1e-3))

# %% [markdown]
# It has to be so. Add the same number to a whole column: the mean swallows it. Stretch the whole
# column away from its mean: the variance swallows it. The layer's output does not change, so the
# loss does not, so the gradient in these two directions is zero (for the second, up to the little
# $\varepsilon$). A layer before batch normalisation cannot gain anything by shifting or stretching.
#
# The other 30 directions of a column's 32 get through. Here are all slopes
# $\partial\hat{x}_i / \partial x_j$ of one unit, 32 outputs by 32 inputs:

# %% tags=["data-dependent"]


def normalise(x):
    return (x - x.mean()) / torch.sqrt(x.var() + 1e-5)


unit = 0
slopes = torch.autograd.functional.jacobian(normalise, hprebn[:, unit])
off_diagonal = slopes - torch.diag(slopes.diag())

fig, (every, others) = plt.subplots(1, 2, figsize=(7.6, 3.5), layout="constrained")
for axes, values, title in (
    (every, slopes, "all slopes"),
    (others, off_diagonal, "without the diagonal"),
):
    limit = values.abs().max()
    image = axes.imshow(values, cmap="RdBu_r", vmin=-limit, vmax=limit)
    axes.grid(visible=False)
    axes.set(title=title, xlabel="moved: example j", ylabel="changes: example i")
    fig.colorbar(image, shrink=0.8)
plt.show()

print("every example depends on every other:", bool((off_diagonal != 0).sum() == n * (n - 1)))

# %% [markdown]
# *Red: raise one input, and that output rises; blue: it falls. Left, a strong diagonal on a nearly
# white ground. Right, on a finer scale and with the diagonal left out, the ground alone: mostly
# pale blue, with darker rows and columns woven into it.*
#
# On the diagonal each example talks to itself. Off it, they talk to each other, on average roughly
# a thirtieth as loudly: through the mean (the pale blue, the same for all) and through the variance
# (the woven pattern; examples far from the mean talk loudest). Without batch normalisation the
# right picture would be white. This coupling is a kind of noise, since each example's batch is
# drawn at random. It regularises a little, it has caused many a bug, and layer normalisation was
# invented to be rid of it.
#
# <details>
# <summary>The formula of this picture, once your check says <em>pass</em></summary>
#
# With $\gamma = 1$ your formula is a sum over all the $y$, slope times what arrives. Read the
# slopes off it; $\delta_{ij}$ is 1 where $i = j$ and 0 elsewhere:
#
# $$\frac{\partial\hat{x}_i}{\partial x_j} = (\sigma^2+\varepsilon)^{-1/2}
# \Big[\, \delta_{ij} - \frac1n - \frac{\hat{x}_i\,\hat{x}_j}{n-1} \,\Big] .$$
#
# It stays the same when $i$ and $j$ change places, so the picture is its own mirror image. And why
# $n - 1$? To remove what points along $\hat{x}$, one has to divide by the square of its length, and
# the squares of the $\hat{x}_j$ add up to $n - 1$ (nearly: there is the $\varepsilon$).
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
# `BatchNorm1d` does not say which one it used, but its output does: a gain of 1 and a bias of 0,
# with which the layer begins, make it $\hat{x}_i = (x_i - 3)\,(\text{variance} +
# \varepsilon)^{-1/2}$. So the variance is the square of $(x_i - 3)/\hat{x}_i$, less $\varepsilon$.

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
# used to be written, `unbiased=False`).
#
# The paper and PyTorch train with one variance and then use the network with another. What that
# means you can see by giving the layer the same three numbers again, once the training is over:

# %%
layer.eval()
later = layer(column[:, None]).detach()[:, 0]
print("while training:", [f"{value:.3f}" for value in output.tolist()])
print("afterwards:    ", [f"{value:.3f}" for value in later.tolist()])

sizes = torch.arange(2, 65)
fig, axes = plt.subplots()
axes.plot(sizes, torch.sqrt((sizes - 1) / sizes))
axes.plot(3, (later / output)[0], "o", label="the three numbers above")
axes.set(title="output afterwards / output while training", xlabel="batch size", ylim=(0.65, 1.02))
axes.legend(loc="lower right")
plt.show()

# %% [markdown]
# *The curve rises from 0.71 for a batch of two towards 1; the dot for three lies on it, at 0.82. At
# 32 it has reached 0.98.*
#
# For large batches nobody notices. With two or three numbers in a column, training and use differ
# by 20 or 30 per cent. (For images the pixels of all examples are counted together, so there are
# many numbers even where the batch is small.) Dividing by $n - 1$ in both places, as we do, or by
# $n$ in both, would settle it; but it was decided otherwise in 2015, and many a trained network
# depends on it now.
#
# **One more, without a check.** How would your formula look with $n$ in the variance? Follow the
# $n - 1$ through section 4.4: it enters in one place only.
#
# <details>
# <summary>An answer</summary>
#
# The fraction $\frac{n}{n-1}$ in the second box becomes $\frac{n}{n} = 1$, and nothing else changes
# but the number $\sigma^2$. A formula that was derived for the paper's layer, or for PyTorch's, has
# no fraction.
#
# </details>
#
# If you ever compare your own layer with somebody else's and the gradients agree to two digits but
# not to five, this is the place to look first.

# %% [markdown]
# # Part 6 · A backward pass of your own
#
# PyTorch lets you bring a formula of your own: a class with a `forward`, which may save some
# tensors for later, and a `backward`, which is handed what arrives and returns a gradient for each
# input of `forward`, in the same order. What is saved travels from the one to the other in `ctx`,
# the *context*. No object of the class is ever made, hence `@staticmethod`; one calls
# `BatchNorm.apply(...)`. From then on autograd uses your formula as if it had always been there.
#
# The next cell is not graded. Move your three formulas into it. `dhpreact`, `xhat`, `var`, `bngain`
# and `n` stand ready under the usual names, and with them the fused form has all it needs. The form
# with three terms does not: `hprebn`, `dxhat`, `dvar` and `dmu` would be this notebook's tensors,
# not those of the call.
#
# Then let another judge speak: `gradcheck` compares a backward pass with central differences, the
# tool of notebook 01's part 2, number by number.


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


# %%
small = [
    tensor[:, :3].double().requires_grad_()  # few numbers, in float64: differences need both
    for tensor in (hprebn[:8], bngain, bnbias)
]
try:
    torch.autograd.gradcheck(BatchNorm.apply, small)
except RuntimeError as trouble:
    is_blank = "ellipsis" in str(trouble)  # what autograd calls a `...`
    first_line = str(trouble).partition("\n")[0]
    print("BatchNorm.backward | to do" if is_blank else f"BatchNorm.backward | fail: {first_line}")
else:
    print("BatchNorm.backward | passes gradcheck")
    watched = hprebn.clone().requires_grad_()
    value = rest_of_the_network(BatchNorm.apply(watched, bngain, bnbias))
    (through_yours,) = torch.autograd.grad(value, watched)
    same = torch.allclose(through_yours, gradient, atol=1e-7)
    print("in the network, the same gradient as autograd's:", same)

# %% [markdown]
# (It says *to do* until all three are there. Where it fails, `gradcheck` numbers the inputs: 0 is
# `hprebn`, 1 is `bngain`, 2 is `bnbias`.)
#
# Eight rows and three columns are enough, and better than all of them: with so few examples the
# difference of $n$ and $n - 1$ is large, so that `gradcheck`, which tolerates one part in a
# thousand, is sure to see it.
#
# Look at what `forward` saves: `xhat`, `var` and the gain. Autograd, left to itself, would save
# something for nearly every operation of the expression. A formula of one's own needs less memory
# as well as less time, and in large networks memory is what runs out first.

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
# cross-entropy from 02, and the line you have just written. Twenty lines, no `loss.backward()`, and
# a network that learns to make up names.
#
# In a terminal, `grader check 03_fused_batchnorm.ipynb` says the same as the cells above.
