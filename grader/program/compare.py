"""The lecture's `cmp`: a student's gradient beside autograd's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from grader.verdict import Comparison

RELATIVE_TOLERANCE = 1e-5
"""Largest accepted difference of float32 gradients, relative to the largest reference value.

Over 2,000 training steps right gradients differ by at most 1.1e-6; a forgotten eps by 2e-5.
"""

FLOAT64_TOLERANCE = 1e-6
"""Largest accepted difference on a float64 instance, relative to the reference's largest value.

Right answers differ by about 1e-14; the smallest mistake seen, a forgotten eps, by 1e-5.
"""

FLOAT64_NOISE = 1e-10
"""A larger difference on a float64 instance is told, and to blame for what comes of it.

It lies far above the rounding of right answers, and far below a small number put in by mistake.
"""

COARSE = (torch.float16, torch.bfloat16)
"""Dtypes in which a right gradient gives a wrong value."""

FAR_OFF = 1e-3
"""Differences beyond this, relative to the largest value, are not rounding in float32 either."""

ROUNDING_NOISE = 1e-7
"""Differences this small are float32 rounding where the reference may be zero by structure.

Gradients that are zero by structure (a bias before batchnorm, the maximum taken out of the logits)
consist of nothing else: up to 1.8e-8 over 2,000 training steps.
"""

FUNCTIONS = ("builtin_function_or_method", "method", "method_descriptor", "wrapper_descriptor")
"""What Python calls functions that are called like any other."""

ADVICE = {
    "ndarray": " `torch.from_numpy` makes one of it.",
    "tuple": " Is there a comma, at the line's end or in a `return`?",
    "function": " Brackets behind its name call it.",
}
"""What is added where something else than a tensor is there, by its type."""


def cmp(s: str, dt: object, t: Tensor) -> Comparison:
    """Compare your gradient with autograd's and print the lecture's line.

    A second line appears only where something is wrong. `approximate` is true when the largest
    difference is rounding: small beside the largest value of the gradient.

    Args:
        s: the tensor's name, "h", to be printed.
        dt: your gradient of `t`; of a tensor with a single number and no axes, a number will do.
        t: the tensor whose `.grad` is the reference (`t.retain_grad()`, then `loss.backward()`).

    Returns:
        The comparison as a value.

    Source: the lecture's `cmp`, without its trust in broadcasting.
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

    Anything that is not a floating-point tensor of the reference's shape, or has NaN or inf in
    it, is neither exact nor approximate. `subject` is what its problem is said of: the name, by
    default. Unless the gradient `may_be_zero` by structure, all that counts as rounding is relative
    to the largest value of the reference.
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
    """True for a gradient that differs from a float64 reference by no more than rounding.

    `floor` is the least size that the difference is relative to.
    """
    return relative_difference(value, reference, floor) <= tolerance


def relative_difference(value: Tensor, reference: Tensor, floor: float = 0.0) -> float:
    """How far a gradient is from a float64 reference, relative to the largest number there.

    `floor` is the least size that it is relative to. What cannot be compared, or is unordered, is
    infinitely far off.
    """
    if not value.is_floating_point() or value.shape != reference.shape:
        return math.inf
    difference, size = _apart(value.double(), reference), max(floor, _largest(reference))
    if difference == 0:
        return 0.0
    return difference / size if difference < math.inf and size else math.inf


def relative_differences(pairs: Sequence[tuple[Tensor, Tensor, float]]) -> list[float]:
    """That of each value, reference and floor, with a few operations on all numbers."""
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
    """The largest difference; NaN if there is one."""
    return (value - reference).abs_().max().item() if reference.numel() else 0.0


def _largest(tensor: Tensor) -> float:
    return tensor.abs().max().item() if tensor.numel() else 0.0


def nothing_to_compare(
    name: str, value: object, expected_shape: tuple[int, ...] | None, problem: str
) -> Comparison:
    """The comparison where one side is missing."""
    shape = tuple(value.shape) if isinstance(value, Tensor) else None
    return Comparison(name, None, None, None, shape, expected_shape, problem)


def describe_unusable(name: str, value: object, shape: tuple[int, ...]) -> str:
    """A sentence that says why a value cannot be a gradient of the given shape, or nothing.

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
    """A sentence about a gradient that is not a tensor, or a tensor that is like no gradient."""
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
    """A sentence that counts NaN and inf, or nothing where every value is finite."""
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
    """A word with its indefinite article: numpy's is spoken n-d-array."""
    return f"{'an' if word[0].lower() in 'aeiou' or word == 'ndarray' else 'a'} {word}"
