"""One number for another, and the letters of `einsum`."""

from __future__ import annotations

import ast
import itertools
import re

from grader.diagnosis.edits.edit import EXPECTED, FIRST, LIKELY, TINY, Edits, Scope, edit
from grader.diagnosis.edits.roles import AXIS, EXPONENT, INDEX, RANGE, VALUE, role
from grader.diagnosis.kinds import Kind
from grader.diagnosis.own_code import Site

LARGEST = 1e9
"""No number of a backward pass is larger."""

_WORDS = {AXIS: "axis", EXPONENT: "exponent", INDEX: "index"}

EQUATION = re.compile(r"[a-zA-Z, ]+(?:->[a-zA-Z ]*)?")


def renumber(site: Site, scope: Scope) -> Edits:
    """Another number near by, a size for a number, the other truth value, other letters."""
    assert isinstance(site.node, ast.Constant)
    value = site.node.value
    if isinstance(value, bool):
        kind, likelihood = (Kind.WRONG_SHAPE, LIKELY) if value else (Kind.LOST_KEEPDIM, FIRST)
        message = f"With `{value}` here the shape is another than the tensor's."
        if getattr(site.parents[0], "arg", "") == "accumulate":
            kind, message = Kind.NOT_ACCUMULATED, "Without `accumulate` the last one replaces all."
        yield edit(site, likelihood, kind, str(not value), message)
    elif isinstance(value, str) and EQUATION.fullmatch(value):
        yield from _letters(site, value)
    elif isinstance(value, int | float) and abs(value) < LARGEST:
        yield from _another_number(site, scope, value)


def _another_number(site: Site, scope: Scope, value: float) -> Edits:
    used, number = role(site), f"{value:g}"
    message = f"{number} is not the {_WORDS.get(used, 'number')} that belongs here."
    if used == RANGE:
        message = f"With {number} here not every row or position is reached."
    if value > 4 or value in scope.lecture.values():
        for size in scope.lecture:
            said = f"The size {number} is written out here: it is another for other batches."
            for new in (size, f"({size} - 1)"):
                yield edit(site, EXPECTED, Kind.HARD_CODED_SIZE, new, said, f"`{size}`")
    kind = Kind.MISSING_EPS if 0 < abs(value) < TINY else Kind.CONSTANT_FACTOR
    others = [value + 1, value - 1, -value]
    if used not in (AXIS, INDEX, RANGE):
        others += [2 * value, value / 2, *([1 / value] if value else []), 1e-5]
    if used == EXPONENT:
        others += [value + 0.5, value - 0.5, 2, -1, -2, -0.5, -1.5]
    for other in others:
        opposite = other == -value and used == VALUE
        text = repr(int(other) if isinstance(value, int) and other == int(other) else other)
        said = f"{number} has the wrong sign here." if opposite else message
        yield edit(site, EXPECTED, Kind.SIGN if opposite else kind, f"({text})", said)
    if used == VALUE:
        for new in (*scope.lecture, *scope.scalars, *(f"(1 - {one})" for one in scope.scalars)):
            yield edit(site, LIKELY, kind, new, message, f"`{new}`")
    if used == VALUE and value == 1:
        batch = next(iter(scope.lecture))
        yield edit(site, LIKELY, Kind.SUM_FOR_MEAN, f"(1 / {batch})", message)
    for name in scope.own if used == INDEX else ():
        message = f"At {number} this is the same entry every time."
        yield edit(site, EXPECTED, Kind.PARTIAL_ROWS, name, message, f"`{name}`")


def _letters(site: Site, equation: str) -> Edits:
    """An axis more or less, another axis in the result; two axes of a term swapped."""
    before, arrow, result = equation.replace(" ", "").partition("->")
    terms = before.split(",")
    if arrow:
        message = "The letters behind the arrow are not the axes that belong there."
        letters = sorted(set(before) - {",", *result})
        fewer = [result[:i] + result[i + 1 :] for i in range(len(result))]
        other = [result.replace(old, new) for old in result for new in letters]
        for new in other:
            yield edit(site, FIRST, Kind.WRONG_AXIS, repr(f"{before}->{new}"), message)
        for new in fewer:
            yield edit(site, EXPECTED, Kind.MISSING_SUM, repr(f"{before}->{new}"), message)
    for place, term in enumerate((*terms, result) if arrow else terms):
        message = f"The axes of `{term}` do not stand in their order."
        for i, j in itertools.combinations(range(len(term)), 2):
            swapped = [*term]
            swapped[i], swapped[j] = term[j], term[i]
            new_terms = [*terms, result]
            new_terms[place] = "".join(swapped)
            new = ",".join(new_terms[:-1]) + (f"->{new_terms[-1]}" if arrow else "")
            yield edit(site, EXPECTED, Kind.TRANSPOSED, repr(new), message)
