"""Findings: what there is to say of a wrong gradient, the best first."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from grader.answer.own_code import Span
from grader.diagnosis import shown
from grader.diagnosis.edit import SLOPE, Edit, capital, quoted
from grader.diagnosis.factors import Factor
from grader.diagnosis.kinds import Kind
from grader.diagnosis.repair import Repair, Search, undefined
from grader.diagnosis.shown import Explanation, Wrong, seen_on_each, taken
from grader.printable import listed
from grader.program.compare import (
    COARSE,
    FLOAT64_NOISE,
    FLOAT64_TOLERANCE,
    agrees,
    describe_nonfinite,
    describe_shape,
)
from grader.verdict import Check, Verdict, because

CANCELS = re.compile(r"(?<![.\w*])(?<!/ )(?<!\*\* )([A-Za-z_]\w*) / \1\b(?! *(?:[.([]|\*\*))")
"""A tensor divided by itself: nobody means that."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out: `belongs` is for the hint, `piece` of own statement `number` is wrong."""

    kind: Kind
    message: str
    belongs: str = ""
    number: int = 0
    piece: Span | None = None
    tells: tuple[str, ...] = ()


def findings(search: Search, verdict: Verdict) -> Iterator[Found]:
    """What there is to say, the best first."""
    if not search.is_right(FLOAT64_TOLERANCE) and search.is_right_unedited:
        return
    if (unfit := _unfit(search)) is not None:
        is_itself = unfit[0] is not Kind.NAN or _divides_by_zero(search)
        if not (is_itself or _is_right_but_for_nan(search)):  # it follows from another mistake
            yield from of_repairs(search, map(search.find, search.batches()))
        yield Found(*unfit)
    elif missing := undefined(search.item):  # that is the mistake, and no other edit is meant
        yield from _of_names(search, verdict, missing)
    elif not search.is_right(FLOAT64_NOISE):
        yield from _of_wrong_value(search, verdict)
    elif verdict.global_check is Check.RIGHT:  # then it is wrong at the notebook's sizes alone
        yield from _compared(search, verdict)


def _of_names(search: Search, verdict: Verdict, missing: Set[str]) -> Iterator[Found]:
    program = search.references.program
    is_last = program.loss in program.readers(search.item.name[1:])
    if is_last and (arrives := f"d{program.loss}") in missing:
        yield Found(Kind.STATEMENT, f"`{arrives}` is 1, and no name holds it: leave it out.")
    for edit in (one.edit for one in map(search.find, search.batches()) if one):
        is_it = edit.source in missing
        # The exception may have said it already.
        if is_it and because("meant", meant=edit.belongs) not in verdict.reasons:
            yield from of_repairs(search, [Repair(edit)])


def _of_wrong_value(search: Search, verdict: Verdict) -> Iterator[Found]:
    repairs = map(search.find, search.batches())
    # Two batches are thought of before anything that the values show.
    first = [*itertools.islice(of_repairs(search, itertools.islice(repairs, 2)), 1)]
    # A number in a line on the way may be right, and what reads the line lack one.
    tops = (search.statements[one.number].top for one in first if one.kind is Kind.CONSTANT_FACTOR)
    if all(search.item.name in search.answer.written[top] for top in tops):
        yield from first
    yield from (Found(*one) for one in _shown(search))
    yield from first
    yield from of_repairs(search, repairs)
    yield from of_repairs(search, search.near)
    yield from _of_sizes(search)
    yield from (Found(*one) for one in _of_arrivals(search, verdict))
    if search.values and search.coarse:
        cases = zip(search.values, search.targets[0], search.references.hidden, strict=False)
        wrong = [Wrong(search.item.name, *one) for one in cases]
        yield from (Found(*one) for one in seen_on_each(shown.unfilled, wrong))
    if search.item.name == verdict.name:
        yield from _compared(search, verdict)
    else:
        message = f"`{search.item.name}` is not the gradient of `{search.item.name[1:]}`."
        yield Found(Kind.WRONG_UPSTREAM, message)


def _of_sizes(search: Search) -> Iterator[Found]:
    """What is wrong where sizes written as numbers are, too."""
    if (further := search.with_sizes) is None:
        return
    for found in of_repairs(further, map(further.find, further.batches())):
        message = f"{found.message} A size written as a number is wrong as well."
        if found.kind is Kind.HARD_CODED_SIZE:
            message = _written_out(search.item.name, further.reading.items())
        yield replace(found, message=message)


def _of_arrivals(search: Search, verdict: Verdict) -> Iterator[Explanation]:
    """What arrives and is not used, where no edit is right."""
    outside, names = search.references.program.arriving, search.names
    due = [one for one in search.scope["ARRIVING"] or outside if search.counts(one)]
    unused = [one for one in due if one not in names]
    is_due = listed(f"`{one}`" for one in unused)
    # The value of a step that reads nothing else may stand there for its slope.
    no_gradients = {*outside, *(f"d{step}" for step in search.scope["ALONE"])}
    has_tensor = any(name[1:] in names for name in unused if name not in no_gradients)
    kind = Kind.MISSING_D if has_tensor else Kind.WRONG_UPSTREAM
    # An input's gradient is a sum over examples, which a fused formula may have.
    inputs = () if names.isdisjoint(search.scope["FORWARD"]) else search.references.program.inputs
    read = names.difference(*(search.answer.written[own.top] for own in search.statements))
    upstreams = [one for one in search.scope["UPSTREAM"] if one in read and one[1:] not in inputs]
    others = [*filter(search.is_apart, upstreams)]
    if others and unused and unused == due:
        which = listed(f"`{one}`" for one in others)
        belongs = "belongs" if len(others) == 1 else "belong"
        yield kind, f"{which} {belongs} to another tensor; what arrives here is {is_due}."
    # A formula of its own may need none of what arrives in steps, or make a branch from another.
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
        is_branch = len(unused) < len(due) and {*upstreams} <= {*due}
        kind = Kind.MISSING_BRANCH if is_branch else kind
        yield kind, f"What arrives is not used: {is_due}."


def of_repairs(search: Search, repairs: Iterable[Repair | None]) -> Iterator[Found]:
    """What is wrong by each repair, but for those that nobody can have meant."""
    for repair in repairs:
        if repair is None or (_has_right_size(repair) and _adds_names(repair.edit)):
            continue
        edit = repair.edit
        if CANCELS.search(edit.text) and not CANCELS.search(edit.own.text):
            continue
        if edit.kind is Kind.HARD_CODED_SIZE and search.item.lecture.is_placeholder:
            continue  # it would be right at the notebook's sizes
        kind, message = _with_factor(search, repair)
        message += _or_else(repair, kind)
        # A sum that is copied again leaves the shape as it should be.
        fits = [v.shape == t.shape for v, t in zip(search.values, search.targets[0], strict=False)]
        kind = Kind.OPERATOR if kind is Kind.WRONG_SHAPE and any(fits) else kind
        yield Found(kind, message, edit.belongs, search.statements.index(edit.own), edit.piece)


def _has_right_size(repair: Repair) -> bool:
    """True if the value is off by the very size that the edit says is wrong: the size is right."""
    factor, source = repair.factor, repair.edit.source
    return factor is not None and factor.sizes in (source, f"1/{source}")


def _adds_names(edit: Edit) -> bool:
    """True if a name stands more often in the new text than in the student's."""
    new, own = (Counter(re.findall(r"[A-Za-z_]\w*", text)) for text in (edit.text, edit.own.text))
    return not new <= own


def _with_factor(search: Search, repair: Repair) -> Explanation:
    """An edit's kind and sentence, with what its factor tells."""
    edit, factor, message = repair.edit, repair.factor, repair.edit.message
    if factor is not None and _has_right_size(repair):
        all_of = f"`{edit.source}` belongs to all of `{search.item.name}`"
        message = f"{all_of}, and stands at a part of it only."
        factor = None if factor.text == factor.sizes else Factor(factor.number)
    if edit.doubled:
        given = (each for each in _given_numbers(search) if edit.source == f"{each[1]:g}")
        if (number := next(given, None)) is not None:
            return _only_here(*number)
    if factor is None:
        return edit.kind, message
    if edit.doubled:
        return taken(capital(quoted(edit.source)), factor, search.exercise.sizes)
    return edit.kind, message + _wrong_as_well(search, edit, factor)


def _wrong_as_well(search: Search, edit: Edit, factor: Factor) -> str:
    """What is said of the factor that an edit leaves."""
    # Whether the minus of a slope is there already, its value does not tell.
    if factor.text == "-1" and SLOPE.partition("{")[0] in edit.text:
        return ""
    # A size that stands in another place, too, is wrong there: that is the factor.
    if edit.source in search.exercise.sizes and re.search(rf"\b{edit.source}\b", edit.text):
        return ""
    what = "The sign" if factor.text == "-1" else "A constant factor"
    what = "A size written as a number" if factor.written_out(search.exercise.sizes) else what
    return f" {what} is wrong as well."


def _or_else(repair: Repair, kind: Kind) -> str:
    """What is said of another edit that is as likely."""
    rival = repair.rival
    # Where in a sum or in a product it is missing, makes no difference.
    is_beside = kind in (Kind.MISSING_BRANCH, Kind.MISSING_FACTOR)
    if rival is None or is_beside or rival.message in (repair.edit.message, ""):
        return ""
    return f" Or else: {rival.message}"


def _shown(search: Search) -> Iterator[Explanation]:
    """What the values show, whatever they were made by."""
    name, values, hidden = search.item.name, search.values, search.references.hidden
    if not (values and search.coarse):
        return
    if search.fits and not any(bool(value.any()) or not value.numel() for value in values):
        yield Kind.MISSING_BRANCH, f"`{name}` is zero: nothing that arrives is handed on."
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


def _compared(search: Search, verdict: Verdict) -> Iterator[Found]:
    """What the lecture's batch shows where nothing else does."""
    comparison, name = verdict.comparison, search.item.name
    shape, expected = comparison.shape, comparison.expected_shape
    if comparison.approximate and verdict.global_check is not Check.RIGHT:
        yield from _right_here_only(search)
    elif shape is not None and expected is not None and shape != expected:
        kind = Kind.TRANSPOSED if len(shape) == 2 and shape == expected[::-1] else Kind.WRONG_SHAPE
        yield Found(kind, describe_shape(f"`{name}`", shape, expected), tells=("shape",))


def _right_here_only(search: Search) -> Iterator[Found]:
    """What is written into the lines that holds for the notebook's batch alone."""
    name = search.item.name
    nodes = [(node, own) for own in search.statements for node in ast.walk(own.top)]
    numbers = {node.value: (node, own) for node, own in nodes if isinstance(node, ast.Constant)}
    sizes = [(length, size) for size, length in search.exercise.sizes.items() if length > 2]
    pairs = itertools.combinations(sizes, 2)
    products = [(m * n, f"{one} * {other}") for (m, one), (n, other) in pairs]
    sizes += [(length - 1, f"{size} - 1") for length, size in sizes if length > 3] + products
    if written := [(length, size) for length, size in sizes if length in numbers]:
        yield Found(Kind.HARD_CODED_SIZE, _written_out(name, written))
    for step, value in _given_numbers(search):
        for node, own in (numbers[one] for one in (value, 1 - value) if one in numbers):
            place = search.statements.index(own), own.span(node)
            yield Found(*_only_here(step, value), "", *place)
    message = f"`{name}` is right on one batch and wrong on others."
    yield Found(Kind.ONLY_THIS_BATCH, message)


def _written_out(name: str, numbers: Iterable[tuple[object, str]]) -> str:
    """What is said of a gradient by its name, and of numbers with the sizes that they are."""
    written = ", ".join(f"{number} ({size})" for number, size in numbers)
    return f"`{name}` is right at the notebook's sizes only: it has {written} written out."


def _given_numbers(search: Search) -> list[tuple[str, float]]:
    """The numbers of the forward pass that are no sizes, as the notebook has them."""
    values = search.references.lecture.values.items()
    return [(step, value) for step, value in values if isinstance(value, float)]


def _only_here(step: str, value: float) -> Explanation:
    where = f"`{step}` is {value:g} in the notebook only"
    return Kind.ONLY_THIS_BATCH, f"{where}, and stands here as a number."


def _divides_by_zero(search: Search) -> bool:
    """True if a line divides by 0, or by 0 times something, as it is written."""
    for node in (node for own in search.statements for node in ast.walk(own.top)):
        match node:
            case (
                ast.BinOp(op=ast.Div(), right=divisor)
                | ast.AugAssign(op=ast.Div(), value=divisor)
                | ast.Call(
                    func=ast.Attribute(attr="div" | "div_" | "divide" | "true_divide"),
                    args=[*_, divisor],
                )
            ) if _is_zero(divisor):
                return True
    return False


def _is_zero(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _is_zero(left) or _is_zero(right)
    return isinstance(node, ast.Constant) and node.value == 0


def _is_right_but_for_nan(search: Search) -> bool:
    """True if nothing is wrong with a gradient but its NaN, which no `empty` has left there."""
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
    """What is no floating-point number: NaN, infinity, another dtype."""
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
        # Where a line raised, what an `empty` had not been given yet is NaN.
        if value.raised is None and describe_nonfinite(gradient, tensor):
            numbers = tensor.double()
            which = "NaN" if numbers.isnan().any() else "infinite numbers"
            share = "some" if numbers.isfinite().any() else "nothing but"
            return Kind.NAN, f"`{gradient}` has {share} {which} in it."
    return None
