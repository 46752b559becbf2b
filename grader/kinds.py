"""The closed list of mistakes that a diagnosis can name."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What was done instead of the chain rule; the order is that of the catalogue."""

    MISSING_BRANCH = "missing-branch"
    OVERWRITTEN_BRANCH = "overwritten-branch"
    MISSING_SUM = "missing-sum"
    WRONG_AXIS = "wrong-axis"
    LOST_KEEPDIM = "lost-keepdim"
    MEAN_FOR_SUM = "mean-for-sum"
    SUM_FOR_MEAN = "sum-for-mean"
    CONSTANT_FACTOR = "constant-factor"
    BESSEL = "bessel"
    SIGN = "sign"
    MISSING_FACTOR = "missing-factor"
    EXTRA_FACTOR = "extra-factor"
    TRANSPOSED = "transposed"
    WRONG_ORDER = "wrong-order"
    POWER_RULE = "power-rule"
    MISSING_EPS = "missing-eps"
    WRONG_ACTIVATION_POINT = "wrong-activation-point"
    MISSING_D = "missing-d"
    ALIASED = "aliased"
    NOT_ACCUMULATED = "not-accumulated"
    PARTIAL_ROWS = "partial-rows"
    PERMUTED = "permuted"
    MISROUTED_MAX = "misrouted-max"
    ONLY_THIS_BATCH = "only-this-batch"
    HARD_CODED_SIZE = "hard-coded-size"
    WRONG_DTYPE = "wrong-dtype"
    NAN = "nan"
    WRONG_SHAPE = "wrong-shape"
    STALE_FORWARD = "stale-forward"
