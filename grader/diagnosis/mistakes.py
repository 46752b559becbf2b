"""Mistakes: the table of what people write instead of what belongs there, tried on a line."""

from __future__ import annotations

import ast
import itertools
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from importlib.resources import files
from typing import Any

from grader.answer.effects import MODULES
from grader.answer.own_code import (
    AXIS,
    CALLEE,
    INDEX,
    REDUCTIONS,
    STATEMENT,
    WHOLE,
    OwnStatement,
    Site,
    Span,
)
from grader.diagnosis.edit import LIKELIHOODS, SLOPE, Edit, Scope, capital, quoted
from grader.diagnosis.kinds import Kind

TWICE = "twice"
"""In the place of a sentence: the piece is taken twice, which shows how often it is to be taken."""

TINY, LARGEST = 1e-2, 1e9
"""A number below the first keeps a division from failing; none of a backward pass is larger."""

SIGNS: Mapping[object, str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.Pow: "**"},
}
ANY_SIGN: Mapping[object, str] = {ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&"}

METHODS: Mapping[str, Callable[[str], bool]] = {
    "any_": lambda name: name not in ("view", "reshape", "clone", "detach"),
    "sum_": lambda name: name in REDUCTIONS,
    "keep_": lambda name: name in REDUCTIONS or name in ("amax", "max", "std", "var", "logsumexp"),
    "into_": lambda name: name.startswith(("index_", "scatter")) or name in ("copy", "fill"),
    "lay_": lambda name: name in ("view", "reshape"),
    "uncalled_": lambda name: name in ("exp", "sum", "mean", "clone", "squeeze", "log", "tanh"),
}

EVERYWHERE, AXES = "everywhere", "axes"
"""The place of a name, or an axis, that a line has more than once: all of them are put right."""

OPERANDS = (ast.Name, ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript, ast.Attribute, ast.Compare)

STANDS_FOR = re.compile(
    rf"\*(?P<rest>[pq])\b|\.(?P<method>{'|'.join(METHODS)})|\b(?P<name>[A-Z]{{3,}})\b"
    r"|(?P<letter>(?<!\.)\b[a-z]\b)|(?P<sign>[|^&])"
)
"""What in a new text stands for something else."""


@dataclass(frozen=True, eq=False)
class Rule:
    """One way to put a mistake right: what is there by its pattern, and the new text."""

    likelihood: int
    places: frozenset[str]
    kind: Kind
    says: str
    pattern: ast.AST
    new: str

    @cached_property
    def names(self) -> list[str]:
        """The words for the names that are put in, each of them in its turn."""
        return [found["name"] for found in STANDS_FOR.finditer(self.new) if found["name"]]

    @cached_property
    def marks(self) -> list[str]:
        """The letters and signs that the sentence has: where the first stands is underlined."""
        return [letter.lower() for letter in re.findall(r"\{(\w|[Oo]p)\}", self.says)]

    @cached_property
    def tells(self) -> str:
        """What the hint may say belongs there: "all" of a number made of sizes, or a "name"."""
        if re.search(r"\{(new|New|name)\}", self.says):
            return ""
        is_size = isinstance(self.pattern, ast.Name) and self.pattern.id == "n"
        if is_size or (self.names and not re.search("[a-z(]", self.new)):
            return "all"
        return "name" if re.search(r" [*/+-] (?!SLOPE)[A-Z]{3,}$", self.new) else ""

    def stands(self, places: Set[str]) -> bool:
        """True if it is a rule for one of these places; one that names none is, but for callees."""
        return not self.places.isdisjoint(places) if self.places else CALLEE not in places

    def may_be(self, sort: type[ast.AST], sign: object) -> bool:
        """True if the pattern fits some nodes of this sort, with this sign or method."""
        if isinstance(self.pattern, ast.Name):
            return True
        due = sign_of(self.pattern)
        if due in ANY_SIGN:
            is_so = SIGNS.get(sign, "**") != "**"
        elif due in METHODS:
            is_so = METHODS[str(due)](str(sign))
        else:
            is_so = due in ("", sign)
        return is_so and issubclass(sort, type(self.pattern))


@lru_cache(maxsize=4_096)  # some for each name that students call
def rules(sort: type[ast.AST], sign: object, places: frozenset[str], likelihood: int) -> list[Rule]:
    """The rules of a likelihood for nodes of a sort in such places, in the order of the table.

    Most of the table is told apart by the sign between operands, or the method that is called.
    """
    alike = (one for one in table() if one.likelihood == likelihood and one.stands(places))
    return [one for one in alike if one.may_be(sort, sign)]


def sign_of(node: ast.AST) -> object:
    """The sign of an expression, or the name of its method; "" where there is none."""
    match node:
        case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.AugAssign(op=op):
            return type(op)
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Attribute(attr=name):
            return name
    return ""


@cache
def table() -> list[Rule]:
    """All rules, in the order in which they are written."""
    text = files(__package__).joinpath("mistakes.toml").read_text(encoding="utf-8")
    return [
        rule
        for kind, sentences in tomllib.loads(text).items()
        for says, entries in sentences.items()
        for entry in entries
        for rule in _read(Kind(kind), says, entry)
    ]


def _read(kind: Kind, says: str, entry: str) -> Iterator[Rule]:
    """The rules of "how soon, where: pattern -> new; new; pattern -> new"."""
    start, _, rest = entry.partition(": ")
    soon, *places = start.split(", ")
    pattern = ast.AST()
    for part in rest.split("; "):
        left, arrow, right = part.partition(" -> ")
        if arrow:
            pattern = _pattern(left, INDEX in places, STATEMENT in places)
        new = right if arrow else left
        yield Rule(LIKELIHOODS.index(soon), frozenset(places), kind, says, pattern, new)


@cache
def _pattern(text: str, is_index: bool, is_statement: bool) -> ast.AST:
    """What a pattern is as a tree: one tree for each, so that it is tried once at a site."""
    if is_index:
        match ast.parse(f"_[{text}]").body[0]:
            case ast.Expr(value=ast.Subscript(slice=index)):
                return index
    statement = ast.parse(text).body[0]
    return statement if is_statement else vars(statement)["value"]


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """A rule whose pattern fits at a site.

    `again` is where else the same stands, for a rule that puts all of them right.
    """

    rule: Rule
    fit: _Fit
    again: Sequence[Span]

    def edits(self, kind: Kind) -> Iterator[Edit]:
        """The edits that put it right, one for each name that may be put in.

        `kind` is what the mistake is called at this site.
        """
        rule, fit, own, (start, end) = self.rule, self.fit, self.fit.site.own, self.fit.span
        source, doubled = own.text[start:end], rule.says == TWICE
        piece = next(map(fit.place, rule.marks), fit.span)
        others = () if rule.places.isdisjoint((EVERYWHERE, AXES)) else self.again
        for names in itertools.product(*(_names(word, source, fit.scope) for word in rule.names)):
            new = STANDS_FOR.sub(partial(fit.text, put_in=iter([w for _, w in names])), rule.new)
            new = new.replace(", , ", ", ").replace("(, ", "(").replace(", )", ")")
            if new in (*MODULES, source) or source in (name for name, _ in names):
                continue
            name = names[0][0] if names else ""
            written = new if fit.is_bare or new.isidentifier() else f"({new})"
            text = own.put(fit.span, written, *others)
            said = fit.words | {"new": f"`{name}`", "New": f"`{name}`", "name": name}
            message = "" if doubled else rule.says.format_map(said)
            belongs = {"all": f"`{new}`", "name": f"`{name}`"}.get(rule.tells, "")
            yield Edit(rule.likelihood, kind, own, piece, text, message, belongs, doubled)


@dataclass(frozen=True, eq=False)
class Expression:
    """An expression or a statement, on which the rules of the table are tried.

    `place` is what it is for, by `role`; `scope` has the names that may be put in.
    """

    site: Site
    place: str
    scope: Scope
    _tried: dict[ast.AST, _Fit | None] = field(default_factory=dict)
    _letters: dict[ast.AST, str] = field(default_factory=dict)

    def matches(self, likelihood: int) -> Iterator[Match]:
        """The rules of a likelihood that fit: most mistakes are found before the last are tried."""
        sort: type = type(self.site.node)
        for rule in rules(sort, sign_of(self.site.node), self._places, likelihood):
            if rule.pattern not in self._tried:
                fit = _Fit(self.site, self.scope, self._letters)
                is_so = fit.fits(rule.pattern, self.site.node)
                self._tried[rule.pattern] = fit if is_so else None
            if (known := self._tried[rule.pattern]) is not None:
                yield Match(rule, known, self._again)

    @cached_property
    def _again(self) -> Sequence[Span]:
        return self.site.again(self.place)

    @cached_property
    def _places(self) -> frozenset[str]:
        """The words of the table for where it stands."""
        found = {self.place, WHOLE} if self.site.is_whole else {self.place}
        found |= {AXES if self.place == AXIS else EVERYWHERE} if self._again else set()
        return frozenset(found)


def _names(word: str, source: str, scope: Scope) -> Iterator[tuple[str, str]]:
    """The names that a word stands for where `source` stands, each with how it is written."""
    tensor = scope.gradient[1:]
    match word:
        case "VALUE":
            names = [name for name in scope["FORWARD"] if f"d{name}" == source]
        case "GRADIENT":
            names = [name for name in scope["UPSTREAM"] if name == f"d{source}"]
        case "ALIKE" | "LESS":
            names = [n for n, size in scope.sizes.items() if source == str(size - (word == "LESS"))]
        case "POINT":
            names = [*scope["ALONE"]] if source == tensor else [tensor] * (source in scope["ALONE"])
        case "DIFFERENCE":
            sides = sorted(source.split(" - "))
            names = [one for one in scope[word] if sorted(one.split(" - ")) == sides]
        case _:
            names = [*scope[word]]
    for name in names:
        yield name, SLOPE.format(name) if word in ("ALONE", "SLOPE") else name


@dataclass(frozen=True, eq=False)
class _Fit:
    """What a pattern's letters, methods and signs stand for at one site."""

    site: Site
    scope: Scope
    letters: dict[ast.AST, str]
    bound: dict[str, ast.AST] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)

    def fits(self, pattern: object, node: object) -> bool:
        """True if all of a node is as the pattern says, which is then taken down."""
        match pattern, node:
            case ast.Name(id=letter), ast.AST() if len(letter) == 1:
                return self._stands_for(letter, node)
            case ast.operator(), ast.operator() if type(pattern) in ANY_SIGN:
                sign = SIGNS.get(type(node), "**")
                return sign != "**" and self._take_down(ANY_SIGN[type(pattern)], sign)
            case ast.Attribute(attr=attr), ast.Attribute(attr=name):
                is_in = METHODS[attr](name) if attr in METHODS else attr == name
                is_in = is_in and self._take_down(attr, name)
                return is_in and self.fits(pattern.value, node.value)
            case ast.Call(), ast.Call():
                return self.fits(pattern.func, node.func) and self._arguments_fit(pattern, node)
            case list(), list():
                return len(pattern) == len(node) and all(map(self.fits, pattern, node))
            case ast.AST(), ast.AST():
                fields = (field for field in pattern._fields if field not in ("ctx", "kind"))
                return type(pattern) is type(node) and all(
                    self.fits(getattr(pattern, field), getattr(node, field)) for field in fields
                )
        return pattern == node and isinstance(pattern, bool) is isinstance(node, bool)

    def _stands_for(self, letter: str, node: ast.AST) -> bool:
        if node not in self.letters:
            self.letters[node] = _letters(node, self.site.own, self.scope)
        if letter not in self.letters[node]:
            return False
        same = self.bound.setdefault(letter, node)
        return same is node or ast.dump(same) == ast.dump(node)

    def _take_down(self, key: str, text: str) -> bool:
        return self.written.setdefault(key, text) == text

    def _arguments_fit(self, pattern: ast.Call, node: ast.Call) -> bool:
        due, rest = [*pattern.args], ""
        match due:
            case [*_, ast.Starred(value=ast.Name(id=rest))]:
                due.pop()
        asked = {keyword.arg: keyword.value for keyword in pattern.keywords}
        found = {k.arg: k.value for k in node.keywords if k.arg in asked}
        others = [k for k in node.keywords if k.arg not in asked]
        more = self.site.own.arguments(ast.Call(node.func, node.args[len(due) :], others))
        return (
            asked.keys() == found.keys()
            and self.fits(due, node.args[: len(due)])
            and all(self.fits(value, found[name]) for name, value in asked.items())
            and (self._take_down(rest, more) if rest else not more)
        )

    def text(self, found: re.Match[str], put_in: Iterator[str]) -> str:
        """What stands for one token of a new text."""
        match found.lastgroup:
            case "letter":
                return self.site.own.atom(self.bound[found[0]])
            case "name":
                return next(put_in)
            case "method":
                return f".{self.written[found['method']]}"
            case "rest":
                return self.written[found["rest"]]
        return self.written[found[0]]

    @cached_property
    def span(self) -> Span:
        return self.site.own.span(self.site.node)

    def place(self, mark: str) -> Span:
        """Where a letter's expression stands, or the sign."""
        node, own = self.site.node, self.site.own
        match node:
            case ast.BinOp(left=before, right=after) | ast.AugAssign(target=before, value=after):
                if mark == "op":
                    start = own.text.index(self.sign, own.span(before)[1], own.span(after)[0])
                    return start, start + len(self.sign)
        return own.span(self.bound[mark])

    @cached_property
    def sign(self) -> str:
        """That between the operands."""
        node = self.site.node
        end = "=" if isinstance(node, ast.AugAssign) else ""
        return SIGNS.get(type(getattr(node, "op", None)), "") + end

    @cached_property
    def is_bare(self) -> bool:
        """True if no brackets may be put around what takes the place."""
        node = self.site.node
        is_open = isinstance(node, ast.Tuple) and self.site.own.source(node)[0] != "("
        return is_open or isinstance(node, ast.stmt)

    @cached_property
    def words(self) -> dict[str, str]:
        """What stands for the words of a sentence."""
        node, own = self.site.node, self.site.own
        methods = sorted((k for k in self.written if len(k) > 1), key=lambda k: k not in METHODS)
        method = self.written[methods[0]] if methods else ""
        words = {letter: quoted(own.source(bound)) for letter, bound in self.bound.items()}
        words["it"] = quoted(own.source(node))
        words["op"] = f"`{self.sign}`"
        words["method"] = f"`{method}`"
        return words | {word.capitalize(): capital(text) for word, text in words.items()}


def _letters(node: ast.AST, own: OwnStatement, scope: Scope) -> str:
    """The letters of the table that may stand for a node."""
    if not isinstance(node, ast.expr) or isinstance(node, ast.Starred):
        return ""
    name = node.id if isinstance(node, ast.Name) else ""
    value: Any = getattr(node, "value", None)
    # Truth values are no numbers here, although Python counts with them.
    number = value if type(value) in (int, float) and abs(value) < LARGEST else None
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    calls = any(isinstance(inner, ast.Call) for inner in ast.walk(node))
    no_tensors = {*scope["SIZE"], "math", *(scope["INDEX"] if name else ())}
    no_tensors |= set() if calls else {*MODULES}  # torch.inf
    has_tensors = isinstance(node, OPERANDS) and not names <= no_tensors
    is_of_forward = name[:1] == "d" and name[1:] in scope["FORWARD"]
    is_so = {
        "abcdf": True,
        "k": number is not None,
        "e": number is not None and 0 < abs(number) < TINY,
        "z": number is not None and (number > 4 or number in scope.sizes.values()),
        "s": scope.is_number(node) and not isinstance(value, (str, bytes)),
        "wjv": has_tensors,
        "v": isinstance(node, OPERANDS[1:]),
        "x": has_tensors and isinstance(node, ast.Name | ast.Subscript),
        "y": name,
        "n": name in scope["SIZE"],
        "u": name in scope["BATCH"],
        "i": name in scope["INDEX"],
        "t": name in scope["FORWARD"],
        "r": name in scope["MADE"],
        "g": name in (scope.gradient, *scope["UPSTREAM"]) or is_of_forward,
        "o": name in scope["OWN"],
        "m": name in MODULES,
        "l": isinstance(node, ast.Subscript) or (name and name not in own.counters),
    }
    return "".join(letters for letters, holds in is_so.items() if holds)
