# %% [markdown]
# # 1 · Backpropagation, one small step at a time
#
# {{ colab }}
#
# You are going to write the backward pass of a neural network by hand: every gradient, from the
# loss at the end back to the table of letters at the beginning. The network is small (it reads
# three letters of a name and guesses the fourth), but nothing in it is a toy. Embedding, linear
# layers, batch normalisation, tanh, softmax and cross-entropy are all there, and after today none
# of them will be a black box.
#
# PyTorch could give you all these gradients with one call. Here it gives you none; it only
# checks.
#
# - **Time:** about four hours, in as many sittings as you like. One hour for parts 1 to 4, the
#   rest for part 5, which comes in nine pieces.
# - **You need:** Python; a first acquaintance with PyTorch tensors (`shape`, indexing, `sum`,
#   `@`); the chain rule for functions of one variable. You have called `loss.backward()` before.
# - **Afterwards you can:** write down the backward step of any line of tensor code, find your
#   mistakes by looking at shapes, test a gradient without trusting anybody's calculus, and say
#   what softmax and batch normalisation do to a gradient and why.
#
# The way there: **part 1** shows what goes wrong in networks whose gradients nobody looked at,
# **part 2** finds slopes without any calculus, **part 3** builds the network, **part 4** puts the
# whole method on one page, and in **part 5** you do the work, with a drawing, a small example on
# paper, and three hints for each gradient.
#
# Run the next two cells first.

# %%
# {{ cell: setup }}

# %%
import math

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F

from grader import board, check, cmp, figures, heat_map, hint
from makemore_data import (
    LECTURE_SEED,
    Parameters,
    atomic,
    build_splits,
    build_vocabulary,
    build_windows,
    init_parameters,
    load_names,
)

figures.use_course_style()

# %% [markdown]
# # Part 1 · Why look inside at all?
#
# Autograd works so well that one can train networks for years without ever seeing a gradient. The
# trouble is that a gradient that has gone bad raises no exception. The code runs, the loss goes
# down a little, and the network is quietly worse than it could be. An abstraction that shows its
# insides only when things go wrong is called *leaky*, and backpropagation leaks in a few famous
# places. Here are four of them. You need no theory for them yet, just one sentence:
#
# > On the way back, each step multiplies the gradient that arrives by its own slope and hands the
# > product on.
#
# ## 1.1 A saturated unit lets nothing through
#
# The slope of tanh is 1 in the middle and nearly 0 on both sides. The slope of the sigmoid is at
# best 1/4.

# %%
x = torch.linspace(-6, 6, 241, requires_grad=True)

fig, (values, slopes) = plt.subplots(1, 2)
for name, function, line in (("tanh", torch.tanh, "-"), ("sigmoid", torch.sigmoid, "--")):
    y = function(x)
    (slope,) = torch.autograd.grad(y.sum(), x)  # each y depends on its own x only
    values.plot(x.detach(), y.detach(), line, label=name)
    slopes.plot(x.detach(), slope, line, label=name)
values.set(title="the function", xlabel="x")
slopes.set(title="its slope: what passes backwards", xlabel="x")
slopes.legend()
plt.show()

for point in (0.0, 2.0, 5.0):
    print(f"tanh at x = {point:.0f} lets {1 - math.tanh(point) ** 2:.2%} of the gradient pass")

# %% [markdown]
# *Left, the two S-shaped curves; right, their slopes, two bells: tanh's is 1 high, the sigmoid's
# 0.25, and both are flat at zero beyond x = ±5.*
#
# A unit whose input has drifted to 5 is **saturated**: it reports 1 for practically every
# example, and whatever the loss has to say about it is multiplied by less than a five-thousandth
# on the way back. Everything between it and the inputs starves. Large weights at the start are
# the usual cause, and batch normalisation, which you will take apart in part 5, is the usual
# cure. As for the sigmoid, ten layers of it multiply the gradient by $(1/4)^{10}$, about a
# millionth, *at best*.
#
# ## 1.2 A dead unit never comes back
#
# The rectifier, `relu(x) = max(x, 0)`, does not saturate on the right. On the left its slope is
# exactly zero. If one careless update pushes a unit so far that it is negative for *every*
# example, no gradient reaches its weights any more; so they do not change; so it stays negative.
#
# Let us be careless: a layer of 40 units, one step with a learning rate that is too large.

# %%
generator = torch.Generator().manual_seed(0)
inputs = torch.rand(100, 10, generator=generator)
targets = torch.rand(100, 1, generator=generator)
weights = (torch.randn(10, 40, generator=generator) / 10**0.5).requires_grad_()
readout = torch.randn(40, 1, generator=generator) / 40**0.5


def hidden_layer():
    return torch.relu(inputs @ weights)


def error():
    return ((hidden_layer() @ readout - targets) ** 2).mean()


before = hidden_layer().detach() > 0
(gradient,) = torch.autograd.grad(error(), weights)
with torch.no_grad():
    weights -= 30 * gradient  # far too large
after = hidden_layer().detach() > 0

by_activity = after.sum(0).argsort(descending=True)
fig, panels = plt.subplots(1, 2, sharey=True)
for panel, fires, title in zip(panels, (before, after), ("before", "after one step"), strict=True):
    panel.imshow(fires[:, by_activity], cmap="gray", aspect="auto", interpolation="nearest")
    panel.set(title=title, xlabel="unit")
    panel.grid(visible=False)
panels[0].set_ylabel("example")
plt.show()

dead = ~after.any(0)
(gradient,) = torch.autograd.grad(error(), weights)
print(f"dead units: {(~before.any(0)).sum()} before, {dead.sum()} after")
print("the dead units' weights have a gradient of exactly zero:", not gradient[:, dead].any())

# %% [markdown]
# *Each column is a unit, each row an example; white where the unit fires. After the step a block
# of columns on the right is black from top to bottom.*
#
# Some units can be dead from the first day on, by bad luck in the initialisation. Smaller steps
# make it rarer, and so do rectifiers that keep a little slope on the left (leaky ReLU).
#
# ## 1.3 Sixty multiplications
#
# A recurrent network applies the same weight matrix at every time step. Backwards, the gradient
# is multiplied by the same matrix, turned over (*transposed*, in code `.T`), once for each step.
# Multiply a number by 0.8 sixty times and little is left; multiply it by 1.2 sixty times and it
# is enormous. With a matrix, the size of its largest eigenvalue plays the part of that number.

# %%
generator = torch.Generator().manual_seed(1)
recurrent = torch.randn(64, 64, generator=generator)
recurrent /= torch.linalg.eigvals(recurrent).abs().max()  # its largest eigenvalue: size 1
at_the_end = torch.randn(64, generator=generator)

fig, axes = plt.subplots()
for size, line in ((0.8, "--"), (1.0, "-"), (1.2, ":")):
    gradient, norms = at_the_end, []
    for _ in range(60):
        gradient = (size * recurrent).T @ gradient
        norms.append(gradient.norm() / at_the_end.norm())
    axes.semilogy(range(1, 61), norms, line, label=f"largest eigenvalue {size}")
    vanished, exploded = norms[-1] < 1e-5, norms[-1] > 1e3
    print(f"largest eigenvalue {size}: vanished {vanished}, exploded {exploded}")
axes.set(title="the gradient's length, relative to its start", xlabel="steps back in time")
axes.legend()
plt.show()

# %% [markdown]
# *Three lines on a logarithmic scale: with eigenvalue 0.8 the gradient falls steadily, with 1.2
# it climbs as steadily, with 1 it soon stays level.*
#
# The first is called a **vanishing** gradient: what happened sixty steps ago cannot be learnt
# from. The second is an **exploding** one: a single update ruins the weights. Residual
# connections, gated units and careful initialisation keep the factor near 1; clipping, next,
# limits the damage.
#
# ## 1.4 Clip the gradient, not the loss
#
# Exploding gradients are kept in check by *clipping*: if the gradient is larger than some limit,
# make it smaller. In a hurry one might clip the loss instead, with `loss.clamp(max=...)`. This
# has happened in published code, and it does not merely work less well. It does the opposite of
# what was meant.
#
# Take a world with two letters, one common (95 of 100), one rare (5 of 100), and a model that is
# two logits. It starts out convinced that the rare letter hardly exists.

# %%
letters = torch.tensor([0] * 95 + [1] * 5)


def probability_of_the_rare_letter(style, n_steps=200):
    """The model's belief in the rare letter after each training step."""
    model = torch.tensor([6.0, 0.0], requires_grad=True)
    beliefs = []
    for _ in range(n_steps):
        losses = F.cross_entropy(model.expand(100, 2), letters, reduction="none")
        if style == "clamped loss":
            losses = losses.clamp(max=4.0)
        (gradient,) = torch.autograd.grad(losses.mean(), model)
        if style == "clipped gradient":
            gradient = gradient.clamp(-0.01, 0.01)
        with torch.no_grad():
            model -= 2.0 * gradient
        beliefs.append(model.softmax(0)[1].item())
    return beliefs


fig, axes = plt.subplots()
axes.axhline(0.05, color="grey", linewidth=1, label="the truth")
for style, line in (("plain", "-"), ("clipped gradient", "--"), ("clamped loss", ":")):
    beliefs = probability_of_the_rare_letter(style)
    axes.plot(beliefs, line, label=style)
    print(f"{style:<16} learns the rare letter: {abs(beliefs[-1] - 0.05) < 0.01}")
axes.set(title="belief in the rare letter", xlabel="training step", ylim=(0, 0.09))
axes.legend(ncols=2, loc="upper left")
plt.show()

# %% [markdown]
# *The plain loss reaches the truth, 5 %, soonest; with the clipped gradient the curve gets there
# more slowly; with the clamped loss it starts near zero and sinks.*
#
# Beyond its limit, `clamp` is a horizontal line, and a horizontal line has the slope zero. The
# five examples on which the model was most wrong are the only ones over the limit. They are the
# only ones that could have taught it something, and they are the only ones whose gradient is now
# zero.
#
# None of these four raises an exception. All of them are plain to see for anybody who follows a
# gradient backwards, and that is why we are here.

# %% [markdown]
# # Part 2 · Slopes without calculus
#
# Before autograd, people derived gradients on paper and typed them in. They made mistakes, and
# they had a way to find them that needs no calculus at all: move one number a little, and see how
# far the result moves.

# %%
figures.chords()

# %% [markdown]
# *The slope at* $x$ *is that of the dashed tangent. The orange chord looks ahead only and is too
# steep on this curve; the blue chord reaches equally far to both sides and is nearly parallel to
# the tangent.*
#
# The two chords have the slopes
#
# $$\frac{f(x+\delta)-f(x)}{\delta} = f'(x) + \tfrac{\delta}{2}\,f''(x) + \dots
# \qquad\text{and}\qquad
# \frac{f(x+\delta)-f(x-\delta)}{2\delta} = f'(x) + \tfrac{\delta^2}{6}\,f'''(x) + \dots$$
#
# With the **central difference** on the right, the terms in $\delta$ cancel by symmetry, so that a
# step ten times smaller makes the error a hundred times smaller. Then why not take a tiny step?
# Because a computer rounds. Let us look at a function whose slope we know,
#
# $$f(x) = x^2 \tanh x, \qquad f'(x) = 2x \tanh x + x^2\,(1 - \tanh^2 x).$$


# %%
def f(x):
    return x**2 * torch.tanh(x)


def slope_of_f(x):
    return 2 * x * torch.tanh(x) + x**2 * (1 - torch.tanh(x) ** 2)


def one_sided(function, x, step):
    return (function(x + step) - function(x)) / step


def central(function, x, step):
    return (function(x + step) - function(x - step)) / (2 * step)


point = torch.tensor(0.7, dtype=torch.float64)
steps = torch.logspace(0, -13, 105, dtype=torch.float64)
true_slope = slope_of_f(point)

errors = {
    "central, float64": (central(f, point, steps) - true_slope).abs(),
    "one-sided, float64": (one_sided(f, point, steps) - true_slope).abs(),
    "central, float32": (central(f, point.float(), steps.float()) - true_slope).abs(),
}
fig, axes = plt.subplots(figsize=(6.8, 3.8))
for (label, error_at), line in zip(errors.items(), ("-", "--", ":"), strict=True):
    axes.loglog(steps, error_at, line, label=label)
axes.set(xlabel="step δ  (small steps on the left)", ylabel="error of the slope", ylim=(1e-14, 20))
axes.legend()
plt.show()

good_step = (steps - 1e-5).abs().argmin()
for label, error_at in errors.items():
    print(f"{label:<19} at δ = 1e-5: the error is below 1e-9: {error_at[good_step] < 1e-9}")

# %% [markdown]
# *Each curve is a V. Coming from the right, the error falls with the step: a step ten times
# smaller makes the error ten times smaller for the one-sided difference, and a hundred times
# smaller for the central one. Then rounding takes over and the error climbs again as the step
# shrinks. The lowest point of the central curve in float64 lies near δ = 10⁻⁵. In float32 it is
# far higher and comes far earlier, and for the smallest steps* $x + \delta$ *is rounded to* $x$
# *itself: the slope found is 0.*
#
# To the right of the V's bottom you see the mathematics, $\delta$ and $\delta^2$. To the left you
# see the computer: $f(x+\delta)$ and $f(x-\delta)$ agree in nearly all their digits, their
# difference keeps only the few digits in which they do not, and what has been rounded away is then
# blown up by the division by $2\delta$. The two errors, $\delta^2$ and $\epsilon/\delta$ with
# $\epsilon \approx 10^{-16}$, are equally large where $\delta = \sqrt[3]{\epsilon}$, between
# $10^{-6}$ and $10^{-5}$. Two lessons are worth keeping: **check gradients in float64, and take a
# step near** $10^{-5}$.
#
# We shall come back with this tool to the network, as soon as there is one.

# %% [markdown]
# # Part 3 · The network
#
# ## 3.1 Names, letters, windows
#
# The model learns how first names are spelt. It sees three characters and predicts the next one;
# a dot stands for "before the beginning" and for "the end".

# %% tags=["data-dependent"]
names = load_names()
stoi, itos = build_vocabulary()
vocab_size = len(itos)
block_size = 3  # characters that the model sees

(Xtr, Ytr), (Xdev, Ydev), (Xte, Yte) = build_splits(names, block_size)
print(f"{vocab_size} characters; {len(Xtr):,} examples to train on")

example = build_windows(["ninja"], block_size)
for context, following in zip(example.X.tolist(), example.Y.tolist(), strict=True):
    print("".join(itos[i] for i in context), "is followed by", itos[following])

# %% [markdown]
# ## 3.2 Parameters and a batch
#
# The parameters are drawn from a generator with a fixed seed, so that your numbers are the same
# each time. One thing about them is unusual: biases mostly start at zero and gains at one, but
# here they are slightly off. Zeros and ones would hide mistakes. If a bias is 0, forgetting it
# makes no difference.
#
# One of the parameters, `b1`, turns out to be of no use at all. See whether you find out why
# before section 5.7 tells you.

# %%
n_embd = 10  # numbers that describe a character
n_hidden = 64  # units in the hidden layer
n = 32  # examples in a batch

g = torch.Generator().manual_seed(LECTURE_SEED)
parameters = init_parameters(
    g,
    vocab_size=vocab_size,
    n_embd=n_embd,
    n_hidden=n_hidden,
    block_size=block_size,
    requires_grad=True,
)
C, W1, b1, bngain, bnbias, W2, b2 = parameters
print(f"{sum(p.nelement() for p in parameters):,} parameters")

ix = torch.randint(0, Xtr.shape[0], (n,), generator=g)
Xb, Yb = Xtr[ix], Ytr[ix]

# %% [markdown]
# ## 3.3 The forward pass
#
# Here is the whole model, in steps so small that each line does one thing.
#
# 1. **Embedding.** Each of the three characters is replaced by its row of the table `C`, and the
#    three rows are laid side by side.
# 2. **Linear layer 1** turns these 30 numbers into 64.
# 3. **Batch normalisation** shifts and scales each of the 64 columns so that, over the batch, it
#    has mean 0 and variance 1, then lets the network choose another scale (`bngain`) and shift
#    (`bnbias`).
# 4. **tanh**, and **linear layer 2**, which gives 27 *logits* for each example.
# 5. **Cross-entropy.** The softmax turns a row $z$ of logits into probabilities,
#    $p_j = e^{z_j} / \sum_k e^{z_k}$, and the loss is the average of $-\ln p$ over the
#    characters that really came next. (Subtracting the row's maximum first changes nothing, as
#    section 5.3 will show, but it keeps the exponentials from overflowing.)
#
# The names in this cell are those of everything that follows, so give it a minute. A gradient is
# called after its tensor with a `d` before it: `dlogits` is the gradient of the loss with respect
# to `logits`.

# %%
n = Xb.shape[0]
# embedding and linear layer 1
emb = C[Xb]
embcat = emb.view(n, -1)
hprebn = embcat @ W1 + b1
# batch normalisation
bnmeani = 1 / n * hprebn.sum(0, keepdim=True)
bndiff = hprebn - bnmeani
bndiff2 = bndiff**2
bnvar = 1 / (n - 1) * bndiff2.sum(0, keepdim=True)
bnvar_inv = (bnvar + 1e-5) ** -0.5
bnraw = bndiff * bnvar_inv
hpreact = bngain * bnraw + bnbias
# non-linearity and linear layer 2
h = torch.tanh(hpreact)
logits = h @ W2 + b2
# cross-entropy, one small operation a line
logit_maxes = logits.max(1, keepdim=True).values
norm_logits = logits - logit_maxes
counts = norm_logits.exp()
counts_sum = counts.sum(1, keepdim=True)
counts_sum_inv = counts_sum**-1
probs = counts * counts_sum_inv
logprobs = probs.log()
loss = -logprobs[range(n), Yb].mean()

# %% [markdown]
# What comes out should be close to $\ln 27 \approx 3.3$, the loss of somebody who deals out the
# same probability to all 27 characters. And the last eight of the twenty small lines, those from
# the logits to the loss, should agree with PyTorch's own cross-entropy.

# %% tags=["data-dependent"]
print(f"near the loss of a blind guess: {abs(loss.item() - math.log(vocab_size)) < 0.5}")
print(f"equal to F.cross_entropy: {torch.allclose(loss, F.cross_entropy(logits, Yb))}")

# %% [markdown]
# Now autograd walks back through these lines once. Normally it throws the gradients of
# intermediate tensors away; `retain_grad` asks it to keep them, so that there is something to
# compare yours with.

# %%
intermediate = [
    *(emb, embcat, hprebn),
    *(bnmeani, bndiff, bndiff2, bnvar, bnvar_inv, bnraw, hpreact),
    *(h, logits, logit_maxes, norm_logits),
    *(counts, counts_sum, counts_sum_inv, probs, logprobs),
]
for tensor in intermediate:
    tensor.retain_grad()
for parameter in parameters:
    parameter.grad = None
# backward() frees what the forward pass kept: to run this again, run the forward cell first.
loss.backward()

# %% [markdown]
# All the shapes, for later. `n` is 32, the size of the batch.
#
# | part | tensors | shape | in numbers |
# | :-- | :-- | :-- | :-- |
# | batch | `Xb` | n, block_size | 32, 3 |
# | | `Yb` | n | 32 |
# | embedding | `C` | vocab_size, n_embd | 27, 10 |
# | | `emb` | n, block_size, n_embd | 32, 3, 10 |
# | | `embcat` | n, block_size · n_embd | 32, 30 |
# | linear 1 | `W1` | block_size · n_embd, n_hidden | 30, 64 |
# | | `b1` | n_hidden | 64 |
# | | `hprebn` | n, n_hidden | 32, 64 |
# | batch norm | `bngain`, `bnbias` | 1, n_hidden | 1, 64 |
# | | `bnmeani`, `bnvar`, `bnvar_inv` | 1, n_hidden | 1, 64 |
# | | `bndiff`, `bndiff2`, `bnraw`, `hpreact` | n, n_hidden | 32, 64 |
# | tanh | `h` | n, n_hidden | 32, 64 |
# | linear 2 | `W2` | n_hidden, vocab_size | 64, 27 |
# | | `b2` | vocab_size | 27 |
# | | `logits` | n, vocab_size | 32, 27 |
# | softmax | `logit_maxes`, `counts_sum`, `counts_sum_inv` | n, 1 | 32, 1 |
# | | `norm_logits`, `counts`, `probs`, `logprobs` | n, vocab_size | 32, 27 |
# | loss | `loss` | a single number | |
#
# ## 3.4 One weight, checked by hand
#
# Is autograd right? With part 2's tool nobody has to believe it. Take one of the 1,920 numbers in
# `W1`, move it a little to either side, and run the whole network each time. The forward cell
# above also exists as a function, `atomic(Xb, Yb, C, W1, ...)`; here it gets all parameters in
# float64.

# %% tags=["data-dependent"]
in_float64 = Parameters(*(p.detach().double() for p in parameters))
row, column = 4, 7


def loss_with(weight):
    """The loss, with the one chosen element of W1 set to `weight`."""
    changed = in_float64.W1.clone()
    changed[row, column] = weight
    return atomic(Xb, Yb, *in_float64._replace(W1=changed))


watched = in_float64.W1.clone().requires_grad_()
(by_autograd,) = torch.autograd.grad(atomic(Xb, Yb, *in_float64._replace(W1=watched)), watched)

steps = torch.logspace(0, -11, 45, dtype=torch.float64)
weight = in_float64.W1[row, column]
errors = {
    "central": [central(loss_with, weight, step) for step in steps],
    "one-sided": [one_sided(loss_with, weight, step) for step in steps],
}
fig, axes = plt.subplots()
for (label, found), line in zip(errors.items(), ("-", "--"), strict=True):
    relative = (torch.stack(found) / by_autograd[row, column] - 1).abs()
    axes.loglog(steps, relative, line, label=label)
    good = relative[(steps - 1e-5).abs().argmin()] < 1e-7
    print(f"{label:<9} at δ = 1e-5: agrees with autograd to 7 digits: {good}")
axes.set(xlabel="step δ", ylabel="relative error")
axes.legend()
plt.show()

# %% [markdown]
# *The same two V's as before, for a network instead of a formula.*
#
# So autograd is right about this weight. What did it cost? Two forward passes, for one number.
# All 4,137 parameters would take 8,274 forward passes, for every single training step. Autograd
# needs one walk backwards, which costs about as much as two forward passes and yields *all* the
# gradients. That factor of some thousands, which grows with the network, is why backpropagation
# is the engine of the whole field. Numerical slopes remain what they always were: a slow, honest
# witness.

# %% [markdown]
# # Part 4 · The method on one page
#
# `dX` always means $\partial\,\text{loss} / \partial X$: for each number in `X`, how fast the
# loss grows when that number grows. Three rules are enough for everything that follows.
#
# **Rule 1: local slope times what arrives.** A step `y = f(x)` knows nothing about the rest of
# the network. It is told `dy`, how much the loss cares about its output; it knows its own slope;
# the product is how much the loss cares about its input.
#
# What *arrives* at a step always comes **from the side of the loss**, and what the step hands on
# goes towards the letters. Where that is on the page changes: code begins with the letters and
# ends with the loss, so that its backward pass begins with the last line. From now on *above* and
# *below* are places on the page, and the way of a gradient is *back*, from the loss to the
# letters.

# %%
figures.one_step()

# %% [markdown]
# *Blue runs forward, orange backward, in this drawing and in all drawings of steps that follow.
# (The board and the plots of numbers have colours of their own.)*
#
# **Rule 2: where paths meet, gradients add.** If two lines read the same tensor, it influences
# the loss along two paths, and the two influences add up. This is the rule that people forget
# most often. Before you write down `dX`, look for *every* line that has `X` on its right-hand
# side.

# %%
figures.forks()

# %% [markdown]
# *Forward, x is copied to two readers. Backward, what the two send back is added.*
#
# **Rule 3: a gradient has the shape of its tensor.** There is one slope for each number in `X`,
# so `dX.shape == X.shape`, without exception. Most mistakes show up here first.
#
# ## A warm-up with three lines
#
# Take $u = 2$ and $v = -3$, and compute
#
# $$w = u\,v, \qquad s = w + u, \qquad t = s^2 .$$
#
# Forward: $w = -6$, $s = -4$, $t = 16$. Now backward, starting from the end, where
# $\mathrm{d}t = 1$ because $t$ plays the part of the loss. Cover the cell below and try; mind
# that $u$ is read twice.

# %%
u = torch.tensor(2.0, requires_grad=True)
v = torch.tensor(-3.0, requires_grad=True)
w = u * v
s = w + u
t = s**2
for tensor in (w, s):
    tensor.retain_grad()
t.backward()

ds = 2 * s  # the slope of a square, times dt = 1
dw = ds  # a sum passes on what arrives
dv = u * dw  # a product passes it on times the *other* factor
du = v * dw + ds  # two readers: the product and the sum

for name, mine, tensor in (("ds", ds, s), ("dw", dw, w), ("dv", dv, v), ("du", du, u)):
    cmp(name, mine, tensor)

# %% [markdown]
# `cmp` puts your gradient beside autograd's. *Exact* means equal to the last bit, *approximate*
# equal up to rounding, and *maxdiff* is the largest difference between a number of yours and
# autograd's at the same place. For what follows, approximately equal is perfectly good.
#
# ## How part 5 works
#
# Each piece has an **answer cell**, in which you replace the `...`, and below it a **check
# cell**. Run the one, then the other. You may use everything the forward pass has computed and
# every gradient you have already found. No `.grad` and no `backward()`, of course.
#
# The check does more than `cmp`. It runs your lines again on hidden networks of other sizes, so
# write `n` or ask a tensor for its `.shape` where you are tempted to write 32. It also judges
# each line by itself, with random numbers in place of the gradient that arrives. That is why it
# can say who is to blame.
#
# For this your answer cells run **alone**, one after the other, without the rest of the notebook.
# They find `torch` and `F`, every name of the forward cell, and the sizes `n`, `block_size`,
# `vocab_size`, `n_embd` and `n_hidden`, and nothing else. Whatever your lines need besides, a
# function of your own or an `import`, must stand in an answer cell too.
#
# | verdict | what it means |
# | :-- | :-- |
# | pass | It is right. |
# | carried | Your line is right, but the gradient that arrived was wrong. Mend that one. |
# | fail | This line is wrong. The check names it and, where it can, says what is wrong. |
# | error | It raised an exception, or gave something that is no gradient. |
# | refused | Autograd was asked for the answer. |
# | to do | Nothing there yet. |
#
# What it can say is, for instance, that one of two contributions is missing, that a sum runs over
# the wrong axis, or that two of your names stand for one and the same tensor. The grader knows the
# forward pass and looks for the *one* mistake that gives your numbers; where it finds none, it says
# nothing more. `hint("dlogits")`, in a cell of your own, gives the three hints one at a time. When
# you cannot see where the error is, let it be drawn:
#
# ```python
# heat_map("dlogits")
# ```
#
# Each field of the picture is one number, yours minus autograd's: blue where yours is too small,
# orange where it is too large.
#
# The **board** is the graph of all 26 gradients, and it fills up as you go. It begins with the
# loss, and its arrows run back, as the gradients do: those that arrive at `dcounts` come from the
# lines that read `counts`. Where two arrows meet, two contributions add up.

# %%
board()

# %% [markdown]
# # Part 5 · From the loss back to the letters
#
# ## 5.1 The loss
#
# ```python
# loss = -logprobs[range(n), Yb].mean()
# ```
#
# `logprobs` is (32, 27). From row $i$ the loss reads the one number in column `Yb[i]`, the
# log-probability of the character that really came next. It averages these 32 numbers and changes
# the sign.
#
# **On paper.** Three examples and four characters will do. Suppose the right characters are the
# third, the first and the fourth:

# %%
figures.picked_entries()

# %% [markdown]
# *Left, the three entries that the loss reads; right, the gradient.*
#
# Why $-\tfrac13$: raise $a_{13}$ by a little $\varepsilon$, and the sum in the numerator grows by
# $\varepsilon$, the mean by $\varepsilon/3$, and minus the mean falls by that. Raise $a_{12}$:
# nothing happens at all.
#
# **Your turn.** Nothing arrives here, for the loss itself is the end; that is,
# $\mathrm{d}\text{loss} = 1$, as $\mathrm{d}t$ was in the warm-up.
#
# **`dlogprobs`** (32, 27). Which numbers does the loss read, and with what weight each?
#
# {{ hints: dlogprobs }}

# %%
# answer: ex1-loss
### BEGIN SOLUTION
dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1 / n
### END SOLUTION

# %%
# check: ex1-loss
check("dlogprobs")

# %% [markdown]
# **Worth noticing.** Of 864 numbers only 32 are not zero, and together they make -1. The loss
# complains about the right characters' probabilities alone; it says nothing about the wrong ones.
# Yet the network does learn to make wrong characters less likely. How do they hear of it? Through
# the next section: the probabilities of a row share a denominator.

# %%
nonzero = (logprobs.grad != 0).sum()
print(f"{nonzero} of {logprobs.nelement()} numbers are not zero")
print(f"their sum: {logprobs.grad.sum():.3f}")

# %% [markdown]
# ## 5.2 The softmax
#
# ```python
# counts_sum = counts.sum(1, keepdim=True)
# counts_sum_inv = counts_sum**-1
# probs = counts * counts_sum_inv
# logprobs = probs.log()
# ```
#
# `counts`, `probs` and `logprobs` are (32, 27); `counts_sum` and `counts_sum_inv` are columns,
# (32, 1).
#
# Two of these lines work place by place, the logarithm and the power. There the chain rule of
# school applies 864 (or 32) times over. Of the other two, one copies a column and one adds up
# rows, and they deserve a drawing each.
#
# **On paper: a column meets a matrix.** Multiply a 3 by 3 matrix $A$ with a column $b$. Written
# out,
#
# $$\begin{pmatrix}
# a_{11} b_1 & a_{12} b_1 & a_{13} b_1 \\
# a_{21} b_2 & a_{22} b_2 & a_{23} b_2 \\
# a_{31} b_3 & a_{32} b_3 & a_{33} b_3
# \end{pmatrix} = M .$$
#
# The column has been copied, and $b_1$ now stands in three places. By rule 2 its gradient is a
# sum of three terms, and by rule 1 each term is what arrives there times the other factor:
#
# $$\mathrm{d}b_1
# = a_{11}\,\mathrm{d}m_{11} + a_{12}\,\mathrm{d}m_{12} + a_{13}\,\mathrm{d}m_{13} .$$
#
# So there are two steps in that one line of code: copy, then multiply. Backwards: first the
# multiplication, which gives each copy a gradient of its own,
# $g_{ij} = a_{ij}\,\mathrm{d}m_{ij}$; then the copying, whose gradients are added up.

# %%
figures.broadcast_and_sum()

# %% [markdown]
# *Read the lower row from right to left. A copy forward is a sum backward.*
#
# **On paper: a matrix becomes a column.** The sum of a row, $s_1 = a_{11} + a_{12} + a_{13}$, has
# slope 1 in each of its terms. So what arrives at $s_1$ goes to all three, unchanged. A sum is a
# router that sends everybody the same message:

# %%
figures.sum_is_a_router()

# %% [markdown]
# *A sum forward is a copy backward.*
#
# Try it with numbers. `backward(gradient=...)` lets us choose what arrives. Work out both results
# on paper before you run the cell.

# %%
matrix = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], requires_grad=True)
column = torch.tensor([[10.0], [20.0], [30.0]], requires_grad=True)

arrives = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [1.0, 1.0, 1.0]])
(matrix.detach() * column).backward(gradient=arrives)
print("gradient of the column that was copied:", column.grad.tolist())

arrives = torch.tensor([[2.0], [-1.0], [5.0]])
matrix.sum(1, keepdim=True).backward(gradient=arrives)
print("gradient of the matrix that was summed:", matrix.grad.tolist())

# %% [markdown]
# **The duality.** Put the last two drawings side by side. But for the factor $A$, each is the other
# one read backwards. Whenever you find a `sum` in a forward line, expect a broadcast in the
# backward line, and whenever something broadcasts forward, expect a `sum`. So the axis with the 1
# in its shape is the one to sum over, and `keepdim=True` keeps that 1 in place. Without it the
# result has the shape (32,), and (32,) together with (32, 1) broadcasts to (32, 32): no error, only
# nonsense.
#
# **Your turn**, one line after the other, beginning with the last, which is nearest to the loss.
#
# **`dprobs`** (32, 27), through the logarithm.
#
# {{ hints: dprobs }}
#
# **`dcounts_sum_inv`** (32, 1), through the product in which it is copied.
#
# {{ hints: dcounts_sum_inv }}
#
# **`dcounts_sum`** (32, 1), through the power.
#
# {{ hints: dcounts_sum }}
#
# **`dcounts`** (32, 27). Before you write it: how many of the four lines read `counts`?
#
# {{ hints: dcounts }}

# %%
# answer: ex1-softmax
### BEGIN SOLUTION
dprobs = dlogprobs / probs
dcounts_sum_inv = (dprobs * counts).sum(1, keepdim=True)
dcounts_sum = -dcounts_sum_inv * counts_sum**-2
# Two readers: the product (directly), and the sum (each term gets its row's gradient).
dcounts = dprobs * counts_sum_inv + dcounts_sum
### END SOLUTION

# %%
# check: ex1-softmax
check("dprobs", "dcounts_sum_inv", "dcounts_sum", "dcounts")

# %% [markdown]
# **Worth noticing: the boost.** At the right character, the gradient of the probability $p$ is
# $-\tfrac{1}{n\,p}$. If the network gave the right answer a probability of one half, that is a
# mere $2/n$; at one in a thousand it is $1000/n$. The logarithm turns the volume up exactly for
# those examples on which the network is most wrong.

# %% tags=["data-dependent"]
p_right = probs.detach()[range(n), Yb]
boost = probs.grad[range(n), Yb].abs()

fig, axes = plt.subplots()
curve = torch.logspace(-3, 0, 100)
axes.loglog(curve, 1 / (n * curve), color="grey", linewidth=1, label="1 / (n p)")
axes.loglog(p_right, boost, "o", label="the 32 examples")
axes.set(xlabel="probability of the right character", ylabel="size of its gradient")
axes.legend()
plt.show()

print("the least likely one has the largest gradient:", bool(boost.argmax() == p_right.argmin()))
print("no gradient of a logit exceeds 1/n:", bool((logits.grad.abs() <= 1 / n).all()))

# %% [markdown]
# *All 32 examples lie on the falling line.*
#
# Look at the second printed line: further on the way back, at the logits, the boost is gone. Every
# number there is at most $1/n$. The softmax multiplies by the same $p$ by which the logarithm
# divides, and a gradient that could be as large as it likes becomes one that is beautifully tame.
# Notebook 02 shows this in one formula.
#
# ## 5.3 The maximum
#
# ```python
# logit_maxes = logits.max(1, keepdim=True).values
# norm_logits = logits - logit_maxes
# counts = norm_logits.exp()
# ```
#
# `logits`, `norm_logits`, `counts` are (32, 27); `logit_maxes` is a column, (32, 1).
#
# What is the maximum for? In float32 the exponential of 89 is infinite already, and infinity
# divided by infinity is not a number. After the subtraction the largest exponent is 0.

# %%
tall = torch.tensor([98.0, 99.0, 100.0])
print("as they are:      ", tall.exp() / tall.exp().sum())
safe = tall - tall.max()
print("minus the maximum:", safe.exp() / safe.exp().sum())

# %% [markdown]
# **On paper: the maximum is a router too**, but one that sends its message to a single address.
# Raise the largest number of a row by a little, and the maximum rises by as much: slope 1. Raise
# any other, and nothing happens: slope 0.

# %%
figures.max_is_a_router()

# %% [markdown]
# *The maximum remembers who won. All others get zero.*
#
# **Your turn.**
#
# **`dnorm_logits`** (32, 27), through the exponential.
#
# {{ hints: dnorm_logits }}
#
# **`dlogit_maxes`** (32, 1), through the subtraction in which it is copied.
#
# {{ hints: dlogit_maxes }}
#
# **`dlogits`** (32, 27). Two lines read `logits`, and one of them picks winners.
#
# {{ hints: dlogits }}

# %%
# answer: ex1-max
### BEGIN SOLUTION
dnorm_logits = dcounts * counts
dlogit_maxes = -dnorm_logits.sum(1, keepdim=True)
# Two readers: the subtraction passes all of it on, the maximum sends its part to each row's winner.
winners = F.one_hot(logits.argmax(1), num_classes=logits.shape[1])
dlogits = dnorm_logits + winners * dlogit_maxes
### END SOLUTION

# %%
# check: ex1-max
check("dnorm_logits", "dlogit_maxes", "dlogits")

# %% [markdown]
# **Worth noticing: a gradient that is zero.** How large are the numbers in `dlogit_maxes`? Here
# is the largest, signs aside, as autograd has it, and below it the largest in `dlogits`:

# %% tags=["nbval-ignore-output"]
for name, tensor in (("dlogit_maxes", logit_maxes), ("dlogits", logits)):
    print(f"largest number in {name:<12}: {tensor.grad.abs().max():.0e}")

# %% [markdown]
# Beside the second, the first is as good as nothing (a millionth of it or so, or less), and for a
# reason. Call a row of logits $z$ again, and subtract any constant $c$ from all of it:
#
# $$\frac{e^{z_j - c}}{\sum_k e^{z_k - c}}
# = \frac{e^{-c}\,e^{z_j}}{e^{-c} \sum_k e^{z_k}}
# = \frac{e^{z_j}}{\sum_k e^{z_k}} .$$

# %%
figures.softmax_ignores_a_shift()

# %% [markdown]
# *Subtracting the maximum lowers all bars by the same amount; the probabilities stay as they
# are.*
#
# The probabilities do not notice the shift, so the loss does not, so its slope with respect to
# the shift is exactly zero. What you see is rounding. One can tell rounding from a small
# gradient: compute with more digits, and rounding shrinks with the precision, while a real
# gradient stays where it is.

# %%
for dtype, noise in ((torch.float32, 1e-7), (torch.float64, 1e-15)):
    shift = torch.zeros(n, 1, dtype=dtype, requires_grad=True)
    F.cross_entropy(logits.detach().to(dtype) - shift, Yb).backward()
    print(f"{dtype}: the shift's gradient is below {noise}: {shift.grad.abs().max() < noise}")

# %% [markdown]
# This is also why the branch through the maximum cannot be judged by its value: add it, leave it
# out, send it to the wrong place, and `cmp` sees no difference. The check judges that line with a
# random gradient in place of the one that arrives, so the mechanics count as well. If you left
# the branch out because you know that it is zero, that is right too.

# %%
board()

# %% [markdown]
# ## 5.4 Linear layer 2
#
# ```python
# logits = h @ W2 + b2
# ```
#
# (32, 64) times (64, 27) plus (27,) gives (32, 27).
#
# **On paper.** There is a rule for the gradient of a matrix product, and nobody remembers it. So
# write out the smallest case, $Y = A\,B + c$ with 2 by 2 matrices and a row $c$:
#
# $$\begin{aligned}
# y_{11} &= a_{11} b_{11} + a_{12} b_{21} + c_1
# & \qquad y_{12} &= a_{11} b_{12} + a_{12} b_{22} + c_2 \\
# y_{21} &= a_{21} b_{11} + a_{22} b_{21} + c_1
# & \qquad y_{22} &= a_{21} b_{12} + a_{22} b_{22} + c_2
# \end{aligned}$$
#
# Now find $a_{11}$. It appears in $y_{11}$, multiplied by $b_{11}$, and in $y_{12}$, multiplied
# by $b_{12}$. The same search for the other three gives
#
# $$\begin{aligned}
# \mathrm{d}a_{11} &= \mathrm{d}y_{11}\,b_{11} + \mathrm{d}y_{12}\,b_{12} &
# \qquad \mathrm{d}a_{12} &= \mathrm{d}y_{11}\,b_{21} + \mathrm{d}y_{12}\,b_{22} \\
# \mathrm{d}a_{21} &= \mathrm{d}y_{21}\,b_{11} + \mathrm{d}y_{22}\,b_{12} &
# \qquad \mathrm{d}a_{22} &= \mathrm{d}y_{21}\,b_{21} + \mathrm{d}y_{22}\,b_{22}
# \end{aligned}$$
#
# Each is a row of one matrix times a row of another: a matrix product again, with something
# turned over (**transposed**: rows become columns, in code `A.T`). Do the same search for $b_{11}$
# (it appears in $y_{11}$ and in $y_{21}$) and for $c_1$. Then write $\mathrm{d}A$ and
# $\mathrm{d}B$ as a product each, of two of the matrices $A$, $B$ and $\mathrm{d}Y$;
# $\mathrm{d}c_1$ is a plain sum.
#
# If you would rather not: the shapes alone decide. Here are the blocks. Each may be turned over,
# they may stand in either order, and their touching sides must be equally long.

# %%
figures.which_product()

# %% [markdown]
# *For each question mark there is one way only to fit the two blocks together.*
#
# **Your turn.** What arrives is `dlogits`.
#
# **`dh`** (32, 64), the part of $A$.
#
# {{ hints: dh }}
#
# **`dW2`** (64, 27), the part of $B$.
#
# {{ hints: dW2 }}
#
# **`db2`** (27,), the part of $c$. Which axis was copied?
#
# {{ hints: db2 }}

# %%
# answer: ex1-linear2
### BEGIN SOLUTION
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
### END SOLUTION

# %%
# check: ex1-linear2
check("dh", "dW2", "db2")

# %% [markdown]
# **Worth noticing.** You need not remember the rule, ever: rule 3 (the gradient has the shape of
# its tensor) leaves one way to fit the blocks together. There is one trap. If two sides happen to
# be equally long, more than one product fits, and then only the written-out toy can decide. It is
# a good habit to choose sizes that all differ, at least in tests. The hidden networks of the
# check do so.
#
# Where is the sum over the 32 examples in the gradient of `W2`? All of them used the same
# weights, so their contributions must be added up. They are: inside the matrix product, whose
# inner side is the 32. For `b2` the sum is there in plain sight.
#
# ## 5.5 tanh
#
# ```python
# h = torch.tanh(hpreact)
# ```
#
# Place by place, (32, 64). You met the slope in part 1; here is where it comes from. With
# $\tanh x = \dfrac{e^x - e^{-x}}{e^x + e^{-x}}$, the quotient rule gives
#
# $$\tanh' x = \frac{(e^x + e^{-x})^2 - (e^x - e^{-x})^2}{(e^x + e^{-x})^2} = 1 - \tanh^2 x .$$
#
# **On paper.** A unit whose output is 0.8 has the slope $1 - 0.64 = 0.36$. You did not need to
# know its input. That is convenient, because the output has already been computed.
#
# **Your turn.** What arrives is `dh`.
#
# **`dhpreact`** (32, 64).
#
# {{ hints: dhpreact }}

# %%
# answer: ex1-tanh
### BEGIN SOLUTION
dhpreact = (1 - h**2) * dh
### END SOLUTION

# %%
# check: ex1-tanh
check("dhpreact")

# %% [markdown]
# **Worth noticing: from here on, exact may be out of reach**, and that is nobody's fault. On most
# processors PyTorch's own code for this line multiplies and adds in a single instruction with a
# single rounding; yours rounds twice. The difference is about $10^{-9}$, and every gradient on the
# rest of the way back inherits it. Depending on your computer you may see `exact: False` from now
# on, beside `approximate: True`. Another way of writing a line, every bit as right, may cost the
# last bit even earlier: perhaps you have seen it in section 5.2.
#
# The slope works as a gate. Here it is for each unit and each example of the batch:

# %% tags=["data-dependent"]
gate = 1 - h.detach() ** 2
fig, axes = plt.subplots(figsize=(6.8, 3.6))
image = axes.imshow(gate, cmap="cividis", vmin=0, vmax=1, aspect="auto")
axes.grid(visible=False)
axes.set(title="what the gate lets through", xlabel="unit", ylabel="example")
fig.colorbar(image)
plt.show()

print("some gates are more than 99 % open:", bool((gate > 0.99).any()))
print("some are more than 90 % shut:", bool((gate < 0.1).any()))
print("a unit is shut for every example:", bool((gate < 0.1).all(0).any()))

# %% [markdown]
# *Bright: the gradient passes. Dark: the unit is saturated for this example, which can teach it
# little. No column is dark from top to bottom.*
#
# The picture is this healthy because the layer before, batch normalisation, keeps the inputs of
# tanh near zero. That layer comes next, and it is the heart of this notebook.
#
# ## 5.6 Batch normalisation
#
# ```python
# bnmeani = 1 / n * hprebn.sum(0, keepdim=True)
# bndiff = hprebn - bnmeani
# bndiff2 = bndiff**2
# bnvar = 1 / (n - 1) * bndiff2.sum(0, keepdim=True)
# bnvar_inv = (bnvar + 1e-5) ** -0.5
# bnraw = bndiff * bnvar_inv
# hpreact = bngain * bnraw + bnbias
# ```
#
# Seven lines, but no step in them is new to you: copies along axis 0, sums along axis 0,
# products, a square, a power. What is new is that the examples of a batch meet here. Each column
# (each unit) is treated on its own, but within a column all 32 numbers share a mean and a
# variance. What happens to one example now depends on the other 31.

# %%
figures.batchnorm_graph()

# %% [markdown]
# *The arrows show the forward pass, from* `hprebn`*, on the side of the letters, to* `hpreact`*, on
# the side of the loss; the backward pass follows them against their direction. H stands for
# n_hidden. The two green tensors are read by two lines each.*
#
# We go back in three stages, the one nearest to the loss first.
#
# ### Gain, bias and the normalised values
#
# ```python
# hpreact = bngain * bnraw + bnbias
# ```
#
# `bngain` and `bnbias` are rows, (1, 64), and are copied to all 32 examples. **On paper** this is
# the column-meets-matrix picture of section 5.2, turned by a quarter: the copies now lie below
# each other.
#
# **Your turn.** What arrives is `dhpreact`.
#
# **`dbngain`** (1, 64), a factor that was copied.
#
# {{ hints: dbngain }}
#
# **`dbnbias`** (1, 64), a term that was copied.
#
# {{ hints: dbnbias }}
#
# **`dbnraw`** (32, 64), the factor that was not.
#
# {{ hints: dbnraw }}

# %%
# answer: ex1-batchnorm-scale
### BEGIN SOLUTION
dbngain = (dhpreact * bnraw).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dbnraw = dhpreact * bngain
### END SOLUTION

# %%
# check: ex1-batchnorm-scale
check("dbngain", "dbnbias", "dbnraw")

# %% [markdown]
# ### The variance
#
# ```python
# bnvar = 1 / (n - 1) * bndiff2.sum(0, keepdim=True)
# bnvar_inv = (bnvar + 1e-5) ** -0.5
# bnraw = bndiff * bnvar_inv
# ```
#
# **On paper.** A column of three numbers, divided by $n - 1 = 2$: with
# $q = \tfrac12 (a_1 + a_2 + a_3)$, each term has the slope $\tfrac12$, so each receives
# $\tfrac12\,\mathrm{d}q$. And a power: for $r = q^{-1/2}$ the slope is $-\tfrac12\,q^{-3/2}$. At
# $q = 4$ that is $-\tfrac12 \cdot \tfrac18 = -\tfrac1{16}$. (Test it as in part 2:
# $4.1^{-1/2} = 0.49386$ and $3.9^{-1/2} = 0.50637$, and their difference divided by 0.2 is
# $-0.0625$.)
#
# The `1e-5` keeps the power finite for a unit that gives the same number for every example. It is
# a part of the base, forward and backward.
#
# **Your turn.** What arrives is `dbnraw`.
#
# **`dbnvar_inv`** (1, 64), through the product.
#
# {{ hints: dbnvar_inv }}
#
# **`dbnvar`** (1, 64), through the power.
#
# {{ hints: dbnvar }}
#
# **`dbndiff2`** (32, 64), through the sum. Look at the shapes: what must happen to the row that
# arrives?
#
# {{ hints: dbndiff2 }}

# %%
# answer: ex1-batchnorm-variance
### BEGIN SOLUTION
dbnvar_inv = (dbnraw * bndiff).sum(0, keepdim=True)
dbnvar = -0.5 * (bnvar + 1e-5) ** -1.5 * dbnvar_inv
dbndiff2 = torch.ones_like(bndiff2) * dbnvar / (n - 1)
### END SOLUTION

# %%
# check: ex1-batchnorm-variance
check("dbnvar_inv", "dbnvar", "dbndiff2")

# %% [markdown]
# **Worth noticing: why n − 1?** The variance is measured from the batch's *own* mean, which lies
# closer to the batch's numbers than the true mean does. So the sum of squares comes out a little
# too small. Dividing by $n-1$ instead of $n$ makes up for that on average; it is called
# **Bessel's correction**. With standard normal numbers, whose true variance is 1, the average
# over many batches looks like this:

# %%
generator = torch.Generator().manual_seed(5)
sizes = [2, 3, 4, 6, 8, 12, 16, 24, 32]
batches = [torch.randn(20_000, size, generator=generator) for size in sizes]
with_n = [batch.var(1, correction=0).mean() for batch in batches]
with_n_minus_1 = [batch.var(1, correction=1).mean() for batch in batches]

fig, axes = plt.subplots()
axes.axhline(1, color="grey", linewidth=1, label="the true variance")
axes.plot(sizes, with_n, "o--", label="divided by n")
axes.plot(sizes, with_n_minus_1, "s-", label="divided by n - 1")
axes.set(xlabel="size of the batch", ylabel="average estimate", ylim=(0.4, 1.1))
axes.legend(loc="lower right")
plt.show()

# %% [markdown]
# *Divided by n, batches of two find half the variance and batches of 32 still miss 3 % of it;
# divided by n − 1, the average is right for every size.*
#
# The paper that introduced batch normalisation uses both: $n$ while training, when each batch is
# normalised with its own variance, and $n-1$ for the variance that is stored and used after
# training. PyTorch's `BatchNorm1d` follows the paper, so training and testing do not compute
# quite the same function, and the smaller the batch, the larger the gap. Our network divides by
# $n-1$ everywhere, so that the question does not arise. Look at what PyTorch's layer does:

# %%
layer = torch.nn.BatchNorm1d(n_hidden, momentum=1.0)  # momentum 1: store the latest batch only
units = hprebn.detach()
normalised = layer(units)
deviation = units - units.mean(0)
for correction, name in ((0, "n"), (1, "n - 1")):
    variance = units.var(0, correction=correction)
    trains = torch.allclose(normalised, deviation * (variance + layer.eps) ** -0.5, atol=1e-5)
    stores = torch.allclose(layer.running_var, variance)
    print(f"divided by {name:<5}  normalises with it: {trains!s:<5}  stores it: {stores}")

# %% [markdown]
# ### The mean, and back to the first layer
#
# ```python
# bnmeani = 1 / n * hprebn.sum(0, keepdim=True)
# bndiff = hprebn - bnmeani
# bndiff2 = bndiff**2
# bnraw = bndiff * bnvar_inv
# ```
#
# **On paper.** Take a column of three numbers, $x = (1, 2, 6)$, with the mean $m = 3$ and the
# differences $y = (-2, -1, 3)$. Raise $x_1$ by $\varepsilon$. Its own difference grows by
# $\varepsilon$. But the mean has grown by $\varepsilon/3$ too, so that *all three* differences
# fall by $\varepsilon/3$. How each $y_i$ depends on each $x_j$ is therefore
#
# $$\frac{\partial y}{\partial x} =
# \begin{pmatrix} 1 & 0 & 0 \\ 0 & 1 & 0 \\ 0 & 0 & 1 \end{pmatrix} - \frac13
# \begin{pmatrix} 1 & 1 & 1 \\ 1 & 1 & 1 \\ 1 & 1 & 1 \end{pmatrix} :$$
#
# one part straight from each number to its own difference, one part from every number to every
# difference, through the mean. Those are the two arrows that leave `hprebn` in the graph.
#
# **Your turn.** Both of the green tensors are among these, so count the readers.
#
# **`dbndiff`** (32, 64).
#
# {{ hints: dbndiff }}
#
# **`dbnmeani`** (1, 64).
#
# {{ hints: dbnmeani }}
#
# **`dhprebn`** (32, 64).
#
# {{ hints: dhprebn }}

# %%
# answer: ex1-batchnorm-mean
### BEGIN SOLUTION
dbndiff = dbnraw * bnvar_inv + dbndiff2 * 2 * bndiff  # two readers: the product and the square
dbnmeani = -dbndiff.sum(0, keepdim=True)
dhprebn = dbndiff + dbnmeani / n  # two readers: the difference and the mean
### END SOLUTION

# %%
# check: ex1-batchnorm-mean
check("dbndiff", "dbnmeani", "dhprebn")

# %% [markdown]
# **Worth noticing.** Multiply the matrix on paper by a column of ones: the result is zero.
# Raising all the numbers of a column by the same amount changes none of the differences. Backward,
# what arrives is multiplied by the transposed matrix. It is the same matrix, and its columns add
# up to zero, so the result does too: in each column, the gradients that leave batch normalisation
# add up to zero. The layer does not let a common shift through in either direction. Keep that in
# mind for a moment.

# %%
column_sums = hprebn.grad.sum(0).abs().max() / hprebn.grad.abs().max()
print(f"the columns of hprebn's gradient sum to zero: {column_sums < 1e-5}")
board()

# %% [markdown]
# ## 5.7 Linear layer 1
#
# ```python
# hprebn = embcat @ W1 + b1
# ```
#
# (32, 30) times (30, 64) plus (64,) gives (32, 64).
#
# **On paper** there is nothing new to do; it is section 5.4 with other names. Do it from the
# shapes alone, without looking back.
#
# **Your turn.** What arrives is `dhprebn`.
#
# **`dembcat`** (32, 30).
#
# {{ hints: dembcat }}
#
# **`dW1`** (30, 64).
#
# {{ hints: dW1 }}
#
# **`db1`** (64,).
#
# {{ hints: db1 }}

# %%
# answer: ex1-linear1
### BEGIN SOLUTION
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
### END SOLUTION

# %%
# check: ex1-linear1
check("dembcat", "dW1", "db1")

# %% [markdown]
# **Worth noticing: the useless bias.** The gradient of `b1` is zero but for rounding, like that
# of `logit_maxes`, and you have just seen why. The bias adds the same number to all examples of a
# column. Batch normalisation subtracts the mean of the column, and with it the bias. Whatever
# `b1` is, the loss never hears of it. Let us be extreme:

# %%
far_off = atomic(Xb, Yb, *in_float64._replace(b1=in_float64.b1 + 1000))
as_it_was = atomic(Xb, Yb, *in_float64)
print(f"1000 added to each b1, and the loss stays what it was: {torch.isclose(far_off, as_it_was)}")
print(f"b1's gradient is noise beside W1's: {b1.grad.abs().max() < 1e-5 * W1.grad.abs().max()}")

# %% [markdown]
# A bias right before batch normalisation is 64 numbers that take up memory and learn nothing.
# `bnbias`, which comes *after* the mean has been subtracted, does its work. In serious code you
# will find `Linear(..., bias=False)` in front of a normalisation layer; now you know the reason.
#
# ## 5.8 The view
#
# ```python
# embcat = emb.view(n, -1)
# ```
#
# (32, 3, 10) becomes (32, 30): the three rows of ten that belong to an example are laid side by
# side. No number changes and none moves in memory; only the brackets do.

# %%
figures.view_is_a_relabelling()

# %% [markdown]
# *Two examples, three positions, two numbers each. Colours mark the position in the window.*
#
# What is the slope of a step that changes nothing? The backward step of a view is to put the
# brackets back. `demb` is the first of the two gradients in the next answer cell.
#
# ## 5.9 The embedding
#
# ```python
# emb = C[Xb]
# ```
#
# `C` is (27, 10), a row of ten numbers for each character. `Xb` holds whole numbers, (32, 3), the
# rows to look up; it has no gradient, since there is nothing to nudge about "row 5". `emb` is
# (32, 3, 10).
#
# **On paper.** The name *ma* gives three windows. Looking up is copying: the row of the dot is
# copied to six places, the row of *m* to two, the row of *a* to one. And you know what copies do.

# %%
figures.lookups_and_repeats()

# %% [markdown]
# *Each place of the windows receives a gradient; each row of the table collects those of all its
# copies.*
#
# One trap is so common that it deserves an experiment. Three visitors come to door 0, one comes
# to door 2, and each adds 1 to the count of the door:

# %%
doors = torch.tensor([0, 0, 0, 2])
visitors = torch.zeros(3)
visitors[doors] += 1
print("with += on an index:", visitors.tolist())

# %% [markdown]
# Door 0 should have counted 3. But `visitors[doors] += 1` reads all four counts first (0, 0, 0,
# 0), adds 1 to each, and then writes four ones, three of them onto the same place. Repeated rows
# are overwritten, not added up. Either let a loop visit one place after the other, or use a
# function that is made for it.
#
# **Your turn**, for the last time.
#
# **`demb`** (32, 3, 10), back through the view of section 5.8.
#
# {{ hints: demb }}
#
# **`dC`** (27, 10), from all the places at which its rows were read.
#
# {{ hints: dC }}

# %%
# answer: ex1-embedding
### BEGIN SOLUTION
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C)
for example in range(n):
    for position in range(block_size):
        # A row that was looked up several times collects a gradient from each place.
        dC[Xb[example, position]] += demb[example, position]
### END SOLUTION

# %%
# check: ex1-embedding
check("demb", "dC")

# %% [markdown]
# **Worth noticing.** A row of `C` is trained as often as its character turns up. The dot comes
# first by far; a character that is in none of the batch's windows has a gradient of exactly zero
# and does not move in this step. (With fifty thousand rows instead of 27, nearly all of them
# stand still in any one step; libraries offer *sparse* gradients for such tables.) By the way, a
# lookup is a matrix product in disguise: a one-hot matrix times `C`. So even the last step
# follows the rule of section 5.4, with a left factor that is nearly all zeros.

# %% tags=["data-dependent"]
lookups = torch.bincount(Xb.flatten(), minlength=vocab_size)
lengths = C.grad.norm(dim=1)

fig, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(6.8, 4.0), layout="constrained")
characters = [itos[i] for i in range(vocab_size)]
above.bar(characters, lookups)
above.set(title="how often each row of C is looked up")
below.bar(characters, lengths, color="C1")
below.set(title="length of its gradient")
plt.show()

print("rows without a lookup have no gradient:", not C.grad[lookups == 0].any())

# %% [markdown]
# *A row's gradient is zero exactly where its character does not occur in the batch.*
#
# # Part 6 · What you have built
#
# That was the last one. All of it in one view, from the loss back to the letters:

# %%
board()

# %%
check()

# %% [markdown]
# Twenty-six gradients, and only a handful of different moves:
#
# | forward | backward |
# | :-- | :-- |
# | a function, place by place | what arrives, times the slope at each place |
# | a product | what arrives, times the other factor |
# | a copy (broadcasting, looking up a row) | the copies' gradients, added up |
# | a sum, a mean | what arrives, copied to every term (a mean: its n-th part) |
# | a maximum | what arrives, to the winner only |
# | a matrix product | the one matrix product whose shapes fit |
# | a change of shape | the change undone |
# | read by several lines | the readers' gradients, added up |
#
# **You can now** take a forward line that you have never seen, find its readers, write its
# backward step, and check it by its shape, against autograd, or against nothing but a central
# difference. You know two gradients that are zero by design and why their values cannot prove
# your formula right. And you have seen where a gradient is boosted, gated, routed and lost.
#
# **Where next.** You have walked in small steps, and at the logits something curious happened: a
# huge gradient became a tame one. Notebook **02** takes the eight lines of the cross-entropy in a
# single stride, and the result fits into half a line. **03** does the same for batch
# normalisation. In **04** your backward pass trains the network, without a single
# `loss.backward()`, until it invents names of its own.
#
# In a terminal, `grader check 01_atomic_backprop.ipynb` says the same as the cells above, for the
# whole notebook at once. It reads the file, so save first. On Colab, download the notebook (*File*,
# *Download*, *Download .ipynb*), upload that file to the session (the folder symbol on the left),
# and write `!grader check 01_atomic_backprop.ipynb` in a new cell. On your own machine,
# `grader watch 01_atomic_backprop.ipynb` checks again whenever you save, and `grader status` says
# how far you are in all four notebooks.
