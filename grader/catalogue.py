"""The catalogue: for each kind of mistake, a hint that does not give the answer away."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from grader.kinds import Kind

_HINTS: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.MISSING_BRANCH: "In how many lines of the forward pass does `{tensor}` stand on the"
        " right, and in how many terms? Each of them sends something back.",
        Kind.OVERWRITTEN_BRANCH: "What was in `{gradient}` before the second assignment?",
        Kind.MISSING_SUM: "What is copied in the forward pass is summed in the backward pass.",
        Kind.WRONG_AXIS: "Which axis did the forward pass copy along, or along which do the numbers"
        " of one example stand?",
        Kind.LOST_KEEPDIM: "`{gradient}` has exactly the shape of `{tensor}`; a sum can keep its"
        " axis.",
        Kind.MEAN_FOR_SUM: "If one number is used n times, do its effects add up or average?",
        Kind.SUM_FOR_MEAN: "By how much does a mean over n numbers change when one of them does?",
        Kind.CONSTANT_FACTOR: "A constant factor in the forward pass is one in the backward pass:"
        " go through the constants of the line.",
        Kind.BESSEL: "By what exactly does the forward pass divide its sum?",
        Kind.SIGN: "Where does a minus stand in the forward line, and how does it bind?",
        Kind.MISSING_FACTOR: "Write the derivative of the forward line on paper, with every factor,"
        " and name each one's shape.",
        Kind.EXTRA_FACTOR: "Write the derivative of the forward line on paper: which of your"
        " factors is not in it?",
        Kind.TRANSPOSED: "Write the shapes below each matrix of the product: which way round do"
        " they give the shape of `{tensor}`?",
        Kind.WRONG_ORDER: "Of matrices: which has the rows of the result, which the columns? Of a"
        " sum: is what you take out of it the same in each row?",
        Kind.POWER_RULE: "The derivative of x**k is k * x**(k - 1): check both k's.",
        Kind.MISSING_EPS: "What exactly is raised to the power in the forward line?",
        Kind.WRONG_ACTIVATION_POINT: "Is your formula for the slope one of the function's input or"
        " of its output?",
        Kind.MISSING_D: "A gradient is made from the gradient that arrives: is there a d missing?",
        Kind.ALIASED: "Two names can stand for one tensor: which assignment should make a copy?",
        Kind.NOT_ACCUMULATED: "What happens to a row that is looked up twice in one batch?",
        Kind.PARTIAL_ROWS: "Does your loop, or your index, reach every row and every position?",
        Kind.PERMUTED: "The way back from a view goes through the same order of axes.",
        Kind.MISROUTED_MAX: "Only one entry of a row decides its maximum.",
        Kind.ONLY_THIS_BATCH: "Would the line be right with other weights, other characters,"
        " another number of examples?",
        Kind.HARD_CODED_SIZE: "Read sizes off the tensors: n, or x.shape[0].",
        Kind.WRONG_DTYPE: "Gradients are floating-point numbers of the same dtype as their tensor.",
        Kind.NAN: "Which operation of the line can give 0/0, inf - inf or log(0)?",
        Kind.WRONG_SHAPE: "`{gradient}` has exactly the shape of `{tensor}`.",
        Kind.STALE_FORWARD: "Run the forward cell again, then the answers below it.",
    }
)
"""One nudge for each kind; the exercise's own hints go further."""


def hint(kind: Kind, gradient: str) -> str:
    """The nudge for a kind of mistake, said of one gradient such as "dlogits"."""
    return _HINTS[kind].format(gradient=gradient, tensor=gradient.removeprefix("d"))
