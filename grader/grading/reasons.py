"""The reasons why a gradient is wrong, with the sizes and the batch about which they speak."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import combinations

from torch import Tensor, int64

from grader.program.references import References
from grader.verdict import Comparison, Reason, because

Reasons = tuple[Reason, ...]

WRITTEN_IN = (because("written-in"),)


def why_it_fails(
    comparison: Comparison, references: References, whole: Reasons, local: Reasons
) -> Reasons:
    """Say what can be said about a wrong gradient without knowing the mistake.

    Args:
        comparison: with autograd's gradient at the lecture's sizes.
        references: those of its exercise.
        whole: what is wrong with the value of the whole answer, if this is known.
        local: what is wrong with the value of the gradient's own statements.
    """
    if comparison.approximate:
        return on_other_sizes(whole or WRITTEN_IN, references)
    is_of_shape = comparison.shape is not None and [reason.code for reason in local] == ["shape"]
    if is_of_shape and comparison.shape != comparison.expected_shape:
        # It speaks of the notebook's own sizes.
        return with_drawn_lengths((because("shape", message=comparison.problem),), references)
    # The local reason is about this line, but the whole answer's may be about an earlier one.
    reasons = with_sizes_met(local, references)
    if is_of_shape and reasons == local:
        return (*local, because("shape-of-this-batch"))
    tensor = comparison.name.removeprefix("d")
    return reasons or (because("not-the-gradient", tensor=tensor),)


def on_other_sizes(reasons: Reasons, references: References) -> Reasons:
    """The reasons for a line that works on the lecture's batch only, with the numbers explained."""
    met = _sizes_met(reasons, references)
    only = because("only-on-this-size-of", **met) if met else because("only-on-this-size")
    return (only, *reasons)


def with_sizes_met(reasons: Reasons, references: References) -> Reasons:
    """Explain the sizes of another network, if the reasons mention them."""
    met = _sizes_met(reasons, references)
    return (*reasons, because("sizes", **met)) if met else with_drawn_lengths(reasons, references)


def with_drawn_lengths(reasons: Reasons, references: References) -> Reasons:
    """Mark the reasons that mention a length which another batch would not have.

    The number of rows that a mask leaves depends on the values. The check's batch has the sizes of
    the notebook's, but other values.
    """
    numbers = _numbers(reasons)
    for instance in (references.lecture, *(reference.instance for reference in references.hidden)):
        products = {1, *(length for length, _ in _lengths(instance.sizes))}
        drawn = {
            len(value)
            for value in instance.values.values()
            if isinstance(value, Tensor) and value.dtype == int64 and value.dim() == 1
        }
        if numbers & {rows * each for rows in drawn - products for each in products}:
            return (*reasons, because("drawn-size"))
    return reasons


def _sizes_met(reasons: Reasons, references: References) -> Mapping[str, tuple[str, ...]]:
    """The sizes of a hidden network that the reasons mention, and the notebook's sizes instead."""
    lecture, numbers = references.lecture.sizes, _numbers(reasons)
    for reference in references.hidden:
        sizes = reference.instance.sizes
        if met := {n for length, names in _lengths(sizes) if length in numbers for n in names}:
            there, here = (
                tuple(f"{name} = {some[name]}" for name in sizes if name in met)
                for some in (sizes, lecture)
            )
            return {"there": there, "here": here}
    return {}


def _numbers(reasons: Reasons) -> set[int]:
    said = (str(argument) for reason in reasons for _, argument in reason.arguments)
    return {int(digits) for text in said for digits in re.findall(r"\d+", text)}


def _lengths(sizes: Mapping[str, int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The lengths that an axis may have: a size, or a product of sizes if axes were flattened."""
    for many in (1, 2, 3):
        for names in combinations(sizes, many):
            yield math.prod(sizes[name] for name in names), names
