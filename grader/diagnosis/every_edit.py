"""Every edit of a gradient's statements: by the table of mistakes, letters, lines."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from grader.answer.own_code import OwnStatement, unread
from grader.answer.parse import Answer
from grader.answer.sites import START, STATEMENT, Site, role, sites
from grader.answer.statements import walk_statements
from grader.diagnosis.edit import (
    EXPECTED,
    FIRST,
    LAST,
    LIKELIHOODS,
    SECOND,
    Edit,
    Scope,
    quoted,
)
from grader.diagnosis.expression import Expression
from grader.diagnosis.kinds import Kind

MOST_PAIRS = 600
"""Of edits that are the same in two lines, and of those of a loop and what is inside of it."""

ZERO = re.compile(r"\A(\w+) = (?:0|torch\.zeros)")

EQUATION = re.compile(r"[a-zA-Z, ]+(?:->[a-zA-Z ]*)?")


def every_edit(
    statements: Sequence[OwnStatement], answer: Answer, keep: frozenset[int], scope: Scope
) -> Iterator[list[Edit]]:
    """All edits that change something, each once: for each likelihood those thought of then.

    They are made when they are asked for, since most mistakes are found among the first. The
    `statements` come with the last one first; of equal ones the last is edited.
    """
    latest = {own.text: own for own in reversed(statements)}
    counters = frozenset[str]().union(*(own.counters for own in statements))
    expressions = list[Expression]()
    ready = [*_spoiling(statements, answer, scope), *_lines(statements, scope)]
    effects = [answer.shown[answer.statements[number]] for number in keep]
    for name in sorted(unread(scope.gradient, effects) - counters):
        ready += _renamed(statements, name, scope.gradient)
    for own in (own for own in statements if own is latest[own.text]):
        inside = (inner for inner in walk_statements([own.top]) if answer.number[inner] in keep)
        edited = (Site(own, one, ()) for one in inside if one not in own.ends)
        expressions += [Expression(site, STATEMENT, scope) for site in edited]
        # A template of a gradient that has the right shape has it too.
        skipped = own.templates if scope.fits else frozenset[ast.AST]()
        for site in sites(own, answer, keep):
            if site.node in skipped:
                continue
            is_start = site.is_whole and any(map(own.assigns, counters))
            expressions.append(Expression(site, START if is_start else role(site), scope))
            match site.node:
                case ast.Constant(value=str(equation)) if EQUATION.fullmatch(equation):
                    ready += _letters(site, equation)
    known, alike = set[tuple[int, bool, str]](), dict[tuple[str, str], list[Edit]]()
    for likelihood in range(len(LIKELIHOODS)):
        found = [edit for edit in ready if edit.likelihood == likelihood]
        for edit in (edit for one in expressions for edit in one.edits(likelihood)):
            key = (edit.own.number, edit.doubled, edit.text)
            if edit.text != edit.own.text and key not in known:
                known.add(key)
                found.append(edit)
        for edit in (edit for edit in found if not edit.doubled and not edit.others):
            alike.setdefault((edit.message, edit.put), []).append(edit)
        yield found
    pairs = itertools.chain.from_iterable(map(_in_two_lines, alike.values()))
    yield [*itertools.islice(pairs, MOST_PAIRS)]


def _in_two_lines(edits: Sequence[Edit]) -> Iterator[Edit]:
    """One mistake made in two lines: the same is wrong in both, and the same belongs there."""
    for edit, other in itertools.combinations(edits, 2):
        if edit.own is not other.own:
            message = f"{edit.message} The same goes for another line."
            others = {other.own.number: other.text}
            yield replace(edit, likelihood=LAST, message=message, others=others)


def _put(site: Site, likelihood: int, kind: Kind, new: str, message: str) -> Edit:
    """An edit that puts something in the place of one expression."""
    span = site.own.span(site.node)
    return Edit(likelihood, kind, site.own, span, site.own.put(span, new), message)


def _letters(site: Site, equation: str) -> Iterator[Edit]:
    """An axis more or less, another axis in the result; two axes of a term swapped."""
    equation = equation.replace(" ", "")
    before, _, result = equation.partition("->")
    after = "The letters after the arrow are not the axes that belong there."
    for new in (result[:i] + result[i + 1 :] for i in range(len(result))):
        yield _put(site, EXPECTED, Kind.MISSING_SUM, repr(f"{before}->{new}"), after)
    words = re.finditer("[a-zA-Z]+", equation)
    for word in sorted(words, key=lambda word: word.start() < len(before)):
        start, axes = word.start(), word[0]
        others = sorted({*equation} - {*axes, *",->"})
        kind, message = Kind.WRONG_AXIS, after
        if start < len(before):
            kind = Kind.WRONG_INDEX
            message = f"The letters of `{axes}` are not the axes that belong there."
        for i, letter in itertools.product(range(len(axes)), others):
            new = equation[: start + i] + letter + equation[start + i + 1 :]
            yield _put(site, FIRST, kind, repr(new), message)
        message = f"The axes of `{axes}` stand in the wrong order."
        for i, j in itertools.combinations(range(len(axes)), 2):
            swapped = axes[:i] + axes[j] + axes[i + 1 : j] + axes[i] + axes[j + 1 :]
            new = equation[:start] + swapped + equation[word.end() :]
            yield _put(site, EXPECTED, Kind.TRANSPOSED, repr(new), message)


def _spoiling(statements: Sequence[OwnStatement], answer: Answer, scope: Scope) -> Iterator[Edit]:
    """Last lines that write into the gradient for another one; `statements` are the last first."""
    name, last = scope.gradient, list[OwnStatement]()
    for own, before in pairwise(statements):
        effects = answer.shown[own.top]
        is_bound = name in effects.binds
        if name not in (effects.reads if is_bound else effects.changes):
            return
        last.append(own)
        places = (answer.places[one.number].cell for one in (own, before))
        later = answer.top[answer.top.index(own.top) :]
        handed_on = (ast.unparse(one.value) for one in later if isinstance(one, ast.Assign))
        is_other = any(name in re.split(r" [+-] ", one) for one in handed_on)
        if len({*places}) == 2 or is_other:
            piece, others = (0, len(own.text)), {one.number: "" for one in last[:-1]}
            message = f"`{name}` is right when it is assigned; this line changes it."
            yield Edit(FIRST, Kind.ALIASED, own, piece, "", message, others=others)


def _renamed(statements: Sequence[OwnStatement], lost: str, gradient: str) -> list[Edit]:
    """The gradient's name for one that is written to and that nothing reads, at its first place."""
    name = rf"\b{lost}\b"
    found = [(own, m.span()) for own in statements if (m := re.search(name, own.text))]
    if not found:
        return []
    texts = {own.number: re.sub(name, gradient, own.text) for own, _ in found}
    own, piece = found[0]
    does, to = ("assigns", "") if own.assigns(lost) else ("writes into", "into ")
    message = f"This line {does} `{lost}`, not {to}`{gradient}`."
    about = texts.pop(own.number), message, f"`{gradient}`"
    return [Edit(FIRST, Kind.STATEMENT, own, piece, *about, others=texts)]


def _sums(statements: Sequence[OwnStatement], scope: Scope) -> Iterator[Edit]:
    """What begins as zero in front of a loop, and anew in each round."""
    begun = {m[1]: one for one in statements[::-1] if (m := ZERO.match(one.text.lstrip()))}
    for own in statements:
        found = {name: one for name, one in begun.items() if name in own.names - {scope.gradient}}
        top = own.top
        if isinstance(top, ast.For) and top.lineno < top.body[0].lineno and found:
            (start, _), indent = own.span(top.body[0]), " " * top.body[0].col_offset
            begin = "".join(f"{one.text.strip()}\n{indent}" for one in found.values())
            piece, others = (0, own.text.index(":")), {one.number: "" for one in found.values()}
            message = f"In each round {' and '.join(map(quoted, found))} should begin at 0 again."
            text = own.put((start, start), begin)
            yield Edit(FIRST, Kind.STATEMENT, own, piece, text, message, others=others)


def _loops(own: OwnStatement) -> Iterator[Edit]:
    """Loops that run the wrong way; what stands in one and belongs outside; ranges exchanged."""
    for one in own.loops:
        if isinstance(one, ast.For) and "range(" in (rounds := own.source(one.iter)):
            message, other = "This loop runs the wrong way round.", rounds.removeprefix("reversed")
            if other == rounds:
                message = f"{message[:-1]}: the way back begins at the last round."
                other = f"reversed({rounds})"
            piece = own.span(one.iter)
            yield Edit(SECOND, Kind.WRONG_ORDER, own, piece, own.put(piece, other), message)
    pairs = ((outer, loop) for outer in own.loops for loop in ast.walk(outer))
    for outer, loop in pairs:
        if not isinstance(outer, ast.For) or not isinstance(loop, ast.For):
            continue
        message = "This line stands inside of the loop."
        # Its last line belongs behind the loop then, or the one around it, its first line before.
        for line, order in ((loop.body[-1], -1), (loop.body[0], 1)) if loop.body[1:] else ():
            (start, end), indent = own.span(outer), "\n" + " " * outer.col_offset
            moved, (first, last) = ast.unparse(line).replace("\n", indent), own.span(line)
            rest = f"{own.text[start:first]}pass{own.text[last:end]}"
            text = own.put((start, end), indent.join([moved, rest][::order]))
            yield Edit(SECOND, Kind.STATEMENT, own, (first, last), text, message)
        if outer is not loop:
            start, end = piece = own.span(outer.iter)
            text = own.put(own.span(loop.iter), own.source(outer.iter))
            text = text[:start] + own.source(loop.iter) + text[end:]
            message = "The ranges of these two loops stand in each other's place."
            yield Edit(SECOND, Kind.WRONG_INDEX, own, piece, text, message)


def _lines(statements: Sequence[OwnStatement], scope: Scope) -> Iterator[Edit]:
    """Lines that ran again, too late, or at the wrong side of a loop; the last one comes first."""
    once = {own.text: own for own in statements}
    again = [own for own in statements if own is not once[own.text]]
    if again:
        message, top = "This line ran more than once, and counts each time.", again[0].top
        if isinstance(top, ast.AugAssign) and isinstance(top.op, ast.Add):
            message = f"The term {quoted(again[0].source(top.value))} is added twice."
        piece, others = (0, len(again[0].text)), {own.number: "" for own in again[1:]}
        yield Edit(FIRST, Kind.STATEMENT, again[0], piece, "", message, others=others)
    yield from _sums(statements, scope)
    yield from itertools.islice(itertools.chain.from_iterable(map(_loops, statements)), MOST_PAIRS)
    gradient = scope.gradient
    if any(gradient in own.names for own in statements[1:]) and statements[0].assigns(gradient):
        message = f"This line puts another value in the place of a right `{gradient}`."
        piece = (0, len(statements[0].text))
        yield Edit(SECOND, Kind.OVERWRITTEN_BRANCH, statements[0], piece, "", message)
    for own in statements:
        for name in (name for name in scope["FORWARD"] if own.assigns(name)):
            message = f"This line computes `{name}` again, and differently from the forward pass."
            yield Edit(FIRST, Kind.STATEMENT, own, (0, len(own.text)), "", message)
    for own, before in pairwise(statements):
        piece, others = (0, len(own.text)), {before.number: own.text}
        message = "This line and the one before it stand in the wrong order."
        is_given = any(before.assigns(name) for name in (*scope["SIZE"], *scope["SCALAR"]))
        if own.text != before.text and not is_given:
            yield Edit(SECOND, Kind.STATEMENT, own, piece, before.text, message, others=others)
        if before.counters:
            *_, last = walk_statements([before.top])
            inside = textwrap.indent(own.text.strip(), " " * last.col_offset)
            others = {before.number: f"{before.text}\n{inside}"}
            message = "This line stands outside of the loop."
            yield Edit(SECOND, Kind.STATEMENT, own, piece, "", message, others=others)
