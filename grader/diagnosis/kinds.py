"""The closed list of mistakes that a diagnosis can name, with a hint for each."""

from __future__ import annotations

import tomllib
from enum import StrEnum
from importlib.resources import files


class Kind(StrEnum):
    """What was done instead of the chain rule; the site lists them in this order."""

    MISSING_BRANCH = "missing-branch"
    """The contribution through one of the tensor's readers is not there, or a term is."""
    OVERWRITTEN_BRANCH = "overwritten-branch"
    """A contribution was assigned over where the next should have been added."""
    MISSING_SUM = "missing-sum"
    """An axis along which the forward pass copied is not summed."""
    WRONG_AXIS = "wrong-axis"
    """A sum, or a softmax, runs over another axis."""
    LOST_KEEPDIM = "lost-keepdim"
    """The numbers are right; an axis of length 1 has been lost."""
    MEAN_FOR_SUM = "mean-for-sum"
    """A mean over an axis where a sum belongs."""
    SUM_FOR_MEAN = "sum-for-mean"
    """The 1/n of a mean in the forward pass is missing."""
    CONSTANT_FACTOR = "constant-factor"
    """A number, or one made of sizes, is missing, too many or another."""
    BESSEL = "bessel"
    """n stands where n - 1 belongs, or the other way round."""
    SIGN = "sign"
    """All of the gradient, or a term of it, has the wrong sign."""
    WRONG_NAME = "wrong-name"
    """One tensor, or function, stands where another belongs."""
    WRONG_UPSTREAM = "wrong-upstream"
    """The gradient that arrives is left out, or is another step's."""
    MISSING_FACTOR = "missing-factor"
    """A tensor is missing from a product."""
    EXTRA_FACTOR = "extra-factor"
    """A tensor stands in a product once too often."""
    EXTRA_TERM = "extra-term"
    """A term is added that is not a contribution."""
    MULTIPLIED_BRANCHES = "multiplied-branches"
    """Contributions are multiplied where they should be added."""
    OPERATOR = "operator"
    """One operation stands where another belongs, or is too much."""
    BRACKETS = "brackets"
    """The right names and signs, bracketed in another way."""
    WRONG_INDEX = "wrong-index"
    """Other entries are picked than those that belong there."""
    STATEMENT = "statement"
    """The right operation, but nothing calls it, its result is thrown away, or it runs again."""
    TRANSPOSED = "transposed"
    """A matrix, or the whole result, is the wrong way round."""
    WRONG_ORDER = "wrong-order"
    """Matrices multiplied in the wrong order, or a sum taken before the product."""
    POWER_RULE = "power-rule"
    """An exponent that was not brought down, not lowered or lost its sign."""
    MISSING_EPS = "missing-eps"
    """The small number against a division by zero is left out, or another."""
    WRONG_ACTIVATION_POINT = "wrong-activation-point"
    """The slope of tanh, or its like, taken at the wrong tensor."""
    MISSING_D = "missing-d"
    """A forward value where its gradient belongs."""
    ALIASED = "aliased"
    """Right when it was assigned, changed later under another name."""
    NOT_ACCUMULATED = "not-accumulated"
    """Rows that are used several times keep one contribution only."""
    PARTIAL_ROWS = "partial-rows"
    """Some rows, positions or contributions are left out."""
    PERMUTED = "permuted"
    """The right numbers in the wrong places."""
    MISROUTED_MAX = "misrouted-max"
    """The maximum's part went elsewhere than to the largest entry."""
    ONLY_THIS_BATCH = "only-this-batch"
    """Right on the lecture's data, wrong in general."""
    HARD_CODED_SIZE = "hard-coded-size"
    """A size is written into the line as a number."""
    WRONG_DTYPE = "wrong-dtype"
    """Whole numbers, truth values or half precision."""
    NAN = "nan"
    """NaN or infinity."""
    WRONG_SHAPE = "wrong-shape"
    """Another shape than the tensor's, and none of the above."""
    STALE_FORWARD = "stale-forward"
    """The notebook's forward tensors are not those of its inputs (in a notebook only)."""


_HINTS = tomllib.loads(files(__package__).joinpath("hints.toml").read_text(encoding="utf-8"))


LONGEST_HINT = 120
"""Characters of a hint."""


def hint(kind: Kind, gradient: str, belongs: str = "") -> str:
    """The nudge for a kind of mistake, said of one gradient such as "dlogits".

    What `belongs` there is told behind it, or alone where names are too long for both; where they
    are too long for that, the nudge is without them.
    """
    names = f"`{gradient.removeprefix('d')}`", "the tensor"
    nudge, without = (str(_HINTS[kind]).format(tensor=name) for name in names)
    told = f"{belongs} is needed here."
    wished = (f"{nudge} {told}", told, nudge) if belongs else (nudge,)
    return next((one for one in wished if len(one) <= LONGEST_HINT), without)
