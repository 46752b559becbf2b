"""The closed list of mistakes that a diagnosis can name, with a hint for each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


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
    """A term is added that is no contribution."""
    MULTIPLIED_BRANCHES = "multiplied-branches"
    """Contributions are multiplied where they should be added."""
    OPERATOR = "operator"
    """One operation stands where another belongs, or is too much."""
    BRACKETS = "brackets"
    """The right names and signs, bracketed in another way."""
    WRONG_INDEX = "wrong-index"
    """Other entries are picked than those that belong there."""
    STATEMENT = "statement"
    """The right operation, but its result is thrown away, or a line is too much."""
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


_HINTS: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.MISSING_BRANCH: "Find every way from `{tensor}` to the loss and write each slope out"
        " in full: which term is not here?",
        Kind.OVERWRITTEN_BRANCH: "What was there before this line, and does the gradient need it"
        " too?",
        Kind.MISSING_SUM: "What is copied in the forward pass is summed in the backward pass.",
        Kind.WRONG_AXIS: "Say what each axis counts: over which of them does the formula on paper"
        " run?",
        Kind.LOST_KEEPDIM: "Which shape does this need to have? A sum can keep the axis it sums"
        " over, with length 1.",
        Kind.MEAN_FOR_SUM: "If one number is used n times, do its effects add up or average?",
        Kind.SUM_FOR_MEAN: "By how much does a mean over n numbers change when one of them does?",
        Kind.CONSTANT_FACTOR: "Which numbers of the forward line (an exponent, the n of a mean)"
        " does its derivative have as factors?",
        Kind.BESSEL: "By what exactly does the forward pass divide its sum?",
        Kind.SIGN: "Each minus in a derivative comes from a minus in the forward line, a negative"
        " exponent or a slope. Which is it here?",
        Kind.MISSING_FACTOR: "Write the derivative of the forward line on paper: which of its"
        " factors is not here?",
        Kind.EXTRA_FACTOR: "Write the derivative of the forward line on paper: which of your"
        " factors is not in it?",
        Kind.WRONG_NAME: "Say in words what belongs here: which tensor, or which function, is"
        " that?",
        Kind.WRONG_UPSTREAM: "Which lines of the forward pass read `{tensor}`? The gradients of"
        " their results arrive.",
        Kind.EXTRA_TERM: "Each term of a gradient is the contribution of one line of the forward"
        " pass: of which is this one?",
        Kind.MULTIPLIED_BRANCHES: "What do two effects on the loss do: multiply or add up?",
        Kind.OPERATOR: "Read the line aloud: which operation belongs here on paper?",
        Kind.BRACKETS: "What does Python do first here, and what should it do first?",
        Kind.WRONG_INDEX: "Which entries does this index pick, for two examples on paper?",
        Kind.STATEMENT: "What does each name hold before this line, and what after it?",
        Kind.TRANSPOSED: "Write the shapes below each matrix: which way round do they give the"
        " shape of `{tensor}`?",
        Kind.WRONG_ORDER: "Go through it on paper: what comes first, what stands on the left, and"
        " which shape comes out?",
        Kind.POWER_RULE: "Which power does the formula on paper have here? The derivative of x**k"
        " is k * x**(k - 1).",
        Kind.MISSING_EPS: "What exactly is raised to the power in the forward line?",
        Kind.WRONG_ACTIVATION_POINT: "Is your formula for the slope one of the function's input or"
        " of its output?",
        Kind.MISSING_D: "A gradient is made from the gradient that arrives: is there a d missing?",
        Kind.ALIASED: "Two names can stand for one tensor: what should the second one begin with?",
        Kind.NOT_ACCUMULATED: "What happens to a row that is looked up twice in one batch?",
        Kind.PARTIAL_ROWS: "Does your loop, or your index, reach every row and every position?",
        Kind.PERMUTED: "The way back from a view goes through the same order of axes.",
        Kind.MISROUTED_MAX: "Only one entry of a row decides its maximum.",
        Kind.ONLY_THIS_BATCH: "Would the line be right with other weights, other characters,"
        " another number of examples?",
        Kind.HARD_CODED_SIZE: "Read sizes off the tensors: n, or x.shape[0].",
        Kind.WRONG_DTYPE: "Which part of the line makes no floating-point numbers? A gradient has"
        " its tensor's dtype.",
        Kind.NAN: "Which operation of the line can fail: 0/0, inf - inf, log(0), the root of a"
        " negative number?",
        Kind.WRONG_SHAPE: "Write the shape beside each part of the line: which of them is not what"
        " it should be?",
        Kind.STALE_FORWARD: "Run the forward cell again, then the answers below it.",
    }
)
"""A hint for each kind that does not give the answer away; the exercise's own go further."""


def hint(kind: Kind, gradient: str) -> str:
    """The nudge for a kind of mistake, said of one gradient such as "dlogits"."""
    return _HINTS[kind].format(gradient=gradient, tensor=gradient.removeprefix("d"))
