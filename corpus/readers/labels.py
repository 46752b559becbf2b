"""Which mistakes of the closed list truly name a fault that an operator put into an answer.

A label is read from the edit and from the mathematics of the forward program, never from the
numbers and never from the grader. It is of one of two sorts:

- *named*: the fault has a name in the closed list. The first diagnosis is right if its kind is
  one of `kinds`; mostly there is one, and where there are two, both namings are equally true for
  the reason given beside them.
- *nameless*: no kind names what was done, such as another gradient in the place of the right one.
  Silence is right; `kinds` are those that would still be true of it, the reason says why. Anything
  else is a wrong diagnosis.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from corpus.readers.faults import Fault
from corpus.readers.mutation_site import Site
from grader.diagnosis.kinds import Kind

SCALARS = {"smoothing", "share", "classes"}
"""What right answers call numbers that are no sizes."""

MEAN_LOSS = {"dlogprobs", "dlogits", "dz"}
"""The gradients in which the 1/n of the mean loss stands."""

POWERS = {"dcounts_sum", "dbnvar", "dvar", "dbndiff", "dhprebn"}
"""The gradients through a power, whose derivative brings a number down."""


@dataclass(frozen=True, slots=True)
class Label:
    """The kinds that are true of a fault, whether one of them is its name, and why."""

    kinds: frozenset[Kind]
    named: bool = True
    reason: str = ""


def named(*kinds: Kind, reason: str = "") -> Label:
    """A fault with a name; with two of them, a reason."""
    assert len(kinds) == 1 or reason
    return Label(frozenset(kinds), named=True, reason=reason)


def nameless(*kinds: Kind, reason: str = "") -> Label:
    """A fault for which the list has no name; `kinds` would be true of it all the same."""
    assert not kinds or reason
    return Label(frozenset(kinds), named=False, reason=reason)


def label(fault: Fault) -> Label:
    """The label of a fault, by its operator and the place where it stands."""
    found = RULES[fault.kind](fault)
    if any(isinstance(parent, ast.If) for parent in fault.edit.site.parents):
        return nameless(
            *found.kinds,
            Kind.PARTIAL_ROWS,
            Kind.OVERWRITTEN_BRANCH,
            reason="Done in one of two cases: some entries get another number than the others.",
        )
    return found


# --- labels that several rules share

REPLACED = named(Kind.WRONG_NAME)
ANOTHER_NUMBER = named(
    Kind.CONSTANT_FACTOR,
    Kind.POWER_RULE,
    reason="The number that a power's derivative brings down is a constant factor.",
)
MEAN_WRITTEN_OUT = named(
    Kind.SUM_FOR_MEAN,
    Kind.CONSTANT_FACTOR,
    reason="The 1/n of a mean over the batch, which stands in the program as a written factor.",
)
SUM_WRITTEN_OUT = named(
    Kind.MEAN_FOR_SUM,
    Kind.CONSTANT_FACTOR,
    reason="Without the n that multiplies it, a term divided by n is a mean.",
)
LAST_ROW_ONLY = named(
    Kind.NOT_ACCUMULATED,
    Kind.OVERWRITTEN_BRANCH,
    Kind.PARTIAL_ROWS,
    reason="Each round overwrites the sum of the earlier ones: what is left is the last row's.",
)
SCALED = nameless(
    Kind.CONSTANT_FACTOR,
    Kind.SIGN,
    reason="The written number is another one, in a way that nobody would name.",
)
SHORT_OF_A_NUMBER = nameless(
    Kind.CONSTANT_FACTOR,
    Kind.SIGN,
    Kind.MISSING_BRANCH,
    Kind.MISSING_FACTOR,
    reason="The number is another one, for want of a term; as a factor it may be 1, which is none.",
)
OF_THE_BATCH = named(
    Kind.ONLY_THIS_BATCH,
    Kind.WRONG_SHAPE,
    reason="As many rows as this batch's largest index asks for, which may be too few.",
)
ANOTHER_INDEX = nameless(
    Kind.WRONG_INDEX,
    Kind.PARTIAL_ROWS,
    Kind.WRONG_SHAPE,
    reason="Other entries, or another number of them.",
)
NOT_CENTRED = named(
    Kind.MISSING_BRANCH,
    Kind.MISSING_FACTOR,
    Kind.EXTRA_FACTOR,
    reason="A term of the deviation is gone; as a factor, the deviation is another tensor.",
)
NO_SOFTMAX = nameless(
    Kind.WRONG_SHAPE, Kind.MISSING_BRANCH, reason="Without the logits it is a number a row."
)
NO_SLOPE = nameless(
    Kind.WRONG_ACTIVATION_POINT,
    Kind.MISSING_BRANCH,
    reason="It is no slope of tanh at any point; the 1 of the slope is missing.",
)
ZEROED = nameless(
    Kind.CONSTANT_FACTOR,
    Kind.MISSING_BRANCH,
    reason="Zero is a factor, and what is multiplied by it is missing.",
)


# --- what a piece of an answer is


def is_number(node: ast.AST, site: Site) -> bool:
    """True for numbers, sizes and what is made of them; false as soon as a tensor takes part."""
    match node:
        case ast.Constant(int() | float()):
            return True
        case ast.Name(name):
            return name in site.names.sizes or name in SCALARS - site.names.shape_of.keys()
        case ast.Subscript(ast.Attribute(attr="shape")) | ast.Attribute(ast.Name("torch"), "pi"):
            return True
        case ast.Call(func=ast.Name("len")) | ast.Call(func=ast.Attribute(attr="numel")):
            return True
        case ast.UnaryOp(operand=operand):
            return is_number(operand, site)
        case ast.BinOp(left, _, right):
            return is_number(left, site) and is_number(right, site)
    return False


def stands_in(site: Site, *fields: str) -> bool:
    """True inside the exponent of a power, the arguments of a view, an index, a range..."""
    inner: ast.AST = site.node
    for parent in site.parents:
        match parent:
            case ast.BinOp(right=right, op=ast.Pow()) if right is inner and "exponent" in fields:
                return True
            case ast.Call(func=ast.Attribute(attr=name)) if inner is not parent.func and (
                name in fields
            ):
                return True
            case ast.Call(func=ast.Name(name)) if inner is not parent.func and name in fields:
                return True
            case ast.Slice() if "slice" in fields:
                return True
            case ast.Subscript(slice=index) if index is inner and "index" in fields:
                return True
        inner = parent
    return False


VIEWS = ("view", "reshape", "expand", "unflatten", "transpose", "softmax", "log_softmax", "slice")
MAKERS = ("one_hot", "ones", "zeros", "eye", "arange")


def is_deviation(left: ast.expr) -> bool:
    """True for `hprebn - mu`, which is no sum of branches."""
    return ast.unparse(left).partition("[")[0] in {"hprebn", "logits"}


def is_slope_of_tanh(fault: Fault) -> bool:
    return fault.gradient == "dhpreact"


def is_one_row_of_a_sum(site: Site) -> bool:
    """True in a loop over rows, examples or positions that are added up."""
    loops = [p for p in site.parents if isinstance(p, ast.For)]
    target = site.node.target if isinstance(site.node, ast.AugAssign) else None
    if not loops or target is None:
        return False
    counters = {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    used = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    return not counters <= used


# --- one rule for each operator


def number_left_out(
    fault: Fault, number: ast.expr, other: ast.expr, divides: bool = False
) -> Label:
    """A factor, or a divisor, without a tensor in it is missing."""
    text = ast.unparse(number)
    sizes = {n.id for n in ast.walk(number) if isinstance(n, ast.Name)}
    if text.strip("()") in {"-1", "-1.0"}:
        return named(Kind.SIGN)
    if ".mean(" in ast.unparse(other) and text == "n":
        return named(
            Kind.MEAN_FOR_SUM,
            Kind.CONSTANT_FACTOR,
            reason="A mean times n is the sum; without the n the mean stands where it belongs.",
        )
    if text == "n / (n - 1)":
        return named(
            Kind.BESSEL,
            Kind.CONSTANT_FACTOR,
            reason="The factor n/(n - 1) is Bessel's correction.",
        )
    if fault.gradient in MEAN_LOSS:
        if sizes == {"smoothing"} or "vocab_size" in sizes or "shape[1]" in text:
            return named(
                Kind.CONSTANT_FACTOR, Kind.MISSING_FACTOR, reason="The factor missing is a number."
            )
        if isinstance(number, ast.BinOp | ast.UnaryOp):
            return named(
                Kind.SUM_FOR_MEAN,
                Kind.CONSTANT_FACTOR,
                reason="The mean's 1/n is left out together with its sign.",
            )
        return named(Kind.SUM_FOR_MEAN)
    if sizes == {"n"} and "-" not in text:
        return MEAN_WRITTEN_OUT if divides or "/" in text else SUM_WRITTEN_OUT
    if not sizes and fault.gradient in POWERS:
        return ANOTHER_NUMBER
    return named(Kind.CONSTANT_FACTOR)


def factor_dropped(fault: Fault) -> Label:
    site, kept = fault.edit.site, ast.unparse(fault.edit.mutant)
    match site.node:
        case ast.BinOp(left, op, right):
            is_left_gone = ast.unparse(right) == kept or (
                isinstance(op, ast.Div) and ast.unparse(left) != kept
            )
            gone, other = (left, right) if is_left_gone else (right, left)
            divides = isinstance(op, ast.Div) and not is_left_gone
        case ast.Call(func=ast.Attribute(base, method), args=[gone, *_]):
            other, divides = base, method == "div_"
            if method in {"add_", "sub_"}:
                return missing_term(fault)
            if method not in {"mul_", "div_"}:
                return ZEROED
        case _:
            raise AssertionError(fault.key)
    is_index = is_number(site.node, site) and stands_in(site, *VIEWS, *MAKERS, "range")
    if is_index or stands_in(site, "slice"):
        return ANOTHER_INDEX
    if is_number(gone, site):
        return number_left_out(fault, gone, other, divides)
    read = {node.id for node in ast.walk(gone) if isinstance(node, ast.Name)}
    if "ones" in ast.unparse(gone) and read.isdisjoint(site.names.upstreams):
        return nameless(
            Kind.WRONG_SHAPE, reason="Without the ones the result keeps the shape of a row."
        )
    if re.search(r"max\(|winners", ast.unparse(gone)):
        return named(
            Kind.MISSING_FACTOR,
            Kind.MISROUTED_MAX,
            reason="Without the matrix that picks it the maximum is not picked.",
        )
    loops = [loop for parent in site.parents for loop in getattr(parent, "generators", ())]
    # A row of a gradient, as a loop hands it on, is that gradient.
    read |= {ast.unparse(loop.iter) for loop in loops if ast.unparse(loop.target) in read}
    if read & set(site.names.upstreams):
        return named(
            Kind.MISSING_FACTOR,
            Kind.WRONG_UPSTREAM,
            Kind.MISSING_BRANCH,
            Kind.MISSING_D,
            reason="The factor that is missing is the gradient that arrives: it is not used.",
        )
    if ast.unparse(gone) == "sigma" and ast.unparse(other).endswith("deviation"):
        return named(
            Kind.MISSING_FACTOR,
            Kind.WRONG_NAME,
            reason="Over sigma the deviation is xhat; without, it is another tensor.",
        )
    return named(Kind.MISSING_FACTOR)


def missing_term(fault: Fault) -> Label:
    """A term of a sum is gone."""
    site = fault.edit.site
    if stands_in(site, "slice"):
        return ANOTHER_INDEX
    match site.node:
        case ast.BinOp(left, _, right):
            kept_left = ast.unparse(fault.edit.mutant) == ast.unparse(left)
            gone, kept = (right, left) if kept_left else (left, right)
        case _ if is_slope_of_tanh(fault):
            return NO_SLOPE
        case _:
            return named(Kind.MISSING_BRANCH)
    if is_number(site.node, site):
        return SHORT_OF_A_NUMBER
    if ast.unparse(gone) == "1e-05":
        return named(Kind.MISSING_EPS)
    if ast.unparse(kept) == "1e-05":
        return named(Kind.MISSING_FACTOR)
    if is_deviation(left):
        return NOT_CENTRED if ast.unparse(left) != "logits" else NO_SOFTMAX
    if is_slope_of_tanh(fault):
        if kept_left:
            return named(Kind.MISSING_FACTOR)
        return NO_SLOPE
    if fault.gradient == "dhprebn" and ast.unparse(kept) == "dmu / n":
        return named(
            Kind.MISSING_BRANCH,
            Kind.WRONG_SHAPE,
            reason="What is left is the mean's branch, which is one row.",
        )
    return named(Kind.MISSING_BRANCH)


def sign(fault: Fault) -> Label:
    site = fault.edit.site
    if stands_in(site, *VIEWS, "index") and isinstance(site.node, ast.UnaryOp):
        return nameless(Kind.WRONG_SHAPE, reason="The minus belongs to an axis, not to a number.")
    if stands_in(site, "exponent", "pow"):
        return powers(fault) if site.names.gradients == ("dlogits",) else named(Kind.POWER_RULE)
    return named(Kind.SIGN)


def minus_inside_the_power(fault: Fault) -> Label:
    if "0.5" in fault.after:
        return named(Kind.SIGN, Kind.NAN, reason="A negative number has no square root.")
    return named(Kind.SIGN)


def plus_and_minus(fault: Fault) -> Label:
    site = fault.edit.site
    if stands_in(site, "slice"):
        return ANOTHER_INDEX
    match site.node:
        case ast.BinOp(left, _, right):
            if is_number(site.node, site):
                return SCALED
            if ast.unparse(right) == "1e-05":
                return nameless()
            if is_deviation(left):
                return nameless(
                    Kind.SIGN,
                    *REPLACED.kinds,
                    reason="A sign inside the deviation, which makes another tensor of it.",
                )
    return named(Kind.SIGN)


def times_and_divided(fault: Fault) -> Label:
    site = fault.edit.site
    if stands_in(site, *VIEWS, *MAKERS, "range"):
        return ANOTHER_INDEX
    match site.node:
        case ast.BinOp(_, _, right) | ast.Call(args=[right]) if is_number(right, site):
            return named(
                Kind.CONSTANT_FACTOR, Kind.OPERATOR, reason="By the number instead of times it."
            )
    if "h[i] / h[i]" in fault.after:
        return nameless(Kind.OPERATOR, *ZEROED.kinds, reason=ZEROED.reason)
    return named(
        Kind.OPERATOR,
        Kind.BRACKETS,
        Kind.POWER_RULE,
        Kind.NAN,
        reason="Above the line instead of below it: brackets or a minus in an exponent mend it too;"
        " what it divides by may be zero.",
    )


def powers(fault: Fault) -> Label:
    if is_slope_of_tanh(fault):
        return nameless(
            Kind.POWER_RULE,
            Kind.MISSING_FACTOR,
            Kind.EXTRA_FACTOR,
            Kind.WRONG_ACTIVATION_POINT,
            reason="1 - h**2 with another power of h.",
        )
    if fault.edit.site.names.gradients == ("dlogits",):
        return named(
            Kind.POWER_RULE,
            Kind.MISSING_FACTOR,
            Kind.EXTRA_FACTOR,
            reason="The cross-entropy has no power: 1/sum is a factor, once or twice.",
        )
    return named(Kind.POWER_RULE)


def constants(fault: Fault) -> Label:
    site = fault.edit.site
    if stands_in(site, "exponent", "pow"):
        return powers(fault)
    if stands_in(site, "slice", "range"):
        return ANOTHER_INDEX
    match site.parents:
        case (ast.BinOp(left, ast.Sub(), _), *_) if ast.unparse(left) == "n":
            return named(
                Kind.CONSTANT_FACTOR,
                Kind.BESSEL,
                reason="Another number than n - 1 divides the variance.",
            )
    if is_slope_of_tanh(fault):
        return SCALED
    if fault.gradient in POWERS - MEAN_LOSS:
        return ANOTHER_NUMBER
    return named(Kind.CONSTANT_FACTOR)


def one_too_few(fault: Fault) -> Label:
    site = fault.edit.site
    if stands_in(site, "range"):
        return named(Kind.PARTIAL_ROWS)
    if stands_in(site, *VIEWS, *MAKERS, "index"):
        return nameless(
            Kind.WRONG_SHAPE, Kind.WRONG_INDEX, reason="A size of a tensor is one too small."
        )
    return named(
        Kind.CONSTANT_FACTOR,
        Kind.BESSEL,
        reason="One less than the size that divides or multiplies: the correction, misplaced.",
    )


def other_size(fault: Fault) -> Label:
    site = fault.edit.site
    if stands_in(site, *VIEWS, *MAKERS, "index", "range"):
        return nameless(
            Kind.WRONG_SHAPE,
            Kind.WRONG_INDEX,
            Kind.PARTIAL_ROWS,
            reason="A size of a tensor, or of a range, is another one.",
        )
    return named(Kind.CONSTANT_FACTOR)


def keepdim(fault: Fault) -> Label:
    match fault.edit.site.node:
        case ast.Call(func=ast.Attribute(base, "view" | "unsqueeze")) if ast.unparse(base) in {
            "Xb",
            "Yb",
        }:
            return nameless(Kind.WRONG_SHAPE, reason="Indices in another shape.")
        case ast.Call(func=ast.Attribute(_, "view"), args=args) if ast.unparse(args[0]) == "-1":
            return nameless(Kind.WRONG_SHAPE, reason="Rows in another shape.")
        case ast.Call(func=ast.Attribute(ast.Name(), "view")):
            return nameless(Kind.WRONG_SHAPE, reason="A view left out.")
    return named(Kind.LOST_KEEPDIM)


def axis(fault: Fault) -> Label:
    if "max" in ast.unparse(fault.edit.site.node).split("(")[0]:
        return named(
            Kind.WRONG_AXIS, Kind.MISROUTED_MAX, reason="The maximum along the other axis."
        )
    return named(Kind.WRONG_AXIS)


def reduction(kind: Kind) -> Callable[[Fault], Label]:
    """A mean where a sum stood, or the reverse: the kind's name where it is the gradient's own."""

    def rule(fault: Fault) -> Label:
        text = ast.unparse(fault.edit.site.node)
        own = any(d in text for d in fault.edit.site.names.upstreams) or "centred" in text
        if fault.gradient in {"dlogits", "dz"} and not own:
            return named(
                kind,
                Kind.CONSTANT_FACTOR,
                reason="The softmax's own sum became a mean: it is a constant times too large.",
            )
        if kind is Kind.SUM_FOR_MEAN and not own:
            return nameless(kind, *REPLACED.kinds, reason="A statistic of the batch is another.")
        if kind is Kind.SUM_FOR_MEAN:
            return named(
                kind,
                Kind.CONSTANT_FACTOR,
                reason="The sum stands where the answer takes a mean: n times too large.",
            )
        return named(kind)

    return rule


def overwritten(fault: Fault) -> Label:
    site = fault.edit.site
    if "alpha" in fault.before:
        return nameless(
            *MEAN_WRITTEN_OUT.kinds,
            Kind.OVERWRITTEN_BRANCH,
            reason="copy_ has no alpha: two faults in one.",
        )
    if fault.gradient == "dC":
        return named(Kind.NOT_ACCUMULATED)
    if is_one_row_of_a_sum(site):
        return LAST_ROW_ONLY
    return named(Kind.OVERWRITTEN_BRANCH)


def last_write_wins(fault: Fault) -> Label:
    if fault.gradient == "dC":
        return named(Kind.NOT_ACCUMULATED)
    return named(
        Kind.OVERWRITTEN_BRANCH,
        Kind.NOT_ACCUMULATED,
        reason="Nothing occurs twice: where the second branch arrives, the first one is lost.",
    )


def left_out(fault: Fault) -> Label:
    """A statement that changed a gradient is gone."""
    site = fault.edit.site
    match site.node:
        case ast.AugAssign(_, ast.Add() | ast.Sub(), _):
            if is_one_row_of_a_sum(site) or not is_second_contribution(site):
                return ZEROED
            return named(Kind.MISSING_BRANCH)
        case ast.AugAssign(_, ast.Mult() | ast.Div(), value):
            if is_number(value, site):
                return number_left_out(fault, value, value)
            return named(Kind.MISSING_FACTOR)
        case ast.Expr(ast.Call(func=ast.Attribute(base, method), args=args)):
            if isinstance(base, ast.Call):
                return nameless(
                    Kind.MISSING_FACTOR,
                    Kind.CONSTANT_FACTOR,
                    Kind.MISSING_BRANCH,
                    reason="Several steps of one chain are gone, one of which may be named.",
                )
            if method in {"mul_", "div_"}:
                if is_number(args[0], site):
                    return number_left_out(fault, args[0], args[0])
                return named(Kind.MISSING_FACTOR)
            return named(Kind.MISSING_BRANCH) if is_second_contribution(site) else ZEROED
    raise AssertionError(fault.key)


SECOND_CONTRIBUTIONS = {"dcounts", "dlogits", "dz", "dbndiff", "dhprebn"}
"""Gradients of tensors that are used twice, here by an answer that adds them up in place."""


def is_second_contribution(site: Site) -> bool:
    return site.gradient in SECOND_CONTRIBUTIONS


def divided_by_zero(fault: Fault) -> Label:
    site = fault.edit.site
    if is_number(site.node, site):
        return nameless(Kind.NAN, reason="Python itself refuses to divide a number by zero.")
    return ZEROED if is_divisor(site) else named(Kind.NAN)


def is_divisor(site: Site) -> bool:
    """True for the argument of `/=` and of `div_`."""
    match site.parents:
        case (ast.AugAssign(op=ast.Div()), *_) | (ast.Call(func=ast.Attribute(attr="div_")), *_):
            return True
    return False


def times_zero(fault: Fault) -> Label:
    if is_divisor(fault.edit.site):
        return named(Kind.NAN)
    if "** -1" in fault.before and "_inv = " in fault.before:
        return nameless(*ZEROED.kinds, Kind.NAN, reason="A probability of zero, divided by later.")
    return ZEROED


def once_more(fault: Fault) -> Label:
    """A factor that was there is there once more."""
    match fault.edit.site.node:
        case ast.BinOp(left, _, right):
            pass
        case _:
            raise AssertionError(fault.key)
    twice = isinstance(right, ast.Name) and right.id in ast.unparse(left)
    if "bndiff * bndiff" in fault.after:
        return named(
            Kind.EXTRA_FACTOR,
            Kind.MISSING_FACTOR,
            Kind.POWER_RULE,
            reason="bndiff twice is bndiff2 in the place of bndiff, its exponent not lowered.",
        )
    if twice or "/" in fault.before:
        return named(
            Kind.EXTRA_FACTOR,
            Kind.POWER_RULE,
            reason="Once more a factor that stands there as a power is a higher power.",
        )
    return named(Kind.EXTRA_FACTOR)


def replaced(fault: Fault) -> Label:
    for parent in fault.edit.site.parents:
        match parent:
            case ast.BinOp(op=ast.Add(), right=ast.Constant(1e-5)):
                return named(
                    *REPLACED.kinds,
                    Kind.NAN,
                    reason="Another tensor in a power, whose base may be negative then.",
                )
    return REPLACED


def gathered(fault: Fault) -> Label:
    if fault.gradient == "dcounts_sum_inv":
        return named(Kind.ONLY_THIS_BATCH)
    return nameless(
        Kind.MISSING_SUM,
        Kind.PARTIAL_ROWS,
        Kind.ONLY_THIS_BATCH,
        reason="One entry of each row stands where their sum belongs.",
    )


def turned_round(fault: Fault) -> Label:
    match fault.edit.site.node:
        case ast.BinOp(_, _, ast.Subscript()) | ast.BinOp(ast.Subscript(), _, _):
            return named(
                Kind.WRONG_ORDER,
                Kind.TRANSPOSED,
                reason="A vector times a matrix is the transposed matrix times the vector.",
            )
    return named(Kind.WRONG_ORDER)


def transposed(fault: Fault) -> Label:
    letters = fault.edit.mutant
    if isinstance(letters, ast.Constant) and "o" in str(letters.value):
        return nameless(
            Kind.TRANSPOSED,
            Kind.WRONG_AXIS,
            Kind.WRONG_SHAPE,
            reason="An axis of length 1 in the other place: einsum broadcasts it.",
        )
    return named(Kind.TRANSPOSED)


def always(found: Label) -> Callable[[Fault], Label]:
    """The rule of an operator whose faults are all of one sort."""

    def rule(fault: Fault) -> Label:
        del fault
        return found

    return rule


RULES: Mapping[str, Callable[[Fault], Label]] = {
    "axis-added": always(named(Kind.WRONG_SHAPE)),
    "axis-changed": axis,
    "bessel-forgotten": always(named(Kind.BESSEL)),
    "broadcast-forgotten": always(
        nameless(
            Kind.WRONG_SHAPE,
            Kind.WRONG_AXIS,
            Kind.LOST_KEEPDIM,
            reason="An axis that should stay is summed away.",
        )
    ),
    "cast-to-half": always(named(Kind.WRONG_DTYPE)),
    "cast-to-integers": always(named(Kind.WRONG_DTYPE)),
    "classes-of-the-batch": always(OF_THE_BATCH),
    "clone-dropped": always(named(Kind.ALIASED)),
    "constant-changed": constants,
    "contribution-missing": left_out,
    "divided-by-zero": divided_by_zero,
    "eps-changed": always(
        nameless(Kind.MISSING_EPS, reason="The base does not have the program's eps.")
    ),
    "eps-dropped": always(named(Kind.MISSING_EPS)),
    "exponent-kept": always(named(Kind.POWER_RULE)),
    "factor-dropped": factor_dropped,
    "factor-repeated": once_more,
    "first-branch-missing": always(named(Kind.MISSING_BRANCH)),
    "first-position-only": always(
        named(
            Kind.PARTIAL_ROWS,
            Kind.EXTRA_FACTOR,
            reason="As a factor, the mask that leaves one position is one too many.",
        )
    ),
    "first-row-zeroed": always(named(Kind.PARTIAL_ROWS)),
    "flattened": always(named(Kind.WRONG_SHAPE)),
    "forward-for-gradient": always(named(Kind.MISSING_D)),
    "gather-for-sum": gathered,
    "gradient-for-forward": replaced,
    "hard-coded-size": always(named(Kind.HARD_CODED_SIZE)),
    "index-misrouted": always(
        nameless(Kind.PERMUTED, reason="The rows of another order: the values are elsewhere.")
    ),
    "indices-swapped": always(
        named(
            Kind.WRONG_INDEX,
            Kind.TRANSPOSED,
            Kind.PERMUTED,
            reason="Row and column have changed places.",
        )
    ),
    "keepdim-dropped": keepdim,
    "last-write-wins": last_write_wins,
    "loop-starts-late": always(named(Kind.PARTIAL_ROWS)),
    "matmul-for-product": always(
        named(Kind.OPERATOR, Kind.MISSING_SUM, reason="A product that is not added up.")
    ),
    "matmul-turned-round": turned_round,
    "max-at-the-label": always(named(Kind.MISROUTED_MAX)),
    "max-misrouted": always(named(Kind.MISROUTED_MAX)),
    "mean-for-sum": reduction(Kind.MEAN_FOR_SUM),
    "minus-inside-the-power": minus_inside_the_power,
    "number-put-in": always(named(Kind.CONSTANT_FACTOR)),
    "one-too-few": one_too_few,
    "ones-for-zeros": always(nameless(Kind.WRONG_NAME, reason="It starts at one instead of zero.")),
    "operand-transposed": transposed,
    "other-forward": replaced,
    "other-gradient": always(named(Kind.WRONG_UPSTREAM)),
    "other-size": other_size,
    "overwritten": overwritten,
    "plus-minus-swapped": plus_and_minus,
    "power-changed": powers,
    "power-dropped": powers,
    "result-permuted": always(
        named(Kind.PERMUTED, Kind.TRANSPOSED, reason="Transposed, and read in the old shape.")
    ),
    "result-transposed": transposed,
    "rows-of-the-batch": always(OF_THE_BATCH),
    "sign-flipped": sign,
    "softmax-axis": always(named(Kind.WRONG_AXIS)),
    "sum-dropped": always(named(Kind.MISSING_SUM)),
    "sum-for-mean": reduction(Kind.SUM_FOR_MEAN),
    "summed-first": always(named(Kind.WRONG_ORDER)),
    "tanh-slope-of-input": always(named(Kind.WRONG_ACTIVATION_POINT)),
    "tanh-twice": always(named(Kind.WRONG_ACTIVATION_POINT)),
    "term-dropped": missing_term,
    "times-divide-swapped": times_and_divided,
    "times-zero": times_zero,
    "transpose-dropped": always(named(Kind.TRANSPOSED)),
    "view-permuted": always(named(Kind.PERMUTED)),
}
"""How the faults of each operator are named."""
