"""Expressions: the parts of a student's line, to which the table of mistakes is applied."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from torch import Tensor

from grader.answer.own_code import OwnStatement, Span, names_in
from grader.answer.sites import AXIS, EXPONENT, INDEX, RANGE, SIZE, WHOLE, Site
from grader.answer.torch_words import MODULES
from grader.diagnosis.edit import SLOPE, Edit, Scope, capital, quoted
from grader.diagnosis.kinds import Kind
from grader.diagnosis.mistakes import (
    ANY_SIGN,
    AXES,
    BOUND,
    EVERYWHERE,
    METHODS,
    NAMED,
    SIGNS,
    STANDS_FOR,
    TWICE,
    Rule,
    rules,
    sign_of,
)

SLOPES = ("ALONE", "NOSIGMOID", "NORELU", "SLOPE")
"""The words of the table for the slopes of steps, which follow the steps' names."""

TINY, LARGEST = 1e-2, 1e9
"""A number below the first only prevents a division by zero, and a backward pass has no number
above the second."""

ANY = frozenset({"this", "that", "other", "another", "called", "target"})
"""The placeholders that any expression can fill."""

KINDS = {
    INDEX: Kind.WRONG_INDEX,
    RANGE: Kind.PARTIAL_ROWS,
    SIZE: Kind.WRONG_SHAPE,
    AXIS: Kind.WRONG_AXIS,
    EXPONENT: Kind.POWER_RULE,
}
"""The kind of any mistake in an index, in a range and so on."""

OF_THEIR_OWN = frozenset(
    {Kind.HARD_CODED_SIZE, Kind.LOST_KEEPDIM, Kind.MISROUTED_MAX, Kind.NOT_ACCUMULATED}
    | {Kind.PERMUTED, Kind.ONLY_THIS_BATCH, Kind.WRONG_SHAPE, Kind.PARTIAL_ROWS, Kind.WRONG_NAME}
)
"""The kinds that stay the same wherever they occur."""

OF_NUMBERS = frozenset(
    {Kind.POWER_RULE, Kind.MISSING_FACTOR, Kind.EXTRA_FACTOR, Kind.MISSING_BRANCH}
    | {Kind.EXTRA_TERM, Kind.MISSING_EPS, Kind.BESSEL}
)
"""The kinds that are not tried in a comparison, because its result cannot show an exponent."""

OPERANDS = (ast.Name, ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript, ast.Attribute, ast.Compare)

COUNTING = frozenset({"range", "len", "enumerate"})
"""Python's own functions that loops use; their names are not tensors."""

SLOT = "\0"
"""A character that does not occur in Python code."""

OF_TENSORS = frozenset(dir(Tensor)) - {"where"}
"""Methods whose tensor is the first argument of the function with the same name in `torch`."""


@dataclass(frozen=True, eq=False)
class Expression:
    """An expression or a statement, to which the rules of the table are applied.

    `place` is its role, as `role` gives it. `scope` has the names that may be put in.
    """

    site: Site
    place: str
    scope: Scope
    _tried: dict[ast.AST, _Fit | None] = field(default_factory=dict)
    _words: dict[ast.AST, frozenset[str]] = field(default_factory=dict)

    def edits(self, likelihood: int) -> Iterator[Edit]:
        """The edits of one likelihood."""
        sort: type = type(self.site.node)
        for rule in rules(sort, sign_of(self.site.node), self._places, likelihood):
            if self._is_compared and rule.kind in OF_NUMBERS:
                continue
            if rule.pattern not in self._tried:
                fit = _Fit(self.site, self.scope, self._words)
                is_so = fit.fits(rule.pattern, self.site.node)
                self._tried[rule.pattern] = fit if is_so else None
            if (known := self._tried[rule.pattern]) is not None:
                yield from self._put_right(rule, known)

    def _put_right(self, rule: Rule, fit: _Fit) -> Iterator[Edit]:
        """The edits of one rule: one for each name that may be put in."""
        own, source, doubled = self.site.own, fit.source, rule.says == TWICE
        kind = rule.kind if rule.kind in OF_THEIR_OWN else self._usual or rule.kind
        piece = next(map(fit.place, rule.marks), fit.span)
        others = () if rule.places.isdisjoint((EVERYWHERE, AXES)) else self._again
        if (
            doubled
            and isinstance(self.site.parent, ast.Attribute)
            and self.site.parent.attr[-1] == "_"
        ):
            return  # what is changed in place is not what would be changed twice
        before, *after = STANDS_FOR.sub(fit.text, rule.new).split(SLOT)
        for names in itertools.product(*(fit.names(word) for word in rule.names)):
            new = before + "".join(w + text for (_, w), text in zip(names, after, strict=True))
            new = new.replace(", , ", ", ").replace("(, ", "(").replace(", )", ")")
            if new in (*MODULES, source) or source in (name for name, _ in names):
                continue
            name = names[0][0] if names else ""
            if rule.puts_a_name and fit.has_shape and not fit.broadcasts_with(name):
                continue
            # A value that is subtracted again where it is read merely cancels.
            if rule.new.endswith(" - NEAR") and name in own.names:
                continue
            written = new if fit.is_bare or new.isidentifier() else f"({new})"
            text = own.put(fit.span, written, *others)
            said = fit.words | {"new": f"`{name}`", "New": f"`{name}`", "name": name}
            message = "" if doubled else rule.says.format_map(said)
            belongs = {"all": f"`{new}`", "name": f"`{name}`"}.get(rule.tells, "")
            edit = Edit(rule.likelihood, kind, own, piece, text, message, belongs, doubled)
            yield replace(edit, rule=rule)

    @cached_property
    def _usual(self) -> Kind | None:
        """The kind of any mistake at this place, if the place decides it."""
        parents = self.site.parents
        powers = (p for p in parents if isinstance(p, ast.BinOp) and isinstance(p.op, ast.Pow))
        power = next(powers, None) if self.place == EXPONENT else None
        is_of_number = power is not None and self.scope.are_numbers(names_in([power.left]))
        return Kind.CONSTANT_FACTOR if is_of_number else KINDS.get(self.place)

    @cached_property
    def _is_compared(self) -> bool:
        return any(isinstance(one, ast.Compare) for one in self.site.parents)

    @cached_property
    def _again(self) -> Sequence[Span]:
        return self.site.again(self.place)

    @cached_property
    def _places(self) -> frozenset[str]:
        """The words that the table uses for its place."""
        site, found = self.site, {self.place}
        found |= {WHOLE} if site.is_whole else set()
        found |= {AXES if self.place == AXIS else EVERYWHERE} if self._again else set()
        found |= {BOUND} if isinstance(site.parent, ast.Slice) else set()
        return frozenset(found)


@dataclass(eq=False)
class _Fit:
    """What a pattern's placeholders, methods and signs match at one site."""

    site: Site
    scope: Scope
    sorts: dict[ast.AST, frozenset[str]]
    bound: dict[str, ast.AST] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)

    def fits(self, pattern: object, node: object) -> bool:
        """Match a node against a pattern, and note what its placeholders match."""
        match pattern, node:
            case ast.Name(id=word), ast.AST() if word.startswith(NAMED):
                return self._stands_for(word.removeprefix(NAMED), node)
            case ast.operator(), ast.operator() if type(pattern) in ANY_SIGN:
                sign = SIGNS.get(type(node), "**")
                return sign != "**" and self._take_down(ANY_SIGN[type(pattern)], sign)
            case ast.Attribute(attr=attr), ast.Attribute(attr=name):
                return self._is_called(attr, name) and self.fits(pattern.value, node.value)
            case (
                ast.Call(func=ast.Attribute(value=value, attr=attr)),
                ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name), args=[of, *_]),
            ) if module in MODULES and name in OF_TENSORS and not _is_module(value):
                is_so = self._is_called(attr, name) and self.fits(value, of)
                return is_so and self._arguments_fit(pattern, node, 1)
            case ast.Call(), ast.Call():
                return self.fits(pattern.func, node.func) and self._arguments_fit(pattern, node)
            case ast.BinOp(op=ast.Add() | ast.Mult()), ast.BinOp():
                return type(pattern.op) is type(node.op) and self._sides_fit(pattern, node)
            case list(), list():
                return len(pattern) == len(node) and all(map(self.fits, pattern, node))
            case ast.AST(), ast.AST():
                fields = (field for field in pattern._fields if field not in ("ctx", "kind"))
                return type(pattern) is type(node) and all(
                    self.fits(getattr(pattern, field), getattr(node, field)) for field in fields
                )
        return pattern == node and isinstance(pattern, bool) is isinstance(node, bool)

    def _stands_for(self, word: str, node: ast.AST) -> bool:
        if node not in self.sorts:
            self.sorts[node] = _placeholders(node, self.site.own, self.scope)
        if word.rstrip("23") not in self.sorts[node]:
            return False
        same = self.bound.setdefault(word, node)
        return same is node or ast.dump(same) == ast.dump(node)

    def _take_down(self, key: str, text: str) -> bool:
        return self.written.setdefault(key, text) == text

    def _is_called(self, due: str, name: str) -> bool:
        is_so = METHODS[due](name) if due in METHODS else due == name
        return is_so and self._take_down(due, name)

    def _sides_fit(self, pattern: ast.BinOp, node: ast.BinOp) -> bool:
        """True if two operands fit in either order, for operators that do not care."""
        before = self.bound.copy(), self.written.copy()
        if self.fits(pattern.left, node.left) and self.fits(pattern.right, node.right):
            return True
        self.bound, self.written = before
        return self.fits(pattern.left, node.right) and self.fits(pattern.right, node.left)

    def _arguments_fit(self, pattern: ast.Call, node: ast.Call, start: int = 0) -> bool:
        """True if the arguments fit from `start` on; a method's tensor may be the first of them.

        `torch.sum(a, 0)` is the same as `a.sum(0)`.
        """
        given, due, rest = node.args[start:], [*pattern.args], ""
        match due:
            case [*_, ast.Starred(value=ast.Name(id=starred))]:
                rest = starred.removeprefix(NAMED)
                due.pop()
        asked = {keyword.arg: keyword.value for keyword in pattern.keywords}
        found = {k.arg: k.value for k in node.keywords if k.arg in asked}
        others = [k for k in node.keywords if k.arg not in asked]
        more = self.site.own.arguments(ast.Call(node.func, given[len(due) :], others))
        return (
            asked.keys() == found.keys()
            and self.fits(due, given[: len(due)])
            and all(self.fits(value, found[name]) for name, value in asked.items())
            and (self._take_down(rest, more) if rest else not more)
        )

    def text(self, found: re.Match[str]) -> str:
        """The text for one token of a rule's new text, with a `SLOT` for a name that is put in."""
        match found.lastgroup:
            case "placeholder":
                text = self.site.own.atom(self.bound[found["placeholder"]])
                turned = {None: text, "d": f"d{text}", "of": text.removeprefix("d")}
                return turned[found["turned"]]
            case "name":
                return SLOT
            case "method":
                return f".{self.written[found['method']]}"
            case "rest":
                return self.written[found["rest"]]
        return self.written[found[0]]

    def names(self, word: str) -> Iterator[tuple[str, str]]:
        """The names for which a word stands at this site, each with its spelling."""
        source, scope = self.source, self.scope
        tensor = scope.gradient[1:]
        match word:
            case "GRADIENT":
                names = [name for name in scope["UPSTREAM"] if name == f"d{source}"]
            case "POINT":
                alone = scope["ALONE"]
                names = [*alone] if source == tensor else [tensor] * (source in alone)
            case "DIFFERENCE":
                sides = sorted(source.split(" - "))
                every = itertools.chain.from_iterable(scope.differences.values())
                names = [one for one in every if sorted(one.split(" - ")) == sides]
                names += scope.differences.get(source, ())
            case "ROUND":
                names = sorted(self.site.own.counters)
            case _:
                names = [*scope[word]]
        for name in names:
            yield name, SLOPE.format(name) if word in SLOPES else name

    def broadcasts_with(self, name: str) -> bool:
        """False for a tensor that cannot be broadcast with the one at this site."""
        shapes = self.scope.shapes.get(name, ()), self.scope.shapes.get(self.source, ())
        pairs = zip(*map(reversed, shapes), strict=False)
        return all(m == n or 1 in (m, n) for m, n in pairs)

    @cached_property
    def has_shape(self) -> bool:
        """True if this takes part, element by element, in a gradient that has the right shape."""
        own, scope = self.site.own, self.scope
        is_its_own = scope.fits and scope.gradient in own.names
        # A sum, a view or an index around it changes its shape.
        around = (isinstance(one, ast.Call | ast.Subscript) for one in self.site.parents)
        return is_its_own and self.site.node not in own.without_factor and not any(around)

    @cached_property
    def span(self) -> Span:
        return self.site.own.span(self.site.node)

    @cached_property
    def source(self) -> str:
        return self.site.own.source(self.site.node)

    def place(self, mark: str) -> Span:
        """The span of a placeholder's expression, or of the sign."""
        node, own = self.site.node, self.site.own
        match node:
            case ast.BinOp(left=before, right=after) | ast.AugAssign(target=before, value=after):
                if mark == "op":
                    start = own.text.index(self.sign, own.span(before)[1], own.span(after)[0])
                    return start, start + len(self.sign)
        return own.span(self.bound[mark])

    @cached_property
    def sign(self) -> str:
        """The sign between the operands."""
        node = self.site.node
        end = "=" if isinstance(node, ast.AugAssign) else ""
        return SIGNS.get(type(getattr(node, "op", None)), "") + end

    @cached_property
    def is_bare(self) -> bool:
        """True if its replacement must not be put in brackets."""
        node = self.site.node
        is_open = isinstance(node, ast.Tuple) and self.site.own.source(node)[0] != "("
        return is_open or isinstance(node, ast.stmt)

    @cached_property
    def words(self) -> dict[str, str]:
        """The values for the words of a sentence."""
        node, own = self.site.node, self.site.own
        methods = (key for key in self.written if key.isidentifier() and key[:4] != "rest")
        method = min(methods, key=lambda key: key not in METHODS, default="")
        words = {word: quoted(own.source(bound)) for word, bound in self.bound.items()}
        words["it"] = quoted(own.source(node))
        words["op"] = f"`{self.sign}`"
        words["method"] = f"`{self.written.get(method, '')}`"
        return words | {word.capitalize(): capital(text) for word, text in words.items()}


def _is_module(pattern: ast.AST) -> bool:
    return isinstance(pattern, ast.Name) and pattern.id in (f"{NAMED}module", *MODULES)


def _placeholders(node: ast.AST, own: OwnStatement, scope: Scope) -> frozenset[str]:
    """The placeholders of the table that a node may fill."""
    if not isinstance(node, ast.expr) or isinstance(node, ast.Starred):
        return frozenset()
    name = node.id if isinstance(node, ast.Name) else ""
    value: Any = getattr(node, "value", None)
    # Booleans are not numbers here, although Python counts with them.
    number = value if type(value) in (int, float) and abs(value) < LARGEST else None
    inside = [inner for inner in ast.walk(node) if inner is node or inner not in own.without_factor]
    names = {inner.id for inner in inside if isinstance(inner, ast.Name)}
    calls = any(isinstance(inner, ast.Call) for inner in inside)
    no_tensors = {*scope["SIZE"], *COUNTING, "math", *own.ranged, *(scope["INDEX"] if name else ())}
    no_tensors |= set() if calls else {*MODULES}  # torch.inf
    is_used = isinstance(node, OPERANDS) and node not in own.without_factor
    has_tensors = is_used and not names <= no_tensors
    is_of_forward = name[:1] == "d" and name[1:] in scope["FORWARD"]
    is_so = {
        "number": number is not None,
        "small": number is not None and 0 < abs(number) < TINY,
        "length": number is not None and (number > 4 or number in scope.sizes.values()),
        "constant": scope.are_numbers(names - {"len"})
        and not (isinstance(value, (str, bytes)) or isinstance(node, ast.Compare)),
        "value": has_tensors,
        "operand": has_tensors or isinstance(node, OPERANDS[1:]),
        "entry": has_tensors and isinstance(node, ast.Name | ast.Subscript),
        "word": name and name not in COUNTING,
        "size": name in scope["SIZE"],
        "batch": name in scope["BATCH"],
        "index": name in scope["INDEX"],
        "tensor": name in scope["FORWARD"],
        "made": name in scope["MADE"],
        "gradient": name in (scope.gradient, *scope["UPSTREAM"]) or is_of_forward,
        "own": name in scope["OWN"] and name not in own.ranged,
        "again": isinstance(node, ast.Subscript) or name in scope.reassigned,
        "module": name in MODULES,
        "rows": isinstance(node, ast.Subscript) or (name and name not in own.counters),
    }
    return ANY | {word for word, holds in is_so.items() if holds}
