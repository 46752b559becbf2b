"""The lecture's `cmp`: compare a student's gradient with autograd's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from grader.verdict import Comparison

RELATIVE_TOLERANCE = 1e-5
"""The largest accepted difference of float32 gradients, relative to the largest reference value.

Over 2,000 training steps, right gradients differ by at most 1.1e-6, but a forgotten eps already
changes them by 2e-5.
"""

FLOAT64_TOLERANCE = 1e-6
"""The largest accepted difference on a float64 instance, relative to the largest reference value.

Right answers differ by about 1e-14. The smallest mistake seen, a forgotten eps, changes them by
1e-5.
"""

FLOAT64_NOISE = 1e-10
"""A difference above this, on a float64 instance, is reported and blamed for what follows from it.

It lies far above the rounding errors of right answers, and far below any small number that is put
in by mistake.
"""

COARSE = (torch.float16, torch.bfloat16)
"""The dtypes that are too coarse: in them, even a right gradient has wrong values."""

FAR_OFF = 1e-3
"""Relative to the largest value, a difference above this cannot be rounding even in float32."""

ROUNDING_NOISE = 1e-7
"""A difference below this counts as float32 rounding if the reference may be zero by structure.

Gradients that are zero by structure (a bias before batchnorm, the maximum subtracted from the
logits) consist of rounding errors alone: up to 1.8e-8 over 2,000 training steps.
"""

FUNCTIONS = ("builtin_function_or_method", "method", "method_descriptor", "wrapper_descriptor")
"""The names of the types that a function may have in Python."""

ADVICE = {
    "ndarray": " `torch.from_numpy` makes one of it.",
    "tuple": " Is there a comma, at the line's end or in a `return`?",
    "function": " Brackets behind its name call it.",
}
"""The advice to add when a gradient is not a tensor, by its type."""


def cmp(s: str, dt: object, t: Tensor) -> Comparison:
    """Compare your gradient with autograd's and print the lecture's line.

    A second line appears only if something is wrong. `approximate` is true if the largest
    difference is mere rounding, that is, small beside the largest value of the gradient.

    Args:
        s: the tensor's name to print, such as "h".
        dt: your gradient of `t`. If `t` is a single number without axes, a number will do.
        t: the tensor whose `.grad` is the reference (`t.retain_grad()`, then `loss.backward()`).

    Returns:
        The comparison, as data.

    Source: the lecture's `cmp`, except that a shape which merely broadcasts is not accepted.
    """
    comparison = _compare_with_grad(s, dt, t)
    print(comparison)
    return comparison


AS_CALLED = 'as in cmp("h", dh, h)'

NO_TENSOR = (
    "the third argument is {kind}, but it has to be the tensor whose gradient this is,"
    f" {AS_CALLED}."
)
SWAPPED = f"your gradient comes second and its tensor third, {AS_CALLED}; here they are swapped."
NO_GRAD = (
    "autograd has no gradient for this tensor yet: its .grad is None. Call .retain_grad() on it"
    " after the forward pass, then loss.backward()."
)


def _compare_with_grad(name: str, value: object, tensor: Tensor) -> Comparison:
    if not isinstance(tensor, Tensor):
        problem = NO_TENSOR.format(kind=_article(type(tensor).__name__))
        return nothing_to_compare(name, value, None, problem)
    grad = _grad(tensor)
    if grad is None:
        # A tensor of the forward pass has a gradient, or needs one; the student's has no such.
        is_other = isinstance(value, Tensor) and (
            _grad(value) is not None or (value.requires_grad and not tensor.requires_grad)
        )
        problem = SWAPPED if is_other else NO_GRAD
        return nothing_to_compare(name, value, tuple(tensor.shape), problem)
    if grad.ndim == 0 and isinstance(value, int | float) and not isinstance(value, bool):
        value = grad.new_tensor(value)
    return compare(name, value, grad, subject="this gradient")


def _grad(tensor: Tensor) -> Tensor | None:
    # Reading .grad of a tensor that keeps none would warn, in terms of PyTorch's internals.
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def compare(
    name: str,
    value: object,
    reference: Tensor,
    subject: str | None = None,
    may_be_zero: bool = True,
) -> Comparison:
    """Compare a student's value with a reference gradient of dtype float32 or float64.

    A value that is not a floating-point tensor of the reference's shape, or that contains NaN or
    inf, is neither exact nor approximate. `subject` begins the sentence about its problem; by
    default it is the name. Only if the gradient `may_be_zero` by structure can a difference count
    as rounding by its absolute size; otherwise its size relative to the largest reference value
    decides.
    """
    shape = tuple(reference.shape)
    problem = describe_unusable(subject or name, value, shape)
    if not isinstance(value, Tensor):
        return nothing_to_compare(name, value, shape, problem)
    if not problem:
        ours, theirs = value.detach().double(), reference.detach().double()
        maxdiff, largest = _apart(ours, theirs), _largest(theirs)
        noise = ROUNDING_NOISE if may_be_zero else min(ROUNDING_NOISE, FAR_OFF * largest)
        # What is not finite is infinitely far off: nearly all values need no look of their own.
        problem = "" if math.isfinite(maxdiff) else describe_nonfinite(subject or name, value)
    if problem:
        return Comparison(name, False, False, None, tuple(value.shape), shape, problem)
    return Comparison(
        name,
        exact=maxdiff == 0,
        approximate=maxdiff <= RELATIVE_TOLERANCE * largest + noise,
        maxdiff=maxdiff,
        shape=tuple(value.shape),
        expected_shape=shape,
        relative=maxdiff / largest if largest else maxdiff,
    )


def agrees(
    value: Tensor, reference: Tensor, floor: float = 0.0, tolerance: float = FLOAT64_TOLERANCE
) -> bool:
    """Tell whether a gradient differs from a float64 reference by rounding alone.

    The difference is relative to the reference's largest value, or to `floor` if that is larger.
    """
    return relative_difference(value, reference, floor) <= tolerance


def relative_difference(value: Tensor, reference: Tensor, floor: float = 0.0) -> float:
    """Return how far a gradient is from a float64 reference, relative to its largest value.

    If `floor` is larger than that value, it takes its place. A value that cannot be compared, or
    contains NaN, is infinitely far off.
    """
    if not value.is_floating_point() or value.shape != reference.shape:
        return math.inf
    difference, size = _apart(value.double(), reference), max(floor, _largest(reference))
    if difference == 0:
        return 0.0
    return difference / size if difference < math.inf and size else math.inf


def relative_differences(pairs: Sequence[tuple[Tensor, Tensor, float]]) -> list[float]:
    """The relative difference of each (value, reference, floor), computed for all at once."""
    if not all(
        value.dtype is torch.float64 and value.shape == reference.shape and value.numel()
        for value, reference, _ in pairs
    ):
        return [relative_difference(*pair) for pair in pairs]
    if not pairs:
        return []
    values, references, floors = zip(*pairs, strict=True)
    right = torch.cat([reference.reshape(-1) for reference in references])
    apart = torch.cat([value.reshape(-1) for value in values]).sub_(right).abs_()
    starts = [0, *itertools.accumulate(reference.numel() for reference in references)][:-1]
    difference, largest = (
        np.maximum.reduceat(numbers.numpy(), starts) for numbers in (apart, right.abs_())
    )
    sizes = np.maximum(floors, largest)
    relative = np.where(difference == 0, 0.0, math.inf)
    is_some = (difference > 0) & (difference < math.inf) & (sizes > 0)
    with np.errstate(over="ignore"):  # too far for a number is infinitely far
        np.divide(difference, sizes, out=relative, where=is_some)
    return [*map(float, relative)]


def _apart(value: Tensor, reference: Tensor) -> float:
    """The largest difference between two tensors, or NaN if one of them contains it."""
    return (value - reference).abs_().max().item() if reference.numel() else 0.0


def _largest(tensor: Tensor) -> float:
    return tensor.abs().max().item() if tensor.numel() else 0.0


def nothing_to_compare(
    name: str, value: object, expected_shape: tuple[int, ...] | None, problem: str
) -> Comparison:
    """The comparison to report when one of the two sides is missing."""
    shape = tuple(value.shape) if isinstance(value, Tensor) else None
    return Comparison(name, None, None, None, shape, expected_shape, problem)


def describe_unusable(name: str, value: object, shape: tuple[int, ...]) -> str:
    """Say in a sentence why a value cannot be a gradient of the given shape; "" if it can.

    Here and below, `name` is the gradient's name, such as "dlogits".
    """
    if value is None or value is ...:
        return "to do"
    if not isinstance(value, Tensor):
        return describe_type(name, type(value).__name__, shape)
    if not value.is_floating_point():
        return describe_dtype(name, value)
    if tuple(value.shape) != shape:
        return describe_shape(name, tuple(value.shape), shape)
    return ""


def describe_type(name: str, type_name: str, shape: tuple[int, ...] | None = None) -> str:
    """A sentence about a gradient that is not a tensor, or is an unusual kind of tensor."""
    if type_name.startswith("tensor of "):
        return f"{name} is a {type_name}, but a gradient has its tensor's shape and dtype."
    ending = "" if shape is None else f", here of shape {shape}"
    kind = "function" if type_name in FUNCTIONS else type_name
    advice = ADVICE.get(kind, "")
    return f"{name} is {_article(kind)}, but a gradient is a tensor{ending}.{advice}"


def describe_dtype(name: str, value: Tensor) -> str:
    """A sentence about a gradient of integers, booleans or complex numbers."""
    return f"{name} has dtype {value.dtype}, but a gradient has its tensor's floating-point dtype."


def describe_shape(name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> str:
    """A sentence about a gradient of the wrong shape."""
    sentence = f"{name} has shape {shape}, but a gradient has its tensor's shape, {expected}."
    if len(shape) == 2 and shape == expected[::-1]:
        return f"{sentence} Is it transposed?"
    return sentence


def describe_nonfinite(name: str, value: Tensor) -> str:
    """A sentence that counts the NaN and inf, or "" if every value is finite."""
    # float64: some small dtypes have no isnan of their own.
    numbers = value.detach().double()
    if math.isfinite(_largest(numbers)):
        return ""
    nans, infs = int(numbers.isnan().sum()), int(numbers.isinf().sum())
    found = " and ".join(
        f"{count} {kind}" for count, kind in ((nans, "NaN"), (infs, "infinite")) if count
    )
    return f"{name} has {found} among its {value.numel()} values; a right gradient has none."


def _article(word: str) -> str:
    """A word with its indefinite article; "ndarray" is pronounced n-d-array, so it takes "an"."""
    return f"{'an' if word[0].lower() in 'aeiou' or word == 'ndarray' else 'a'} {word}"
