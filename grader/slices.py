"""Slices: the statements of an answer that make one gradient."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass

from grader.answer import Answer
from grader.effects import Effects
from grader.sharing import Sharing
from grader.statements import COMPOUND, blocks

LOOP_CONTROL = (ast.Break, ast.Continue)


@dataclass(frozen=True, slots=True)
class Slice:
    """The statements that make one gradient, stopping at the gradients they read.

    `keep` are statement numbers; `writers` those among them that assign or change the gradient
    itself; `reads` the other gradients whose values they use; `writes` those they assign too.
    `fixed` are those among `writes` that play no part in making the gradient; `channels` those
    through which it is changed after all, because they share its memory. `sure` are the kept
    statements that are certain to do something to a name; the others may only show something.
    """

    keep: frozenset[int]
    writers: frozenset[int]
    reads: frozenset[str]
    writes: frozenset[str]
    fixed: frozenset[str]
    channels: frozenset[str]
    sure: frozenset[int]


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
    for statement, sharing in zip(reversed(answer.top), reversed(answer.sharing), strict=True):
        # Nearly all statements bind a name or two, and neither is needed here.
        if not answer.only_binds[statement] or not search.needed.isdisjoint(
            answer.effects[statement].binds
        ):
            search.step(statement, sharing)
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
        sure=frozenset(answer.number[statement] for statement in kept if search.is_sure(statement)),
    )


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

    def step(self, statement: ast.stmt, sharing: Sharing) -> None:
        if isinstance(statement, COMPOUND):
            # What is bound inside may be needed in the next turn of a loop, or not be bound at
            # all: statements are added until nothing new is needed, and no name is let go.
            while self._keep_inside(statement, sharing):
                pass
        elif self._keep(statement, self.answer.effects[statement], sharing):
            effects = self.answer.effects[statement]
            self.needed -= effects.binds - effects.reads
            self._need(effects.reads)

    def _keep_inside(
        self, statement: ast.stmt, sharing: Sharing, in_kept_loop: bool = False
    ) -> bool:
        """Keep what is needed inside a compound statement; True if that added something."""
        before = len(self.kept), len(self.needed)
        is_loop = isinstance(statement, ast.For | ast.While)
        loop_is_kept = statement in self.kept if is_loop else in_kept_loop
        for block in blocks(statement):
            for inner in block:
                if isinstance(inner, COMPOUND):
                    self._keep_inside(inner, sharing, loop_is_kept)
                elif isinstance(inner, LOOP_CONTROL) and loop_is_kept:
                    self.kept.add(inner)
                elif self._keep(inner, self.answer.effects[inner], sharing):
                    self._need(self.answer.effects[inner].reads)
        header = self.answer.header_effects[statement]
        inside = any(inner in self.kept for block in blocks(statement) for inner in block)
        if inside or self._is_needed(header, sharing):
            self.kept.add(statement)
            self.header_reads |= header.reads
            self._need(header.reads)
        return before != (len(self.kept), len(self.needed))

    def _keep(self, statement: ast.stmt, effects: Effects, sharing: Sharing) -> bool:
        if self.answer.number[statement] not in self.answer.live:
            return False
        if not self._is_needed(effects, sharing):
            return False
        self.kept.add(statement)
        changed = effects.mutates - self.ignored
        if self.name in effects.mutates:
            # `dY = dX.mul_(z)` makes dY, and changes dX on the way.
            self.channels |= effects.binds
        if self.name in effects.binds or sharing.related({self.name}, changed):
            self.writers.add(statement)
        return True

    def _is_needed(self, effects: Effects, sharing: Sharing) -> bool:
        changes = effects.mutates or effects.touches
        if not changes or not self.ignored.isdisjoint(effects.binds):
            through = set[str]()
        else:
            changed = (effects.mutates | effects.touches) - self.ignored
            through = sharing.related(changed, self.needed)
        # The alias through which a needed name is changed is needed itself, gradient or not.
        self.needed |= through
        self.channels |= through
        # What `import *` binds cannot be read off its text: it belongs to every slice.
        binds = "*" in effects.binds or not self.needed.isdisjoint(effects.binds)
        return bool(through) or binds

    def is_sure(self, statement: ast.stmt) -> bool:
        """False for a statement that is kept only because it may change what it is handed."""
        effects = self.answer.effects[statement]
        return bool(effects.binds or effects.mutates) or isinstance(statement, COMPOUND)

    def _need(self, names: set[str]) -> None:
        self.needed |= names - self.given
