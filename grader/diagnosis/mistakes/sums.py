"""Mistakes in a sum: a term that is missing, overwritten or of the wrong sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.diagnosis.formula.arithmetic import Branch, Number, Sum, add, negative
from grader.diagnosis.formula.node import Formula, walk
from grader.diagnosis.formula.places import OneHot, Overwritten, Route, Scatter
from grader.diagnosis.formula.text import describe
from grader.diagnosis.kinds import Kind
from grader.diagnosis.mistakes.setting import Edit, Setting
from grader.printable import listed

SMALL = 1e-2
"""A written-out term below this is there against a division by zero."""


def sum_edits(node: Sum, setting: Setting) -> Iterator[Edit]:
    """A term that is missing, overwritten or of the wrong sign."""
    d = setting.gradient
    for number, term in enumerate(node.terms):
        around = (*node.terms[:number], *node.terms[number + 1 :])
        if any(isinstance(inner, Scatter | Route | OneHot) for inner, _ in walk(term)):
            what = f"`{describe(term)}`"
            if isinstance(term, Branch):
                what = f"what comes through `{term.through}`"
            yield (
                Kind.OVERWRITTEN_BRANCH,
                Overwritten(add(*around), term),
                f"In `{d}`, {what} replaces what stood at its places instead of being added to it.",
            )
        flipped = Sum((*node.terms[:number], negative(term), *node.terms[number + 1 :]))
        if isinstance(term, Branch):
            others = [other.through for other in around if isinstance(other, Branch)]
            where = _within(term.tensor, d)
            missing = f"`{d}` has {_through(others)}, not the one through `{term.through}`{where}."
            yield Kind.MISSING_BRANCH, add(*around), missing
            sign = f"The part of `{d}` that comes through `{term.through}`{where} has the wrong"
            yield Kind.SIGN, flipped, f"{sign} sign."
        elif setting.is_constant(node):
            kind, sentence = _missing_constant(term, around, setting)
            yield kind, add(*around), sentence
        elif setting.is_constant(term):
            value = setting.environment(term)
            if abs(value) < SMALL:
                sentence = f"`{d}` leaves out the {value:g} of the forward pass."
                yield Kind.MISSING_EPS, add(*around), sentence
                for exponent in range(2, 13):
                    changed = add(*around, Number(10.0**-exponent))
                    sentence = (
                        f"`{d}` adds 1e-{exponent:02d} where the forward pass adds {value:g}."
                    )
                    yield Kind.MISSING_EPS, changed, sentence
            else:
                yield (Kind.MISSING_BRANCH, add(*around), _lacks(d, term))
                yield Kind.SIGN, flipped, _wrong_sign(d, term)
        else:
            # Without its only large term, a sum would be of another shape.
            if setting.shape(add(*around)) in ((), setting.shape(node)):
                yield Kind.MISSING_BRANCH, add(*around), _lacks(d, term)
            yield Kind.SIGN, flipped, _wrong_sign(d, term)
    if len(node.terms) > 2 and not setting.is_constant(node):
        for term in node.terms:
            if isinstance(term, Branch):
                only = f"only the contribution through `{term.through}`{_within(term.tensor, d)}"
            else:
                only = f"only the term `{describe(term)}`"
            yield Kind.MISSING_BRANCH, term, f"Of its {len(node.terms)} terms, `{d}` has {only}."


def _missing_constant(
    term: Formula, around: Sequence[Formula], setting: Setting
) -> tuple[Kind, str]:
    """A term left out of a number such as n - 1."""
    d, rest = setting.gradient, describe(add(*around))
    counted = setting.environment(add(*around))
    if isinstance(term, Number) and abs(term.value) == 1 and isinstance(counted, int):
        whole = describe(add(*around, term))
        return Kind.BESSEL, f"`{d}` counts with {rest} where the forward pass has {whole}."
    return Kind.CONSTANT_FACTOR, f"`{d}` counts with {rest}, without {describe(term)}."


def _within(tensor: str, gradient: str) -> str:
    """Says of a branch that it belongs to another tensor on the way."""
    return "" if gradient == f"d{tensor}" else f" of `{tensor}`"


def _through(readers: Sequence[str]) -> str:
    names = [f"`{name}`" for name in dict.fromkeys(readers)]
    if not names:
        return "something"
    return f"the contribution{'s' if len(names) > 1 else ''} through {listed(names)}"


def _lacks(gradient: str, term: Formula) -> str:
    return f"`{gradient}` lacks the term `{describe(term)}`."


def _wrong_sign(gradient: str, term: Formula) -> str:
    return f"The term `{describe(term)}` of `{gradient}` has the wrong sign."
