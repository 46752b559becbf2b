"""The closed list of the kinds of mistakes that a diagnosis can name, with a hint for each."""

from __future__ import annotations

import tomllib
from enum import StrEnum
from importlib.resources import files


class Kind(StrEnum):
    """What the student did instead of the chain rule. The site lists the kinds in this order."""

    MISSING_BRANCH = "missing-branch"
    """The contribution through one of the tensor's readers, or a term of a sum, is missing."""
    OVERWRITTEN_BRANCH = "overwritten-branch"
    """A contribution was overwritten by the next one instead of added to it."""
    MISSING_SUM = "missing-sum"
    """The sum over an axis along which the forward pass broadcast is missing."""
    WRONG_AXIS = "wrong-axis"
    """A sum, or a softmax, runs over another axis."""
    LOST_KEEPDIM = "lost-keepdim"
    """The numbers are right, but an axis of length 1 was lost."""
    MEAN_FOR_SUM = "mean-for-sum"
    """A mean over an axis instead of a sum."""
    SUM_FOR_MEAN = "sum-for-mean"
    """The 1/n of a mean in the forward pass is missing."""
    CONSTANT_FACTOR = "constant-factor"
    """A factor, which may depend on sizes, is missing, superfluous or wrong."""
    BESSEL = "bessel"
    """n instead of n - 1, or the other way round."""
    SIGN = "sign"
    """All of the gradient, or a term of it, has the wrong sign."""
    WRONG_NAME = "wrong-name"
    """One tensor or function instead of another."""
    WRONG_UPSTREAM = "wrong-upstream"
    """The upstream gradient is left out, or is that of another step."""
    MISSING_FACTOR = "missing-factor"
    """A tensor is missing from a product."""
    EXTRA_FACTOR = "extra-factor"
    """A tensor is in a product once too often."""
    EXTRA_TERM = "extra-term"
    """A term is added that is not a contribution."""
    MULTIPLIED_BRANCHES = "multiplied-branches"
    """Contributions are multiplied instead of added."""
    OPERATOR = "operator"
    """An operation is wrong or superfluous."""
    BRACKETS = "brackets"
    """The names and signs are right, but the brackets are not."""
    WRONG_INDEX = "wrong-index"
    """The wrong entries are picked."""
    STATEMENT = "statement"
    """The operation is right, but it is never called, its result is lost, or it runs twice."""
    TRANSPOSED = "transposed"
    """A matrix, or the whole result, is the wrong way round."""
    WRONG_ORDER = "wrong-order"
    """Matrices multiplied in the wrong order, or a sum taken before the product."""
    POWER_RULE = "power-rule"
    """An exponent was not brought down or not lowered, or lost its sign."""
    MISSING_EPS = "missing-eps"
    """The small number that prevents a division by zero is left out or wrong."""
    WRONG_ACTIVATION_POINT = "wrong-activation-point"
    """The slope of tanh or the like is taken at the wrong tensor."""
    MISSING_D = "missing-d"
    """A forward value instead of its gradient."""
    ALIASED = "aliased"
    """The gradient was right when it was assigned, and was changed later under another name."""
    NOT_ACCUMULATED = "not-accumulated"
    """Rows that are used several times keep only one contribution."""
    PARTIAL_ROWS = "partial-rows"
    """Some rows, positions or contributions are left out."""
    PERMUTED = "permuted"
    """The right numbers in the wrong places."""
    MISROUTED_MAX = "misrouted-max"
    """The gradient of a maximum did not go to the largest entry."""
    ONLY_THIS_BATCH = "only-this-batch"
    """Right on the lecture's data, wrong in general."""
    HARD_CODED_SIZE = "hard-coded-size"
    """A size is written into the line as a number."""
    WRONG_DTYPE = "wrong-dtype"
    """Integers, booleans or half precision."""
    NAN = "nan"
    """NaN or infinity."""
    WRONG_SHAPE = "wrong-shape"
    """The shape is not the tensor's, for a reason not listed above."""
    STALE_FORWARD = "stale-forward"
    """The notebook's forward tensors do not belong to its inputs (in a notebook only)."""


_HINTS = tomllib.loads(files(__package__).joinpath("hints.toml").read_text(encoding="utf-8"))


LONGEST_HINT = 120
"""The most characters of a hint."""


def hint(kind: Kind, gradient: str, belongs: str = "") -> str:
    """The nudge for a kind of mistake in one gradient, such as "dlogits".

    It is followed by what `belongs` there. If the names are too long for both, only the second is
    said, and if they are too long even for that, only the nudge.
    """
    names = f"`{gradient.removeprefix('d')}`", "the tensor"
    nudge, without = (str(_HINTS[kind]).format(tensor=name) for name in names)
    told = f"{belongs} is needed here."
    wished = (f"{nudge} {told}", told, nudge) if belongs else (nudge,)
    return next((one for one in wished if len(one) <= LONGEST_HINT), without)
