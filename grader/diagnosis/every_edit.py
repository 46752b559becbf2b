"""Every edit of a gradient's statements: by the table of mistakes, of letters and of lines."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise

from grader.answer.own_code import OwnStatement
from grader.answer.parse import Answer
from grader.answer.sites import START, STATEMENT, Site, role, sites
from grader.answer.statements import stored_names, walk_statements
from grader.diagnosis.edit import (
    EXPECTED,
    FIRST,
    LIKELIHOODS,
    SECOND,
    Edit,
    Scope,
    quoted,
)
from grader.diagnosis.expression import Expression
from grader.diagnosis.kinds import Kind

MOST_PAIRS = 600
"""The likelihood of edits that move a line out of a loop."""

EQUATION = re.compile(r"[a-zA-Z, ]+(?:->[a-zA-Z ]*)?")


def every_edit(
    statements: Sequence[OwnStatement], answer: Answer, keep: frozenset[int], scope: Scope
) -> Iterator[list[Edit]]:
    """All edits that change something, each once, in batches, the likeliest first.

    The edits are made on demand, since most mistakes are found in the first batches. The
    `statements` come with the last one first, and of equal statements the last is edited.
    """
    latest = {own.text: own for own in reversed(statements)}
    counters = frozenset[str]().union(*(own.counters for own in statements))
    expressions = list[Expression]()
    ready = [*_lines(statements, answer, scope)]
    for own in (own for own in statements if own is latest[own.text]):
        inside = (inner for inner in walk_statements([own.top]) if answer.number[inner] in keep)
        edited = (Site(own, one, ()) for one in inside if one not in own.ends)
        expressions += [Expression(site, STATEMENT, scope) for site in edited]
        # If the gradient has the right shape, so has its template.
        skipped = own.templates if scope.fits else frozenset[ast.AST]()
        for site in sites(own, answer, keep):
            if site.node in skipped:
                continue
            is_start = site.is_whole and any(map(own.assigns, counters))
            expressions.append(Expression(site, START if is_start else role(site), scope))
            match site.node:
                case ast.Constant(value=str(equation)) if EQUATION.fullmatch(equation):
                    ready += _letters(site, equation)
    known = set[tuple[int, bool, str]]()
    for likelihood in range(len(LIKELIHOODS)):
        found = [edit for edit in ready if edit.likelihood == likelihood]
        for edit in (edit for one in expressions for edit in one.edits(likelihood)):
            key = (edit.own.number, edit.doubled, edit.text)
            if edit.text != edit.own.text and key not in known:
                known.add(key)
                found.append(edit)
        yield found


def _put(site: Site, likelihood: int, kind: Kind, new: str, message: str) -> Edit:
    """An edit that replaces one expression."""
    span = site.own.span(site.node)
    return Edit(likelihood, kind, site.own, span, site.own.put(span, new), message)


def _letters(site: Site, equation: str) -> Iterator[Edit]:
    """Edits of an einsum: add, remove or change an axis of the result, swap two axes of a term."""
    equation = equation.replace(" ", "")
    before, _, result = equation.partition("->")
    after = "The letters after the arrow are not the right axes."
    for new in (result[:i] + result[i + 1 :] for i in range(len(result))):
        yield _put(site, EXPECTED, Kind.MISSING_SUM, repr(f"{before}->{new}"), after)
    words = re.finditer("[a-zA-Z]+", equation)
    for word in sorted(words, key=lambda word: word.start() < len(before)):
        start, axes = word.start(), word[0]
        others = sorted({*equation} - {*axes, *",->"})
        kind, message = Kind.WRONG_AXIS, after
        if start < len(before):
            kind = Kind.WRONG_INDEX
            message = f"The letters of `{axes}` are not the right axes."
        for i, letter in itertools.product(range(len(axes)), others):
            new = equation[: start + i] + letter + equation[start + i + 1 :]
            yield _put(site, FIRST, kind, repr(new), message)
        message = f"The axes of `{axes}` are in the wrong order."
        for i, j in itertools.combinations(range(len(axes)), 2):
            swapped = axes[:i] + axes[j] + axes[i + 1 : j] + axes[i] + axes[j + 1 :]
            new = equation[:start] + swapped + equation[word.end() :]
            yield _put(site, EXPECTED, Kind.TRANSPOSED, repr(new), message)


def _loops(own: OwnStatement) -> Iterator[Edit]:
    """Edits that move a line out of a loop."""
    pairs = ((outer, loop) for outer in own.loops for loop in ast.walk(outer))
    for outer, loop in pairs:
        if not isinstance(outer, ast.For) or not isinstance(loop, ast.For):
            continue
        message = "This line stands inside of the loop."
        # Its last line moves behind this loop or the one around it, or its first line before it.
        for line, order in ((loop.body[-1], -1), (loop.body[0], 1)) if loop.body[1:] else ():
            (start, end), indent = own.span(outer), "\n" + " " * outer.col_offset
            moved, (first, last) = ast.unparse(line).replace("\n", indent), own.span(line)
            rest = f"{own.text[start:first]}pass{own.text[last:end]}"
            text = own.put((start, end), indent.join([moved, rest][::order]))
            yield Edit(SECOND, Kind.STATEMENT, own, (first, last), text, message)


def taken_out(statements: Sequence[OwnStatement], answer: Answer, gradient: str) -> Iterator[Edit]:
    """Remove the last line, if it replaces a right value by another.

    A line in another cell, or one whose value another gradient gets, was not meant to do that.
    """
    writing = [own for own in statements if gradient in answer.written[own.top]]
    if len(writing) < 2:
        return
    *_, before, own = sorted(writing, key=lambda own: own.number)
    later = answer.top[answer.top.index(own.top) :]
    values = (ast.unparse(one.value) for one in later if isinstance(one, ast.Assign))
    is_term = any(gradient in re.split(r" [+-] ", value) for value in values)
    if answer.places[own.number].cell != answer.places[before.number].cell or is_term:
        message = f"`{gradient}` is right when it is assigned; this line changes it."
        inside = [one for one in walk_statements([own.top]) if gradient in stored_names(one)]
        piece = own.span(inside[-1]) if inside else (0, len(own.text))
        yield Edit(FIRST, Kind.ALIASED, own, piece, "", message)
    elif own.assigns(gradient):
        message = f"Without this line, `{gradient}` would be right."
        yield Edit(SECOND, Kind.OVERWRITTEN_BRANCH, own, (0, len(own.text)), "", message)


def _lines(statements: Sequence[OwnStatement], answer: Answer, scope: Scope) -> Iterator[Edit]:
    """Edits of lines that run twice, that undo the forward pass, or that are outside their loop."""
    once = {own.text: own for own in statements}
    again = [own for own in statements if own is not once[own.text]]
    if again:
        message, top = "This line ran more than once, and counts each time.", again[0].top
        if isinstance(top, ast.AugAssign) and isinstance(top.op, ast.Add):
            message = f"The term {quoted(again[0].source(top.value))} is added twice."
        piece, others = (0, len(again[0].text)), {own.number: "" for own in again[1:]}
        yield Edit(FIRST, Kind.STATEMENT, again[0], piece, "", message, others=others)
    yield from itertools.islice(itertools.chain.from_iterable(map(_loops, statements)), MOST_PAIRS)
    yield from taken_out(statements, answer, scope.gradient)
    for own in statements:
        for name in (name for name in scope["FORWARD"] if own.assigns(name)):
            message = f"This line computes `{name}` again, and differently from the forward pass."
            yield Edit(FIRST, Kind.STATEMENT, own, (0, len(own.text)), "", message)
    for own, before in pairwise(statements):
        if before.counters:
            *_, last = walk_statements([before.top])
            inside = textwrap.indent(own.text.strip(), " " * last.col_offset)
            piece, others = (0, len(own.text)), {before.number: f"{before.text}\n{inside}"}
            message = "This line stands outside of the loop."
            yield Edit(SECOND, Kind.STATEMENT, own, piece, "", message, others=others)
