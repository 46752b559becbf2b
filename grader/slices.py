"""Slices: the statements of an answer that make one gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass

from grader.answer import Answer
from grader.effects import Effects, close_over_aliases, find_header_effects
from grader.statements import COMPOUND, blocks

LOOP_CONTROL = (ast.Break, ast.Continue)


@dataclass(frozen=True, slots=True)
class Slice:
    """The statements that make one gradient, stopping at the gradients they read.

    `keep` are statement numbers; `writers` those among them that assign or change the gradient
    itself; `reads` the other gradients whose values they use; `writes` those they assign too.
    `fixed` are those among `writes` that play no part in making the gradient; `channels` those
    through which it is changed after all, because they share its memory.
    """

    keep: frozenset[int]
    writers: frozenset[int]
    reads: frozenset[str]
    writes: frozenset[str]
    fixed: frozenset[str]
    channels: frozenset[str]


def slice_gradient(
    answer: Answer,
    name: str,
    given: Set[str],
    others: Set[str],
    through_others: bool = True,
) -> Slice | None:
    """Find the statements that make the gradient `name`.

    Works backwards from the last statement: a statement belongs to the slice if it binds or
    changes a name that the slice needs, directly or through an alias. A gradient that is given is
    not followed up.

    Args:
        answer: the whole answer.
        name: a gradient's name, such as "dlogits".
        given: the gradients whose values are given, not followed up.
        others: the other gradients, those in `given` among them.
        through_others: whether a change made through another gradient that shares the memory of
            `name` counts; without it the slice gives the value as it was assigned.

    Returns:
        The slice (empty where nothing writes `name`), or None where some statement's effects
        cannot be read off its text.
    """
    if answer.is_dynamic:
        return None
    ignored = frozenset[str]() if through_others else others
    search = _Search(answer, name, given, ignored)
    for statement, aliases in reversed(list(_with_aliases(answer))):
        search.step(statement, aliases)
    kept = search.kept
    effects = [
        answer.effects[statement] for statement in kept if not isinstance(statement, COMPOUND)
    ]
    reads = set().union(*(effect.reads for effect in effects), search.header_reads)
    writes = set().union(*(effect.binds | effect.mutates for effect in effects))
    return Slice(
        keep=frozenset(answer.number[statement] for statement in kept),
        writers=frozenset(answer.number[statement] for statement in search.writers),
        reads=frozenset(reads & others),
        writes=frozenset(writes & given),
        fixed=frozenset(writes & given - search.channels),
        channels=frozenset(search.channels & others),
    )


def _with_aliases(answer: Answer) -> Iterator[tuple[ast.stmt, frozenset[tuple[str, str]]]]:
    """Each top-level statement with the names that may share memory while it runs."""
    aliases: set[tuple[str, str]] = set()
    for statement in answer.top:
        effects = answer.effects[statement]
        yield statement, frozenset(aliases | effects.aliases)
        if not isinstance(statement, COMPOUND):
            # A name bound anew no longer shares the memory it shared before.
            aliases = _forget(aliases, effects.binds)
        aliases |= effects.aliases


def _forget(aliases: set[tuple[str, str]], names: set[str]) -> set[tuple[str, str]]:
    """Take names out of the alias pairs; what they linked stays linked."""
    closed = {
        (first, second)
        for first in {name for pair in aliases for name in pair}
        for second in close_over_aliases({first}, aliases)
        if first < second
    }
    return {pair for pair in closed if names.isdisjoint(pair)}


class _Search:
    """The walk from the last statement to the first, with the names still needed."""

    def __init__(self, answer: Answer, name: str, given: Set[str], ignored: Set[str]) -> None:
        self.answer = answer
        self.name = name
        self.given = given
        self.ignored = ignored
        self.needed = {name}
        self.kept: set[ast.stmt] = set()
        self.writers: set[ast.stmt] = set()
        self.header_reads: set[str] = set()
        self.channels: set[str] = set()

    def step(self, statement: ast.stmt, aliases: frozenset[tuple[str, str]]) -> None:
        if isinstance(statement, COMPOUND):
            # What is bound inside may be needed in the next turn of a loop, or not be bound at
            # all: statements are added until nothing new is needed, and no name is let go.
            while self._keep_inside(statement, aliases):
                pass
        elif self._keep(statement, self.answer.effects[statement], aliases):
            effects = self.answer.effects[statement]
            self.needed -= effects.binds - effects.reads
            self._need(effects.reads)

    def _keep_inside(
        self, statement: ast.stmt, aliases: frozenset[tuple[str, str]], in_kept_loop: bool = False
    ) -> bool:
        """Keep what is needed inside a compound statement; True if that added something."""
        before = len(self.kept), len(self.needed)
        is_loop = isinstance(statement, ast.For | ast.While)
        loop_is_kept = statement in self.kept if is_loop else in_kept_loop
        for block in blocks(statement):
            for inner in block:
                if isinstance(inner, COMPOUND):
                    self._keep_inside(inner, aliases, loop_is_kept)
                elif isinstance(inner, LOOP_CONTROL) and loop_is_kept:
                    self.kept.add(inner)
                elif self._keep(inner, self.answer.effects[inner], aliases):
                    self._need(self.answer.effects[inner].reads)
        header = find_header_effects(statement, self.answer.functions)
        inside = any(inner in self.kept for block in blocks(statement) for inner in block)
        if inside or self._is_needed(header, aliases):
            self.kept.add(statement)
            self.header_reads |= header.reads
            self._need(header.reads)
        return before != (len(self.kept), len(self.needed))

    def _keep(
        self, statement: ast.stmt, effects: Effects, aliases: frozenset[tuple[str, str]]
    ) -> bool:
        if (
            isinstance(statement, ast.Delete)
            or self.answer.number[statement] not in self.answer.live
        ):
            return False
        if not self._is_needed(effects, aliases):
            return False
        self.kept.add(statement)
        changed = effects.mutates - self.ignored
        if self.name in effects.binds | close_over_aliases(changed, set(aliases)):
            self.writers.add(statement)
        return True

    def _is_needed(self, effects: Effects, aliases: frozenset[tuple[str, str]]) -> bool:
        changed = (effects.mutates | effects.touches) - self.ignored
        through = {
            name
            for name in changed
            if not self.needed.isdisjoint(close_over_aliases({name}, set(aliases)))
        }
        # The alias through which a needed name is changed is needed itself, gradient or not.
        self.needed |= through
        self.channels |= through
        return bool(through) or not self.needed.isdisjoint(effects.binds)

    def _need(self, names: set[str]) -> None:
        self.needed |= names - self.given
