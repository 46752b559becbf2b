# %% [markdown]
# # 2 · The cross-entropy in one step
#
# {{ colab }}
#
# In notebook 01 the gradient took eight lines to get from the loss back to the logits. Here you go
# the whole way in one step: first with pencil and paper, then in half a line of code. Nearly every
# classifier is trained with this gradient, and you can read it: it says which scores are pulled up,
# which are pushed down, and how hard.
#
# - **Time:** about an hour and a half, of which half an hour is on paper. The rest is for what it
#   means.
# - **You need:** notebook 01 up to its section 5.3 (or its three rules by heart), and the slopes of
#   $e^x$, of $\ln x$ and of a quotient.
# - **Afterwards you can:** derive the gradient of softmax and cross-entropy from nothing, write it
#   in one expression, read a picture of it, say why nobody computes it in small steps, and adapt it
#   when the loss changes.
#
# The exercise comes from Andrej Karpathy's lecture [*Becoming a Backprop
# Ninja*](https://www.youtube.com/watch?v=q8SA3rM6ckI), part 4 of *Building makemore*. You need not
# have seen it.
#
# | on paper | in code, as in 01 and 04 |
# | :-- | :-- |
# | $\ell$ | `logits`; `scores` after training; `z` in part 5 |
# | $e^{\ell}$, and its sum $S$ | `counts`, `counts_sum` (of `norm_logits`, in 01) |
# | $p$ | `probs` |
# | $y$, the right character | `Yb` |
#
# Run the next two cells first.

# %%
# {{ cell: setup }}

# %%
import math
import timeit
from functools import partial
from typing import Annotated

import torch
import torch.nn.functional as F
from torch import Tensor

from grader import Constant, board, check, explain, figures, heat_map, nudge
from makemore_data import (
    autograd_loop,
    begin_run,
    build_splits,
    build_vocabulary,
    load_names,
)

figures.use_course_style()
torch.set_num_threads(1)  # matrices this small: two threads would mostly wait for each other

# %% [markdown]
# # Part 1 · Eight lines, or one
#
# The names, the network and the batch are those of notebook 01, with the same seed. This time the
# network is only a function, and autograd takes no notes of it, because we start where it ends:
# with the **logits**, 27 scores for each of 32 examples.


# %% tags=["data-dependent"]
def network(Xb, C, W1, b1, bngain, bnbias, W2, b2):
    """The forward pass of notebook 01, up to the logits."""
    hprebn = C[Xb].view(len(Xb), -1) @ W1 + b1
    bnraw = (hprebn - hprebn.mean(0)) * (hprebn.var(0) + 1e-5) ** -0.5
    h = torch.tanh(bngain * bnraw + bnbias)
    return h @ W2 + b2


names = load_names()
stoi, itos = build_vocabulary()
vocab_size = len(itos)
(Xtr, Ytr), _, _ = build_splits(names, block_size=3)

run = begin_run(n_hidden=64)  # the lecture's parameters, and the generator that drew them
n = 32
ix = torch.randint(0, Xtr.shape[0], (n,), generator=run.generator)
Xb, Yb = Xtr[ix], Ytr[ix]
logits = network(Xb, *run.parameters)
print("logits:", tuple(logits.shape), "  right characters:", tuple(Yb.shape))

# %% [markdown]
# Here are the eight lines of notebook 01 again. They are in a function, so that their names stay
# inside it. (They use `torch.arange` for `range`, because Python walks through a `range` number by
# number.)


# %%
def eight_small_lines(logits, Yb):
    logit_maxes = logits.max(1, keepdim=True).values
    norm_logits = logits - logit_maxes
    counts = norm_logits.exp()
    counts_sum = counts.sum(1, keepdim=True)
    counts_sum_inv = counts_sum**-1
    probs = counts * counts_sum_inv
    logprobs = probs.log()
    return -logprobs[torch.arange(len(Yb)), Yb].mean()


# %% [markdown]
# And here is the one line that takes their place. Do the two give the same number?

# %%
loss = F.cross_entropy(logits, Yb)

# %% tags=["data-dependent"]
print(f"eight lines: {eight_small_lines(logits, Yb).item():.4f}")
print(f"one line:    {loss.item():.4f}")

# %% [markdown]
# And do they agree on other logits, small ones and large ones?

# %% tags=["data-dependent"]
generator = torch.Generator().manual_seed(0)
for size in (0.1, 10.0):
    others = size * torch.randn(n, vocab_size, generator=generator)
    eight, one = eight_small_lines(others, Yb).item(), F.cross_entropy(others, Yb).item()
    print(f"random logits of size {size}: {eight:.4f} and {one:.4f}")

# %% [markdown]
# On paper they are the same function, for all logits. **Guess first:** will the computer agree when
# the logits are as large as 200?

# %% tags=["data-dependent"]
extreme = 200 * torch.randn(n, vocab_size, generator=generator)
print("eight lines:", round(eight_small_lines(extreme, Yb).item(), 4))
print("one line:   ", round(F.cross_entropy(extreme, Yb).item(), 4))

# %% [markdown]
# One of the two is wrong, and what it sends back is even worse: after a single training step with
# it, the network is ruined. Section 4.6 finds out why, and your formula will not have this problem.
#
# The same function has the same gradient. So if the forward pass has become one step, the backward
# pass should become one step too.

# %%
figures.eight_lines_become_one()

# %% [markdown]
# *Above is the long way there and back, without its three narrow tensors (the maxima, the sums and
# their inverses). Below is the same in one step.*

# %% [markdown]
# # Part 2 · On paper
#
# Get a sheet of paper. The batch can wait, so take **one example**, with the logits
# $\ell_1, \ell_2, \dots, \ell_{27}$. Call the right character (the label) $y$, the sum of the
# exponentials $S$, the probabilities $p_1, \dots, p_{27}$, and the loss of this one example $L$:
#
# $$S = \sum_k e^{\ell_k}, \quad p_i = \frac{e^{\ell_i}}{S}, \quad L = -\ln p_y .$$
#
# We look for $\dfrac{\partial L}{\partial \ell_i}$, for each $i$. Keep the letters apart: $y$ is
# *one* character, the right one, while $i$ is *any* character, the one whose logit we move. The
# letter $k$ only runs through all of them inside a sum.
#
# (The eight lines subtract the maximum first. This guards against overflow but changes none of the
# probabilities, so it does not change the slopes either, and we leave it out.)
#
# ## 2.1 From the loss to the probability
#
# The loss of this example reads a single number, $p_y$. The slope of the logarithm gives
#
# $$\frac{\partial L}{\partial p_y} = -\frac{1}{p_y} .$$
#
# This is the boost of notebook 01: the smaller $p_y$ is, the louder the loss complains.
#
# ## 2.2 From the probability to the logits
#
# $p_y = e^{\ell_y} / S$ is a quotient. Which logits does it depend on? The numerator reads only
# $\ell_y$, but the denominator reads all of them. So there are two kinds of logit, and two cases.
# In both we need the slope of the denominator. It is the same for every $i$, because only one term
# of the sum contains $\ell_i$:
#
# $$\frac{\partial S}{\partial \ell_i} = e^{\ell_i} .$$
#
# We also need the quotient rule, for the numerator $u$ and the denominator $S$, where the prime
# means the slope with respect to $\ell_i$:
#
# $$\left(\frac{u}{S}\right)' = \frac{u'\,S - u\,S'}{S^2} .$$
#
# **Case** $i \ne y$. We move the logit of a *wrong* character. The numerator $u = e^{\ell_y}$ does
# not notice, so $u' = 0$, and what is left is
#
# $$\begin{aligned}
# \frac{\partial p_y}{\partial \ell_i}
# &= \frac{0 \cdot S - e^{\ell_y}\,e^{\ell_i}}{S^2} \\
# &= -\,\frac{e^{\ell_y}}{S} \cdot \frac{e^{\ell_i}}{S} = -\,p_y\,p_i .
# \end{aligned}$$
#
# **Case** $i = y$. We move the logit of the *right* character. Now the numerator moves as well, and
# $u' = e^{\ell_y}$:
#
# $$\begin{aligned}
# \frac{\partial p_y}{\partial \ell_y}
# &= \frac{e^{\ell_y}\,S - e^{\ell_y}\,e^{\ell_y}}{S^2}
# = \frac{e^{\ell_y}}{S} \cdot \frac{S - e^{\ell_y}}{S} \\
# &= \frac{e^{\ell_y}}{S} \cdot \left(1 - \frac{e^{\ell_y}}{S}\right) = p_y\,(1 - p_y) .
# \end{aligned}$$
#
# Neither case has used that $y$ is the *right* character, so both hold for the slope of any
# probability. The table of all these slopes is called the *Jacobian* of the softmax. For three
# characters it looks like this:

# %%
figures.softmax_slopes()

# %% [markdown]
# *On the diagonal* $p_i (1 - p_i)$, *elsewhere* $-p_i\,p_j$. *Here the right character is the
# second, so the loss needs only three of the nine slopes, those in the middle row.*
#
# If you add up any row, you get zero. The first row, for instance, is $p_1\,(1 - p_1 - p_2 - p_3)$,
# and the three probabilities add up to 1. You know the reason from notebook 01: if you raise all
# logits by the same amount, no probability moves.
#
# ## 2.3 Multiply, and watch what cancels
#
# By the chain rule, $\dfrac{\partial L}{\partial \ell_i}$ is the product of the two slopes,
# $\dfrac{\partial L}{\partial p_y} \cdot \dfrac{\partial p_y}{\partial \ell_i}$. Both cases of
# section 2.2 end in a product with the factor $p_y$, and the slope of section 2.1 is $-1/p_y$. If
# $p_y$ is small, the first is small and the second is large, but **both disappear** from the
# product, and no division by a probability is left.
#
# Write down what remains, once for $i \ne y$ and once for $i = y$, and multiply out until no
# bracket is left. Each is a very short expression. Then compare the two: if you write the same
# index in both, they differ only by a constant.
#
# Test them on a small example, that of the picture: three characters have the probabilities
# $(0.7,\ 0.2,\ 0.1)$, and the second is the right one. Work out the three numbers before you run
# the cell. (The cell takes the logarithms of the probabilities as logits. Their softmax is the
# probabilities themselves, because $e^{\ln p} = p$ and $S = 1$.)

# %%
three_logits = torch.tensor([[0.7, 0.2, 0.1]]).log().requires_grad_()
F.cross_entropy(three_logits, torch.tensor([1])).backward()
print([round(slope, 3) for slope in three_logits.grad[0].tolist()])

# %% [markdown]
# ## 2.4 One formula, and the batch
#
# Two things are left to do, and both are yours.
#
# **One formula for both cases.** Let the *target* $t_i$ be 1 if $i = y$, and 0 for every other $i$.
# Such a row of zeros with a single one is called **one-hot**. With it, your two cases become one
# formula.
#
# **The mean.** The loss of the batch is $\dfrac1n \sum_b L_b$, over the examples $b$. The logits of
# example $b$ appear in $L_b$ and in no other term. So how much of the sum is left in the slope, and
# what does the $\dfrac1n$ do to it?
#
# *Stop here until you have one line on your sheet of paper.*

# %% [markdown]
# # Part 3 · In one expression
#
# **Your turn.** You can use `logits` (32, 27), `Yb` (32,), `n`, `vocab_size`, `torch` and `F`. The
# names inside `eight_small_lines` are not available, because this gradient needs none of the steps
# in between. The check works as in notebook 01. It also runs your lines on hidden batches of other
# sizes, so write `n` and not 32, and it accepts neither `.grad` nor `backward()`.
#
# **`dlogits`** (32, 27), from nothing but the logits and the labels.
#
# {{ hints: dlogits }}

# %%
# answer: ex2-dlogits
### BEGIN SOLUTION
# Probabilities minus one-hot labels, over n.
dlogits = (F.softmax(logits, 1) - F.one_hot(Yb, num_classes=vocab_size)) / n
### END SOLUTION

# %%
# check: ex2-dlogits
check("dlogits")

# %% [markdown]
# **A fail?** Write `heat_map("dlogits")` in a new cell. It puts one of your numbers beside
# autograd's, and it draws all the errors. Here is what common mistakes look like:
#
# | what you see | where to look |
# | :-- | :-- |
# | your number is `n` times autograd's | the mean |
# | it is autograd's with the other sign | what is subtracted from what |
# | errors at the labels (framed) alone | the case $i = y$ |
# | errors everywhere, but not at the labels | the case $i \ne y$ |
# | whole columns | the index: it should take *one* place in each row |
# | patches all over | the axis along which the probabilities add up to 1 |
#
# You can tell the first two by the numbers only. Their pictures look much like the third, because
# the gradient itself is largest at the labels.
#
# **A pass?** Then compare the line on your sheet of paper.
#
# <details>
# <summary>The line</summary>
#
# For example $b$ and character $i$,
#
# $$\frac{\partial\,\text{loss}}{\partial \ell_{bi}} = \frac{p_{bi} - t_{bi}}{n} .$$
#
# This is the prediction minus the target, divided by the size of the batch.
#
# </details>

# %% [markdown]
# # Part 4 · What it means
#
# From here on, the pictures use autograd's gradient, so they are right whatever your cell holds.
# (If your check says *pass*, yours is the same.) And because an untrained network gives all
# characters much the same score, the network now learns for 500 steps, which takes a second or two.

# %% tags=["data-dependent"]
autograd_loop(run, Xtr, Ytr, steps=500)
scores = network(Xb, *run.parameters)  # the same batch, after training
watched = scores.clone().requires_grad_()
loss = F.cross_entropy(watched, Yb)
(gradient,) = torch.autograd.grad(loss, watched)
probs = torch.softmax(scores, 1)
characters = [itos[i] for i in range(vocab_size)]
print(f"loss of our batch: {loss.item():.2f}, before training {eight_small_lines(logits, Yb):.2f}")

# %% [markdown]
# ## 4.1 The whole batch
#
# Each row is an example, each column is a character, and the frames mark the labels. All numbers
# have been multiplied by $n$, which undoes the division by $n$ in the mean, so they lie between -1
# and 1.

# %% tags=["data-dependent"]
figures.batch_of_gradients(n * gradient, Yb, characters)

# %% tags=["data-dependent"]
at_the_label = gradient[range(n), Yb]
print("numbers below zero:", (gradient < 0).sum().item())
print("of these, at a label:", (at_the_label < 0).sum().item())

# %% [markdown]
# *Each row has one purple place, the framed one, and its colour is the paler, the nearer its
# probability is to 1. All others are empty or green, and the strongest green shows where the
# network bet wrongly.*
#
# A gradient points uphill, to *more* loss, and training walks the other way. So purple means that
# this logit will be raised, and green that it will be lowered. Every character except the label has
# to go down.
#
# ## 4.2 One row
#
# By how much does each one go down? Take the example that the network gets most wrong, and put its
# row below its probabilities, on the same scale.

# %% tags=["data-dependent"]
worst = probs[range(n), Yb].argmin().item()
label = Yb[worst].item()
figures.one_row(probs[worst], n * gradient[worst], label, characters)

# %% tags=["data-dependent"]
context = "".join(itos[i] for i in Xb[worst].tolist())
gap = probs[worst] - n * gradient[worst]
elsewhere = torch.arange(vocab_size) != label
print(f"after {context} came {itos[label]}, to which it gave {probs[worst, label]:.3f}")
print(f"off the label, probabilities and bars differ by {gap[elsewhere].abs().max():.4f}")
print(f"at the label they differ by {gap[label]:.4f}")

# %% [markdown]
# *Bar for bar, the two charts are the same, except at the right character.*
#
# ## 4.3 Rows that sum to zero

# %% tags=["data-dependent"]
largest = gradient.abs().max()
print(f"largest number: {largest:.3f}, largest sum of a row: {gradient.sum(1).abs().max():.5f}")

# %% [markdown]
# The probabilities of a row add up to 1, and so does a one-hot row. It could not be otherwise: in
# notebook 01 you saw that the loss stays the same if you shift a whole row of logits. If a row of
# the gradient added up to anything but zero, it would say that the shift mattered.
#
# ## 4.4 Pull and push
#
# Training moves every logit against its gradient. So read *minus* the gradient as a **force** on
# the logit: if it is positive, it pulls the logit up, and if it is negative, it pushes the logit
# down. Here are the forces on four logits. If a kernel is running, you can move the logits with the
# sliders: make the right one the largest, and see what is left of the pull.

# %%
figures.logit_forces()

# %% [markdown]
# *Above are the logits of one example with the forces on them, drawn longer than they are. Below
# are their probabilities.*
#
# This picture shows three things:
#
# - **The pull is as strong as the misprediction.** A model that gives the right character 0.20 is
#   pulled with 0.80. When the probability has reached 0.90, a pull of 0.10 is left.
# - **The push goes to the mistake.** The wrong character that got the most probability is pushed
#   hardest, while one that was unlikely anyway is left in peace. Together, the forces cancel.
# - **No force exceeds 1.** However wrong the model is, one example pulls no harder than that. (In a
#   batch, each force is divided by $n$.) This is the tame gradient that notebook 01 promised.
#
# Now let the forces move the logits of the example above, step by step:

# %% tags=["data-dependent"]
moving = scores[[worst]]
history = []
for _ in range(200):
    history.append(moving.softmax(1)[0])
    leaf = moving.clone().requires_grad_()
    (slopes,) = torch.autograd.grad(F.cross_entropy(leaf, Yb[[worst]]), leaf)
    moving = moving - 0.2 * slopes  # minus the gradient: along the forces
history = torch.stack(history)
figures.pulled_and_pushed(history, label, itos[label])

# %% tags=["data-dependent"]
growth = history[1:, label] - history[:-1, label]
fastest = growth.argmax().item()
for step in (0, fastest, 198):
    print(f"step {step:3d}: probability {history[step, label]:.3f}, growing by {growth[step]:.4f}")

# %% [markdown]
# *The right character's probability climbs slowly, then fast, then slowly again. The dashed pull
# falls all the way.*
#
# Why is it slow at first, when the pull is strongest? The forces move the *logits*, and how far the
# probability follows depends on its slopes. Each slope in section 2.2 has the factor $p_y$, which
# is still small. At the end, the slopes are small again, and so is the pull.
#
# ## 4.5 What one step saves: time
#
# What does PyTorch itself do for `F.cross_entropy`? The loss knows which step made it, and each
# step knows the one before it:

# %%
node = F.cross_entropy(watched, Yb).grad_fn
while node is not None:
    print(type(node).__name__)
    node = node.next_functions[0][0] if node.next_functions else None

# %% [markdown]
# There are two steps back, and a third that only stores the result. The first one (NLL is the
# negative log-likelihood) puts $-\frac1n$ at each label. The second one turns its incoming gradient
# $g$ into $g_i - p_i \sum_k g_k$. If you put the first into it, you get your formula.
#
# The next cell measures how long either way takes, **forward** and **backward**, for our batch and
# for a large one. It uses one thread and takes the best of many short rounds.


# %% tags=["nbval-ignore-output"]
def microseconds(work, rounds):
    """The time of one call: the best of many short rounds, some of them left undisturbed."""
    return 1e6 * min(timeit.repeat(work, number=5, repeat=rounds)) / 5


measured = {}
for n_rows, rounds in ((32, 300), (20_000, 20)):
    many = torch.randn(n_rows, vocab_size, requires_grad=True)
    labels = torch.randint(vocab_size, (n_rows,))
    times = []
    for name, function in (("eight lines", eight_small_lines), ("one step", F.cross_entropy)):
        back = partial(torch.autograd.grad, function(many, labels), many, retain_graph=True)
        forward = microseconds(partial(function, many.detach(), labels), rounds)
        backward = microseconds(back, rounds)
        times.append((forward, backward))
        print(
            f"{n_rows:>6,} rows, {name:<11}: {forward:8.1f} µs forward, {backward:8.1f} µs backward"
        )
    (slow_forward, slow_backward), (fast_forward, fast_backward) = times
    measured[f"{n_rows:,} rows"] = slow_forward / fast_forward, slow_backward / fast_backward

figures.times_as_long(measured)

# %% [markdown]
# *Where a bar ends beyond the line at 1, the eight lines take longer than the one step.*
#
# With 32 rows there are few numbers, so what costs time is calling one small function after
# another. With 20,000 rows, each small step has to read and write a large matrix, and memory is
# slower than arithmetic. The one step does all its arithmetic on a row while the row is at hand.
# This is called **fusing**. It is why libraries offer `cross_entropy` as one function, and why
# compilers look for chains of small steps.
#
# ## 4.6 What one step saves: the answer itself
#
# Time is not even the main point. In part 1 the eight lines gave the loss `inf`. To see why, take a
# single example with which a model is *very* wrong. It knows two characters, and it gives the logit
# 0 to the right one and 200 to the wrong one. What should the two slopes be, by your formula?

# %%
label_of_one = torch.tensor([0])
for name, function in (("eight lines", eight_small_lines), ("one step", F.cross_entropy)):
    very_wrong = torch.tensor([[0.0, 200.0]], requires_grad=True)
    value = function(very_wrong, label_of_one)
    (slope,) = torch.autograd.grad(value, very_wrong)
    print(f"{name:<11}  loss: {value.item():>5}   gradient: {slope[0].tolist()}")

# %% [markdown]
# In float32, $e^{-200}$ is 0. The eight lines take the logarithm of that 0, so the loss is
# infinite. On the way back they divide by the 0, which gives $-\infty$. One step later, $-\infty$
# is multiplied by a 0, and the result is *not a number*, `nan`. It spreads to every layer of the
# network, so after one training step the model is ruined.
#
# In the formula that you derived, there is no such division any more, because you cancelled it on
# paper. (Forward, the same is done with $\ln p_i = \ell_i - \ln S$, once the maximum has been
# subtracted. No probability is ever computed, so none can be 0. PyTorch calls this `log_softmax`.)

# %% [markdown]
# # Part 5 · Another loss
#
# Now use the same method on two losses that you have not met.
#
# ## 5.1 Label smoothing
#
# In practice, a model is often not told that the right character is certain. Instead, the target is
# spread out a little: a share $\alpha$ of the certainty is dealt out evenly to all $K$ characters,
# the right one among them, and the label keeps the rest. So the targets of an example are no longer
# the one-hot $t_i$, but
#
# $$\begin{aligned}
# q_i &= (1 - \alpha)\,t_i + \frac{\alpha}{K} , \\
# \text{and its loss is}\quad L &= -\sum_k q_k \ln p_k .
# \end{aligned}$$
#
# With $\alpha = 0$ only the term $k = y$ is left, and that is the loss from before. The loss of the
# batch is still the mean. PyTorch has all this built in.
#
# In code, $\alpha$ is `smoothing`, and the logits are called `z`, to keep the two exercises apart.
# For our 32 examples, `3.2 / n` is 0.1, which is a usual share. Write `smoothing` in your answer
# and not 0.1, because the check also runs it on batches of other sizes, which have another
# $\alpha$.

# %%
z = scores.clone()

# %%
n = z.shape[0]
smoothing = 3.2 / n
loss = F.cross_entropy(z, Yb, label_smoothing=smoothing)

# %% [markdown]
# **On paper.** Go through part 2 again, with the row of the $q_k$ in the place of the one-hot row.
# The loss now reads *all* the $p_k$, each with a boost of its own, and by rule 2 their
# contributions to $\ell_i$ are added up.
#
# In one contribution, $k = i$, and in all the others, $k \ne i$. Section 2.2 has a slope for either
# case, if you write $k$ for $y$ there. Cancel, and collect what belongs to $p_i$. You will meet the
# sum of all the $q_k$. What is it?
#
# **Your turn.** You can use `z`, `Yb`, `smoothing`, `n` and `vocab_size`, but not `dlogits`.
#
# **`dz`** (32, 27), for the smoothed targets.
#
# {{ hints: dz }}

# %%
# answer: ex2s-smoothing
### BEGIN SOLUTION
targets = (1 - smoothing) * F.one_hot(Yb, num_classes=vocab_size) + smoothing / vocab_size
dz = (F.softmax(z, 1) - targets) / n
### END SOLUTION

# %%
# check: ex2s-smoothing
check("dz")

# %% [markdown]
# **Worth noticing.** A force vanishes when prediction and target agree. Without smoothing the
# target is 1, and on paper no finite logits give a probability of exactly 1, so the right logit is
# pulled up for ever, ever more gently. With smoothing there is a place to rest, where $p_i = q_i$
# for all $i$. Because $\ell_i = \ln p_i + \ln S$, the right logit is then ahead of each wrong one
# by
#
# $$\ell_y - \ell_i = \ln p_y - \ln p_i = \ln \frac{q_y}{q_i} .$$
#
# Watch this distance while the forces work:

# %%
q_wrong = smoothing / vocab_size
q_right = 1 - smoothing + q_wrong
rest = math.log(q_right / q_wrong)
right, wrong = 5, 0  # any two characters

gaps = {}
for share in (0.0, smoothing):
    moving, gap = torch.zeros(1, vocab_size), []
    for _ in range(600):
        leaf = moving.clone().requires_grad_()
        value = F.cross_entropy(leaf, torch.tensor([right]), label_smoothing=share)
        (slopes,) = torch.autograd.grad(value, leaf)
        moving = moving - slopes
        gap.append((moving[0, right] - moving[0, wrong]).item())
    gaps[f"smoothing {share}"] = gap
    print(f"smoothing {share}: {gap[499]:.2f} after 500 steps, {gap[599]:.2f} after 600")
print(f"the place to rest: {rest:.2f}, where the right probability is {q_right:.3f}")

figures.ahead_of_the_others(gaps, rest)

# %% [markdown]
# *Both curves climb steeply at first. The dashed one, without smoothing, never stops climbing, but
# the other settles on the grey line.*
#
# If its logits need not grow for ever, a model does not become surer and surer of what it has seen.
# This is what label smoothing is for.
#
# ## 5.2 Temperature, a dial for boldness
#
# When you ask a language model for a text, you can often set its *temperature* $T$: all logits are
# divided by $T$ before the softmax. Which factor does that put in front of the gradient? And what
# else changes in the formula?
#
# In the cell below, `tempered` is the forward pass: `cold` are the logits, and `warm` is what the
# softmax gets. The shape of each input is written beside it. Write `dcold` into
# `tempered_backward`, which needs nothing but its arguments. `explain` then draws sizes and
# numbers, runs both functions, and compares your `dcold` with autograd's.


# %% tags=["nbval-ignore-output"]
# try: ex2-temperature
def tempered(
    cold: Annotated[Tensor, "n, vocab_size"],
    Yb: Annotated[Tensor, "n < vocab_size"],  # n whole numbers, each from 0 to vocab_size - 1
    T: Annotated[Tensor, "", Constant],  # one number without axes, which needs no gradient
):
    warm = cold / T
    loss = F.cross_entropy(warm, Yb)
    return loss


def tempered_backward(cold, warm, Yb, T, n, vocab_size):
    ### BEGIN SOLUTION
    dcold = (F.softmax(warm, 1) - F.one_hot(Yb, num_classes=vocab_size)) / (n * T)
    ### END SOLUTION
    return {"dcold": dcold}


explain(tempered, tempered_backward)

# %% [markdown]
# <details>
# <summary>Why</summary>
#
# The chain rule gets one more step, $\ell_i / T$, between the logits and the softmax. Its slope is
# $1/T$, and this is the factor. The probabilities in the formula change as well, because they are
# now those of the softmax at this temperature.
#
# </details>
#
# See it in the example of section 4.2. **Guess first:** which of $T = 0.5$, 1 and 5 makes the
# network surest? Can the ranking of the 27 characters change? And how far below zero can $n$ times
# a slope be at $T = 5$?

# %% tags=["data-dependent"]
temperatures = (0.5, 1.0, 5.0)
figures.temperatures(scores[worst], label, characters, temperatures)

# %% tags=["data-dependent"]
for T in temperatures:
    p = (scores[worst] / T).softmax(0)
    choices = (-(p * p.log()).sum()).exp()  # 1 if it is sure of one, 27 if all are alike
    print(f"T = {T}: as undecided as among {choices:.1f} equally likely characters")

# %% [markdown]
# *Above are the probabilities, and below is the example's row of* `dcold`*, times n. The bold
# letter is the right character.*
#
# The ranking stays the same, and the network has learnt nothing: it only speaks more boldly or more
# carefully. And $n$ times a slope is never larger than $1/T$. People use temperature for three
# things:
#
# - **Inventing.** At a low $T$ a model writes the likeliest names again and again. At a high one it
#   dares more, and errs more.
# - **Distillation.** At a high $T$ you can see which *wrong* characters a model thinks nearly
#   right. A small model can learn more from that than from the labels alone. Its loss is multiplied
#   by $T^2$. One $T$ makes up for the factor $1/T$, and the other for the probabilities, which are
#   nearly alike at a high $T$: their differences are about $T$ times smaller.
# - **Honest probabilities.** Trained networks are often too sure of themselves. One $T$, chosen on
#   examples that they were not trained on, makes up for much of it.

# %% [markdown]
# # Part 6 · What you have found
#
# **From memory, with a pencil.** A model gives three characters the probabilities (0.5, 0.3, 0.2).
# The third is right, and the batch has four examples. Write down the example's row of `dlogits`.
# Then do it again with label smoothing, $\alpha = 0.3$. Last, what is the first row, without
# smoothing, if these are the probabilities at the temperature $T = 2$?
#
# <details>
# <summary>The three rows</summary>
#
# The first is (0.125, 0.075, $-0.2$). With smoothing, the targets become (0.1, 0.1, 0.8), and the
# row (0.1, 0.05, $-0.15$). At $T = 2$ it is half of the first: (0.0625, 0.0375, $-0.1$). Each adds
# up to zero.
#
# </details>
#
# | | through small steps | in one |
# | :-- | :-- | :-- |
# | lines backward | eight or more | one |
# | divides by a probability | yes | no, it has cancelled |
# | stays finite when the model is very wrong | no | yes |
# | can be read | hardly | prediction minus target |
#
# **You can now** derive the gradient of a softmax under a cross-entropy for any target, hard or
# soft. You know which two factors cancel, and why that matters more than speed. And you can look at
# a row of logits and see the forces on it.
#
# *Prediction minus target* is no accident, by the way. A linear layer with the mean squared error
# has it too, up to a constant factor, and so has a sigmoid with its own cross-entropy, because each
# of these losses is the natural partner of its last layer.
#
# **Where next.** Notebook **03** does the same with batch normalisation. There the examples of a
# batch depend on each other, so two cases are not enough, but what cancels is even prettier. In
# **04** your line is the first of a whole backward pass.
#
# In a terminal, `grader check 02_fused_cross_entropy.ipynb` says the same as the cells above. It
# reads the file, so save first.
