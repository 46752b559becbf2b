"""The same answers as somebody else would write them: other helper names, comments, order."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from corpus.readers.exercise_text import FORWARD, GRADIENTS, INPUTS, Sizes

RESERVED = frozenset(
    {*re.findall(r"\w+", FORWARD), *INPUTS, *GRADIENTS, *Sizes.__slots__, "torch", "F", "math"}
)
"""Names that mean something in every answer."""

HELPERS = (
    *("tmp", "aux", "part", "piece", "inner", "work", "step", "term", "factor", "acc", "buf"),
    *("res", "upstream", "local", "left", "right", "scaled", "summed", "mask", "hot", "grad_of"),
)

REMARKS = (
    "chain rule once more",
    "same shape as the forward value",
    "see the lecture, minute {}",
    "took me {} minutes",
    "the sum undoes the broadcast",
    "checked by hand for {} elements",
    "TODO: tidy up ({})",
    "question {} of the forum helped here",
    "why does this work? asked in lab {}",
    "version {}",
    "shapes first, then signs",
    "local derivative times upstream ({})",
)

PURE_METHODS = frozenset(
    (
        *("sum", "mean", "max", "argmax", "exp", "log", "pow", "sqrt", "square", "tanh", "neg"),
        *("add", "sub", "mul", "div", "matmul", "mm", "outer", "einsum", "index_add", "where"),
        *("zeros", "ones", "zeros_like", "ones_like", "one_hot", "clone", "float", "long", "size"),
        *("view", "reshape", "expand", "expand_as", "repeat", "squeeze", "unsqueeze", "transpose"),
    )
)
"""What an assignment may call and still do nothing but assign."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of an answer: statements, or what stands between them.

    `pure` is the one name that a plain assignment writes, and the names it reads, or None where
    the order may matter; `takes_remark` says that its last line may end in a comment.
    """

    lines: tuple[str, ...]
    is_code: bool
    pure: tuple[str, frozenset[str]] | None = None
    takes_remark: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer taken to pieces: its blocks, and its helper names."""

    blocks: tuple[Block, ...]
    helpers: tuple[str, ...]
    words: frozenset[str]


def rewrite(text: str, chance: random.Random) -> str:
    """The answers with other names for helpers, other comments, and lines in another order.

    What the code computes stays the same to the last bit: only assignments that have nothing to do
    with each other change places, and only names that occur as nothing but variables are changed.
    """
    draft = _draft(text)
    blocks = _reordered(draft.blocks, chance)
    lines = list(_with_remarks(blocks, chance))
    return _renamed("\n".join(lines), draft, chance)


@lru_cache(maxsize=4096)
def _draft(text: str) -> Draft:
    tree = ast.parse(text)
    return Draft(
        blocks=tuple(_blocks(text.splitlines(), tree)),
        helpers=tuple(_helpers(text, tree)),
        words=frozenset(re.findall(r"\w+", text)) | RESERVED,
    )


def _blocks(lines: Sequence[str], tree: ast.Module) -> Iterator[Block]:
    """All lines, in order; statements that share a line share a block."""
    done = 0
    groups: list[list[ast.stmt]] = []
    for statement in tree.body:
        if groups and statement.lineno <= (groups[-1][-1].end_lineno or 0):
            groups[-1].append(statement)
        else:
            groups.append([statement])
    for group in groups:
        first, last = _first_line(group[0]) - 1, group[-1].end_lineno or 0
        yield from (Block((line,), is_code=False) for line in lines[done:first])
        end = len(lines[last - 1].encode()) == (group[-1].end_col_offset or 0)
        simple = isinstance(group[-1], ast.Assign | ast.AugAssign | ast.Expr)
        pure = _pure(group[0]) if len(group) == 1 and end else None
        yield Block(tuple(lines[first:last]), True, pure, takes_remark=end and simple)
        done = last
    yield from (Block((line,), is_code=False) for line in lines[done:])


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _pure(statement: ast.stmt) -> tuple[str, frozenset[str]] | None:
    """What a plain assignment writes and reads, where nothing else can come of it."""
    match statement:
        case ast.Assign(targets=[ast.Name(written)], value=value):
            names = set()
            for node in ast.walk(value):
                match node:
                    case ast.Call(func=ast.Attribute(attr=method), keywords=keywords):
                        if method not in PURE_METHODS or any(k.arg == "out" for k in keywords):
                            return None
                    case ast.Call() | ast.NamedExpr() | ast.Lambda() | ast.ListComp():
                        return None
                    case ast.Name(name):
                        names.add(name)
            return written, frozenset(names)
    return None


def _helpers(text: str, tree: ast.Module) -> Iterator[str]:
    """Names that are variables of the answer alone and stand in no string, call or signature."""
    stored, otherwise = dict[str, None](), set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store()):
                stored[name] = None
            case ast.arg(name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                otherwise.add(name)
            case ast.Global(names) | ast.Nonlocal(names):
                otherwise |= set(names)
            case ast.FunctionDef(name) | ast.ClassDef(name):
                otherwise.add(name)
            case ast.alias(name, renamed):
                otherwise |= {renamed or name}
            case ast.Constant(str(value)):
                otherwise |= set(re.findall(r"\w+", value))
            case ast.JoinedStr():
                otherwise |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            case ast.Call(func=ast.Name("globals" | "locals" | "exec" | "eval" | "vars")):
                return
    comments = {word for c in re.findall(r"#.*", text) for word in re.findall(r"\w+", c)}
    # Whole words of the text are replaced: what also stands elsewhere stays what it is.
    kept = otherwise | comments | RESERVED
    yield from (name for name in stored if name.isascii() and name not in kept)


def _reordered(blocks: Sequence[Block], chance: random.Random) -> list[Block]:
    found = list(blocks)
    for at in range(len(found) - 1):
        one, other = found[at], found[at + 1]
        if _independent(one, other) and chance.random() < 0.5:
            found[at], found[at + 1] = other, one
    return found


def _independent(one: Block, other: Block) -> bool:
    if one.pure is None or other.pure is None:
        return False
    (a, reads_a), (b, reads_b) = one.pure, other.pure
    return a != b and a not in reads_b and b not in reads_a


def _with_remarks(blocks: Sequence[Block], chance: random.Random) -> Iterator[str]:
    for block in blocks:
        if block.is_code and chance.random() < 0.15:
            yield f"# {_remark(chance)}"
        *lines, last = block.lines
        yield from lines
        remarked = block.takes_remark and chance.random() < 0.1
        yield f"{last}  # {_remark(chance)}" if remarked else last
    yield f"# {_remark(chance)}, {chance.randint(1, 10**6)} in all"


def _remark(chance: random.Random) -> str:
    return chance.choice(REMARKS).format(chance.randint(1, 99))


def _renamed(text: str, draft: Draft, chance: random.Random) -> str:
    taken = set(draft.words)
    for helper in draft.helpers:
        if chance.random() < 0.7:
            new = chance.choice(HELPERS)
            while new in taken:
                new = f"{chance.choice(HELPERS)}_{chance.randint(1, 999)}"
            taken.add(new)
            text = re.sub(rf"(?<![\w.]){helper}(?!\w)", new, text)
    return text
