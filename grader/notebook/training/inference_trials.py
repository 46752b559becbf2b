"""What calibration and logits are tried on, with the mistakes that are known by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from grader.notebook.training.known_mistakes import Replacement, name_mistake
from grader.notebook.training.trial import (
    BLOCK_SIZE,
    N_HIDDEN,
    TOLERANCE,
    WINDOWS,
    Part,
    is_close,
)
from makemore_data.model.inference import calibrate, logits_with
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import begin_run

MANY_WINDOWS = 3000
"""More than anybody would take for all, who takes the first of them."""


def small_network(windows: int = WINDOWS) -> tuple[Parameters, Tensor, Tensor]:
    """Parameters of a small network, with windows and the characters that follow, at random."""
    g = torch.Generator().manual_seed(5)
    parameters = begin_run(N_HIDDEN, BLOCK_SIZE, seed=5).parameters
    X = torch.randint(27, (windows, BLOCK_SIZE), generator=g)
    return parameters, X, torch.randint(27, (windows,), generator=g)


HIDDEN_LAYER = """
windows = C[X].view(len(X), -1)
hprebn = windows @ W1 + b1
"""

IN_ANOTHER_ORDER: Mapping[Replacement, str] = {
    ("C[X].view", "C[X].mT.reshape"): (
        "A window's numbers come in another order: `C[X].view(len(X), -1)` takes one row of C after"
        " the other."
    ),
}

MEAN, VARIANCE = "hprebn.mean(0, keepdim=True)", "hprebn.var(0, keepdim=True)"
STATISTICS = f"{HIDDEN_LAYER}result = {MEAN}, {VARIANCE}\n"

WRONG_STATISTICS: Mapping[Replacement, str] = {
    (f"{MEAN}, {VARIANCE}", f"{VARIANCE}, {MEAN}"): "Mean and variance come in the wrong order.",
    (" + b1", ""): "The mean is that without `b1`.",
    ("var(0,", "var(0, unbiased=False,"): "The variance is divided by n, and in training by n - 1.",
    (".var(", ".std("): "This is the standard deviation; its square is the variance.",
    (VARIANCE, f"({VARIANCE} + 1e-5) ** -0.5"): (
        "This is the variance to the power -0.5; the variance itself is due."
    ),
    (VARIANCE, f"{VARIANCE} ** -0.5"): (
        "This is the variance to the power -0.5; the variance itself is due."
    ),
    (VARIANCE, "(hprebn**2).mean(0, keepdim=True)"): (
        "This is the mean of the squares; the variance is that of the distances from the mean."
    ),
    (VARIANCE, f"{VARIANCE} ** 2"): "The variance is squared; it is a square already.",
    (VARIANCE, f"{VARIANCE} + 1e-5"): "1e-5 is added to the variance: `logits_with` will do that.",
    (MEAN, "hprebn.sum(0, keepdim=True) / (len(X) - 1)"): (
        "The mean is divided by n - 1; that is for the variance, and for it alone."
    ),
    (MEAN, "hprebn.median(0, keepdim=True).values"): "This is the median; the mean is due.",
    ("+ b1", "+ b1\nhprebn = hprebn.tanh()"): (
        "These are those after the tanh; `hprebn` comes before the batch normalisation."
    ),
    ("+ b1", "+ b1\nhprebn = bngain * hprebn + bnbias"): (
        "These are those after gain and bias; `hprebn` comes before the batch normalisation."
    ),
    **IN_ANOTHER_ORDER,
    (".view(len(X), -1)", ".view(-1, len(X)).T"): (
        "The numbers of different windows are mixed: `view(len(X), -1)` keeps each in its row."
    ),
}
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
    parameters, X, _ = small_network(MANY_WINDOWS)
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

WRONG_FORWARD: Mapping[Replacement, str] = {
    (" + 1e-5", ""): "There is no 1e-5 beside the variance.",
    ("-0.5", "-1"): "It divides by the variance and not by its root.",
    ("-0.5", "0.5"): "It multiplies by the root of the variance.",
    ("** -0.5", ""): "It multiplies by the variance.",
    (" * (variance + 1e-5) ** -0.5", ""): "It does not divide by the root of the variance.",
    ("torch.tanh", ""): "There is no tanh in it.",
    ("torch.tanh", "torch.relu"): "It has a ReLU where in training there was a tanh.",
    ("torch.tanh", "torch.sigmoid"): "It has a sigmoid where in training there was a tanh.",
    ("+ b2", "+ b2\nresult = F.softmax(result, 1)"): (
        "These are probabilities; the logits are what goes into the softmax."
    ),
    ("bngain * bnraw + bnbias", "hprebn"): "There is no batch normalisation in it.",
    ("(hprebn - mean) * (variance + 1e-5) ** -0.5", "hprebn"): (
        "Neither mean nor variance is in it: gain and bias are those of normalised numbers."
    ),
    ("+ b2", "+ b2\nresult = F.log_softmax(result, 1)"): (
        "These are logarithms of probabilities; the logits go into the softmax."
    ),
    (" - mean", ""): "The mean is not subtracted.",
    ("- mean", "+ mean"): "The mean is added; subtract it.",
    ("hprebn - mean", "mean - hprebn"): "It is `hprebn - mean` that is due, not `mean - hprebn`.",
    (" + b1", ""): "There is no `b1` in it.",
    ("bngain * ", ""): "There is no `bngain` in it.",
    (" + bnbias", ""): "There is no `bnbias` in it.",
    (" + b2", ""): "There is no `b2` in it.",
    ("bngain * bnraw + bnbias", "bnbias * bnraw + bngain"): "`bngain` and `bnbias` are mixed up.",
    ("bngain * bnraw + bnbias", "bngain * (bnraw + bnbias)"): (
        "`bnbias` is multiplied by `bngain`: add it after that."
    ),
    ("(hprebn - mean)", "hprebn - mean"): (
        "`hprebn - mean` lacks its brackets: what stands behind multiplies the mean alone."
    ),
    ("(variance + 1e-5)", "variance + 1e-5"): (
        "`variance + 1e-5` lacks its brackets: the power, and the product, come first."
    ),
    ("variance +", "variance**2 +"): "The variance is squared; it is a square already.",
    ("1e-5", "1e-3"): "It is not 1e-5 that is added to the variance.",
    ("1e-5", "1e-6"): "It is not 1e-5 that is added to the variance.",
    ("1e-5", "1e-8"): "It is not 1e-5 that is added to the variance.",
    ("(variance + 1e-5) ** -0.5", "(variance ** -0.5 + 1e-5)"): (
        "1e-5 is added after the power: it belongs beside the variance."
    ),
    **IN_ANOTHER_ORDER,
    ("- mean", "- mean.mean()"): "It subtracts the mean of all units; each unit has its own.",
    ("variance", "variance.mean()"): (
        "It divides by the root of all units' mean variance; each unit has its own."
    ),
    ("(hprebn - mean) * (variance", f"(hprebn - {MEAN}) * ({VARIANCE}"): (
        "Mean and variance are the batch's own, and not what it is given: the same window has other"
        " logits in another batch."
    ),
    ("- mean", f"- {MEAN}"): (
        "The mean is the batch's own, and not what it is given: the same window has other logits in"
        " another batch."
    ),
    ("variance", VARIANCE): (
        "The variance is the batch's own, and not what it is given: the same window has other"
        " logits in another batch."
    ),
}
"""Mistakes in the lines of the forward pass."""


def try_logits(function: Part) -> str:
    """Ask for the logits of ten windows, then of the first alone."""
    parameters, X, _ = small_network()
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
        return f"It returns {kind_of(logits)}; a tensor of the shape {tuple(due.shape)} is due."
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


def kind_of(value: object) -> str:
    """What a function has returned, with its article."""
    if isinstance(value, Tensor):
        return f"a tensor of the shape {tuple(value.shape)}"
    return "nothing" if value is None else f"a {type(value).__name__}"
