# %% [markdown]
# # 4 · Training by hand
#
# {{ colab }}
#
# Three notebooks of gradients, and nothing has learnt anything yet. Today your backward pass goes
# to work. You put its lines together, about twenty of them, and they train the network for 200,000
# steps, without a single `loss.backward()`, until it makes up names of its own. Then you race it
# against autograd.
#
# - **Time:** an hour and a half. The training itself takes two minutes of it on an ordinary
#   laptop.
# - **You need:** notebooks 01 to 03, or at least their results: the gradient of a matrix product,
#   the fused cross-entropy, the fused batch normalisation.
# - **Afterwards you can:** write the whole backward pass of a small network from memory; train
#   with it, stop and go on; use a network with batch normalisation on a single example; and tell
#   where the time of a training step goes.
#
# **Part 1** is the network again, in large steps. In **part 2** you assemble the backward pass,
# in **part 3** it trains, in **part 4** the network makes up names, **part 5** is the race, and in
# **part 6** the fastest loops are taken apart.
#
# Run the next two cells first.

# %%
# {{ cell: setup }}

# %%
import math
import sys

import torch
import torch.nn.functional as F
from IPython.display import Markdown
from tqdm import tqdm

from grader import (
    LossPlot,
    board,
    check,
    check_training,
    figures,
    line_up,
    my_backward,
    show_code,
)
from makemore_data import (
    ALL_STEPS,
    LECTURE_SEED,
    begin_run,
    build_splits,
    build_vocabulary,
    init_parameters,
    load_names,
    race,
    race_table,
    stop_button,
)

figures.use_course_style()
torch.set_num_threads(1)  # matrices this small: two threads would mostly wait for each other

# %% [markdown]
# # Part 1 · The network, in large steps
#
# The data are those of notebook 01. The hidden layer has 200 units now instead of 64, which makes
# 12,297 parameters.

# %% tags=["data-dependent"]
names = load_names()
stoi, itos = build_vocabulary()
vocab_size = len(itos)
block_size = 3  # characters that the model sees
n_embd = 10  # numbers that describe a character
n_hidden = 200  # units in the hidden layer

(Xtr, Ytr), (Xdev, Ydev), _ = build_splits(names, block_size)
print(f"{len(Xtr):,} examples to train on, {len(Xdev):,} to validate")

# %%
g = torch.Generator().manual_seed(LECTURE_SEED)
C, W1, b1, bngain, bnbias, W2, b2 = init_parameters(g, n_hidden=n_hidden)

ix = torch.randint(0, Xtr.shape[0], (32,), generator=g)
Xb, Yb = Xtr[ix], Ytr[ix]

# %% [markdown]
# The forward pass of notebook 01 took twenty small lines. Here it is in eleven larger ones: the
# mean and the variance are one call each, and so is the cross-entropy. The names are those of
# notebook 01, only `bnmeani` has become `bnmean`. Notebook 03 wrote $\mu$, $\sigma^2$ and $\hat{x}$
# for what is called `bnmean`, `bnvar` and `bnraw` here, and `bnvar_inv` is its
# $(\sigma^2 + \varepsilon)^{-1/2}$.

# %%
n = Xb.shape[0]
# embedding and linear layer 1
emb = C[Xb]
embcat = emb.view(n, -1)
hprebn = embcat @ W1 + b1
# batch normalisation
bnmean = hprebn.mean(0, keepdim=True)
bnvar = hprebn.var(0, keepdim=True, unbiased=True)
bnvar_inv = (bnvar + 1e-5) ** -0.5
bnraw = (hprebn - bnmean) * bnvar_inv
hpreact = bngain * bnraw + bnbias
# non-linearity, linear layer 2 and cross-entropy
h = torch.tanh(hpreact)
logits = h @ W2 + b2
loss = F.cross_entropy(logits, Yb)

# %% tags=["data-dependent"]
print(f"near the loss of a blind guess, ln 27: {abs(loss.item() - math.log(vocab_size)) < 0.5}")
print(f"autograd takes no notes: {not loss.requires_grad}")

# %% [markdown]
# The second line is worth a look. No parameter here was created with `requires_grad=True`, so
# PyTorch remembers nothing of how the loss came about. `loss.backward()` would raise an
# exception. From here on every gradient is yours.
#
# # Part 2 · Twenty lines
#
# ## 2.1 What goes into them
#
# You have met every line of this backward pass. Here is where.
#
# | gradient | shape | where you met it |
# | :-- | :-- | :-- |
# | `dlogits` | (32, 27) | 02, all of it: the fused cross-entropy |
# | `dh`, `dW2`, `db2` | (32, 200), (200, 27), (27,) | 01, section 5.4: a matrix product |
# | `dhpreact` | (32, 200) | 01, section 5.5: the tanh |
# | `dbngain`, `dbnbias` | (1, 200) each | 01, section 5.6, and 03 |
# | `dhprebn` | (32, 200) | 03, all of it: the fused batch normalisation |
# | `dembcat`, `dW1`, `db1` | (32, 30), (30, 200), (200,) | 01, section 5.7: another one |
# | `demb` | (32, 3, 10) | 01, section 5.8: a view |
# | `dC` | (27, 10) | 01, section 5.9: looking up rows; without loops this time |
#
# In notebook 01 it did not matter how long a gradient took. You may have added up `dC` there with
# two loops, over 32 examples and 3 positions, one row of ten numbers after the other. Ninety-six
# little additions are nothing, once. But 200,000 times 96 are nineteen million, each with Python
# around it, and these two loops alone would take longer than all the rest of the training.
#
# ## 2.2 Visitors at the door, again
#
# You need an addition that goes to many rows at once and that, unlike `+=` on an index, counts
# repeated rows as often as they come. PyTorch has a name for that: `index_add_`.

# %%
doors = torch.tensor([0, 0, 0, 2])
gifts = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])

overwritten = torch.zeros(3, 2)
overwritten[doors] += gifts
collected = torch.zeros(3, 2)
collected.index_add_(0, doors, gifts)
print("with += on an index:", overwritten.tolist())
print("with index_add_:    ", collected.tolist())

# %% [markdown]
# Four visitors bring two gifts each. With `+=`, door 0 keeps only what the third visitor brought;
# `index_add_(0, doors, gifts)` adds row *k* of `gifts` to row `doors[k]`.
#
# - The 0 is the axis: it is rows that are added, not columns.
# - The index, `doors`, is a tensor of whole numbers with one dimension, and the gifts must have as
#   many rows as it has numbers.
# - The underscore is a part of the name. In PyTorch, a name that ends in one writes into the tensor
#   before the dot. `index_add`, without it, leaves that tensor as it was and returns a new one.
# - A notebook displays the value of a cell's last line. If that is a bare `index_add_`, you see the
#   whole tensor; this does no harm.
#
# Look at the shapes of `Xb` (32, 3) and `demb` (32, 3, 10): they want to be laid out in 96 rows
# first. There is a second way as well. A lookup is a matrix product with one-hot rows in disguise
# (notebook 01 ended on that), and you know the backward step of a matrix product. Either will do.
#
# ## 2.3 Your turn
#
# Write it from memory as far as you can; the hints are there if you cannot. As before, your cell
# runs alone. It finds `torch` and `F`, every name of the forward cell above, the sizes `n`,
# `block_size`, `vocab_size`, `n_embd` and `n_hidden`, and nothing else. No `.grad` and no
# `backward()`, and since the check runs your lines on networks of other sizes, write `n` where you
# are tempted to write 32. Thirteen gradients are asked for; some take more than one line.
#
# (The tensors of the forward pass are there to be read. Should the check say that your code is
# right but the value in the notebook is not, and running the answer again does not help, then one
# of them has been changed: run the cells of part 1 again, then your answer.)
#
# **`dlogits`** (32, 27).
#
# {{ hints: dlogits }}
#
# **`dh`** (32, 200).
#
# {{ hints: dh }}
#
# **`dW2`** (200, 27).
#
# {{ hints: dW2 }}
#
# **`db2`** (27).
#
# {{ hints: db2 }}
#
# **`dhpreact`** (32, 200).
#
# {{ hints: dhpreact }}
#
# **`dbngain`** (1, 200).
#
# {{ hints: dbngain }}
#
# **`dbnbias`** (1, 200).
#
# {{ hints: dbnbias }}
#
# **`dhprebn`** (32, 200).
#
# {{ hints: dhprebn }}
#
# **`dembcat`** (32, 30).
#
# {{ hints: dembcat }}
#
# **`dW1`** (30, 200).
#
# {{ hints: dW1 }}
#
# **`db1`** (200).
#
# {{ hints: db1 }}
#
# **`demb`** (32, 3, 10).
#
# {{ hints: demb }}
#
# **`dC`** (27, 10).
#
# {{ hints: dC }}

# %%
# answer: ex4-backward
# cross-entropy and linear layer 2
### BEGIN SOLUTION
dlogits = F.softmax(logits, 1)
dlogits[range(n), Yb] -= 1
dlogits /= n
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
### END SOLUTION
# tanh and batch normalisation
### BEGIN SOLUTION
dhpreact = (1 - h**2) * dh
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dhprebn = bngain * bnvar_inv / n * (n * dhpreact - dbnbias - n / (n - 1) * bnraw * dbngain)
### END SOLUTION
# linear layer 1 and embedding
### BEGIN SOLUTION
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C).index_add_(0, Xb.view(-1), demb.view(-1, C.shape[1]))
### END SOLUTION

# %%
# check: ex4-backward
check("dlogits", "dh", "dW2", "db2")
check("dhpreact", "dbngain", "dbnbias", "dhprebn")
check("dembcat", "dW1", "db1", "demb", "dC")

# %% [markdown]
# A gradient can be right on one batch by accident, and a small mistake can grow over many steps.
# So the next check does what you are about to do: it *trains*. It puts your lines into a loop, a
# hundred steps on a network of this size and a hundred on each of two hidden ones of other sizes.
# At each step it compares the gradients of all seven parameters with autograd's, and the parameters
# with those of a training that autograd has done on its own.

# %%
check_training()

# %%
board("ex4")

# %% [markdown]
# *Grey are the gradients that your line for* `dhprebn` *jumps over: it goes from* `dhpreact` *to*
# `dhprebn` *in one step.*
#
# ## 2.4 From a cell to a function
#
# A loop needs these lines as a function. You could copy them into one; `my_backward()` does
# that for you. It takes the text of your answer cell as you ran it last, puts the text of the
# forward cell before it, and has Python define a function of the two. It waits until your answer
# passes the check; there is no more to it than that. Look at the result.

# %%
backward = my_backward()
if backward is not None:
    show_code(backward)

# %% [markdown]
# (When you change your answer, run its cell and then this one again.)
#
# # Part 3 · The training
#
# ## 3.1 A loop that can be stopped
#
# Four things change from one step to the next: the parameters, the generator that draws the
# minibatches, the list of losses, and, hidden in the length of that list, the number of the step.
# They live together in one object, the *run*. Whoever has the run can go on where it stands.

# %%
run = begin_run(n_hidden, block_size)  # run this cell again to begin anew
print(f"{sum(p.nelement() for p in run.parameters):,} parameters, {run.step} steps done")


# %%
@torch.no_grad()
def train(run, backward, X, Y, until, watch=lambda run: None):
    """Train until that many steps are done, or until somebody presses the stop button."""
    bar = tqdm(total=until, initial=run.step, file=sys.stdout, leave=False, mininterval=0.5)
    with stop_button() as pressed, bar:
        while run.step < until and not pressed():
            ix = torch.randint(0, X.shape[0], (32,), generator=run.generator)
            loss, gradients = backward(X[ix], Y[ix], *run.parameters)
            learning_rate = 0.1 if run.step < 100_000 else 0.01
            for parameter, gradient in zip(run.parameters, gradients, strict=True):
                parameter -= learning_rate * gradient
            run.losses.append(loss.item())
            bar.update()
            if run.step % 500 == 0:
                watch(run)


# %% [markdown]
# The five lines in the middle are all of machine learning that there is in here: draw a
# minibatch, ask for the gradients, take a step downhill. Around them,
#
# - `torch.no_grad()` tells PyTorch that nobody will ask for a gradient, so that it need not even
#   look whether to take notes;
# - the learning rate falls from 0.1 to 0.01 at half time. First large steps, to get there; then
#   small ones, because near the valley's floor a large step jumps from one side to the other;
# - `tqdm` draws the progress bar, which goes away when the loop ends;
# - `watch` is called every 500 steps and may look at the run. Below it is a `LossPlot`, which draws
#   the losses so far, anew every two seconds;
# - `stop_button()` is for your peace of mind. Jupyter's stop button interrupts Python *wherever it
#   happens to be*, perhaps after `W1` was updated and before `W2` was. With it, the loop finishes
#   the step at hand first. Nothing is lost and nothing is done twice: a run that was stopped and
#   resumed ends with the same numbers, to the last bit, as one that was not.
#
# ## 3.2 The run
#
# First a short one, to see whether the loss goes down at all: 10,000 steps, a twentieth of the
# whole, some five seconds. **Then write 200_000 in place of 10_000 and run the same cell again.**
# It goes on where it stands. Press the stop button whenever you like, look around, run the cell
# again. The parts after this one work with any number of steps, so the long run may also wait.

# %% tags=["nbval-ignore-output"]
until = 10_000  # a short run; the real one: 200_000

if backward is None:
    print("to do: the training waits for the gradients of part 2")
else:
    plot = LossPlot(run)
    train(run, backward, Xtr, Ytr, until, watch=plot)
    plot(run, last=True)
    kind = "the whole run" if run.step >= ALL_STEPS else "a SHORT run"
    print(f"{kind}: {run.step:,} of {ALL_STEPS:,} steps")
    if run.step < until:
        print("stopped; run this cell again to go on")
    elif run.step < ALL_STEPS:
        print("to go on, write a larger number after `until` and run this cell again")

# %% [markdown]
# *The loss falls steeply over the first few thousand steps, then ever more slowly. In a whole run
# there is another, small step down at 100,000, where the learning rate falls: the line not only
# sinks there, it also becomes calmer.*
#
# Single minibatches of 32 are noisy, so that each point is a mean over a hundred of them or more.
# That is why the line does not begin at the 3.3 of a blind guess: over the first hundred steps the
# mean is below 3 already. After 10,000 steps it is near 2.3.
#
# # Part 4 · The network at work
#
# ## 4.1 A batch of one
#
# Batch normalisation has a strange side effect. In training, the numbers of one example depend on
# the 31 others that happen to be in its batch, through the mean and the variance. When the network
# makes up a name it has a batch of one, which has no variance at all.
#
# So one fixes both, once the training is done: let every example of the training set run up to
# the batch normalisation, and take mean and variance over all of them. This is called
# *calibration*.


# %%
@torch.no_grad()
def calibrate(parameters, X):
    """Mean and variance of every hidden unit over a whole data set: (1, n_hidden) each."""
    C, W1, b1, *_ = parameters
    hprebn = C[X].view(X.shape[0], -1) @ W1 + b1
    return hprebn.mean(0, keepdim=True), hprebn.var(0, keepdim=True, unbiased=True)


mean, variance = calibrate(run.parameters, Xtr)
print(f"mean {tuple(mean.shape)}, variance {tuple(variance.shape)}")

# %% [markdown]
# ## 4.2 The loss that counts
#
# The forward pass with these two in place of the batch's own, and with it the loss over a whole
# data set: the mean of $-\ln p$ over all its characters, in *nats*. (A nat is to $\ln$ what a bit
# is to $\log_2$; one nat is 1.44 bits.)


# %%
@torch.no_grad()
def logits_with(parameters, mean, variance, X):
    """The logits of windows X, each on its own: (N, vocab_size)."""
    C, W1, b1, bngain, bnbias, W2, b2 = parameters
    hprebn = C[X].view(X.shape[0], -1) @ W1 + b1
    bnraw = (hprebn - mean) * (variance + 1e-5) ** -0.5
    return torch.tanh(bngain * bnraw + bnbias) @ W2 + b2


def mean_loss(parameters, mean, variance, X, Y):
    """The cross-entropy over a data set, in nats a character."""
    return F.cross_entropy(logits_with(parameters, mean, variance, X), Y).item()


# %% tags=["nbval-ignore-output"]
print(f"after {run.step:,} of {ALL_STEPS:,} steps")
print(f"training loss    {mean_loss(run.parameters, mean, variance, Xtr, Ytr):.4f} nats")
print(f"validation loss  {mean_loss(run.parameters, mean, variance, Xdev, Ydev):.4f} nats")

# %% tags=["data-dependent"]
validation = mean_loss(run.parameters, mean, variance, Xdev, Ydev)
if run.step == 0:
    print("to do: this network has not been trained yet")
else:
    print(f"at least 0.9 nats better than a blind guess: {validation < math.log(vocab_size) - 0.9}")

# %% [markdown]
# With the lecture's names, 10,000 steps reach about 2.25 nats on the training set and 2.26 on the
# validation set. The whole run ends near 2.07 and 2.11 (`make train` prints 2.0701 and 2.1082; the
# lecture has 2.0705 and 2.1099). The two are close together: 12,297 parameters cannot learn 182,625
# examples by heart.
#
# Is 2.11 good? $e^{2.11} \approx 8$: the network is as unsure of the next character as somebody
# who has narrowed 27 down to 8. It cannot be sure; nobody knows whether *mari* goes on with an
# *a*, an *e* or an *o*.
#
# ## 4.3 Twenty new names
#
# Start with three dots; ask for the probabilities of the next character; draw one; shift it into
# the window; stop at a dot.


# %%
def sample_names(parameters, mean, variance, itos, block_size, count=20, seed=LECTURE_SEED + 10):
    """Names that the network makes up, one character after the other."""
    g = torch.Generator().manual_seed(seed)
    names = []
    for _ in range(count):
        window, name = [0] * block_size, ""
        while True:
            logits = logits_with(parameters, mean, variance, torch.tensor([window]))
            probabilities = F.softmax(logits, dim=1)
            index = int(torch.multinomial(probabilities, 1, generator=g))
            if index == 0:
                break
            name += itos[index]
            window = [*window[1:], index]
        names.append(name)
    return names


# %% tags=["nbval-ignore-output"]
print(f"after {run.step:,} of {ALL_STEPS:,} steps:")
for name in sample_names(run.parameters, mean, variance, itos, block_size):
    print(" ", name)

# %% [markdown]
# The generator is seeded, so that the same parameters give the same names. Compare with the names
# of an untrained network; the seed is the same, and only the parameters differ:

# %% tags=["nbval-ignore-output"]
untrained = begin_run(n_hidden, block_size).parameters
for name in sample_names(untrained, *calibrate(untrained, Xtr), itos, block_size, count=4):
    print(" ", name)

# %% [markdown]
# ## 4.4 The same without calibration
#
# Calibration is one more pass over all the data, which one has to remember to make. The usual
# alternative keeps a *running* mean and variance on the side: each minibatch moves them a little
# towards its own. In a training loop these are two more lines. Here the training is done already,
# so we just let minibatches go by.


# %% tags=["data-dependent"]
@torch.no_grad()
def running_statistics(parameters, X, minibatches=10_000):
    """Mean and variance as a training loop keeps them on the side: (1, n_hidden) each."""
    C, W1, b1, *_ = parameters
    running_mean, running_var = torch.zeros(1, W1.shape[1]), torch.ones(1, W1.shape[1])
    g = torch.Generator().manual_seed(LECTURE_SEED)
    for _ in range(minibatches):
        ix = torch.randint(0, X.shape[0], (32,), generator=g)
        hprebn = C[X[ix]].view(32, -1) @ W1 + b1
        running_mean = 0.999 * running_mean + 0.001 * hprebn.mean(0, keepdim=True)
        running_var = 0.999 * running_var + 0.001 * hprebn.var(0, keepdim=True)
    return running_mean, running_var


estimated = mean_loss(run.parameters, *running_statistics(run.parameters, Xtr), Xdev, Ydev)
print(f"the two validation losses agree to 0.01 nats: {abs(estimated - validation) < 0.01}")

# %% [markdown]
# The factor 0.001, called *momentum* in PyTorch's `BatchNorm1d` (where 0.1 is the default), says
# how quickly the old is forgotten: in about a thousand minibatches. This is the reason why a
# PyTorch module must be told `model.eval()` before it is used: from then on its batch
# normalisation takes the running numbers instead of the batch's.
#
# # Part 5 · The race
#
# Writing the backward pass by hand has one more advantage. You know what has to be computed, and
# autograd has to find it out anew at every step. How much is that worth? Six loops at the start,
# all of which take the same steps from the same parameters through the same minibatches:
#
# 1. **autograd**: `loss.backward()`, as everybody does it;
# 2. **by hand, as in the lecture**: twenty lines, with two Python loops for `dC`;
# 3. **by hand, yours**;
# 4. **tuned**: the loop of part 6;
# 5. **tuned and compiled**: its step through `torch.compile`, which needs a C++ compiler;
# 6. **the same, ten steps a call**.
#
# Beside them is a seventh, which trains nothing: the six matrix products of a step alone, two
# forward and four backward. This is the limit. Whatever a loop does beyond them is overhead.
#
# The next cell compiles, up to half a minute for each of the two; the race itself takes some ten
# seconds. Both wait until your gradients are there.

# %% tags=["nbval-ignore-output"]
loops = line_up(backward)

# %% tags=["nbval-ignore-output"]
rates = race(loops, Xtr, Ytr)
figures.race_chart(rates) if rates else None

# %% tags=["nbval-ignore-output"]
Markdown(race_table(rates)) if rates else None

# %% [markdown]
# *The longer the bar, the faster; in brackets, how many times as fast as autograd's loop; grey is
# the limit. One run, on one thread, the loops by turns. The numbers in the committed copy of this
# notebook come from a machine that had other things to do as well; look at the ratios, and at
# yours.*
#
# The lecture's loop is by far the slowest, although it does the same arithmetic as yours. The 96
# little additions cost more than everything else together. Your loop, which differs in one line,
# is a little faster than autograd. Hand-written, then, does not mean fast. What does?
#
# # Part 6 · Where the time goes
#
# A step of this network is about 1.1 million multiplications and as many additions, for which one
# core needs some fifty millionths of a second. Autograd's loop takes ten times as long, or more.
# Nine tenths of its time go into *calls*: each little operation has to be looked up, has its
# arguments checked, gets memory for its result. This costs one to five millionths of a second,
# whether the operation then adds up two numbers or six thousand. The way to a fast loop on small
# matrices is therefore: **fewer calls**.
#
# ## 6.1 The tuned loop, line by line
#
# This is the code that ran as *tuned*. The numbers in its comments are those of the list below.

# %%
if "tuned" in loops:
    show_code(loops["tuned"])
else:
    print("The tuned loop is not here; the first cell of the race says why.")

# %% [markdown]
# A few lines look unlike yours and compute the same.
#
# - `BATCH` is 32, `AHEAD` is 1,000. `flatten(1)` makes 96 numbers of the 32 windows, so that `Xb`
#   is the index that `index_add_` wants, and `C.index_select(0, Xb)` is `C[Xb]`.
# - `rsqrt_` is one over the square root: with the 1e-5 added, the power of -0.5.
# - `gather` picks from each row of `probs` the number at the place that `Yb` names, and `out=` says
#   where to put it.
# - `dhpreact` is the slope of tanh times what arrives, with the bracket multiplied out: `addcmul`
#   with `value=-1` takes a product away from a tensor in one call.
# - `dhprebn` is notebook 03's formula with the $\frac1n$ multiplied into the bracket. The first
#   term loses its $n$, the second gets a $\frac1n$, the third keeps a $\frac{1}{n-1}$, whose minus
#   sign makes the `1 - n`. The line after it multiplies by what is left before the bracket.
#
# And this is what each change buys. In brackets: how many times as fast as autograd's loop it was,
# on one machine, when this change had been added to all those before it. Your own loop is at 1.3
# there.
#
# 1. **A thousand minibatches at once** (1.8). Drawing 32 random numbers is a call, fetching their
#    windows is another, and so on, at every step. Here one call draws 32,000 numbers, the very same
#    ones in the same order, and `unbind` cuts the result into slices without copying anything. The
#    labels become one-hot rows on this occasion. To subtract 1 at 32 places picked by an index is
#    slow; to subtract a matrix is not.
# 2. **No bias before the batch normalisation** (1.9). `b1`'s gradient is zero, as you know from
#    notebook 01. So this loop neither adds it, nor sums its gradient, nor updates it.
# 3. **Fused calls** (2.0). `var_mean` reads the numbers once for both; `addcmul` multiplies and
#    adds; `addmm` is a matrix product that begins with the bias in place of zeros.
# 4. **In place** (2.0). `sub_`, `mul_` and the like write the result where the operand stood, which
#    saves asking for new memory. It buys next to nothing here, since PyTorch keeps small pieces of
#    memory at hand, and it costs care: once `hprebn` has become `bnraw` it is gone.
# 5. **The learning rate at the top** (counted with the next). The backward pass is *linear*:
#    multiply `dlogits` by a number, and every gradient further back is multiplied by it. With minus
#    the learning rate as that number, what comes out below, under the same names, is not the
#    gradients but the *steps*.
# 6. **Gradient and update in one call** (2.3). A step need only be added, and `addmm_` adds a
#    matrix product to the matrix it is called on while it computes it. For `W1`, `W2` and `C` no
#    gradient ever exists. Mind the order: `dh` needs the old `W2`, so it is computed before the
#    update.
# 7. **The losses last** (2.4). Each step leaves behind only the 32 probabilities of the right
#    characters; one logarithm and one mean for a thousand steps follow.
#
# Is it still the same training? The test is not whether it is fast but whether it arrives where
# autograd arrives.

# %%
if "tuned" in loops:
    reference, tuned = begin_run(n_hidden), begin_run(n_hidden)
    loops["autograd"](reference, Xtr, Ytr, 200)
    loops["tuned"](tuned, Xtr, Ytr, 200)
    for name, theirs, ours in zip(
        reference.parameters._fields, reference.parameters, tuned.parameters, strict=True
    ):
        difference = (theirs - ours).abs().max() / theirs.abs().max()
        print(f"{name:<6} is where autograd has it after 200 steps: {difference < 1e-3}")
else:
    print("There is no tuned loop to compare with.")

# %% [markdown]
# ## 6.2 Towards the limit
#
# In the tuned loop some forty calls are left, and six of them are matrix products. Python cannot
# do with much fewer. A compiler can. `torch.compile` reads the function below, which says the
# same in plain lines (in place are only the six updates), and writes a C++ program in which the
# small operations between two matrix products become *one* loop over the numbers, or a few: they
# are read once, everything is done to them, and they are written once.

# %%
if "tuned" in loops:
    from makemore_data.training.solved.compiled import training_step

    show_code(training_step)
else:
    print("Nor is what the compiler reads.")

# %% [markdown]
# A call of the compiled function still costs something: Python comes by, and the function makes
# sure each time that sizes and types are those it was compiled for. That price can be shared.
# Give it ten minibatches and let it take ten steps before it comes back; and let the program that
# calls the matrix products be C++ as well, not Python (`cpp_wrapper`). That is the last
# contestant. Where nothing else is running it reaches more than half of the limit, and at least
# five times the speed of autograd's loop.
#
# What remains is what no compiler may leave out: the additions to rows of `C`, 6,400 tanhs, the
# exponentials of the softmax, and two passes over the batch normalisation's 6,400 numbers, whose
# sums must be complete before the next line can begin.
#
# And now the other side of the ledger. Autograd's loop is the slowest here but one, it took
# nobody an afternoon, and it cannot be wrong in the sign of a bias. The matrices of this network
# are tiny. With a thousand times as many numbers in each, the products take nearly all the time,
# the calls next to none, and the first row of the table is almost as fast as the last. What stays
# with you is not the speed. It is that you know what the engine does, and could have built it.
#
# # Part 7 · What you have done
#
# **You can now** write the backward pass of a network with an embedding, linear layers, batch
# normalisation and a cross-entropy, without looking it up; check it against whole trainings; train
# with it, stop and go on; calibrate a batch normalisation, or keep running statistics; measure in
# nats; draw samples; and see where a training step spends its time.
#
# **Where next.**
#
# - Change the network. A second hidden layer, layer normalisation in place of batch normalisation,
#   a longer window: each is a new forward cell and a few new lines on the way back. You need
#   nobody's gradients any more.
# - Get the validation loss below 2.1. More units, more context, a better schedule for the learning
#   rate: the training loop is yours.
# - In a terminal, `grader check 04_manual_training.ipynb` checks the thirteen gradients again. It
#   reads the file, so save first.
# - In the project's own folder, `make train` runs the whole training with the solution's lines and
#   prints losses and names, and `make bench` measures the race.
