"""One-fault variants of right answers, made from the syntax tree."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from corpus.readers.exercise_names import NAMES
from corpus.readers.exercise_text import right_answers
from corpus.readers.flow_mutations import FLOW_MUTATIONS
from corpus.readers.formula_mutations import FORMULA_MUTATIONS
from corpus.readers.mutation_site import Names, Operator, Site
from corpus.readers.places import MISTAKES

# In this order: where two operators make the same text, the first one names the mistake.
OPERATORS: tuple[Operator, ...] = (*FORMULA_MUTATIONS, *FLOW_MUTATIONS)

MUTATED_ANSWERS = ("lecture", "einsum", "in_place", "one_hot", "loops_over_rows")

_INVISIBLE = tomllib.loads((MISTAKES / "invisible.toml").read_text(encoding="utf-8"))
EQUIVALENT: Mapping[str, str] = {
    variant: group["reason"] for group in _INVISIBLE["equivalent"] for variant in group["variants"]
}
"""The variants, by `Fault.key`, that are no mistakes, with the mathematical reason."""
ONLY_LOCAL = frozenset[str](_INVISIBLE["only_local"])
"""The mistakes, by `Fault.key`, that no value of a whole answer shows."""


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """What was done to an answer: in the text, and in its syntax tree.

    Characters `start` to `end` of the right answer became `replacement`; the node of `site`
    became `mutant`.
    """

    start: int
    end: int
    replacement: str
    site: Site
    mutant: ast.expr | ast.stmt


@dataclass(frozen=True, slots=True)
class Fault:
    """A right answer with one mistake in it.

    `gradient` is the one whose statements carry the mistake; where a clone was dropped, it is the
    one that was cloned, for that is the one which later changes without being named. `line` is
    the line of the answer's text, counted from 1; `before` and `after` are the statement.
    """

    gradient: str
    kind: str
    line: int
    source: str
    before: str
    after: str
    edit: Edit = field(compare=False, repr=False)
    answer: str = ""

    @property
    def key(self) -> str:
        """What the tables of invisible faults call it."""
        return " | ".join((self.answer, self.gradient, self.kind, f"{self.before} -> {self.after}"))


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A top-level statement of an answer: what it writes, changes in place and reads.

    `adds` are the changed names to which it adds, as `+=` and `add_` do.
    """

    node: ast.stmt
    writes: frozenset[str]
    changes: frozenset[str]
    adds: frozenset[str]
    reads: frozenset[str]


def one_fault_variants(
    source: str, names: Names = NAMES["ex1"], operators: Sequence[Operator] = OPERATORS
) -> list[Fault]:
    """Every variant of an answer that differs from it in exactly one place, in order of the text.

    A statement that writes one gradient carries that gradient's faults; a statement that writes
    helper names carries those of the one gradient that reads them. Other statements stay whole.
    """
    tree = ast.parse(source)
    found = [_statement(node) for node in tree.body]
    faults: dict[str, Fault] = {}
    for position, gradient in owners(source, names.gradients).items():
        statement = found[position]
        earlier = frozenset[str]().union(*(s.writes for s in found[:position]))
        later = [s for s in found[position + 1 :] if gradient in s.changes]
        built_upon = any(gradient in s.adds or not isinstance(s.node, ast.For) for s in later)
        for node, parents in _descend(statement.node, ()):
            site = Site(node, parents, gradient, names, earlier, bool(later), built_upon)
            for operator in operators:
                for kind, mutant in operator(site):
                    fault = _splice(source, site, kind, mutant)
                    if fault.source != source:
                        faults.setdefault(fault.source, fault)
    return list(faults.values())


def owners(source: str, gradients: Sequence[str] = NAMES["ex1"].gradients) -> dict[int, str]:
    """The gradient that each top-level statement works for, by the statement's position."""
    found = [_statement(node) for node in ast.parse(source).body]
    owner: dict[int, str] = {}
    # Backwards: the reader of a helper name stands after the statement that writes it.
    for position, statement in reversed(list(enumerate(found))):
        own = set(gradients) & (statement.writes | statement.changes)
        if not own:
            later = [p for p in owner if p > position and found[p].reads & statement.writes]
            own = {owner[p] for p in later}
        if len(own) == 1:
            owner[position] = own.pop()
    return dict(sorted(owner.items()))


def variants_of(answer: str) -> list[Fault]:
    """The variants of one of the right answers, the equivalent ones among them."""
    variants = one_fault_variants(right_answers()[answer])
    return [replace(fault, answer=answer) for fault in variants]


@cache
def all_faults() -> tuple[Fault, ...]:
    """All variants of the mutated answers but the equivalent ones."""
    variants = (fault for answer in MUTATED_ANSWERS for fault in variants_of(answer))
    return tuple(fault for fault in variants if fault.key not in EQUIVALENT)


def _statement(node: ast.stmt) -> Statement:
    writes: set[str] = set()
    changes: set[str] = set()
    adds: set[str] = set()
    reads: set[str] = set()
    for child in ast.walk(node):
        match child:
            case ast.Name(name, ast.Store()):
                writes.add(name)
            case ast.Name(name):
                reads.add(name)
            case ast.AugAssign(target):
                adds.add(_root(target))
            case ast.Expr(ast.Call(func=ast.Attribute(attr=method))):
                (changes if method in {"copy_", "scatter_"} else adds).add(_root(child))
            case ast.Subscript(ctx=ast.Store()):
                changes.add(_root(child))
    changes = (changes | adds) - {""}
    return Statement(node, *map(frozenset, (writes, changes, adds, reads)))


def _root(node: ast.AST) -> str:
    """The name that a store into a subscript, or a chain of in-place methods, changes."""
    match node:
        case ast.Name(name):
            return name
        case ast.Expr(value) | ast.Subscript(value):
            return _root(value)
        case ast.Call(func=ast.Attribute(value, method)) if method.endswith("_"):
            return _root(value)
    return ""


def _descend(
    node: ast.AST, parents: tuple[ast.AST, ...]
) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    if isinstance(node, ast.expr | ast.stmt):
        yield node, parents
    for child in ast.iter_child_nodes(node):
        yield from _descend(child, (node, *parents))


def _splice(source: str, site: Site, kind: str, mutant: ast.expr | ast.stmt) -> Fault:
    """The answer with the site's text replaced, in brackets where the syntax tree needs them."""
    top = site.parents[-1] if site.parents else site.node
    first, last = _span(source, top)
    start, end = _span(source, site.node)
    text = ast.unparse(ast.fix_missing_locations(mutant))
    wanted = _dump_with(site, mutant)
    for replacement in (text, f"({text})"):
        statement = source[first:start] + replacement + source[end:last]
        if ast.dump(ast.parse(statement).body[0]) == wanted:
            break
    else:
        raise AssertionError(f"{source[first:last]}: cannot put {text} in its place")
    inner = next(p for p in (site.node, *site.parents) if isinstance(p, ast.stmt))
    inner_first, inner_last = _span(source, inner)
    cloned = mutant.id if kind == "clone-dropped" and isinstance(mutant, ast.Name) else ""
    return Fault(
        gradient=cloned if cloned in site.names.gradients else site.gradient,
        kind=kind,
        line=source.count("\n", 0, start) + 1,
        source=source[:start] + replacement + source[end:],
        before=" ".join(source[inner_first:inner_last].split()),
        after=" ".join((source[inner_first:start] + replacement + source[end:inner_last]).split()),
        edit=Edit(start, end, replacement, site, mutant),
    )


def _span(source: str, node: ast.AST) -> tuple[int, int]:
    """Where a node's text begins and ends. Columns count bytes: the answer must be ASCII."""
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = source.splitlines(keepends=True)
    first = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    return first, sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset


def _dump_with(site: Site, mutant: ast.expr | ast.stmt) -> str:
    """The syntax tree of the top-level statement with the mutant in the node's place."""
    if not site.parents:
        return ast.dump(mutant)
    for name, value in ast.iter_fields(site.parent):
        held = value if isinstance(value, list) else [value]
        if any(item is site.node for item in held):
            swapped = [mutant if item is site.node else item for item in held]
            setattr(site.parent, name, swapped if isinstance(value, list) else swapped[0])
            try:
                return ast.dump(site.parents[-1])
            finally:
                setattr(site.parent, name, value)
    raise AssertionError("the node is not a child of its parent")
