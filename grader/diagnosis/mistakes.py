"""Mistakes: the table of what people write instead of the right expression."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files

from grader.answer.sites import CALLEE, INDEX, STATEMENT
from grader.answer.torch_words import WORDS
from grader.diagnosis.edit import LIKELIHOODS
from grader.diagnosis.kinds import Kind

TWICE = "twice"
"""Instead of a sentence: take the piece twice, which shows by what it must be multiplied."""

SIGNS: Mapping[object, str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.Pow: "**"},
}
ANY_SIGN: Mapping[object, str] = {ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&"}

METHODS: Mapping[str, Callable[[str], bool]] = {
    "any_": lambda name: name not in WORDS["passes_on"],
    "plain_": lambda name: METHODS["any_"](name) and not name.endswith("_"),
    "zero_": WORDS["zeros"].__contains__,
    "sum_": WORDS["sums"].__contains__,
    "keep_": WORDS["keeps_axes"].__contains__,
    "into_": lambda name: name.startswith(("index_", "scatter")) or name in ("copy", "fill"),
    "lay_": WORDS["lays_out"].__contains__,
    "product_": WORDS["multiplies"].__contains__,
    "half_": WORDS["halves"].__contains__,
    "turn_": WORDS["turns"].__contains__,
    "uncalled_": WORDS["called_without_arguments"].__contains__,
}

EVERYWHERE, AXES = "everywhere", "axes"
"""The place of a name or an axis that a line has more than once; all of them are mended."""

BOUND = "bound"
"""The place at the beginning or the end of a slice."""

TAUGHT = "taught"
"""This word, among the places of a rule, marks a rule that a teacher would expect, even if it is
seldom needed."""

NAMED = "__"
"""What Python reads instead of the `$` before a placeholder's name."""

STANDS_FOR = re.compile(
    rf"\*\$(?P<rest>rest\d?)\b|\.(?P<method>{'|'.join(METHODS)})|\b(?P<name>[A-Z]{{3,}})\b"
    r"|(?P<turned>of|d)?\$(?P<placeholder>\w+)|(?P<sign>[|^&])"
)
"""The tokens of a new text that are replaced."""


@dataclass(frozen=True, eq=False)
class Rule:
    """One way to mend a mistake: the pattern of the wrong expression, and its new text."""

    likelihood: int
    places: frozenset[str]
    kind: Kind
    says: str
    pattern: ast.AST
    new: str

    @property
    def is_taught(self) -> bool:
        """True for a rule that a teacher would expect, even if it is seldom needed."""
        return TAUGHT in self.places

    @cached_property
    def names(self) -> list[str]:
        """The words for the names that are put in one after the other."""
        return [found["name"] for found in STANDS_FOR.finditer(self.new) if found["name"]]

    @cached_property
    def puts_a_name(self) -> bool:
        """True if the new text is a name alone, or a placeholder, a sign and a name."""
        return re.fullmatch(r"(\$\w+ [*/+-] )?[A-Z]{3,}", self.new) is not None

    @cached_property
    def marks(self) -> list[str]:
        """The placeholders and signs of the sentence, of which the first is underlined."""
        words = (word.lower() for word in re.findall(r"\{(\w+)\}", self.says))
        return [word for word in words if word not in ("it", "new", "name", "method")]

    @cached_property
    def tells(self) -> str:
        """What the hint may reveal: "all" of a number that is made of sizes, or a "name"."""
        if re.search(r"\{(new|New|name)\}", self.says):
            return ""
        is_size = isinstance(self.pattern, ast.Name) and self.pattern.id == f"{NAMED}size"
        if is_size or (self.names and not re.search("[a-z(]", self.new)):
            return "all"
        return "name" if re.search(r" [*/+-] (?!SLOPE)[A-Z]{3,}$", self.new) else ""

    def stands(self, places: Set[str]) -> bool:
        """True if the rule holds at one of these places; one without places excludes callees."""
        wanted = self.places - {TAUGHT}
        return not wanted.isdisjoint(places) if wanted else CALLEE not in places

    def may_be(self, sort: type[ast.AST], sign: object) -> bool:
        """True if the pattern may fit nodes of this sort, with this sign or method."""
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
def rules(sort: type, sign: object, places: frozenset[str], likelihood: int) -> list[Rule]:
    """The rules of one likelihood for nodes of a sort at these places, in the order of the table.

    The sign between operands, or the called method, rules out most of the table.
    """
    alike = (one for one in _alike(sort, sign) if one.likelihood == likelihood)
    return [one for one in alike if one.stands(places)]


@lru_cache(maxsize=1_024)
def _alike(sort: type[ast.AST], sign: object) -> list[Rule]:
    return [one for one in table() if one.may_be(sort, sign)]


def sign_of(node: ast.AST) -> object:
    """The sign of an expression, or the name of its method; "" if it has neither."""
    match node:
        case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.AugAssign(op=op):
            return type(op)
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Attribute(attr=name):
            return name
    return ""


@cache
def table() -> list[Rule]:
    """All rules, in the order of the file."""
    text = files(__package__).joinpath("mistakes.toml").read_text(encoding="utf-8")
    return [
        rule
        for kind, sentences in tomllib.loads(text).items()
        for says, entries in sentences.items()
        for entry in entries
        for rule in _read(Kind(kind), says, entry)
    ]


def _read(kind: Kind, says: str, entry: str) -> Iterator[Rule]:
    """Read the rules of "how soon, where: pattern -> new; new; pattern -> new"."""
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
    """Parse a pattern, once for equal patterns, so that each is tried only once at a site."""
    text = text.replace("$", NAMED)
    if is_index:
        match ast.parse(f"_[{text}]").body[0]:
            case ast.Expr(value=ast.Subscript(slice=index)):
                return index
    statement = ast.parse(text).body[0]
    return statement if is_statement else vars(statement)["value"]
