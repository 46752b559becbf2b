"""Findings: what there is to say about a wrong gradient, the best first."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from grader.diagnosis import shown
from grader.diagnosis.edit import FIRST, SLOPE, Edit, capital, quoted
from grader.diagnosis.every_edit import taken_out
from grader.diagnosis.factors import Factor
from grader.diagnosis.kinds import Kind
from grader.diagnosis.repair import Search
from grader.diagnosis.shown import Explanation, Wrong, same_numbers, seen_on_each, taken
from grader.printable import listed
from grader.program.compare import (
    COARSE,
    FLOAT64_NOISE,
    FLOAT64_TOLERANCE,
    agrees,
    describe_nonfinite,
    describe_shape,
)
from grader.verdict import Check, Outcome, Verdict

CANCELS = re.compile(r"(?<![.\w*])(?<!/ )(?<!\*\* )([A-Za-z_]\w*) / \1\b(?! *(?:[.([]|\*\*))")
"""A tensor divided by itself, which a student cannot have meant."""

BY_ZERO = re.compile(r"(?:/|/=|\bdiv\w*\(|\bdivide\(|\*)\s*\(?0(?:\.0*)?(?![\d.])")
"""A division by zero, or by something times zero, as it is written."""

RIGHT_NUMBERS = "The numbers are right."
"""The beginning of the sentence about right numbers in another shape."""


def findings(search: Search, verdict: Verdict) -> Iterator[Edit | Explanation]:
    """What there is to say, the best first: edits with their sentences, or what the values show."""
    if verdict.outcome is Outcome.REFUSED:  # no other edit of a line that asks autograd is meant
        edits = [*taken_out(search.statements, search.answer, search.item.name)]
        yield from of_repairs(search, [search.find(edits)])
        return
    if not search.is_right(FLOAT64_TOLERANCE) and search.is_right_unedited:
        return
    if not search.is_right(FLOAT64_TOLERANCE):
        yield from _written_in(search)
    if (unfit := _unfit(search)) is not None:
        by_zero = any(BY_ZERO.search(own.text) for own in search.statements)
        # Otherwise it follows from another mistake.
        if unfit[0] is Kind.NAN and not (by_zero or _is_right_but_for_nan(search)):
            yield from of_repairs(search, map(search.find, search.batches()))
        yield unfit
    elif any(value.raised and value.raised.unbound for value in search.item.local):
        return  # that is the mistake, as the exception says
    elif not search.is_right(FLOAT64_NOISE):
        yield from _of_shape(search, verdict)
        yield from _of_wrong_value(search, verdict)
    elif verdict.global_check is Check.RIGHT:  # then it is wrong at the notebook's sizes alone
        yield from _compared(search, verdict)


def _written_in(search: Search) -> Iterator[Edit]:
    """Sizes that are written as numbers, if nothing else is wrong."""
    further = search.with_sizes
    if further is None or search.item.lecture.is_placeholder or not further.is_right_unedited:
        return
    reading = further.reading
    numbers = listed(map(str, reading))
    names = listed(f"`{name.strip('()')}`" for name in reading.values())
    written, or_else = ("is", " or `.shape`") if len(reading) == 1 else ("are", ", or `.shape`")
    or_else *= any(size in re.findall(r"\w+", names) for size in search.exercise.sizes)
    belongs = names if len(reading) == 1 else ""
    message = f"{numbers} {written} written in. Use {names}{or_else}."
    for own, node in search.nodes:
        if isinstance(node, ast.Constant) and node.value == next(iter(reading)):
            piece = own.span(node)
            text = own.put(piece, next(iter(reading.values())))
            yield Edit(FIRST, Kind.HARD_CODED_SIZE, own, piece, text, message, belongs)
            return


def _of_shape(search: Search, verdict: Verdict) -> Iterator[Explanation]:
    """The right numbers in another shape, also at the notebook's sizes if the line ran there."""
    shape, due = verdict.comparison.shape, verdict.comparison.expected_shape
    if not search.values or shape == due is not None:
        return
    name = search.item.name[1:]
    for rights in search.targets[: search.coarse]:
        pairs = [*zip(search.values, rights, strict=False)]
        if all(v.shape != r.shape and same_numbers(v, r) for v, r in pairs):
            (value, right), *_ = pairs
            is_lost = [*value.shape] == [length for length in right.shape if length != 1]
            kind = Kind.LOST_KEEPDIM if is_lost else Kind.WRONG_SHAPE
            if all(value.dim() == 2 and value.mT.shape == right.shape for value, right in pairs):
                kind = Kind.TRANSPOSED
            known = f"The shape is {shape}, and `{name}` has {due}."
            message = known if shape else f"The shape is not that of `{name}`."
            yield kind, f"{RIGHT_NUMBERS} {message}"
            return


def _of_wrong_value(search: Search, verdict: Verdict) -> Iterator[Edit | Explanation]:
    repairs = map(search.find, search.batches())
    # Two batches of edits are tried before anything that the values show.
    soon = of_repairs(search, itertools.islice(repairs, 2))
    first = [*itertools.islice(soon, 1)]
    # The number in an intermediate line may be right, and the line that reads it may lack one.
    numbers = (edit.own.top for edit in first if edit.kind is Kind.CONSTANT_FACTOR)
    if all(search.item.name in search.answer.written[top] for top in numbers):
        yield from first
    yield from _shown(search)
    yield from itertools.chain(first, soon, of_repairs(search, repairs))
    yield from of_repairs(search, [search.near])
    if (further := search.with_sizes) is not None:
        for edit in of_repairs(further, map(further.find, further.batches())):
            yield replace(
                edit, message=f"{edit.message} A size written as a number is wrong as well."
            )
    if not search.raises:  # else the exception says what is wrong first
        yield from _of_arrivals(search, verdict)
    yield from _compared(search, verdict)


def _of_arrivals(search: Search, verdict: Verdict) -> Iterator[Explanation]:
    """Upstream gradients that are not used, if no edit is right."""
    outside, names = search.references.program.arriving, search.names
    due = [one for one in search.scope["ARRIVING"] or outside if search.counts(one)]
    unused = [one for one in due if one not in names]
    is_due = listed(f"`{one}`" for one in unused)
    # The value of a step that reads nothing else may be there instead of its slope.
    no_gradients = {*outside, *(f"d{step}" for step in search.scope["ALONE"])}
    has_tensor = any(name[1:] in names for name in unused if name not in no_gradients)
    kind = Kind.MISSING_D if has_tensor else Kind.WRONG_UPSTREAM
    # An input's gradient is a sum over examples, and a fused formula may contain that sum.
    inputs = () if names.isdisjoint(search.scope["FORWARD"]) else search.references.program.inputs
    # A fused formula may need no upstream gradient, or make one branch from another.
    used = names & {*search.scope["ARRIVING"]}
    may_be_made = all(search.is_made_from(one, used) for one in unused)
    is_made = may_be_made and any(own.adds_up for own in search.statements)
    is_made |= any(f"d{one}" in names for one in inputs)
    is_left_out = names.isdisjoint(search.scope["UPSTREAM"]) or (bool(used) and not is_made)
    # Zeros of a wrong size, or of one that is written out, are right but for that.
    is_due_zero = search.item.name[1:] in search.references.zero_by_structure
    values = search.values
    is_zero = is_due_zero and bool(values) and not any(bool(value.any()) for value in values)
    is_size = (verdict.comparison.approximate or is_zero) and not search.fits
    if unused and is_left_out and not is_size:
        upstreams = names & {*search.scope["UPSTREAM"]}
        is_branch = len(unused) < len(due) and upstreams <= {*due}
        kind = Kind.MISSING_BRANCH if is_branch else kind
        yield kind, f"The incoming gradient is not used: {is_due}."


def of_repairs(search: Search, batches: Iterable[Sequence[Edit]]) -> Iterator[Edit]:
    """Complete the edits with their sentences, and drop those that a student cannot have meant."""
    for edit in itertools.chain.from_iterable(batches):
        if _has_right_size(edit):
            continue
        if CANCELS.search(edit.text) and not CANCELS.search(edit.own.text):
            continue
        if edit.kind is Kind.OVERWRITTEN_BRANCH and not edit.text and search.raises:
            continue  # the exception says what is wrong with that line
        kind, message = _with_factor(search, edit)
        is_number = edit.kind is Kind.CONSTANT_FACTOR
        is_number |= edit.kind is Kind.EXTRA_FACTOR and _is_number(search, edit.source)
        if message != edit.message and is_number and not edit.doubled:
            continue  # to put one number right and leave another wrong explains nothing
        # A sum that is expanded again has the right shape.
        fits = [v.shape == t.shape for v, t in zip(search.values, search.targets[0], strict=False)]
        kind = Kind.OPERATOR if kind is Kind.WRONG_SHAPE and any(fits) else kind
        yield replace(edit, kind=kind, message=message)


def _has_right_size(edit: Edit) -> bool:
    """True if the value is off by the very size that the edit calls wrong, so that it is right."""
    return edit.factor is not None and edit.factor.sizes in (edit.source, f"1/{edit.source}")


def _is_number(search: Search, piece: str) -> bool:
    """True for a piece of a line that contains no tensor."""
    words, scope = {*re.findall(r"\w+", piece)}, search.scope
    tensors = {
        *scope["FORWARD"],
        *scope["UPSTREAM"],
        *scope["OWN"],
        *scope["INDEX"],
        scope.gradient,
    }
    return bool(words) and words.isdisjoint(tensors)


def _with_factor(search: Search, edit: Edit) -> Explanation:
    """An edit's kind and sentence, with the factor that it leaves."""
    factor = edit.factor
    if factor is None:
        return edit.kind, edit.message
    if edit.doubled:
        return taken(capital(quoted(edit.source)), factor, search.exercise.sizes)
    return edit.kind, edit.message + _wrong_as_well(search, edit, factor)


def _wrong_as_well(search: Search, edit: Edit, factor: Factor) -> str:
    """The sentence about the factor that an edit leaves."""
    # The value of a slope does not tell whether its minus is already there.
    if factor.text == "-1" and SLOPE.partition("{")[0] in edit.text:
        return ""
    # If the size occurs in another place as well, it is wrong there, and this is the factor.
    if edit.source in search.exercise.sizes and re.search(rf"\b{edit.source}\b", edit.text):
        return ""
    what = "The sign" if factor.text == "-1" else "A constant factor"
    what = "A size written as a number" if factor.written_out(search.exercise.sizes) else what
    return f" {what} is wrong as well."


def _shown(search: Search) -> Iterator[Explanation]:
    """What the values show, whatever code made them."""
    name, values, hidden = search.item.name, search.values, search.references.hidden
    if not (values and search.coarse):
        return
    if search.fits and not any(bool(value.any()) or not value.numel() for value in values):
        yield Kind.MISSING_BRANCH, f"`{name}` is zero: no incoming gradient is passed on."
    wrong = [
        [Wrong(name, *one) for one in zip(values, right, hidden, strict=False)]
        for right in search.targets[: search.coarse]
    ]
    for given, one in zip(search.given, wrong, strict=False):
        yield from shown.through_steps(one, given, search.exercise.sizes)
        yield from seen_on_each(shown.other_shape, one)
        yield from seen_on_each(shown.misplaced, one)
    yield from seen_on_each(shown.misrouted, wrong[0])
    replaces = any(name in own.assigned_in_loops for own in search.statements)
    for kind, message in seen_on_each(shown.only_some, wrong[0]):
        yield Kind.OVERWRITTEN_BRANCH if replaces else kind, message


def _compared(search: Search, verdict: Verdict) -> Iterator[Edit | Explanation]:
    """What the lecture's batch shows if nothing else helps."""
    comparison, name = verdict.comparison, search.item.name
    shape, expected = comparison.shape, comparison.expected_shape
    if comparison.approximate and verdict.global_check is not Check.RIGHT:
        yield Kind.ONLY_THIS_BATCH, f"`{name}` is right on one batch and wrong on others."
    elif shape is not None and expected is not None and shape != expected:
        kind = Kind.TRANSPOSED if len(shape) == 2 and shape == expected[::-1] else Kind.WRONG_SHAPE
        yield kind, describe_shape(f"`{name}`", shape, expected)


def _is_right_but_for_nan(search: Search) -> bool:
    """True if a gradient is right except for NaN, and the NaN does not come from an `empty`."""
    if any("empty" in own.text for own in search.statements):
        return False
    values = [value.tensor for value in search.item.local if value.tensor is not None]

    def is_right(value: Tensor, right: Tensor) -> bool:
        if value.shape != right.shape:
            return False
        known = ~value.isnan()
        return bool(known.any()) and agrees(value[known].double(), right[known])

    return any(all(map(is_right, values, right)) for right in search.targets)


def _unfit(search: Search) -> Explanation | None:
    """Values that are not floating-point numbers: NaN, infinity, another dtype."""
    gradient = search.item.name
    for value in search.item.local:
        problem = value.raised.problem if value.raised else None
        if problem is not None and problem.kind == "ZeroDivisionError":
            return Kind.NAN, "This line divides by zero."
        if (tensor := value.tensor) is None:
            continue
        if not tensor.is_floating_point() or tensor.dtype in COARSE:
            whose = torch.as_tensor(search.references.lecture.values[gradient[1:]])
            found, due = (str(one.dtype).removeprefix("torch.") for one in (tensor, whose))
            message = f"`{gradient}` has dtype {found}, and `{gradient[1:]}` has {due}."
            return Kind.WRONG_DTYPE, message
        # After a line that raised, the unfilled part of an `empty` is NaN.
        if value.raised is None and describe_nonfinite(gradient, tensor):
            numbers = tensor.double()
            which = "NaN" if numbers.isnan().any() else "infinite numbers"
            share = "some" if numbers.isfinite().any() else "nothing but"
            return Kind.NAN, f"`{gradient}` has {share} {which} in it."
    return None
