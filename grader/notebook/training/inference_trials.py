"""What calibration, logits and mean loss are tried on, and the mistakes known by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.notebook.training.known_mistakes import Mistake, name_mistake
from grader.notebook.training.loop_trials import (
    BLOCK_SIZE,
    N_HIDDEN,
    TOLERANCE,
    WINDOWS,
    Part,
    is_close,
)
from makemore_data.model.inference import calibrate, logits_with, mean_loss
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import BATCH, begin_run

MANY_WINDOWS = 3000
"""More than anybody would take for all, who takes the first of them."""
PRIME_WINDOWS = 3001
"""A prime: cut into pieces of one size, the last is shorter."""
PIECES = (16, 32, 64, 100, 128, 200, 250, 256, 500, 512, 1000, 1024, 1500, 2000, 2048, 3000)
"""Sizes of pieces that somebody might take."""


def _network(windows: int = WINDOWS) -> tuple[Parameters, Tensor, Tensor]:
    g = torch.Generator().manual_seed(5)
    parameters = begin_run(N_HIDDEN, BLOCK_SIZE, seed=5).parameters
    X = torch.randint(27, (windows, BLOCK_SIZE), generator=g)
    return parameters, X, torch.randint(27, (windows,), generator=g)


HIDDEN_LAYER = """
windows = C[X].view(len(X), -1)
hprebn = windows @ W1 + b1
"""

IN_ANOTHER_ORDER: Mistake = (
    "A window's numbers come in another order: `C[X].view(len(X), -1)` takes one row of C after"
    " the other.",
    *("C[X].view", "C[X].mT.reshape"),
)

MEAN, VARIANCE = "hprebn.mean(0, keepdim=True)", "hprebn.var(0, keepdim=True)"
STATISTICS = f"{HIDDEN_LAYER}result = {MEAN}, {VARIANCE}\n"

WRONG_STATISTICS: Sequence[Mistake] = (
    ("Mean and variance come in the wrong order.", f"{MEAN}, {VARIANCE}", f"{VARIANCE}, {MEAN}"),
    ("The mean is that without `b1`.", " + b1", ""),
    (
        "The variance is divided by n, and in training by n - 1.",
        *("var(0,", "var(0, unbiased=False,"),
    ),
    ("This is the standard deviation; its square is the variance.", ".var(", ".std("),
    (
        "This is the variance to the power -0.5; the variance itself is due.",
        *(VARIANCE, f"({VARIANCE} + 1e-5) ** -0.5"),
    ),
    (
        "This is the variance to the power -0.5; the variance itself is due.",
        *(VARIANCE, f"{VARIANCE} ** -0.5"),
    ),
    (
        "This is the mean of the squares; the variance is that of the distances from the mean.",
        *(VARIANCE, "(hprebn**2).mean(0, keepdim=True)"),
    ),
    ("The variance is squared; it is a square already.", VARIANCE, f"{VARIANCE} ** 2"),
    ("1e-5 is added to the variance: `logits_with` will do that.", VARIANCE, f"{VARIANCE} + 1e-5"),
    (
        "The mean is divided by n - 1; that is for the variance, and for it alone.",
        *(MEAN, "hprebn.sum(0, keepdim=True) / (len(X) - 1)"),
    ),
    ("This is the median; the mean is due.", MEAN, "hprebn.median(0, keepdim=True).values"),
    (
        "These are those after the tanh; `hprebn` comes before the batch normalisation.",
        *("+ b1", "+ b1\nhprebn = hprebn.tanh()"),
    ),
    (
        "These are those after gain and bias; `hprebn` comes before the batch normalisation.",
        *("+ b1", "+ b1\nhprebn = bngain * hprebn + bnbias"),
    ),
    IN_ANOTHER_ORDER,
    (
        "The numbers of different windows are mixed: `view(len(X), -1)` keeps each in its row.",
        *(".view(len(X), -1)", ".view(-1, len(X)).T"),
    ),
)
"""Mistakes in the lines of the calibration."""


def _call(
    function: Part, parameters: Parameters, X: Tensor, **statistics: Tensor
) -> tuple[Any, str]:
    """What a function returns, and what is said of it if it changes what it is given."""
    given = {**parameters._asdict(), **statistics}
    before = {name: tensor.clone() for name, tensor in given.items()}
    returned = function(parameters, *statistics.values(), X)
    for name, tensor in given.items():
        if not torch.equal(tensor, before[name]):
            said = f"It changes the `{name}` that it is given, and every call changes it again."
            return returned, said
    return returned, ""


def try_calibration(function: Part) -> str:
    """Ask for mean and variance of many windows, twice, in another order."""
    parameters, X, _ = _network(MANY_WINDOWS)
    parameters.W1.mul_(0.05)  # small variances: it shows if a small number is added
    returned, trouble = _call(function, parameters, X)
    if trouble:
        return trouble
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        return "It should return two tensors, mean and variance."
    for name, found in zip(("mean", "variance"), returned, strict=True):
        if (shape := tuple(getattr(found, "shape", ()))) != (1, N_HIDDEN):
            return f"The {name} has the shape {shape}; (1, {N_HIDDEN}) is due, a column a unit."
    mean, variance = calibrate(parameters, X)

    def is_it(names: Mapping[str, Any]) -> bool:
        return all(map(is_close, returned, names["result"]))

    names = {**parameters._asdict(), "X": X}
    if said := name_mistake(STATISTICS, WRONG_STATISTICS, names, is_it):
        return said
    for name, found in zip(("mean", "variance"), returned, strict=True):
        if bool(found.isnan().any()):
            return f"There is NaN in the {name}: is it that of one row, and not of all of X?"
    again = function(parameters, X.flip(0))
    pairs = zip(again, returned, (mean, variance), strict=True)
    # Rounding, of what is returned or of what is due: all of it may be nothing but rounding.
    if not all(
        is_close(other, found) or is_close(due + other - found, due) for other, found, due in pairs
    ):
        return (
            "With the rows of X in another order it gives other numbers: it uses some of them, or"
            " batches of them, or mixes them; mean and variance are those of all rows at once."
        )
    if bool((returned[1].abs() < TOLERANCE * variance).all()):
        return "The variance is zero: square the differences first, then add them up."
    for name, found, due in zip(("mean", "variance"), returned, (mean, variance), strict=True):
        if is_close(found, due):
            continue
        times = float((found / due).mean())
        if times and is_close(found, times * due):
            divisor = MANY_WINDOWS - (name == "variance")
            return (
                f"The {name} is {times:.6g} times what is due, as if its sum were divided by"
                f" {divisor / times:.6g} and not by {divisor}: X has {MANY_WINDOWS} rows here."
            )
        return (
            f"The {name} is not that of `hprebn` over all of X: {float(found[0, 0]):.4f} for the"
            f" first unit, where {float(due[0, 0]):.4f} is due."
        )
    return ""


FORWARD = f"""{HIDDEN_LAYER}bnraw = (hprebn - mean) * (variance + 1e-5) ** -0.5
hpreact = bngain * bnraw + bnbias
result = torch.tanh(hpreact) @ W2 + b2
"""

WRONG_FORWARD: Sequence[Mistake] = (
    ("There is no 1e-5 beside the variance.", " + 1e-5", ""),
    ("It divides by the variance and not by its root.", "-0.5", "-1"),
    ("It multiplies by the root of the variance.", "-0.5", "0.5"),
    ("It multiplies by the variance.", "** -0.5", ""),
    ("It does not divide by the root of the variance.", " * (variance + 1e-5) ** -0.5", ""),
    ("There is no tanh in it.", "torch.tanh", ""),
    ("It has a ReLU where in training there was a tanh.", "torch.tanh", "torch.relu"),
    ("It has a sigmoid where in training there was a tanh.", "torch.tanh", "torch.sigmoid"),
    (
        "These are probabilities; the logits are what goes into the softmax.",
        *("+ b2", "+ b2\nresult = F.softmax(result, 1)"),
    ),
    ("There is no batch normalisation in it.", "bngain * bnraw + bnbias", "hprebn"),
    (
        "Neither mean nor variance is in it: gain and bias are those of normalised numbers.",
        *("(hprebn - mean) * (variance + 1e-5) ** -0.5", "hprebn"),
    ),
    (
        "These are logarithms of probabilities; the logits go into the softmax.",
        *("+ b2", "+ b2\nresult = F.log_softmax(result, 1)"),
    ),
    ("The mean is not subtracted.", " - mean", ""),
    ("The mean is added; subtract it.", "- mean", "+ mean"),
    ("It is `hprebn - mean` that is due, not `mean - hprebn`.", "hprebn - mean", "mean - hprebn"),
    ("There is no `b1` in it.", " + b1", ""),
    ("There is no `bngain` in it.", "bngain * ", ""),
    ("There is no `bnbias` in it.", " + bnbias", ""),
    ("There is no `b2` in it.", " + b2", ""),
    (
        "`bngain` and `bnbias` are mixed up.",
        *("bngain * bnraw + bnbias", "bnbias * bnraw + bngain"),
    ),
    (
        "`bnbias` is multiplied by `bngain`: add it after that.",
        *("bngain * bnraw + bnbias", "bngain * (bnraw + bnbias)"),
    ),
    (
        "`hprebn - mean` lacks its brackets: what stands behind multiplies the mean alone.",
        *("(hprebn - mean)", "hprebn - mean"),
    ),
    (
        "`variance + 1e-5` lacks its brackets: the power, and the product, come first.",
        *("(variance + 1e-5)", "variance + 1e-5"),
    ),
    ("The variance is squared; it is a square already.", "variance +", "variance**2 +"),
    ("It is not 1e-5 that is added to the variance.", "1e-5", "1e-3"),
    ("It is not 1e-5 that is added to the variance.", "1e-5", "1e-6"),
    ("It is not 1e-5 that is added to the variance.", "1e-5", "1e-8"),
    (
        "1e-5 is added after the power: it belongs beside the variance.",
        *("(variance + 1e-5) ** -0.5", "(variance ** -0.5 + 1e-5)"),
    ),
    IN_ANOTHER_ORDER,
    ("It subtracts the mean of all units; each unit has its own.", "- mean", "- mean.mean()"),
    (
        "It divides by the root of all units' mean variance; each unit has its own.",
        *("variance", "variance.mean()"),
    ),
    (
        "Mean and variance are the batch's own, and not what it is given: the same window has other"
        " logits in another batch.",
        *("(hprebn - mean) * (variance", f"(hprebn - {MEAN}) * ({VARIANCE}"),
    ),
    (
        "The mean is the batch's own, and not what it is given: the same window has other logits in"
        " another batch.",
        *("- mean", f"- {MEAN}"),
    ),
    (
        "The variance is the batch's own, and not what it is given: the same window has other"
        " logits in another batch.",
        *("variance", VARIANCE),
    ),
)
"""Mistakes in the lines of the forward pass."""


def try_logits(function: Part) -> str:
    """Ask for the logits of ten windows, then of the first alone."""
    parameters, X, _ = _network()
    X, g = X[:10], torch.Generator().manual_seed(6)
    parameters.bngain[0, 0] = 0.002  # with the variance below: so that it shows if eps is missing
    mean = torch.randn((1, N_HIDDEN), generator=g)
    variance = torch.rand((1, N_HIDDEN), generator=g) + 1e-4
    variance[0, 0] = 1e-6
    due = logits_with(parameters, mean, variance, X)
    logits, trouble = _call(function, parameters, X, mean=mean, variance=variance)
    if trouble:
        return trouble
    if not isinstance(logits, Tensor):
        return f"It returns {_kind(logits)}; a tensor of the shape {tuple(due.shape)} is due."
    if logits.shape != due.shape:
        return f"They have the shape {tuple(logits.shape)}; {tuple(due.shape)} is due."
    if not is_close(logits, due):
        if bool(logits.isnan().any()):
            return "There is NaN in them: is it the variance, and 1e-5, whose root is taken?"
        names = {**parameters._asdict(), "mean": mean, "variance": variance, "X": X}
        said = name_mistake(
            FORWARD, WRONG_FORWARD, names, lambda made: is_close(logits, made["result"])
        )
        if said:
            return said
        alone = function(parameters, mean, variance, X[:1])
        if not is_close(alone, logits[:1]):
            return (
                "The same window has other logits in another batch: each window goes its own way,"
                " with the mean and the variance that are given."
            )
        return (
            "These are not the logits of the forward pass with this mean and this variance: the"
            f" first is {float(logits[0, 0]):.4f}, where {float(due[0, 0]):.4f} is due."
        )
    watched = Parameters(*(parameter.requires_grad_() for parameter in parameters))
    if function(watched, mean, variance, X).requires_grad:
        return (
            "The numbers are right, but where a parameter asks for its gradient, autograd takes"
            " notes: put the lines under `with torch.no_grad():`."
        )
    return ""


def try_mean_loss(function: Part) -> str:
    """Ask for the loss of 150 windows."""
    parameters, X, Y = _network()
    # With the small weights of the beginning all losses are about ln 27.
    parameters = parameters._replace(W2=10 * parameters.W2)
    own = calibrate(parameters, X)
    statistics = own[0].abs() + 0.5, 2 * own[1]
    due = mean_loss(parameters, *statistics, X, Y)
    loss = function(parameters, *statistics, X, Y)
    if isinstance(loss, Tensor) and loss.numel() == 1 and is_close(loss.detach().view(()), due):
        return "It returns a tensor; `.item()` makes a number of it, without autograd's notes."
    if isinstance(loss, bool) or not isinstance(loss, int | float):
        return f"It returns {_kind(loss)}; a number is due."
    if is_close(loss, mean_loss(parameters, *own, X, Y)):
        return (
            "It takes mean and variance of X itself, and not those that it is given:"
            " `logits_with(parameters, mean, variance, X)` uses them."
        )
    if is_close(loss, mean_loss(parameters, *statistics[::-1], X, Y)):
        return "It hands on mean and variance in the wrong order."
    for sentence, value in _wrong_losses(logits_with(parameters, *statistics, X), Y).items():
        if is_close(loss, value):
            return sentence
    if not is_close(loss, due):
        if not is_close(function(parameters, *statistics, X, Y), loss):
            return "It gives another loss every time: nothing is drawn, all of X and Y count."
        return f"It gives {loss:.4f} where the cross-entropy over all of X and Y is {due:.4f} nats."
    fewer = mean_loss(parameters, *statistics, X[:9], Y[:9])
    if not is_close(function(parameters, *statistics, X[:9], Y[:9]), fewer):
        return "On other data it gives a wrong loss: does it use X and Y as they are given?"
    return _trouble_with_many(function, parameters, statistics)


def _trouble_with_many(
    function: Part, parameters: Parameters, statistics: tuple[Tensor, Tensor]
) -> str:
    """Ask for the loss of so many windows that nobody takes more at once, if not all."""
    _, X, Y = _network(PRIME_WINDOWS)
    loss = function(parameters, *statistics, X, Y)
    logits = logits_with(parameters, *statistics, X)
    # Means of pieces are nearer than `TOLERANCE`; a right loss, rounded to 4 places, is nearer yet.
    if math.isclose(loss, float(F.cross_entropy(logits, Y)), rel_tol=2e-5):
        return ""
    wrong = _losses_of_pieces(logits, Y)
    sentence = min(wrong, key=lambda sentence: abs(loss - float(wrong[sentence])))
    if math.isclose(loss, float(wrong[sentence]), rel_tol=2e-6):  # the rounding of float32
        return sentence
    return (
        f"Of {len(X):,} windows it gives {loss:.4f} where the cross-entropy is"
        f" {float(F.cross_entropy(logits, Y)):.4f} nats: does each window count, and count alike?"
    )


def _mean_over_pieces(logits: Tensor, Y: Tensor, size: int) -> Tensor:
    """The mean of the pieces' means, although the last piece is shorter."""
    pieces = [
        F.cross_entropy(*some)
        for some in zip(torch.split(logits, size), torch.split(Y, size), strict=True)
    ]
    return torch.stack(pieces).mean()


def _count_alike(size: int) -> str:
    return f"Minibatches of {size} count alike, and the last of them is shorter: take all at once."


def _losses_of_pieces(logits: Tensor, Y: Tensor) -> dict[str, Tensor]:
    """The losses of the first windows alone, and of pieces that count alike, with the sentences."""
    sizes = [size for size in PIECES if size < len(Y)]
    alike = {_count_alike(size): _mean_over_pieces(logits, Y, size) for size in sizes}
    return alike | {
        f"Only the first {size} windows count.": F.cross_entropy(logits[:size], Y[:size])
        for size in sizes
    }


def _wrong_losses(logits: Tensor, Y: Tensor) -> Mapping[str, float]:
    """The losses that are known by name, each with its sentence."""
    rows, due, probs = torch.arange(len(Y)), float(F.cross_entropy(logits, Y)), logits.softmax(1)
    at_labels = probs[rows, Y]
    pieces = [
        F.cross_entropy(*some)
        for some in zip(torch.split(logits, BATCH), torch.split(Y, BATCH), strict=True)
    ]
    values: dict[str, float | Tensor] = {
        "This is the sum over all windows, not the mean.": due * len(Y),
        "It divides by the number of windows twice: `F.cross_entropy` gives their mean.": (
            due / len(Y)
        ),
        "It adds up means of minibatches, and divides by the number of windows.": (
            sum(pieces) / len(Y)
        ),
        **_losses_of_pieces(logits, Y),
        "The sign is wrong: the loss is the mean of -ln p.": -due,
        "This is in bits; the logarithm to the base of e gives nats.": due / math.log(2),
        "This is the median over the windows; the mean is due.": -at_labels.log().median(),
        "This is the entropy of the predictions, in which `Y` has no part.": (
            -(probs * probs.log()).sum(1).mean()
        ),
        "The softmax runs over all numbers at once; it belongs along the characters, axis 1.": (
            due + (logits.logsumexp((0, 1)) - logits.logsumexp(1)).mean()
        ),
        "The logarithm is to the base of 10; that to the base of e gives nats.": due / math.log(10),
        "This is how often the likeliest character is right; the loss is due.": (
            (logits.argmax(1) == Y).float().mean()
        ),
        "This is how often the likeliest character is wrong; the loss is due.": (
            (logits.argmax(1) != Y).float().mean()
        ),
        "This is e to the power of the loss; the loss itself is due.": math.exp(due),
        "This is the logarithm of the mean; the mean of the logarithms is due.": (
            -at_labels.mean().log()
        ),
        "There is no logarithm in it: this is the mean of -p.": -at_labels.mean(),
        "There is no logarithm in it: this is the mean of p.": at_labels.mean(),
        "There is no softmax in it: these are logits, not ln p.": -logits[rows, Y].mean(),
        "The softmax runs over the windows; it belongs along the characters, axis 1.": (
            -logits.softmax(0)[rows, Y].log().mean()
        ),
        "This is the mean over all characters, not over those of Y.": -probs.log().mean(),
        "`[:, Y]` takes whole columns; each row has one right character.": (
            -probs[:, Y].log().mean()
        ),
        "The softmax is taken twice: `F.cross_entropy` takes logits.": F.cross_entropy(probs, Y),
    }
    return {sentence: float(value) for sentence, value in values.items()}


def _kind(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of the shape {tuple(value.shape)}"
    return "nothing" if value is None else f"a {type(value).__name__}"
