# %% [markdown]
# # 4 · Training by hand
#
# {{ colab }}
#
# You have written gradients in three notebooks, but no network has learnt from them yet. In this
# one your backward pass goes to work. You put its thirteen gradients together, and write the
# training loop around them. Then they train the network, without a single `loss.backward()`,
# until it makes up names of its own.
#
# - **Time:** two hours, of which the whole training takes about two minutes on a laptop.
# - **You need:** notebooks 01 to 03, or at least their results: the gradient of a matrix product,
#   the fused cross-entropy, the fused batch normalisation.
# - **Afterwards you can:** write from memory the backward pass of a small network, and the training
#   loop, calibration, evaluation and sampling that go with it.
#
# The network and the exercise are those of Andrej Karpathy's lecture [*Becoming a Backprop
# Ninja*](https://www.youtube.com/watch?v=q8SA3rM6ckI), part 4 of *Building makemore*. You need not
# have seen it. **Part 2** is the backward pass, **part 3** is the loop that trains, and in **part
# 4** the network makes up names.
#
# Run the next two cells first.

# %%
# {{ cell: setup }}

# %%
import math

import torch
import torch.nn.functional as F
from IPython.display import Markdown

from grader import (
    LossPlot,
    board,
    check,
    check_own,
    check_training,
    figures,
    heat_map,
    my_backward,
    nudge,
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
    names_table,
    train,
    whole_run,
)

figures.use_course_style()
torch.set_num_threads(1)  # matrices this small: two threads would mostly wait for each other

# %% [markdown]
# # Part 1 · The network, in large steps
#
# The data are those of notebook 01. The hidden layer now has 200 units instead of 64, so that the
# network has 12,297 parameters.

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
# Notebook 01 took many small steps through the forward pass. Here it takes a few larger ones, and
# the names are the same, except that `bnmeani` is now `bnmean`. Notebook 03 wrote $\mu$, $\sigma^2$
# and $\hat{x}$ for what is called `bnmean`, `bnvar` and `bnraw` here, and `bnvar_inv` is its
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

# %% [markdown]
# The network has not been trained. A blind guess costs $\ln 27 = 3.30$ nats, and notebook 01's
# untrained network of 64 units cost more than that. **Guess before you run the cell:** what does
# this network with its 200 units cost?

# %% tags=["data-dependent"]
spread = logits.std(1).square().mean().sqrt().item()  # around the mean of each example's 27
print(f"loss {loss.item():.2f} nats; a blind guess has ln 27 = {math.log(vocab_size):.2f}")
print(f"spread of an example's logits: s = {spread:.2f}")
print(f"ln 27 + s**2 / 2 = {math.log(vocab_size) + spread**2 / 2:.2f}")

# %% [markdown]
# With more units the network starts worse. Each logit is a sum over the units, with random signs,
# and the more terms such a sum has, the farther it strays from zero. So this network bets more
# boldly, although it knows just as little.
#
# <details>
# <summary>Why a spread costs about half its square</summary>
#
# If the logits of an example spread by $s$, it costs about $s^2/2$ nats more than a blind guess,
# because the softmax divides by a sum of exponentials, and over a bell curve the average of
# $e^{sz}$ is $e^{s^2/2}$. The rest is the luck of 32 examples.
#
# </details>
#
# Does `loss.backward()` work here?

# %%
print(f"does autograd take notes? {loss.requires_grad}")

# %% [markdown]
# It would raise an exception, because no parameter was created with `requires_grad=True`, so
# PyTorch has not recorded how the loss was computed. From here on every gradient is yours.
#
# # Part 2 · The backward pass
#
# ## 2.1 What goes into them
#
# You have met every line of this backward pass before.
#
# | gradient | shape | where you met it |
# | :-- | :-- | :-- |
# | `dlogits` | (32, 27) | 02, all of it: the fused cross-entropy |
# | `dh`, `dW2`, `db2` | (32, 200), (200, 27), (27,) | 01: a matrix product |
# | `dhpreact` | (32, 200) | 01: the tanh |
# | `dbngain`, `dbnbias` | (1, 200) each | 01 and 03: gain and bias |
# | `dhprebn` | (32, 200) | 03, all of it: the fused batch normalisation |
# | `dembcat`, `dW1`, `db1` | (32, 30), (30, 200), (200,) | 01: another matrix product |
# | `demb` | (32, 3, 10) | 01: a view |
# | `dC` | (27, 10) | 01: looking up rows; without loops this time |
#
# In notebook 01 you may have added up `dC` with two loops, over 32 examples and 3 positions.
# Ninety-six small additions do no harm once, but 200,000 steps make nineteen million of them, and
# these two loops alone would take longer than all the rest of the training.
#
# ## 2.2 Visitors at the door, again
#
# So you need an addition that goes to many rows at once and that, unlike `+=` on an index, counts a
# repeated row as often as it occurs. In PyTorch it is called `index_add_`.

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
# Four visitors bring two gifts each. With `+=`, door 0 keeps only the gifts of the third visitor,
# while `index_add_(0, doors, gifts)` adds row *k* of `gifts` to row `doors[k]`, whoever came
# before.
#
# - The 0 is the axis, so rows are added, not columns.
# - `doors` has one dimension, and `gifts` must have as many rows as it has numbers.
# - In PyTorch, a method whose name ends in an underscore writes into the tensor before the dot and
#   returns it. Without the underscore, `index_add` returns a new tensor.
# - A cell that ends with such a call prints the whole tensor, unless a `;` follows it.
#
# `Xb` is (32, 3) and `demb` (32, 3, 10), so both have to be laid out in 96 rows first. There is a
# second way: a lookup is a matrix product with one-hot rows in disguise, as notebook 01 showed at
# its end, and you know the backward step of a matrix product. Either way will do.
#
# ## 2.3 Your turn
#
# Write thirteen gradients in three cells, from the loss down. Some take more than one line. Write
# them from memory as far as you can. As before, your cells run alone: they find `torch` and `F`,
# every name of the forward cell above, the sizes `n`, `block_size`, `vocab_size`, `n_embd` and
# `n_hidden`, and each other's results, but neither `.grad` nor `backward()`. The check also runs
# your lines on networks of other sizes, so write `n` wherever you are tempted to write 32.
#
# **Cross-entropy and linear layer 2.** `dlogits` is (32, 27), `dh` (32, 200), `dW2` (200, 27),
# `db2` (27).
#
# {{ hints: dlogits }}
#
# {{ hints: dh }}
#
# {{ hints: dW2 }}
#
# {{ hints: db2 }}

# %%
# answer: ex4-output
# cross-entropy and linear layer 2
### BEGIN SOLUTION
dlogits = F.softmax(logits, 1)
dlogits[range(n), Yb] -= 1
dlogits /= n
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
### END SOLUTION

# %%
# check: ex4-output
check("dlogits", "dh", "dW2", "db2")

# %% [markdown]
# **Tanh and batch normalisation.** `dhpreact` and `dhprebn` are (32, 200), `dbngain` and `dbnbias`
# (1, 200).
#
# {{ hints: dhpreact }}
#
# {{ hints: dbngain }}
#
# {{ hints: dbnbias }}
#
# {{ hints: dhprebn }}

# %%
# answer: ex4-batchnorm
# tanh and batch normalisation
### BEGIN SOLUTION
dhpreact = (1 - h**2) * dh
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
dhprebn = bngain * bnvar_inv / n * (n * dhpreact - dbnbias - n / (n - 1) * bnraw * dbngain)
### END SOLUTION

# %%
# check: ex4-batchnorm
check("dhpreact", "dbngain", "dbnbias", "dhprebn")

# %% [markdown]
# **Linear layer 1 and embedding.** `dembcat` is (32, 30), `dW1` (30, 200), `db1` (200), `demb`
# (32, 3, 10), `dC` (27, 10).
#
# {{ hints: dembcat }}
#
# {{ hints: dW1 }}
#
# {{ hints: db1 }}
#
# {{ hints: demb }}
#
# {{ hints: dC }}

# %%
# answer: ex4-embedding
# linear layer 1 and embedding
### BEGIN SOLUTION
dembcat = dhprebn @ W1.T
dW1 = embcat.T @ dhprebn
db1 = dhprebn.sum(0)
demb = dembcat.view(emb.shape)
dC = torch.zeros_like(C).index_add_(0, Xb.view(-1), demb.view(-1, C.shape[1]))
### END SOLUTION

# %%
# check: ex4-embedding
check("dembcat", "dW1", "db1", "demb", "dC")

# %% [markdown]
# A gradient can be right on one batch by accident, and a small mistake can grow over many steps.
# The next check therefore does what you are about to do: it *trains*. It puts your lines into a
# loop and takes a hundred steps on a network of this size, and a hundred on each of two hidden
# networks of other sizes. At each step it compares the gradients of all seven parameters with
# autograd's, and the parameters with those of a training that autograd has done on its own.

# %%
check_training()

# %%
board("ex4")

# %% [markdown]
# *The grey gradients are those that your line for* `dhprebn` *skips.*
#
# ## 2.4 From a cell to a function
#
# A loop needs these lines as a function. `my_backward()` takes the text of your answer cells as you
# last ran them, puts the forward cell before them, and has Python define the function. As long as a
# gradient is missing or wrong, it returns `None`. (If you want to train with a wrong gradient, call
# `my_backward(anyway=True)`. Then everything that uses the function says that there is a mistake in
# it.)

# %%
backward = my_backward()
if backward is not None:
    show_code(backward)

# %% [markdown]
# (If you change an answer, run its cell, and then the cell above once more.)
#
# # Part 3 · The training
#
# ## 3.1 The run
#
# Four things change from one step to the next: the parameters, the generator that draws the
# minibatches, the list of losses, and the number of the step, which is the length of that list.
# They live together in one object, the *run*, so a training can always go on from where its run
# stopped.

# %%
run = begin_run(n_hidden, block_size)  # run this cell again to begin anew
print(f"{sum(p.nelement() for p in run.parameters):,} parameters, {run.step} steps done")

# %% [markdown]
# Here is one step of it:

# %%
figures.training_loop()

# %% [markdown]
# *Each step goes once around. The running mean and variance, on the right, take no part in the
# training. Section 4.6 says what they are for.*
#
# You write the loop in three functions. Below each function is a check that runs it on small
# tensors and says what is wrong. If your function is right, the check returns it, and otherwise it
# returns the course's own, so that you can read on. (If you change a function, run its check
# again.)
#
# ## 3.2 A step downhill
#
# `my_update` changes each parameter by the learning rate times its gradient. No parameter was
# created with `requires_grad=True`, so you may change it in place. You even have to, because the
# run holds these very tensors.


# %%
# try: ex4-update
def my_update(parameters, gradients, learning_rate):
    """Take a step downhill: change every parameter in place. Returns nothing."""
    ### BEGIN SOLUTION
    for p, dp in zip(parameters, gradients, strict=True):
        p -= learning_rate * dp
    ### END SOLUTION


# %%
update = check_own("update", my_update)

# %% [markdown]
# ## 3.3 How long a step is
#
# The learning rate is 0.1 in the first 100,000 steps and 0.01 after them. Large steps get you down
# into the valley, but near its floor they jump from one side to the other, so small ones follow.


# %%
# try: ex4-rate
def my_learning_rate(step):
    """The learning rate of a step; the first step has the number 0."""
    ### BEGIN SOLUTION
    return 0.1 if step < 100_000 else 0.01
    ### END SOLUTION


# %%
learning_rate = check_own("learning_rate", my_learning_rate)

# %% [markdown]
# ## 3.4 The loop
#
# Now put it all together. As long as fewer than `until` steps are done:
#
# - draw 32 row numbers with `run.generator`, and with them a minibatch from `X` and `Y`;
# - call `backward(Xb, Yb, *run.parameters)`, which returns the loss and the seven gradients;
# - take a step, with `update` and `learning_rate` from above;
# - append the loss, as a plain number, to `run.losses`. `run.step` is the length of that list, so
#   it counts the step by itself.


# %%
# try: ex4-loop
def my_loop(run, backward, X, Y, until):
    """Train until that many steps are done."""
    ### BEGIN SOLUTION
    while run.step < until:
        ix = torch.randint(0, len(X), (32,), generator=run.generator)
        batch = X[ix], Y[ix]
        loss, gradients = backward(*batch, *run.parameters)
        update(run.parameters, gradients, learning_rate(run.step))
        run.losses.append(loss.item())
    ### END SOLUTION


# %%
loop = check_own("loop", my_loop)

# %% [markdown]
# These few lines are the whole training. The course's `train` runs your loop step by step, with a
# progress bar and a stop button that waits for the end of a step. (Jupyter's own stop button might
# interrupt Python after `W1` was updated and before `W2` was.) A run that you stop and resume ends
# with the same numbers, to the last bit, as a run without a break.
#
# ## 3.5 Ten thousand steps
#
# Begin with a twentieth of the whole run, which takes a few seconds. **Then write 200_000 in place
# of 10_000 and run the same cell again.** It goes on from where it stopped. The parts after this
# one work with any number of steps. On the way, the cell keeps copies of the parameters for later.

# %%
snapshots = {}


def watch(run):
    """Draw the loss; keep the parameters as they are at some steps."""
    plot(run)
    if run.step in (1_000, 10_000, ALL_STEPS):
        snapshots[run.step] = [p.clone() for p in run.parameters]


# %% tags=["nbval-ignore-output"]
until = 10_000  # a short run; the real one: 200_000

if backward is None:
    print("to do: the training waits for the gradients of part 2")
else:
    plot = LossPlot(run)
    train(run, backward, Xtr, Ytr, until, watch=watch, loop=loop)
    plot(run, last=True)
    kind = "the whole run" if run.step >= ALL_STEPS else "a SHORT run"
    print(f"{kind}: {run.step:,} of {ALL_STEPS:,} steps")
    if backward.__doc__:  # there is a mistake in it
        print(backward.__doc__)
    if run.step < until:
        print("stopped; run this cell again to go on")
    elif run.step < ALL_STEPS:
        print("to go on, write a larger number after `until` and run this cell again")

# %% [markdown]
# *The loss falls steeply over the first few thousand steps, then ever more slowly. In a whole run
# it falls once more at step 100,000, together with the learning rate, and becomes calmer.*
#
# Single minibatches are noisy, so each point is a mean over a hundred of them or more. That is why
# the line does not begin at the loss of the untrained network in part 1.
#
# # Part 4 · The network at work
#
# ## 4.1 A batch of one
#
# Batch normalisation has a strange side effect. During training, the numbers of one example depend
# on the 31 others that happen to be in its batch, through the mean and the variance. But when the
# network makes up a name, it has a batch of one, which has no variance at all.
#
# So once the training is done, we fix both. Every example of the training set runs up to the batch
# normalisation, and we take the mean and the variance of each unit over all of them, dividing by
# one less than their number, as in training. This is called *calibration*.
#
# <details>
# <summary>Hint for <code>my_calibrate</code></summary>
#
# The lines of part 1 from `emb` on compute `hprebn`. Take them with `X` for `Xb` and `len(X)` for
# `n`. The next two lines take the mean and the variance along axis 0, as rows.
#
# </details>


# %%
# try: ex4-calibration
def my_calibrate(parameters, X):
    """Mean and variance of hprebn over all windows X: (1, n_hidden) each."""
    C, W1, b1, *_ = parameters
    ### BEGIN SOLUTION
    hprebn = C[X].view(len(X), -1) @ W1 + b1
    return hprebn.mean(0, keepdim=True), hprebn.var(0, keepdim=True)
    ### END SOLUTION


# %%
calibrate = check_own("calibrate", my_calibrate)
mean, variance = calibrate(run.parameters, Xtr)
print(f"mean {tuple(mean.shape)}, variance {tuple(variance.shape)}")

# %% [markdown]
# ## 4.2 The loss that counts
#
# Now write the forward pass up to the logits, with these two in place of the batch's own mean and
# variance. Then the result for one window does not depend on the others in `X`. In section 4.5 the
# parameters require gradients, which are not needed here, so put your lines under `with
# torch.no_grad():`.
#
# <details>
# <summary>Hint for <code>my_logits</code></summary>
#
# Take part 1 from `emb` to `logits`, with `X` for `Xb`, `len(X)` for `n`, and `mean` and `variance`
# for `bnmean` and `bnvar`. The `1e-5` stays. The `return` may be inside the `with` block, too.
#
# </details>


# %%
# try: ex4-logits
def my_logits(parameters, mean, variance, X):
    """The logits of windows X, each on its own: (N, vocab_size)."""
    C, W1, b1, bngain, bnbias, W2, b2 = parameters
    ### BEGIN SOLUTION
    with torch.no_grad():
        hprebn = C[X].view(len(X), -1) @ W1 + b1
        bnraw = (hprebn - mean) / (variance + 1e-5).sqrt()
        return (bngain * bnraw + bnbias).tanh() @ W2 + b2
    ### END SOLUTION


# %%
logits_with = check_own("logits", my_logits)

# %% [markdown]
# Use `logits_with` to compute the loss over a whole data set: the mean of $-\ln p$ over all its
# characters, in *nats*, as a plain number. (A nat is to $\ln$ what a bit is to $\log_2$, and one
# nat is 1.44 bits.)
#
# <details>
# <summary>Hint for <code>my_mean_loss</code></summary>
#
# `F.cross_entropy` takes the logits and the characters that came next, and it computes the mean
# itself. It returns a tensor, which `.item()` turns into a plain number.
#
# </details>


# %%
# try: ex4-evaluation
def my_mean_loss(parameters, mean, variance, X, Y):
    """The cross-entropy over a data set, in nats a character."""
    ### BEGIN SOLUTION
    return F.cross_entropy(logits_with(parameters, mean, variance, X), Y).item()
    ### END SOLUTION


# %%
mean_loss = check_own("mean_loss", my_mean_loss)

# %% tags=["nbval-ignore-output"]
mean, variance = calibrate(run.parameters, Xtr)  # of the network as it is by now
print(f"after {run.step:,} of {ALL_STEPS:,} steps")
print(f"training loss    {mean_loss(run.parameters, mean, variance, Xtr, Ytr):.4f} nats")
print(f"validation loss  {mean_loss(run.parameters, mean, variance, Xdev, Ydev):.4f} nats")
if run.step == 0:
    print("to do: this network has not been trained yet")

# %% [markdown]
# With the lecture's names, 10,000 steps reach about 2.25 nats on the training set and 2.26 on the
# validation set. The whole run ends near 2.07 and 2.11 (the lecture: 2.0705 and 2.1099). These two
# are close together, because 12,297 parameters cannot learn the lecture's 182,625 training examples
# by heart.
#
# Is 2.11 good? $e^{2.11} \approx 8$, so the network is as unsure of the next character as somebody
# who has narrowed 27 down to 8. It can never be quite sure, because *mari* may go on with an *a*,
# an *e* or an *o*.
#
# ## 4.3 A new name
#
# Start with a window of dots, which is a list of `block_size` zeros. `predict(window)` returns the
# logits of the next character, (1, 27). Their softmax gives the probabilities: draw one character
# with `torch.multinomial` and the generator `g`, and shift it into the window. A dot ends the name
# and is not part of it.
#
# <details>
# <summary>Hint for <code>my_name</code></summary>
#
# You do not know how long the name will be, so use `while True:` and `return` at the dot, which is
# character 0. `torch.multinomial(probs, 1, generator=g)` draws a tensor with one number. To shift
# the window, drop its first number and append the new one.
#
# </details>


# %%
# try: ex4-sampling
def my_name(predict, itos, block_size, g):
    """One name, a string, made up character after character."""
    ### BEGIN SOLUTION
    name, window = "", [0] * block_size
    while True:
        probs = F.softmax(predict(window), 1)
        ix = torch.multinomial(probs, 1, generator=g).item()
        if ix == 0:
            return name
        name += itos[ix]
        window = [*window[1:], ix]
    ### END SOLUTION


# %%
sample_name = check_own("sample_name", my_name)


# %%
def sample_names(parameters, count=20):
    """So many names; the seed is always the same, so only the parameters make a difference."""
    g = torch.Generator().manual_seed(LECTURE_SEED + 10)
    mean, variance = calibrate(parameters, Xtr)

    def predict(window):
        return logits_with(parameters, mean, variance, torch.as_tensor(window).view(1, -1))

    return [sample_name(predict, itos, block_size, g) for _ in range(count)]


# %% [markdown]
# ## 4.4 What it has learnt
#
# Each column of the table shows the names that the network makes up after so many steps, always
# with the same seed. Names in *italics* are in the data, and all others are **new**. If you have
# made the whole run, the last column is yours. If not, it shows the course's names, from a whole
# run on the lecture's data.

# %% tags=["nbval-ignore-output"]
columns = {"0": sample_names(begin_run(n_hidden, block_size).parameters)}
for step, parameters in sorted(snapshots.items()):
    columns[f"{step:,}"] = sample_names(parameters)
if ALL_STEPS not in snapshots:
    columns[f"{ALL_STEPS:,} (course)"] = whole_run().names
Markdown(names_table(columns, known=names))

# %% [markdown]
# What has it learnt about the letters? Each letter is a row of ten numbers in `C`. A map of the two
# directions in which the rows differ most (a *principal component analysis*) shows part of them.
# The hidden layer never sees these rows directly, because they reach it through `W1`. So the lower
# maps show what `W1` makes of the letter in the middle of the window. The maps on the left are from
# step 0, those on the right from the end of the training.


# %% tags=["nbval-ignore-output"]
def for_the_middle(C, W1):
    """What W1 makes of each character in the middle of the window."""
    return C @ W1[n_embd : 2 * n_embd]


C_0, W1_0, *_ = begin_run(n_hidden, block_size).parameters
if ALL_STEPS in snapshots:
    C_end, W1_end, *_ = snapshots[ALL_STEPS]
    middle, whose = for_the_middle(C_end, W1_end), "your run"
else:
    C_end, middle, whose = whole_run().C, whole_run().middle, "the course's run"
maps = {
    "C, step 0": C_0,
    f"C, {whose}": C_end,
    "C @ W1, step 0": for_the_middle(C_0, W1_0),
    f"C @ W1, {whose}": middle,
}
figures.letter_maps(maps, itos)

# %% [markdown]
# *The vowels are green, and the dot marks the end of a name. The number in brackets is the share of
# the rows' variance that a map shows. In the course's run all vowels are at the left edge of the
# lower right map, and the* y, *which often sounds like a vowel, is not far away. On the map above
# it,* o *and* u *are far from the other three. At step 0 all places are random.*
#
# But a map that shows a third of the variance hides the other two thirds. Measured in all ten
# directions of `C`, two vowels are 4.3 apart on average in the course's run, two consonants 4.9,
# and a vowel and a consonant 5.0. At the start these distances were 4.3, 4.4 and 4.2. So `C` has
# kept the vowels together while the other letters moved apart, although nobody told the network
# what a vowel is.
#
# Look back at the names. **They were made without `loss.backward()`.** Every step used gradients
# written by hand, and in the columns of your own run they were written by you.
#
# ## 4.5 A wrong gradient that learns
#
# The loss falls, and the names look like names. Does that prove that the gradients are right? Try
# one that is badly wrong. In notebook 03, three paths lead back from `bnraw` to `hprebn`: directly,
# through the mean, and through the variance. Leave out the last two, as if mean and variance were
# constants. Autograd can do this for us, because `detach()` cuts a tensor off from its history. The
# cell trains twice, 6,000 steps each, which takes about ten seconds.


# %% tags=["nbval-ignore-output"]
def train_with_autograd(are_constants, steps=6_000):
    """Train from the start; the first gradient of C, and the validation loss."""
    fresh = begin_run(n_hidden, block_size)
    C, W1, b1, bngain, bnbias, W2, b2 = parameters = [p.requires_grad_() for p in fresh.parameters]
    first = None
    for _ in range(steps):
        ix = torch.randint(0, Xtr.shape[0], (32,), generator=fresh.generator)
        hprebn = C[Xtr[ix]].view(32, -1) @ W1 + b1
        bnmean, bnvar = hprebn.mean(0, keepdim=True), hprebn.var(0, keepdim=True)
        if are_constants:
            bnmean, bnvar = bnmean.detach(), bnvar.detach()
        h = torch.tanh(bngain * (hprebn - bnmean) * (bnvar + 1e-5) ** -0.5 + bnbias)
        loss = F.cross_entropy(h @ W2 + b2, Ytr[ix])
        gradients = torch.autograd.grad(loss, parameters)
        first = gradients[0] if first is None else first
        with torch.no_grad():
            update(parameters, gradients, 0.1)
    return first, mean_loss(parameters, *calibrate(parameters, Xtr), Xdev, Ydev)


right, loss_right = train_with_autograd(are_constants=False)
wrong, loss_wrong = train_with_autograd(are_constants=True)
off = (wrong - right).norm() / right.norm()
print(f"at the first step, the wrong dC is off by {off:.0%} of its length")
print(f"validation loss after 6,000 steps: right {loss_right:.4f}, wrong {loss_wrong:.4f} nats")

# %% [markdown]
# With the lecture's names, the two losses were 2.2904 and 2.2924 nats. So a gradient that is off by
# more than half of its length costs only two thousandths of a nat, which you would notice neither
# in the loss nor in the names. A step only has to go roughly downhill, and many wrong ones do. **A
# falling loss does not prove that a backward pass is right.** This is why this course compares
# numbers. Put this mistake into your `dhprebn`, and the check finds it at once.
#
# ## 4.6 The same without calibration
#
# Calibration is one more pass over all the data, and one that is easily forgotten. The usual
# alternative is a *running* mean and variance, which each minibatch moves a little towards its own.
# In a training loop that takes two more lines. Here we simply let minibatches go by.


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


validation = mean_loss(run.parameters, *calibrate(run.parameters, Xtr), Xdev, Ydev)
estimated = mean_loss(run.parameters, *running_statistics(run.parameters, Xtr), Xdev, Ydev)
print(f"validation loss: calibrated {validation:.2f}, with running statistics {estimated:.2f} nats")

# %% [markdown]
# The factor 0.001 says how quickly old minibatches are forgotten, here after about a thousand.
# PyTorch's `BatchNorm1d` calls it *momentum*, with the default 0.1. And this is why you must call
# `model.eval()` before you use a PyTorch module: from then on its batch normalisation takes the
# running numbers instead of the batch's.
#
# # Part 5 · What you have done
#
# Autograd would have saved you an afternoon, and it never gets a sign wrong. What you have gained
# is that you know what the engine does. (Which of the two is faster? [The
# race]({{ repository }}/blob/main/docs/pages/student/training.md#the-race) in the guide times both
# beside a tuned and a compiled loop, and says where the time goes.)
#
# **You can now** write the backward pass of a network with an embedding, linear layers, batch
# normalisation and a cross-entropy, and the training around it, without looking it up, and you can
# check both. You can calibrate a batch normalisation or keep running statistics, measure in nats,
# and draw samples. (In a terminal, `grader check 04_manual_training.ipynb` checks the thirteen
# gradients again. It reads the file, so save it first.)
#
# **Where next?** The guide's page on the training has [four ways to go
# on]({{ repository }}/blob/main/docs/pages/student/training.md#where-to-go-next): a second hidden
# layer, a recurrent network, an LSTM and Adam. Each begins with lines like yours and ends with a
# number to guess. After that the encore, notebooks **05** to **07**, builds and trains a small
# transformer in the same way.
