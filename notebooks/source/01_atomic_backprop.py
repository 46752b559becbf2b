# %% [markdown]
# # 1 · Backpropagation, one small step at a time
#
# {{ colab }}
#
# In this notebook you write the backward pass of a neural network by hand: every gradient, from the
# loss back to the table of letters. The network only reads three letters of a name and guesses the
# fourth, but it has what large ones have: embedding, linear layers, batch normalisation, softmax
# and cross-entropy. In the end your lines train it, and it invents names.
#
# - **Time:** about four hours, in as many sittings as you like. You write your first gradient after
#   a quarter of an hour.
# - **You need:** Python, a first acquaintance with PyTorch tensors (`shape`, indexing, `sum`, `@`),
#   and the chain rule.
# - **Afterwards you can:** write the backward step of any line of tensor code, and test it without
#   trusting anybody's calculus.
#
# The network and the exercise come from Andrej Karpathy's lecture [*Becoming a Backprop
# Ninja*](https://www.youtube.com/watch?v=q8SA3rM6ckI), part 4 of *Building makemore*. You need not
# have seen it. Run the next two cells first.

# %%
# {{ cell: setup }}

# %%
import math

import torch
import torch.nn.functional as F

from grader import board, check, cmp, figures, heat_map, nudge

figures.gradient_runs_back()

# %% [markdown]
# *This is the path that you are going to write: a gradient sets out from the loss and comes back to
# every tensor.*
#
# # Part 1 · Why look inside at all?
#
# A wrong gradient raises no exception: the code still runs, and the loss still goes down. Here are
# two trainings of this notebook's network, and one of them forgets a part of the gradient at each
# step. Which one? (The loss is in *nats*: a blind guess among 27 characters costs $\ln 27 = 3.30$.)

# %% tags=["nbval-ignore-output"]
# @title Two trainings, one of them with a wrong gradient (this takes a few seconds)
import makemore_data


def with_a_fault(Xb, Yb, *parameters):
    """The loss, and gradients in which one branch has been forgotten: section 5.7 asks for it."""
    found = makemore_data.colleagues_gradients(Xb, Yb, *parameters)
    loss = makemore_data.fused_forward(Xb, Yb, *parameters)
    return loss, [found[name] for name in makemore_data.Parameters._fields]


train_on, _, _ = makemore_data.build_splits(makemore_data.load_names(), block_size=3)
trainings = {name: makemore_data.begin_run(n_hidden=64) for name in "AB"}
threads = torch.get_num_threads()
torch.set_num_threads(1)  # matrices this small: more threads wait for each other
makemore_data.autograd_loop(trainings["A"], *train_on, steps=2000)
makemore_data.manual_loop(trainings["B"], *train_on, steps=2000, backward=with_a_fault)
torch.set_num_threads(threads)
figures.two_losses({name: run.losses for name, run in trainings.items()})

# %% [markdown]
# The answer is B, although neither curve gives it away. Even after ten times as many steps, its
# network is hardly a hundredth of a nat worse than A's, so nobody would look for a fault. You will
# find it in section 5.7.
#
# <details>
# <summary>An aside: leaks, and life before autograd</summary>
#
# Right gradients can go bad on their way back, too: they explode, fade or are cut off. The lecturer
# has [written](https://karpathy.medium.com/yes-you-should-understand-backprop-e2f06eab496b) about
# such *leaks*, and you will meet four of them.
#
# Well into the 2010s, people wrote what you are going to write: every derivative in the MATLAB
# files of Hinton and Salakhutdinov (*Science*, 2006), and in the lecturer's own NumPy code of 2014.
# Autograd spares us the writing, but we still need to understand it.
#
# </details>
#
# # Part 2 · Three rules
#
# `dX` always means $\partial\,\text{loss} / \partial X$: for each number in `X`, it says how fast
# the loss grows when that number grows. Three rules are enough to find it.
#
# **Rule 1: local slope times incoming gradient.** A step `y = f(x)` is told `dy`, which says how
# much the loss cares about its output. It also knows its own slope, and the product of the two is
# `dx`.

# %%
figures.one_step()

# %% [markdown]
# *Blue means forward and orange means backward, wherever you meet them.*
#
# The *incoming* gradient comes from the direction of the loss, so the backward pass begins with the
# last line.
#
# **Rule 2: where paths meet, gradients add.** If two lines read the same tensor, it influences the
# loss along two paths, and the two influences add up. So before you write `dX`, look for *every*
# line that has `X` on its right-hand side. People forget this rule most often.

# %%
figures.forks()

# %% [markdown]
# *Forward, x is copied to two readers. Backward, the gradients that the two send back are added.*
#
# **Rule 2 in numbers.** Let $x$ be (1, 2, 3). One line makes $x^2$ of it, another makes $5x$, and
# the loss adds up all these numbers. What is `dx`, and how far off is it if you forget the second
# line?
#
# `cmp` compares your gradient with autograd's, which is kept in `.grad`. *Exact* means equal to the
# last bit, and *approximate* means equal up to rounding, which is all you need. *Maxdiff* is the
# largest difference.

# %%
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x**2  # the first reader of x
z = 5 * x  # the second
(y + z).sum().backward()

dx = 2 * x.detach()  # what the first sends back
cmp("x", dx, x)
dx += 5  # what the second sends back
cmp("x", dx, x)

# %% [markdown]
# After the first branch, `dx` is off by exactly what is missing. After the second it is right.
#
# <details>
# <summary>What <code>cmp</code> does, in four lines</summary>
#
# ```python
# def cmp(s, dt, t):
#     exact = torch.all(dt == t.grad).item()
#     close = torch.allclose(dt, t.grad)
#     maxdiff = (dt - t.grad).abs().max().item()
#     print(f"{s} | exact: {exact} | approximate: {close} | maxdiff: {maxdiff}")
# ```
#
# This is the lecture's version. Ours also compares the shapes, because broadcasting would let a
# wrong one pass.
#
# </details>
#
# **Rule 3: a gradient has the shape of its tensor**, because it holds one slope for each number in
# it. So a wrong shape is always a mistake. But a right one proves little, because a forgotten sign
# never changes the shape, and a forgotten branch or factor may not change it either.
#
# ## One gradient, thought aloud
#
# Before you write one yourself, watch somebody make the mistake that nearly everybody makes once.
# These lines, which are not from our network, measure how far some guesses are from the truth:
#
# ```python
# misses = guess - truth
# squares = misses**2
# loss = squares.mean()
# ```
#
# > "I begin at the end. The mean adds up all the squares, and a sum has slope 1 in each of its
# > terms, so `dsquares` is `dloss` in every place. The slope of a square is twice what was squared,
# > times the incoming gradient. Through the difference, `dguess` is simply `dmisses`. Each tensor
# > has one reader, so there is nothing to add, and all the shapes are right. Done?"
#
# `explain` checks it: it draws numbers, asks autograd, and says what is wrong, in the words that
# all the checks of this course use.


# %% tags=["nbval-ignore-output"]
from grader import Numbers, explain  # `Numbers` says what `explain` should draw: n numbers


def squared_error(guess: Numbers, truth: Numbers):
    misses = guess - truth
    squares = misses**2
    loss = squares.mean()
    return loss


def first_try(dloss, misses, squares):
    dsquares = torch.ones_like(squares) * dloss
    dmisses = 2 * misses * dsquares
    dguess = dmisses
    return {"dsquares": dsquares, "dmisses": dmisses, "dguess": dguess}


explain(squared_error, first_try)

# %% [markdown]
# > "Only `dsquares` has failed. The other two are *carried*: those lines are right, but their
# > incoming gradient is wrong, so I leave them alone. And `dsquares` is n times too large. If one
# > square grows by $\varepsilon$, the sum grows by $\varepsilon$, but the mean only by
# > $\varepsilon/n$. I took the mean for a sum, and the shape could not tell me. So I divide by n,
# > and change nothing else."


# %% tags=["nbval-ignore-output"]
def second_try(dloss, misses, squares, n):
    dsquares = torch.ones_like(squares) * dloss / n
    dmisses = 2 * misses * dsquares
    dguess = dmisses
    return {"dsquares": dsquares, "dmisses": dmisses, "dguess": dguess}


explain(squared_error, second_try)

# %% [markdown]
# One repair, and all three pass. So begin at the loss, mend the first line that fails, and check
# again before you touch another.
#
# ## Warm-up
#
# Take $u = 2$ and $v = -3$, and compute
#
# $$w = u\,v, \qquad s = w + u, \qquad t = s^2 .$$
#
# Forward, this gives $w = -6$, $s = -4$ and $t = 16$. Now go back on paper: begin at the end, where
# $\mathrm{d}t = 1$, and remember that $u$ is read twice.
#
# <details>
# <summary>The four numbers</summary>
#
# `ds` is $-8$, `dw` is $-8$, `dv` is $-16$, `du` is $16$.
#
# </details>
#
# **Your turn:** write the same in code, for any $u$ and $v$. The incoming gradient is `dt`.


# %% tags=["nbval-ignore-output"]
# try: ex1-warmup
from grader import Number, explain  # a `Number` is a single number


def warm_up(u: Number, v: Number):
    w = u * v
    s = w + u
    t = s**2
    return t


def warm_up_backward(dt, u, v, w, s):
    ### BEGIN SOLUTION
    ds = 2 * s * dt  # the slope of a square, times the incoming gradient
    dw = ds  # a sum passes the incoming gradient on
    dv = u * dw  # a product passes it on times the *other* factor
    du = v * dw + ds  # the product's part, and the sum's
    ### END SOLUTION
    return {"ds": ds, "dw": dw, "dv": dv, "du": du}


explain(warm_up, warm_up_backward)

# %% [markdown]
# # Part 3 · The network
#
# ## 3.1 Names, letters, windows
#
# The model sees three characters of a first name and predicts the next one. A dot stands for
# "before the beginning" and for "the end". How many examples does *ninja* give?

# %% tags=["data-dependent"]
from makemore_data import build_splits, build_vocabulary, build_windows, load_names

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
# ## 3.2 The whole network

# %%
figures.network()

# %% [markdown]
# *The shapes are in brackets. Everything blue or grey is given. You will find 26 gradients: the six
# in orange, and one for each name inside a box, except for `Yb`.*
#
# Follow one example down. Each of its three characters picks a row of ten numbers from the table
# `C`. Side by side these are 30, and a linear layer turns them into 64. Each of the 64 is
# normalised over the *batch* (the 32 examples that are read at once), multiplied by a gain, shifted
# by a bias, and squashed by tanh. The second linear layer gives 27 scores, the *logits*. The
# softmax turns these into probabilities $p$, and the loss is the average of $-\ln p$ over the
# characters that really came next: the *cross-entropy*.
#
# ## 3.3 Parameters and a batch
#
# Biases usually begin at zero and gains at one. Here they are slightly off, because if you forget a
# gain that is 1, nothing changes.

# %%
from makemore_data import LECTURE_SEED, init_parameters

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


# %%
# @title What the forward pass ends with: autograd's gradients, to compare yours with
def let_autograd_walk_back():
    """Put autograd's gradient of each tensor into its `.grad`."""
    for parameter in parameters:
        parameter.grad = None
    for tensor in (
        *(emb, embcat, hprebn),
        *(bnmeani, bndiff, bndiff2, bnvar, bnvar_inv, bnraw, hpreact),
        *(h, logits, logit_maxes, norm_logits),
        *(counts, counts_sum, counts_sum_inv, probs, logprobs),
    ):
        tensor.retain_grad()  # otherwise autograd keeps those of parameters only
    loss.backward()


# %% [markdown]
# ## 3.4 The forward pass
#
# Here is the same network in code, in small steps. Each name says what was done: `bn` is batch
# normalisation, `meani` this batch's mean, `2` means squared, `_inv` to the power $-1$ or
# $-\tfrac12$, and `raw` before gain and bias. `hprebn` is the hidden layer before the batch
# normalisation, `hpreact` before the tanh, and `counts` are the exponentials in the softmax. Guess:
# is the loss of this untrained network above 3.30, that of a blind guess, or below?

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

let_autograd_walk_back()  # to compare yours with; the folded cell above says how

# %% tags=["data-dependent"]
print(f"loss {loss:.4f}, PyTorch's own cross-entropy {F.cross_entropy(logits, Yb):.4f}")
print(f"a blind guess among {vocab_size} characters {torch.tensor(vocab_size).log():.4f}")

# %% [markdown]
# With random weights, the network does worse than equal chances for all 27 characters, because it
# is confident without a reason. Of the 32 guesses, this one costs most:

# %% tags=["data-dependent"]
one = logprobs[range(n), Yb].argmin().item()  # or any other, 0 to 31
right, favourite = Yb[one].item(), logits[one].argmax().item()
print(*(itos[i] for i in Xb[one].tolist()), " rows", *Xb[one].tolist(), "of C")
for name, tensor in {"embcat": embcat, "h": h, "logits": logits}.items():
    begins = ", ".join(f"{number:.2f}" for number in tensor[one, :3].tolist())
    print(f"{name:<7} {tensor.shape[1]} numbers: {begins}, ...")
print(f"came next: {itos[right]!r}, to which it gave {probs[one, right]:.4f}", end=": ")
print(f"the loss {-logprobs[one, right]:.2f}")
print(f"its favourite: {itos[favourite]!r}, {probs[one, favourite]:.4f}; blind: {1 / 27:.4f}")

# %% [markdown]
# That is worse than a blind guess. Which way should each of the 27 logits move? Section 5.3 comes
# back to this.

# %% [markdown]
# # Part 4 · How to work
#
# Replace the `...` in each **answer cell** of part 5 and run it, then run the **check cell** below.
#
# **One of these is wrong**, for an `x` of shape (32, 64): `x.sum(0) / 32`, `x.sum(0) / n`,
# `x.mean(0)`. With our batch of 32 they all give the same numbers. But the check also runs your
# lines on hidden networks of other sizes, and there the first one fails.
#
# For four of the 26 gradients, a formula that lacks a sign, a factor or a branch still gives the
# right numbers, at all sizes. (Guess which; section 5.7 names them.) So the check also tries each
# line by itself, with random incoming gradients.
#
# - **Use** everything that the forward pass has computed and every gradient that you have found,
#   but not `.grad` or `backward()`.
# - **Keep** the first line, `# answer: ...`, because the check recognises the cell by it.
# - **Stuck?** Three hints for each gradient are folded above its answer cell, one inside the other.
# - **After a break**, run all the cells above. Your lines are still there.
#
# <details>
# <summary>What your lines may use</summary>
#
# Several lines, names of your own and loops are fine. Your answer cells run alone, one after the
# other. They can use `torch` and `F`, every tensor of the forward cell, and the sizes `n`,
# `block_size`, `vocab_size`, `n_embd` and `n_hidden`. A function of your own or an `import` belongs
# in an answer cell too.
#
# </details>
#
# # Part 5 · From the loss back to the letters
#
# ## 5.1 The loss
#
# ```python
# loss = -logprobs[range(n), Yb].mean()
# ```
#
# The index takes its two lists in step, row 0 with column `Yb[0]`, row 1 with column `Yb[1]` and so
# on, so it reads 32 numbers, those of the characters that really came next. The loss is minus their
# mean.
#
# **On paper.** Take three examples and four characters. The right characters are the third, the
# first and the fourth, so the index is `[[0, 1, 2], [2, 0, 3]]`:

# %%
figures.picked_entries()

# %% [markdown]
# Why $-\tfrac13$? If you raise $a_{13}$ by a little $\varepsilon$, the mean grows by
# $\varepsilon/3$, so the loss falls by that much. If you raise $a_{12}$, nothing happens.
#
# **Your turn.** The incoming gradient is $\mathrm{d}\text{loss} = 1$, so you need not write it.
#
# **`dlogprobs`** (32, 27). Which numbers does the loss read, and how much does each one count?
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
# After a **fail**, a card looks for the *one* mistake that explains your numbers.
#
# **Worth noticing.** Only 32 of the 864 numbers are not zero, because the loss reads the right
# characters alone. The wrong ones hear of it in the next section, because they share a denominator
# with the right ones.

# %%
nonzero = (logprobs.grad != 0).sum()
print(
    f"{nonzero} of {logprobs.nelement()} numbers are not zero; their sum: {logprobs.grad.sum():.3f}"
)

# %% [markdown]
# The **board** is the graph of all 26 gradients, from the loss backwards, and it fills up as you
# go.

# %%
board()

# %% [markdown]
# ## Interlude: slopes without calculus
#
# `check` trusts autograd, but who checks autograd? There is a test that needs no calculus: move one
# number a little, and see how far the result moves.

# %%
figures.chords()

# %% [markdown]
# *The pink chord only looks ahead and is too steep here. The green one is equally long on both
# sides and nearly parallel to the dashed tangent.*
#
# Here are both for $f(x) = x^2 \tanh x$, whose slope the product rule gives.


# %%
def one_sided(function, x, step):
    return (function(x + step) - function(x)) / step


def central(function, x, step):
    return (function(x + step) - function(x - step)) / (2 * step)


def f(x):
    return x**2 * torch.tanh(x)


point = torch.tensor(0.7, dtype=torch.float64)
true_slope = 2 * point * torch.tanh(point) + point**2 * (1 - torch.tanh(point) ** 2)
for step in (0.1, 0.01, 0.001):
    errors = [abs(way(f, point, step) - true_slope) for way in (one_sided, central)]
    print(f"δ = {step}: one-sided is wrong by {errors[0]:.1e}, central by {errors[1]:.1e}")

# %%
figures.step_delta()

# %% [markdown]
# *Where a kernel runs, a slider below moves the step. Each error is a V: coming from the right, it
# falls with the step, and then it climbs again.*
#
# If the step is ten times smaller, the one-sided error is ten times smaller and the central one a
# hundred times. But a computer rounds, and dividing by a small $2\delta$ blows up what was rounded
# away: this is the left arm of the V. So **check gradients in float64, with a step near**
# $10^{-5}$.
#
# <details>
# <summary>Why: the Taylor terms</summary>
#
# $$\frac{f(x+\delta)-f(x)}{\delta} = f'(x) + \tfrac{\delta}{2}\,f''(x) + \dots
# \qquad
# \frac{f(x+\delta)-f(x-\delta)}{2\delta} = f'(x) + \tfrac{\delta^2}{6}\,f'''(x) + \dots$$
#
# In the second, the terms in $\delta$ cancel. Its error $\delta^2$ and the rounding error
# $\epsilon/\delta$, with $\epsilon \approx 10^{-16}$, are equally large at
# $\delta = \sqrt[3]{\epsilon}$, between $10^{-6}$ and $10^{-5}$.
#
# </details>
#
# Now move one of the 1,920 numbers in `W1` to either side, and run the whole forward pass each
# time. It is also available as a function, `atomic(Xb, Yb, C, W1, ...)`.

# %% tags=["data-dependent"]
from makemore_data import Parameters, atomic

in_float64 = Parameters(*(p.detach().double() for p in parameters))
row, column = 4, 7


def loss_with(weight):
    """The loss, with the one chosen element of W1 set to `weight`."""
    changed = in_float64.W1.clone()
    changed[row, column] = weight
    return atomic(Xb, Yb, *in_float64._replace(W1=changed))


watched = in_float64.W1.clone().requires_grad_()
(by_autograd,) = torch.autograd.grad(atomic(Xb, Yb, *in_float64._replace(W1=watched)), watched)
print(f"central   {central(loss_with, in_float64.W1[row, column], 1e-5):.10f}")
print(f"autograd  {by_autograd[row, column]:.10f}")

# %% [markdown]
# Autograd is right about this weight. But the test took two forward passes for one number, so all
# 4,137 parameters would take 8,274, while autograd walks back once. So this witness is honest, but
# slow. `nudge` calls it for any number:

# %% tags=["data-dependent"]
nudge("dlogprobs", 0, int(Yb[0]))

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
# The softmax turns a row $z$ of logits into probabilities, $p_j = e^{z_j} / \sum_k e^{z_k}$.
# `counts` are the $e^{z_j}$ after the maximum of the row has been subtracted from each $z_j$, which
# changes no $p_j$ (section 5.3 says why). `counts`, `probs` and `logprobs` are (32, 27);
# `counts_sum` and its inverse are columns, (32, 1). The logarithm and the power work element by
# element, but two kinds of step here are new: copying and adding up.
#
# **On paper: a column meets a matrix.** Multiply a 3 by 3 matrix $A$ with a column $b$:
#
# $$\begin{pmatrix}
# a_{11} b_1 & a_{12} b_1 & a_{13} b_1 \\
# a_{21} b_2 & a_{22} b_2 & a_{23} b_2 \\
# a_{31} b_3 & a_{32} b_3 & a_{33} b_3
# \end{pmatrix} = M .$$
#
# The column has been copied, so $b_1$ is now in three places. Its gradient is a sum of three terms
# (rule 2), and each of them is the incoming gradient times the other factor (rule 1):
#
# $$\mathrm{d}b_1
# = a_{11}\,\mathrm{d}m_{11} + a_{12}\,\mathrm{d}m_{12} + a_{13}\,\mathrm{d}m_{13} .$$
#
# This one line of code copies and then multiplies. Backward, the multiplication comes first and
# gives each copy a gradient of its own, $g_{ij} = a_{ij}\,\mathrm{d}m_{ij}$. Then these are added
# up.

# %%
figures.broadcast_and_sum()

# %% [markdown]
# *Read the lower row from right to left. A copy forward is a sum backward.*
#
# **On paper: a matrix becomes a column.** The sum of a row, $s_1 = a_{11} + a_{12} + a_{13}$, has
# slope 1 in each of its terms. So the incoming gradient at $s_1$ goes to all three, unchanged:

# %%
figures.sum_is_a_router()

# %% [markdown]
# *A sum forward is a copy backward.*
#
# Work out both results on paper before you run the cell. (`backward(gradient=...)` lets us choose
# the incoming gradient.)

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
# `keepdim=True` keeps the axis that was added up, with length 1. Without it the result is (32,),
# and (32,) together with (32, 1) broadcasts to (32, 32), which raises no error and is nonsense.
#
# **Your turn**, beginning with the last line, which is nearest to the loss.
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
# If you cannot see where an error is, write `heat_map("dcounts")` in a cell of your own. It is
# purple where your number is too small, and green where it is too large.
#
# **Worth noticing: the boost.** At the right character, the gradient of the probability $p$ is
# $-\tfrac{1}{n\,p}$. If $p$ is one in a thousand, that is $1000/n$ in size, so the logarithm turns
# the volume up exactly where the network is most wrong.

# %% tags=["data-dependent"]
p_right = probs.detach()[range(n), Yb]
boost = probs.grad[range(n), Yb]
largest = n * boost.abs().max()
print(f"largest gradient of a probability: {largest:.1f} / n, at p = {p_right.min():.3f}")
print(f"largest gradient of a logit:       {n * logits.grad.abs().max():.2f} / n")
figures.boosts(p_right, boost)

# %% [markdown]
# At the logits the boost is gone, and no number exceeds $1/n$, because the softmax multiplies by
# the same $p$ by which the logarithm divides. Notebook 02 shows this in one formula.
#
# <details>
# <summary>An aside: should one limit the gradient, or the loss?</summary>
#
# Large gradients ruin an update. In a hurry one might limit the loss, with `clamp(max=...)`. Below,
# one letter is common (95 of 100) and one is rare, and the model is convinced that the rare one
# hardly exists. Which training finds the truth? Beyond its limit, `clamp` is a horizontal line,
# with slope zero, and only the five examples over the limit could have told the model about the
# rare letter: a leak.
#
# </details>


# %%
# @title Three trainings: with no limit, with the gradient limited, with the loss limited
def train_two_logits(style, n_steps=200):
    """The model's belief in the rare letter after each training step."""
    letters = torch.tensor([0] * 95 + [1] * 5)
    model, beliefs = torch.tensor([6.0, 0.0], requires_grad=True), []
    for _ in range(n_steps):
        all_rows = model.expand(100, 2)  # the same two logits for each letter
        losses = F.cross_entropy(all_rows, letters, reduction="none")
        if style == "clamped loss":
            losses = losses.clamp(max=4.0)
        (gradient,) = torch.autograd.grad(losses.mean(), model)
        if style == "clipped gradient":
            gradient = gradient.clamp(-0.01, 0.01)
        with torch.no_grad():
            model -= 2.0 * gradient
        beliefs.append(model.softmax(0)[1].item())
    return beliefs


styles = ("plain", "clipped gradient", "clamped loss")
beliefs = {style: train_two_logits(style) for style in styles}
for style in styles:
    print(f"{style:<16}: believes in the rare letter with {beliefs[style][-1]:.3f}, truth 0.050")
figures.beliefs(beliefs, truth=0.05)

# %% [markdown]
# ## 5.3 The maximum
#
# ```python
# logit_maxes = logits.max(1, keepdim=True).values
# norm_logits = logits - logit_maxes
# counts = norm_logits.exp()
# ```
#
# `logit_maxes` is a column, (32, 1), and the other three are (32, 27).
#
# Why is the maximum subtracted? In float32 the exponential of 89 is already infinite, and infinity
# divided by infinity is not a number. After the subtraction, the largest exponent is 0.

# %%
tall = torch.tensor([98.0, 99.0, 100.0])
print("as they are:      ", tall.exp() / tall.exp().sum())
safe = tall - tall.max()
print("minus the maximum:", safe.exp() / safe.exp().sum())

# %% [markdown]
# **On paper: a column is subtracted.** In $D = A - b$, with a 3 by 3 matrix $A$ and a column $b$,
# one entry is $d_{32} = a_{32} - b_3$. Each $a$ goes into one $d$, with slope 1, and each $b$ into
# three, with slope $-1$.
#
# **On paper: the maximum is a router**, which sends the incoming gradient to a single address. If
# you raise the largest number of a row by a little, the maximum rises by as much. If you raise any
# other number, nothing happens.

# %%
figures.max_is_a_router()

# %% [markdown]
# *The maximum remembers who won. All the others get zero.*
#
# There is one trap when you add two contributions in place:

# %%
first = torch.zeros(3)
second = first  # a second name for the same tensor
second += 1
print("after second += 1, first is", first.tolist())
first = torch.zeros(3)
second = first.clone()  # a second tensor
second += 1
print("with .clone() it stays", first.tolist())

# %% [markdown]
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
# Back to the most expensive bet of section 3.4. Guess first: which of its 27 slopes are negative?
# And what do all 27 add up to?

# %% tags=["data-dependent"]
asked = logits.grad[one]
print(f"came next: {itos[right]!r} {asked[right]:+.5f}, the limit is {-1 / n:+.5f}")
print(f"favourite: {itos[favourite]!r} {asked[favourite]:+.5f}")
print(f"negative: {(asked < 0).sum()} of 27")
print(f"the other 26 together: {asked.sum() - asked[right]:+.5f}")

# %% [markdown]
# To lower the loss, training has to raise one logit and lower all the others, by as much in all.
#
# **Worth noticing: a gradient that is zero.** Your `dlogit_maxes` is practically zero, and for a
# good reason. Subtract the same constant $c$ from every logit $z$ in a row:
#
# $$\begin{aligned}
# \frac{e^{z_j - c}}{\sum_k e^{z_k - c}} &= \frac{e^{-c}\,e^{z_j}}{e^{-c} \sum_k e^{z_k}} \\
# &= \frac{e^{z_j}}{\sum_k e^{z_k}} .
# \end{aligned}$$

# %%
figures.softmax_ignores_a_shift()

# %% [markdown]
# The probabilities stay the same, so the loss does not notice the shift, and its slope with respect
# to the shift is exactly zero. The tiny numbers that you see are rounding errors. How can you tell
# them from a small gradient? Compute with more digits: rounding errors shrink, while a real
# gradient stays where it is.

# %% tags=["nbval-ignore-output"]
print(f"largest number in dlogits {logits.grad.abs().max():.0e}, in the gradient of a shift:")
for dtype in (torch.float32, torch.float64):
    shift = torch.zeros(n, 1, dtype=dtype, requires_grad=True)
    F.cross_entropy(logits.detach().to(dtype) - shift, Yb).backward()
    print(f"{dtype}: {shift.grad.abs().max():.0e}")

# %% [markdown]
# This means that the value cannot tell you whether the branch through the maximum is right: `cmp`
# says `approximate: True` even if you send it to the wrong place. The check therefore sends random
# gradients through your line. If you left the branch out because you know that it is zero, that is
# right too.
#
# ## 5.4 Linear layer 2
#
# ```python
# logits = h @ W2 + b2
# ```
#
# **On paper.** Element by element, a product sends back the incoming gradient times the other
# factor. For matrices, write out the smallest case, $Y = A\,B + c$ with 2 by 2 matrices and a row
# $c$:
#
# $$\begin{aligned}
# y_{11} &= a_{11} b_{11} + a_{12} b_{21} + c_1
# & \qquad y_{12} &= a_{11} b_{12} + a_{12} b_{22} + c_2 \\
# y_{21} &= a_{21} b_{11} + a_{22} b_{21} + c_1
# & \qquad y_{22} &= a_{21} b_{12} + a_{22} b_{22} + c_2
# \end{aligned}$$
#
# Now find $a_{11}$. It appears in $y_{11}$, multiplied by $b_{11}$, and in $y_{12}$, multiplied by
# $b_{12}$. The same search for the other three gives
#
# $$\begin{aligned}
# \mathrm{d}a_{11} &= \mathrm{d}y_{11}\,b_{11} + \mathrm{d}y_{12}\,b_{12} &
# \qquad \mathrm{d}a_{12} &= \mathrm{d}y_{11}\,b_{21} + \mathrm{d}y_{12}\,b_{22} \\
# \mathrm{d}a_{21} &= \mathrm{d}y_{21}\,b_{11} + \mathrm{d}y_{22}\,b_{12} &
# \qquad \mathrm{d}a_{22} &= \mathrm{d}y_{21}\,b_{21} + \mathrm{d}y_{22}\,b_{22}
# \end{aligned}$$
#
# Each of these is a row of one matrix times a row of another, so together they are a matrix product
# again, with something **transposed** (rows become columns, in code `A.T`).
#
# Do the same for $b_{11}$ (which appears in $y_{11}$ and in $y_{21}$) and for $c_1$. Then write
# $\mathrm{d}A$ and $\mathrm{d}B$, each as a product of two of the matrices $A$, $B$ and
# $\mathrm{d}Y$. If you would rather not, let the shapes decide: you may transpose a block and
# choose the order, but the sides that touch must have the same length.

# %%
figures.which_product()

# %% [markdown]
# `b2` is (27,). If two shapes differ in length, broadcasting first puts 1s on the *left*, so `b2`
# counts as (1, 27), a row, and is copied to all 32 rows of `h @ W2`.
#
# **Your turn.** The incoming gradient is `dlogits`.
#
# **`dh`** (32, 64), which plays the role of $\mathrm{d}A$.
#
# {{ hints: dh }}
#
# **`dW2`** (64, 27), in the role of $\mathrm{d}B$.
#
# {{ hints: dW2 }}
#
# **`db2`** (27,), in the role of $\mathrm{d}c$.
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
# <details>
# <summary>An aside: the same matrix, sixty times</summary>
#
# A 1 that is multiplied by 0.8 sixty times becomes $1.5 \cdot 10^{-6}$, and with 1.2 it becomes
# 56,000. A recurrent network applies the same matrix at every time step, so backward its transpose
# multiplies the gradient once for each step, and the size of its largest *eigenvalue* plays the
# role of 0.8 or 1.2. Below, one gradient *eventually* **vanishes** (a leak), so that nothing can be
# learnt from what happened sixty steps ago, and one **explodes**, so that one update ruins the
# weights.
#
# </details>

# %%
# @title The same matrix, sixty times
generator = torch.Generator().manual_seed(1)
recurrent = torch.randn(64, 64, generator=generator)
recurrent /= torch.linalg.eigvals(recurrent).abs().max()  # now it plays the role of 1
at_the_end = torch.randn(64, generator=generator)

norms = {}
for size in (0.8, 1.0, 1.2):
    gradient, lengths = at_the_end, []
    for _ in range(60):
        gradient = (size * recurrent).T @ gradient
        lengths.append((gradient.norm() / at_the_end.norm()).item())
    norms[f"factor {size}"] = lengths
    print(f"factor {size}: length {lengths[0]:.2f}, ..., {lengths[-1]:.1g}")
figures.lengths(norms)

# %% [markdown]
# ## 5.5 tanh
#
# ```python
# h = torch.tanh(hpreact)
# ```
#
# With $\tanh x = \dfrac{e^x - e^{-x}}{e^x + e^{-x}}$, the quotient rule gives
#
# $$\tanh' x = \frac{(e^x + e^{-x})^2 - (e^x - e^{-x})^2}{(e^x + e^{-x})^2} = 1 - \tanh^2 x .$$
#
# **On paper.** A unit whose output is 0.8 has the slope $1 - 0.64 = 0.36$, and you did not need to
# know its input.
#
# **Your turn.** The incoming gradient is `dh`.
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
# By now you will have seen `exact: False`. It is not your mistake: on most processors, PyTorch's
# own code for this line rounds once where yours rounds twice. All gradients further back inherit
# the difference.
#
# <details>
# <summary>An aside: the last bit</summary>
#
# The forward pass says `counts_sum**-1`. Why not `1 / counts_sum`? The two have the same
# derivative, $-1/x^2$, but PyTorch computes it in two ways, which the cell below compares. If you
# write `1 / counts_sum` in the forward cell, the check says that this line differs from the
# course's, and `cmp`, which compares with your own tensors, finds no gradient exact from
# `dcounts_sum` on. *Exact* says how alike two pieces of code are, and not which of them is right.
#
# </details>

# %% tags=["nbval-ignore-output"]
# @title Two ways to invert, forward and backward
arrives, x = counts_sum_inv.grad, counts_sum.detach()
by_hand = {"-(x**-2)": arrives * -(x**-2), "-(1 / x)**2": arrives * -((1 / x) ** 2)}
for name, invert in (("x**-1", lambda x: x**-1), ("1 / x", lambda x: 1 / x)):
    leaf = x.clone().requires_grad_()
    invert(leaf).backward(gradient=arrives)
    for formula, gradient in by_hand.items():
        apart = (gradient - leaf.grad).abs().max()
        print(f"{name} forward, {formula:<11} backward: largest difference {apart:.0e}")

# %% [markdown]
# **The gate.** The slope of a squashing function opens and shuts the way back:

# %%
figures.squashing()

# %% [markdown]
# *At ±5, tanh has next to no slope left, and the sigmoid has 3 % of its best.*
#
# At input 5, tanh lets 0.02 % of the gradient through, which is a leak. The unit is **saturated**
# and learns next to nothing from this example. Batch normalisation is the usual cure. Is any of our
# own 64 units shut for all 32 examples?

# %% tags=["data-dependent"]
gate = 1 - h.detach() ** 2
shut = gate < 0.1
print(f"{(gate > 0.99).float().mean():.1%} of the gates are more than 99 % open")
print(f"{shut.float().mean():.1%} are more than 90 % shut")
print(f"{shut.all(0).sum()} units are shut for every example")
figures.gates(gate)

# %% [markdown]
# *Green where the gate is open. No column is empty from top to bottom.*
#
# <details>
# <summary>An aside: units that die</summary>
#
# The rectifier, `relu(x) = max(x, 0)`, has the slope 1 on the right and exactly 0 on the left. If
# one careless update makes a unit negative for *every* example, no gradient reaches its weights,
# and the unit is **dead**, which is the last of the leaks. Of 40 units, how many survive one step
# that is far too large?
#
# </details>

# %%
# @title A layer of 40 units, before and after the step
generator = torch.Generator().manual_seed(0)
inputs = torch.rand(100, 10, generator=generator)
targets = torch.rand(100, 1, generator=generator)
weights = (torch.randn(10, 40, generator=generator) / 10**0.5).requires_grad_()
readout = torch.randn(40, 1, generator=generator) / 40**0.5


def hidden_and_gradient():
    hidden = torch.relu(inputs @ weights)
    (gradient,) = torch.autograd.grad(((hidden @ readout - targets) ** 2).mean(), weights)
    return hidden.detach() > 0, gradient


before, gradient = hidden_and_gradient()
with torch.no_grad():
    weights -= 30 * gradient  # far too large
after, gradient = hidden_and_gradient()

dead = ~after.any(0)
print(f"dead units: {(~before.any(0)).sum()} before, {dead.sum()} after")
print(f"largest gradient of a dead unit's weights: {gradient[:, dead].abs().max():.1f}")
figures.firing(before, after)

# %% [markdown]
# *Green where a unit fires, grey where it does not, pink where it is dead.*
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
# Each column of `hprebn`, which is one unit, is shifted and scaled to mean 0 and variance 1. Then
# the network may choose another scale (`bngain`) and shift (`bnbias`). You know all these steps.
# But here, for the first time, the examples affect each other: the 32 numbers of a column share a
# mean and a variance, so what happens to one depends on the other 31.

# %%
figures.batchnorm_graph()

# %% [markdown]
# *Forward, from* `hprebn` *down to* `hpreact`*. H is n_hidden. Each of the green tensors is read by
# two lines.*
#
# ### Gain, bias and the normalised values
#
# ```python
# hpreact = bngain * bnraw + bnbias
# ```
#
# `bngain` and `bnbias` are rows, (1, 64), and are copied to all 32 examples. **On paper** this is
# the column of section 5.2, turned through 90 degrees: the copies now lie below each other. The
# incoming gradient is `dhpreact`.
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
# **On paper.** In $q = \tfrac12 (a_1 + a_2 + a_3)$ each term has the slope $\tfrac12$, so each
# receives $\tfrac12\,\mathrm{d}q$. For $r = q^{-1/2}$ the slope is $-\tfrac12\,q^{-3/2}$.
#
# **Find the fault.** The column (1, 3, 5) has the differences ($-2$, 0, 2) and the variance 4. The
# incoming gradient at its `bnraw` is (1, 0, 3), and somebody goes back from there:
#
# | | their way |
# | :-- | :-- |
# | `dbnvar_inv` | $1 \cdot (-2) + 0 \cdot 0 + 3 \cdot 2 = 4$ |
# | `dbnvar` | $-\tfrac12 \cdot 4^{-3/2} \cdot 4 = -\tfrac14$ |
# | `dbndiff2` | $-\tfrac14$, copied to all three |
#
# The shapes are right, but one line is wrong. Decide which, before autograd goes the same way:

# %%
column = torch.tensor([[1.0], [3.0], [5.0]], requires_grad=True)
differences = column - column.mean(0, keepdim=True)
squares = differences**2
variance = squares.sum(0, keepdim=True) / 2
inverse = variance**-0.5

arrives = torch.tensor([[1.0], [0.0], [3.0]])
found = torch.autograd.grad(differences * inverse, (inverse, variance, squares), arrives)
for name, gradient in zip(("dbnvar_inv", "dbnvar", "dbndiff2"), found, strict=True):
    print(f"{name:<10} {gradient.flatten().tolist()}")

# %% [markdown]
# The last line forgot the ½ in front of the sum. Now write yours. The `1e-5` keeps the power finite
# for a unit that gives the same number for every example, and it belongs to the base, forward and
# backward. Which of these pictures is `dbnraw`, and which is `dbndiff2`?

# %% tags=["data-dependent"]
figures.which_gradient(bnraw.grad, bndiff2.grad)

# %% [markdown]
# *Green is positive and purple negative, and the stronger the colour, the larger the number.*
#
# **`dbnvar_inv`** (1, 64), through the product.
#
# {{ hints: dbnvar_inv }}
#
# **`dbnvar`** (1, 64), through the power.
#
# {{ hints: dbnvar }}
#
# **`dbndiff2`** (32, 64), through the sum. Think of its picture.
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
# (Picture B is `dbndiff2`: each column has one colour, because a sum sends the same gradient back
# to all its terms.)
#
# ### The mean, and back to the first layer
#
# ```python
# bnmeani = 1 / n * hprebn.sum(0, keepdim=True)
# bndiff = hprebn - bnmeani
# bndiff2 = bndiff**2
# bnraw = bndiff * bnvar_inv
# ```
#
# **On paper.** Take the column $x = (1, 3, 5)$ again, with its differences $y = (-2, 0, 2)$. If you
# raise $x_1$ by $\varepsilon$, its own difference grows by $\varepsilon$. But the mean grows by
# $\varepsilon/3$, so *all three* differences fall by that. How each $y_i$ depends on each $x_j$ is
# a table, the **Jacobian**:
#
# $$\frac{\partial y}{\partial x} =
# \begin{pmatrix} 1 & 0 & 0 \\ 0 & 1 & 0 \\ 0 & 0 & 1 \end{pmatrix} - \frac13
# \begin{pmatrix} 1 & 1 & 1 \\ 1 & 1 & 1 \\ 1 & 1 & 1 \end{pmatrix} .$$
#
# Its two parts are the two arrows that leave `hprebn` in the graph: straight to its own difference,
# and to every difference through the mean.
#
# **Numbers first.** If the incoming gradient at $y$ is (1, 0, 0), what is the gradient of $x$? What
# if it is (1, 0, 1), or (7, 7, 7)? Add up each answer, too.

# %%
for arrives in ([1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [7.0, 7.0, 7.0]):
    upstream = torch.tensor(arrives)[:, None]
    (leaves,) = torch.autograd.grad(differences, column, upstream, retain_graph=True)
    print(arrives, "arrives,", [round(x, 3) for x in leaves.flatten().tolist()], "leaves")

# %% [markdown]
# **Your turn.** Both of the green tensors are among these, so count the readers.
#
# **`dbndiff`** (32, 64).
#
# {{ hints: dbndiff }}
#
# **`dbnmeani`** (1, 64). (The lecture's is (64,), which the lecture's `cmp` accepts because of
# broadcasting.)
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
# **Worth noticing.** Whatever the incoming gradient was, the gradient of $x$ added up to zero, and
# yours does so in each column. The reason is that if you raise all numbers of a column by the same
# amount, no difference changes.

# %% tags=["nbval-ignore-output"]
print(f"largest number in hprebn's gradient: {hprebn.grad.abs().max():.0e}")
print(f"largest sum of a column:             {hprebn.grad.sum(0).abs().max():.0e}")
board()

# %% [markdown]
# <details>
# <summary>An aside: why n − 1?</summary>
#
# The batch's *own* mean lies closer to its numbers than the true mean does, so the sum of squares
# comes out a little too small. Dividing by $n-1$ makes up for that on average ([**Bessel's
# correction**](http://mathcenter.oxford.emory.edu/site/math117/besselCorrection/)), as the cell
# below shows with numbers whose true variance is 1. [The paper](https://arxiv.org/abs/1502.03167)
# divides by $n$ while training, and notebook 03 measures who else does.
#
# </details>

# %%
# @title The variance of many batches, divided by n and by n - 1
generator = torch.Generator().manual_seed(5)
sizes = [2, 3, 4, 6, 8, 12, 16, 24, 32]
batches = [torch.randn(20_000, size, generator=generator) for size in sizes]
with_n = [batch.var(1, correction=0).mean().item() for batch in batches]
with_n_minus_1 = [batch.var(1, correction=1).mean().item() for batch in batches]
print(f"batches of  2: {with_n[0]:.2f} with n, {with_n_minus_1[0]:.2f} with n - 1")
print(f"batches of 32: {with_n[-1]:.2f} with n, {with_n_minus_1[-1]:.2f} with n - 1")
figures.variance_estimates(sizes, with_n, with_n_minus_1)

# %% [markdown]
# ## 5.7 Linear layer 1
#
# ```python
# hprebn = embcat @ W1 + b1
# ```
#
# **`dembcat`** (32, 30) is section 5.4 with other names, so do it from the shapes alone.
#
# {{ hints: dembcat }}
#
# **`dW1`** (30, 64) and **`db1`** (64,).
#
# <details>
# <summary>An aside: both with a single matrix product</summary>
#
# A bias is a weight whose input is always 1. So put a column of ones beside `embcat`, with
# `torch.cat([a, b], 1)`, and think of `b1` as one more row of `W1`, at the same end. The gradient
# of this larger `W1` holds both.
#
# </details>
#
# {{ hints: dW1 }}
#
# {{ hints: db1 }}

# %%
# answer: ex1-linear1
### BEGIN SOLUTION
dembcat = dhprebn @ W1.T
with_ones = torch.cat((embcat, torch.ones(n, 1)), 1)
dboth = with_ones.T @ dhprebn  # (31, 64): a row for each of embcat's columns, and one for the ones
dW1, db1 = dboth[:-1], dboth[-1]
### END SOLUTION

# %%
# check: ex1-linear1
check("dembcat", "dW1", "db1")

# %% [markdown]
# **Worth noticing: the useless bias.** Apart from rounding, the gradient of `b1` is zero, like that
# of `logit_maxes`. You have just seen why: batch normalisation subtracts the mean of the column,
# and the bias goes with it, so the loss never hears of it.

# %% tags=["data-dependent"]
far_off = atomic(Xb, Yb, *in_float64._replace(b1=in_float64.b1 + 1000))
print(f"loss {atomic(Xb, Yb, *in_float64):.8f}, with 1000 added to each b1 {far_off:.8f}")

# %% [markdown]
# `bnbias`, which comes *after* the mean has been subtracted, does the work of `b1`. So serious code
# writes `Linear(..., bias=False)` before a normalisation layer.
#
# With `db1` you have met all four gradients of which part 4 spoke. The others are `dlogit_maxes`,
# `dlogits` and `dbnmeani`. In each of them, a contribution adds up to zero, so a wrong formula for
# it leaves the numbers right.
#
# **A fault to find.** In the backward pass of part 1's training B, all the shapes are right, but
# one contribution has been forgotten, and every gradient computed from it is wrong as well. Find
# the first wrong gradient: everything that it is computed from is right. The board shows which
# gradient is computed from which. (Its colours are those of your own answers.)

# %% tags=["nbval-ignore-output"]
from IPython.display import display

from makemore_data import colleagues_gradients, judge_fault

theirs = colleagues_gradients(Xb, Yb, *parameters)
tensors = {"bndiff": bndiff, "bnmeani": bnmeani, "bnraw": bnraw, "embcat": embcat, "h": h}
tensors |= {"hpreact": hpreact, "hprebn": hprebn, "logits": logits, "W1": W1}
for name, tensor in tensors.items():
    cmp(name, theirs[name], tensor)
board()

# %% [markdown]
# Which one is it, and how many arrows lead to it? Each arrow is a contribution. Write its tensor
# here, or a name such as `"logits"`:

# %% tags=["data-dependent"]
# try: ex1-fault
### BEGIN SOLUTION
first_wrong = hprebn
### END SOLUTION

chosen, verdict = judge_fault(first_wrong, tensors)
print(verdict)
if chosen:
    display(figures.difference(f"d{chosen}", theirs[chosen], tensors[chosen], whose="their"))

# %% [markdown]
# Look at the picture and compare its rows: how do they differ? Which contribution is like that? Put
# it back. (`theirs["h"]` is their `dh`, and so on.)

# %%
# try: ex1-repair
### BEGIN SOLUTION
repaired = theirs["hprebn"] + theirs["bnmeani"] / n  # the branch through the mean
### END SOLUTION

if chosen:
    cmp(chosen, repaired, tensors[chosen])
else:
    print("to do: name the tensor above first")

# %% [markdown]
# ## 5.8 The view
#
# ```python
# embcat = emb.view(n, -1)
# ```
#
# (32, 3, 10) becomes (32, 30): the three rows of ten that belong to an example are laid side by
# side. A view only puts the brackets elsewhere, and the backward step puts them back. Suppose that
# an example has three positions of two numbers each. Which grid did this row come from, A or B?

# %%
figures.which_view()

# %% [markdown]
# The check of `demb`, below, tells you whether you have chosen well. With the other grid every
# number is there, but in the wrong place.
#
# ## 5.9 The embedding
#
# ```python
# emb = C[Xb]
# ```
#
# `C` is (27, 10), a row of ten numbers for each character. `Xb` holds whole numbers, (32, 3), which
# are the rows to look up. It has no gradient, because there is nothing to nudge about "row 5".
#
# **On paper.** The name *ma* gives three windows. Looking up is copying: the row of the dot is
# copied to six places, the row of *m* to two, and the row of *a* to one.

# %%
figures.lookups_and_repeats()

# %% [markdown]
# Mind a common trap. Three visitors come to door 0, one comes to door 2, and each adds 1 to its
# count:

# %%
doors = torch.tensor([0, 0, 0, 2])
visitors = torch.zeros(3)
visitors[doors] += 1
print("with += on an index:", visitors.tolist())

# %% [markdown]
# Door 0 should have counted 3. But `visitors[doors] += 1` reads all four counts before it writes
# any, so repeated rows are overwritten, not added up. Let a loop visit one place after the other,
# or use a function that is made for this, `t.index_add_(0, indices, rows);`. (The semicolon keeps
# the notebook from printing the tensor.)
#
# **Your turn.**
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

# %% tags=["data-dependent"]
nudge("dC", int(Xb[one, 2]), 5)  # the last letter of the most expensive bet

# %% [markdown]
# The most expensive bet of section 3.4 has come back to its letters, too:

# %% tags=["data-dependent"]
for name, tensor in {"logits": logits, "h": h, "embcat": embcat}.items():
    begins = ", ".join(f"{number:.4f}" for number in tensor.grad[one, :3].tolist())
    print(f"d{name:<7} {begins}, ...")
row = Xb[one, 2].item()
print(f"row {row} of dC begins with {C.grad[row, 0]:.4f}, from all examples that read it")

# %% [markdown]
# **Worth noticing.** If a character is in none of the batch's windows, the gradient of its row is
# exactly zero.

# %% tags=["data-dependent"]
lookups = torch.bincount(Xb.flatten(), minlength=vocab_size)
lengths = C.grad.norm(dim=1)
absent = [itos[i] for i in range(vocab_size) if lookups[i] == 0]
print(f"never looked up: {' '.join(absent)}; lengths {lengths[lookups == 0].tolist()}")
figures.rows_of_the_table([itos[i] for i in range(vocab_size)], lookups, lengths)

# %% [markdown]
# # Part 6 · What you have built

# %%
board()

# %%
check()

# %% [markdown]
# These were twenty-six gradients, but only a handful of different moves:
#
# | forward | backward |
# | :-- | :-- |
# | a function, element by element | the incoming gradient, times the slope at each element |
# | a product | the incoming gradient, times the other factor |
# | a copy (broadcasting, looking up a row) | the copies' gradients, added up |
# | a sum, a mean | the incoming gradient, copied to every term (a mean: its n-th part) |
# | a maximum | the incoming gradient, to the winner only |
# | a matrix product | the matrix product whose shapes fit (if two fit, write out a case) |
# | a change of shape | the change undone |
# | read by several lines | the readers' gradients, added up |
#
# Now let them do what gradients are for. For a minute, the next cell runs your ten answer cells on
# one batch after the other, and each time it moves every parameter a little against its gradient:
# with your lines, and without `loss.backward()`.

# %% tags=["nbval-ignore-output"]
from grader import train_with_my_answers
from makemore_data import begin_run, calibrate, mean_loss, sample_names

untrained = begin_run(n_hidden)
trained = train_with_my_answers(Xtr, Ytr, seconds=60)
for run in filter(None, (untrained, trained)):
    mean, variance = calibrate(run.parameters, Xtr)  # over all examples, not over one batch
    network = run.parameters, mean, variance
    invented = sample_names(*network, itos, block_size, count=10)
    print(f"{run.step:,} steps, loss {mean_loss(*network, Xdev, Ydev):.2f} on names never seen:")
    print("   ", ", ".join(name[:20] for name in invented))

# %% [markdown]
# What lies between the two lists is the chain rule, as you wrote it.
#
# **One more, from outside the network.** *RMS norm*, which many language models use, divides each
# row by the root of its mean square, so the examples do not affect each other. The incoming
# gradient is `dy`.
#
# <details>
# <summary>Hint 1 for <code>dmean_square</code></summary>
#
# Only the product reads `mean_square`, a column that was copied along each row. The other factor is
# `x`, and the slope of $m^{-1/2}$ is $-\tfrac12 m^{-3/2}$.
#
# </details>
#
# <details>
# <summary>Hint 2 for <code>dx</code></summary>
#
# Two lines read `x`: the product, and the square under the mean. A mean gives each term its share.
# Of how many numbers is this one?
#
# </details>
#
# <details>
# <summary>Hint 3: a row to test</summary>
#
# If `x` is (1, 1, $-1$, 1) and the incoming gradient is (1, 0, 0, 0), `dmean_square` is $-0.5$ and
# `dx` is (0.75, $-0.25$, 0.25, $-0.25$).
#
# </details>


# %% tags=["nbval-ignore-output"]
# try: ex1-encore
from typing import Annotated

from grader import explain


def rms_norm(x: Annotated[torch.Tensor, "n, d"]):
    mean_square = (x**2).mean(1, keepdim=True)
    y = x * mean_square**-0.5
    return y


def rms_norm_backward(dy, x, mean_square, n, d):
    ### BEGIN SOLUTION
    dmean_square = (dy * x).sum(1, keepdim=True) * -0.5 * mean_square**-1.5
    dx = dy * mean_square**-0.5 + dmean_square * 2 * x / d
    ### END SOLUTION
    return {"dmean_square": dmean_square, "dx": dx}


explain(rms_norm, rms_norm_backward)

# %% [markdown]
# **Where next.** Notebook **02** takes the eight lines of the cross-entropy in a single stride, and
# the result fits into half a line. **03** does the same for batch normalisation. In **04** you
# train the network in earnest, for 200,000 steps.
#
# In a terminal, `grader check 01_atomic_backprop.ipynb` says the same as the cells above. It reads
# the file, so save first.
