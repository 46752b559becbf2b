# %% [markdown]
# # 2 · The cross-entropy in one step
#
# {{ colab }}
#
# In notebook 01 the gradient took eight lines to climb from the loss to the logits. On the way it
# was blown up by a logarithm and tamed again by a softmax. Here you do the whole climb in one
# stride: with pencil and paper first, then in half a line of code. It is the most used gradient
# in all of deep learning, and once you have seen it you will know what every classifier feels.
#
# - **Time:** about an hour and a half: half an hour on paper, the rest for what it means.
# - **You need:** notebook 01 up to its section 5.3 (or its three rules by heart), the slopes of
#   $e^x$, $\ln x$ and of a quotient.
# - **Afterwards you can:** derive the gradient of softmax and cross-entropy from nothing, write it
#   in one expression, read a picture of it, say why nobody computes it in small steps, and adapt
#   it when the loss changes.
#
# The way there: **part 1** replaces eight lines by one, **part 2** is the derivation, **part 3**
# the code, **part 4** what the result means and what it saves, and **part 5** changes the loss
# and leaves you alone with it.
#
# Run the next two cells first.

# %%
import importlib.util
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

COURSE = "backprop-ninja @ git+{{ repository }}"

if importlib.util.find_spec("makemore_data") is None:
    if "google.colab" in sys.modules:
        # pip may add packages, but Colab's own torch and numpy stay exactly as they are.
        kept = [f"{p}=={version(p)}" for p in ("torch", "numpy") if importlib.util.find_spec(p)]
        with tempfile.TemporaryDirectory() as folder:
            constraints = Path(folder, "constraints.txt")
            constraints.write_text("\n".join(kept))
            install = [sys.executable, "-m", "pip", "install", "--quiet"]
            package = os.environ.get("BACKPROP_NINJA_PACKAGE", COURSE)
            subprocess.run([*install, "--constraint", str(constraints), package], check=True)
        importlib.invalidate_caches()
    else:
        # Not installed, but perhaps this notebook still lies in the project's own folder.
        folders = [Path.cwd(), *Path.cwd().parents]
        sys.path += [str(f) for f in folders if (f / "makemore_data" / "__init__.py").is_file()]

if importlib.util.find_spec("makemore_data") is None:
    raise ModuleNotFoundError(f'The course is not installed here: run  pip install "{COURSE}"')

# %%
import math
import time

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from matplotlib.patches import Rectangle

from grader import check, figures
from makemore_data import (
    LECTURE_SEED,
    build_splits,
    build_vocabulary,
    init_parameters,
    load_names,
)

figures.use_course_style()

# %% [markdown]
# # Part 1 · Eight lines, or one
#
# The names, the network and the batch are those of notebook 01, with the same seed. Only this
# time the network itself does not interest us, so it is written down briefly, and without a
# record for autograd. We start where it ends: with the **logits**, 27 scores for each of 32
# examples.

# %% tags=["data-dependent"]
names = load_names()
stoi, itos = build_vocabulary()
vocab_size = len(itos)
(Xtr, Ytr), _, _ = build_splits(names, block_size=3)

g = torch.Generator().manual_seed(LECTURE_SEED)
C, W1, b1, bngain, bnbias, W2, b2 = init_parameters(
    g, vocab_size=vocab_size, n_embd=10, n_hidden=64, block_size=3
)
n = 32
ix = torch.randint(0, Xtr.shape[0], (n,), generator=g)
Xb, Yb = Xtr[ix], Ytr[ix]

hprebn = C[Xb].view(n, -1) @ W1 + b1
deviation = hprebn - hprebn.mean(0)
h = torch.tanh(bngain * deviation / torch.sqrt(hprebn.var(0) + 1e-5) + bnbias)
logits = h @ W2 + b2
print("logits:", tuple(logits.shape), "  right characters:", tuple(Yb.shape))

# %% [markdown]
# Here are notebook 01's eight lines again. They stand in a function, so that their names stay
# inside it.


# %%
def eight_small_lines(logits, Yb):
    logit_maxes = logits.max(1, keepdim=True).values
    norm_logits = logits - logit_maxes
    counts = norm_logits.exp()
    counts_sum = counts.sum(1, keepdim=True)
    counts_sum_inv = counts_sum**-1
    probs = counts * counts_sum_inv
    logprobs = probs.log()
    return -logprobs[range(len(Yb)), Yb].mean()


# %% [markdown]
# And here is the one line that takes their place.

# %%
loss = F.cross_entropy(logits, Yb)

# %% [markdown]
# The two are the same function. Not only here: also for other logits, small ones and large ones.

# %%
print("the same loss:", torch.allclose(loss, eight_small_lines(logits, Yb)))
for size in (0.1, 10.0):
    others = size * torch.randn(n, vocab_size, generator=g)
    same = torch.allclose(F.cross_entropy(others, Yb), eight_small_lines(others, Yb))
    print(f"and for random logits of size {size}:", same)

# %% [markdown]
# If the two functions are the same, so are their gradients. The forward pass has become one step;
# the backward pass should become one too.

# %%
figures.eight_lines_become_one()

# %% [markdown]
# *Above, the long way there and back, without its three narrow tensors (the maxima, the sums and
# their inverses); below, the same in one step.*

# %% [markdown]
# # Part 2 · On paper
#
# Get a sheet of paper. The batch can wait: take **one example**, with the logits
# $\ell_1, \ell_2, \dots, \ell_{27}$, and call the right character (the label) $y$. With
#
# $$S = \sum_k e^{\ell_k}, \qquad p_i = \frac{e^{\ell_i}}{S}, \qquad L = -\ln p_y$$
#
# we look for $\dfrac{\partial L}{\partial \ell_i}$, for each $i$. Mind the two letters: $y$ is
# *one* character, the right one; $i$ is *any*, the one whose logit we move.
#
# ## 2.1 From the loss to the probability
#
# The loss of this example reads a single number, $p_y$. The slope of the logarithm gives
#
# $$\frac{\partial L}{\partial p_y} = -\frac{1}{p_y} .$$
#
# That is the boost of notebook 01: the smaller $p_y$, the louder the complaint.
#
# ## 2.2 From the probability to the logits
#
# $p_y = e^{\ell_y} / S$ is a quotient. Which logits does it depend on? The numerator knows
# $\ell_y$ only, but the denominator knows all of them. So there are two kinds of logit, and two
# cases. In both we need the slope of the denominator, which is the same for every $i$, since only
# one term of the sum contains $\ell_i$:
#
# $$\frac{\partial S}{\partial \ell_i} = e^{\ell_i} .$$
#
# And the quotient rule, for the numerator $u$ and the denominator $S$:
# $\;\left(\dfrac{u}{S}\right)' = \dfrac{u'\,S - u\,S'}{S^2}$.
#
# **Case** $i \ne y$. We move the logit of a *wrong* character. The numerator $u = e^{\ell_y}$ does
# not notice, $u' = 0$. What is left is
#
# $$\frac{\partial p_y}{\partial \ell_i}
# = \frac{0 \cdot S - e^{\ell_y}\,e^{\ell_i}}{S^2}
# = -\,\frac{e^{\ell_y}}{S} \cdot \frac{e^{\ell_i}}{S}
# = -\,p_y\,p_i .$$
#
# **Case** $i = y$. We move the logit of the *right* character. Now the numerator moves as well,
# and $u' = e^{\ell_y}$:
#
# $$\frac{\partial p_y}{\partial \ell_y}
# = \frac{e^{\ell_y}\,S - e^{\ell_y}\,e^{\ell_y}}{S^2}
# = \frac{e^{\ell_y}}{S} \cdot \frac{S - e^{\ell_y}}{S}
# = p_y\,(1 - p_y) .$$
#
# The table of all these slopes is called the *Jacobian* of the softmax. For three characters it
# looks like this:

# %%
figures.softmax_slopes()

# %% [markdown]
# *On the diagonal* $p_i (1 - p_i)$, *elsewhere* $-p_i\,p_j$. *Here the right character is the
# second, so of the nine slopes the loss needs the three in the middle row.*
#
# Add up any row, and you get zero: raise all logits by the same amount, and no probability moves.
# You know that already.
#
# ## 2.3 Multiply, and watch what cancels
#
# The chain rule multiplies the two slopes, $\dfrac{\partial L}{\partial \ell_i} =
# \dfrac{\partial L}{\partial p_y} \cdot \dfrac{\partial p_y}{\partial \ell_i}$. Both cases of 2.2
# begin with a factor $p_y$, and the slope of 2.1 is $-1/p_y$. The number that could blow up meets
# the number that shrinks in the same measure, and **both disappear**, for good: no division is
# left at all.
#
# Write down what remains, once for $i \ne y$, once for $i = y$. Each is a very short expression.
# Then hold the two side by side: they differ by a constant.
#
# Test them on a small example. Three characters with the probabilities $(0.2,\ 0.7,\ 0.1)$, and the
# first is the right one. Work out the three numbers before you run the cell.

# %%
three_logits = torch.tensor([[0.2, 0.7, 0.1]]).log().requires_grad_()
F.cross_entropy(three_logits, torch.tensor([0])).backward()
print([round(slope, 3) for slope in three_logits.grad[0].tolist()])

# %% [markdown]
# ## 2.4 One formula, and the batch
#
# Two things are left, and both are yours.
#
# **One formula for both cases.** Let $\delta_i$ be 1 where $i = y$ and 0 everywhere else. In code
# such a row of zeros with a single one is called **one-hot**. With it, your two cases become one
# formula.
#
# **The mean.** The loss of the batch is $\dfrac1n \sum_b L_b$, over the examples $b$. Example
# $b$'s logits appear in $L_b$ and in no other term. What does that do to the gradient of a logit?
#
# *Stop here until you have one line on your sheet of paper.*

# %% [markdown]
# # Part 3 · In one expression
#
# **Your turn.** What stands ready: `logits` (32, 27), `Yb` (32,), `n`, `vocab_size`, and of course
# `torch` and `F`. The names inside `eight_small_lines` do not: this gradient needs no step in
# between. (A helper line of your own is fine, though.) The check works as in notebook 01: it runs
# your lines on hidden batches of other sizes as well, so write `n`, not 32.
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
# A wrong one? Draw where: `from grader import heat_map`, then `heat_map("dlogits")`, in a cell of
# your own. Wrong everywhere by the same factor, wrong in one place of each row, or wrong all over
# are three different mistakes.

# %% [markdown]
# # Part 4 · What it means
#
# From here on the pictures use autograd's gradient, so that they are right whatever your cell
# holds. If your check says *pass*, it is the same.

# %%
watched = logits.clone().requires_grad_()
(gradient,) = torch.autograd.grad(F.cross_entropy(watched, Yb), watched)
probabilities = torch.softmax(logits, 1)

# %% [markdown]
# ## 4.1 The whole batch
#
# Each row is an example, each column a character. The frames mark the labels.

# %% tags=["data-dependent"]
fig, axes = plt.subplots(figsize=(7.4, 6.6))
image = axes.imshow(n * gradient, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
for example, label in enumerate(Yb.tolist()):
    axes.add_patch(Rectangle((label - 0.5, example - 0.5), 1, 1, fill=False, linewidth=1.2))
axes.grid(visible=False)
axes.set_xticks(range(vocab_size), [itos[i] for i in range(vocab_size)])
axes.set(title="n times dlogits; the labels are framed", xlabel="character", ylabel="example")
fig.colorbar(image)
plt.show()

at_the_label = gradient[range(n), Yb]
print("numbers below zero in each row:", (gradient < 0).sum(1).unique().tolist())
print("and they stand at the labels:", bool((at_the_label < 0).all()))

# %% [markdown]
# *One dark blue place in each row, the framed one; all others are of a faint red.*
#
# A gradient points uphill, to *more* loss; training walks the other way. So blue means "this logit
# will be raised" and red "this one will be lowered". There is one blue place a row: everybody
# except the label has to go down.
#
# ## 4.2 One row
#
# How much down? Put the first row beside its probabilities.

# %% tags=["data-dependent"]
row = 0
label = Yb[row].item()
characters = [itos[i] for i in range(vocab_size)]
colours = ["C0" if i == label else "C5" for i in range(vocab_size)]

fig, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(6.8, 4.4), layout="constrained")
above.bar(characters, probabilities[row], color=colours)
above.set(title="the probabilities of one example (dark: the right character)")
below.bar(characters, n * gradient[row], color=colours)
below.axhline(0, color="grey", linewidth=1)
below.set(title="n times its row of dlogits")
plt.show()

gap = probabilities[row] - n * gradient[row]
elsewhere = torch.arange(vocab_size) != label
print("off the label the two are equal:", bool(gap[elsewhere].abs().max() < 1e-6))
print(f"at the label they differ by {gap[label]:.4f}")

# %% [markdown]
# *The two charts are the same, bar for bar, but for the right character's: that one hangs far below
# zero.*
#
# ## 4.3 Rows that sum to zero

# %%
row_sums = gradient.sum(1).abs().max() / gradient.abs().max()
print(f"the rows of the gradient sum to zero: {row_sums < 1e-5}")

# %% [markdown]
# The probabilities of a row add up to 1, and so does a one-hot row. It could not be otherwise: in
# notebook 01 you saw that a shift of a whole row of logits leaves the loss as it is. A gradient
# that summed to anything but zero would say that the shift mattered.
#
# ## 4.4 Pull and push
#
# Think of the logits as weights on strings, and of minus the gradient as the forces on them.

# %%
figures.pull_and_push()

# %% [markdown]
# *Bars: the probabilities. Arrows: the forces on the logits, in the same units (times 1/n). One
# string pulls the right character up, all the others are pushed down, and the forces of an example
# cancel.*
#
# Three things to take from this picture:
#
# - **The pull is as strong as the misprediction.** A model that gives the right character 0.20 is
#   pulled with 0.80; at 0.90 hardly anything moves any more. Nobody had to tell it when to stop.
# - **The push goes where the mistake is.** The wrong character that got the most probability is
#   pushed hardest. One that was unlikely anyway is left in peace.
# - **The force never exceeds 1/n.** However wrong the model is, an example cannot shout. That is
#   the tame gradient which notebook 01 promised.
#
# These forces travel on, backwards, into the network. Everything below the logits, `W2`, the hidden
# layer, the table of letters, is moved by them alone.
#
# Let us see them at work with no network in between. Take one example's logits and let the forces
# move them, step by step:

# %% tags=["data-dependent"]
moving = logits[[row]].clone()
history = []
for _ in range(200):
    history.append(moving.softmax(1)[0])
    leaf = moving.clone().requires_grad_()
    (force,) = torch.autograd.grad(F.cross_entropy(leaf, Yb[[row]]), leaf)
    moving = moving - 0.2 * force
history = torch.stack(history)

fig, axes = plt.subplots()
axes.plot(history[:, elsewhere], color="C5", linewidth=0.8)
axes.plot(history[:, label], color="C0", label=f"the right character: {itos[label]}")
axes.set(title="one example, pulled and pushed", xlabel="step", ylabel="probability", ylim=(0, 1))
axes.legend(loc="center right")
plt.show()

print("the right character ends above 0.9:", bool(history[-1, label] > 0.9))
print("it moves more slowly at the end than at its fastest:", end=" ")
speed = history[1:, label] - history[:-1, label]
print(bool(speed[-1] < 0.2 * speed.max()))

# %% [markdown]
# *One curve climbs, fast at first and ever more slowly; the 26 others sink to zero together.*
#
# ## 4.5 What one step saves: time
#
# Autograd can go both ways too. Through the eight lines it visits every small step; for
# `F.cross_entropy` it knows your formula. Here is the time that each takes **backward** on one
# thread, the best of several rounds, for our batch and for a large one.


# %%
def backward_seconds(loss_function, n_rows, n_rounds=20):
    """The time of one backward pass from the loss to the logits: the best of several rounds."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(n_rows, vocab_size, generator=generator, requires_grad=True)
    labels = torch.randint(vocab_size, (n_rows,), generator=generator)
    value = loss_function(scores, labels)
    n_calls = 50 if n_rows < 1000 else 3
    best = math.inf
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)  # how many are free changes from moment to moment; one always is
    for _ in range(n_rounds):
        start = time.perf_counter()
        for _ in range(n_calls):
            torch.autograd.grad(value, scores, retain_graph=True)
        best = min(best, (time.perf_counter() - start) / n_calls)
    torch.set_num_threads(n_threads)
    return best


measured = {
    n_rows: (
        1e6 * backward_seconds(eight_small_lines, n_rows),
        1e6 * backward_seconds(F.cross_entropy, n_rows),
    )
    for n_rows in (32, 20_000)
}
for n_rows, (small_steps, fused) in measured.items():
    print(f"{n_rows} rows, eight lines: {small_steps:.0f} µs")
    print(f"{n_rows} rows, one step: {fused:.0f} µs")

fig, axes = plt.subplots(figsize=(6.8, 2.4))
ratios = [small_steps / fused for small_steps, fused in measured.values()]
bars = axes.barh([f"{n_rows:,} rows" for n_rows in measured], ratios, color="C0")
axes.bar_label(bars, fmt=" %.1f times as long")
axes.axvline(1, color="grey", linewidth=1)
axes.set(title="eight lines, compared with one step", xlim=(0, 1.45 * max(ratios)))
axes.grid(visible=False)
plt.show()

# %% [markdown]
# *Two bars, both well beyond the line at 1: the eight lines take several times as long.*
#
# There are two reasons. With 32 rows the numbers are few, and what costs time is calling one small
# function after another. With 20,000 rows each small step has to read and write a large matrix, and
# memory is slower than arithmetic. One step does all its arithmetic on a row while the row is at
# hand. This is called **fusing**, and it is why libraries offer `cross_entropy` as one function,
# and why compilers look for chains of small steps.
#
# ## 4.6 What one step saves: the answer itself
#
# Time is not the best of it. Let a model be *very* wrong, a logit of 200 for the wrong character:

# %%
label_of_one = torch.tensor([0])
for name, function in (("eight lines", eight_small_lines), ("one step", F.cross_entropy)):
    very_wrong = torch.tensor([[0.0, 200.0]], requires_grad=True)
    value = function(very_wrong, label_of_one)
    (slope,) = torch.autograd.grad(value, very_wrong)
    print(f"{name:<11}  loss: {value.item():>5}   gradient: {slope[0].tolist()}")

# %% [markdown]
# In float32, $e^{-200}$ is 0. The eight lines take the logarithm of that 0, divide by it on the way
# back, and hand a *not a number* to every parameter of the network; one step later the model is
# gone. In the formula that you derived, the division is not there any more. You cancelled it on
# paper, before it could do any harm. (Forward, the same trick is to work with
# $\ln p_i = \ell_i - \ln S$ throughout, which PyTorch calls `log_softmax`.)

# %% [markdown]
# # Part 5 · Another loss
#
# You are on your own now, with a method. In practice one often does not tell a model that the right
# character is certain. With **label smoothing**, the target is spread out a little: a share
# $\varepsilon$ of the certainty is dealt out evenly to all $K$ characters, the right one among
# them, and the label keeps the rest:
#
# $$q_i = (1 - \varepsilon)\,\delta_i + \frac{\varepsilon}{K} ,
# \qquad L = -\sum_k q_k \ln p_k .$$
#
# With $\varepsilon = 0$ that is the loss from before. PyTorch has it built in. To keep the two
# exercises apart, the logits are called `z` here.

# %%
z = logits.clone()

# %%
smoothing = 0.1
loss = F.cross_entropy(z, Yb, label_smoothing=smoothing)

# %% [markdown]
# **On paper.** The loss reads *all* the $p_k$ now, and each of them has its boost: the slope of
# $L$ with respect to $p_k$ is $-q_k / p_k$. For a fixed logit $\ell_i$ rule 2 says that the
# contributions of all $k$ are added up:
#
# $$\frac{\partial L}{\partial \ell_i}
# = \sum_k \left(-\frac{q_k}{p_k}\right) \frac{\partial p_k}{\partial \ell_i} .$$
#
# One term of this sum has $k = i$, all the others have $k \ne i$: the two cases of section 2.2
# again, with $k$ in the part of $y$. Put them in, cancel, and collect what belongs to $p_i$. You
# will meet the sum of all the $q_k$. What is it?
#
# **`dz`** (32, 27). Ready to use: `z`, `Yb`, `smoothing`, `n`, `vocab_size`.
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
# **Worth noticing.** The force vanishes where prediction and target agree. Without smoothing the
# target is certainty, and no finite logit is certain: the right one is pulled up for ever, ever
# more gently. With smoothing there is a place to rest. Watch the distance between the right logit
# and the others while the forces work:

# %%
rest = math.log((1 - smoothing + smoothing / vocab_size) / (smoothing / vocab_size))
one_label = torch.tensor([5])

fig, axes = plt.subplots()
for share, line in ((0.0, "--"), (smoothing, "-")):
    moving, gaps = torch.zeros(1, vocab_size), []
    for _ in range(600):
        leaf = moving.clone().requires_grad_()
        value = F.cross_entropy(leaf, one_label, label_smoothing=share)
        (force,) = torch.autograd.grad(value, leaf)
        moving = moving - 1.0 * force
        gaps.append((moving[0, 5] - moving[0, 0]).item())
    axes.plot(gaps, line, label=f"smoothing {share}")
    print(f"smoothing {share}: has come to rest: {abs(gaps[-1] - gaps[-100]) < 1e-3}")
axes.axhline(rest, color="grey", linewidth=1)
axes.set(title="right logit minus a wrong one", xlabel="step")
axes.legend(loc="lower right")
plt.show()
print(f"where it rests: {rest:.2f}")

# %% [markdown]
# *Both curves climb steeply at first. The dashed one, without smoothing, never stops climbing; the
# other settles on the grey line.*
#
# A model whose logits need not grow for ever is less sure of itself, and where it errs, it errs
# less loudly. That is what label smoothing is for.
#
# **One more, without a check.** With a *temperature* $T$ one divides all logits by $T$ before the
# softmax. Which factor does that put in front of the gradient, and what else changes?
#
# <details>
# <summary>An answer</summary>
#
# The chain rule adds one step at the beginning, $\ell_i / T$, with the slope $1/T$: that is the
# factor. What else changes are the probabilities in the formula, which are those of the softmax at
# this temperature. A large $T$ makes them more even. In *distillation*, where a small model learns
# a large one's probabilities at a high temperature, the loss is multiplied by $T^2$ to make up for
# it: one $T$ for the factor, and one because the differences of the probabilities shrink as well.
#
# </details>

# %% [markdown]
# # Part 6 · What you have found
#
# | | through small steps | in one |
# | :-- | :-- | :-- |
# | lines backward | eight or more | one |
# | divides by a probability | yes | no, it has cancelled |
# | survives being surely wrong | no | yes |
# | says what it does | hardly | prediction minus target |
#
# **You can now** derive the gradient of a softmax under a cross-entropy for any target, hard or
# soft; you know which two factors cancel and why that matters more than speed; and you can look at
# a row of logits and see the forces on it.
#
# *Prediction minus target* is no accident, by the way. The mean squared error under a linear layer
# has it, and so has the sigmoid under its own cross-entropy: each of these losses is the natural
# partner of its last layer.
#
# **Where next.** Notebook **03** does the same with batch normalisation. There the examples of a
# batch depend on each other, so the two cases will not do; but what cancels is even prettier. In
# **04** your line is the first of a backward pass of about twenty.
#
# In a terminal, `grader check 02_fused_cross_entropy.ipynb` says the same as the cells above.
