"""Slices: the statements of an answer that make one gradient."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass, field

from grader.answer.effects import Effects
from grader.answer.parse import Answer
from grader.answer.statements import COMPOUND, blocks

LOOP_CONTROL = (ast.Break, ast.Continue)


@dataclass(frozen=True, slots=True)
class Slice:
    """The statements that make one gradient, stopping at the gradients they read.

    `keep` are statement numbers; `writers` those among them that assign or change the gradient
    itself; `reads` the other gradients whose values they use; `writes` those they assign too.
    `fixed` are upstreams that they write, if only under another name, and that play no part in
    making the gradient; `channels` those through which it is changed after all, because they share
    its memory. `sure` are the kept statements that are certain to do something to a name.
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
) -> Slice:
    """Find the statements that make the gradient `name`.

    Works backwards from the last statement: a statement belongs to the slice if it binds or
    changes a name that the slice needs. A gradient that is given is not followed up.

    Args:
        answer: the whole answer.
        name: a gradient's name, such as "dlogits".
        given: the gradients whose values are given, not followed up.
        others: the other gradients, those in `given` among them.
        through_others: whether a change made through another gradient that shares the memory of
            `name` counts; without it the slice gives the value as it was assigned.

    Returns:
        The slice; empty where nothing writes `name`.
    """
    search = _Search(answer, name, given, others, through_others, {name})
    for statement in reversed(answer.top):
        if not search.needed.isdisjoint(answer.written[statement]):
            search.step(statement)
    kept = [answer.effects[statement] for statement in search.kept]
    binds = frozenset[str]().union(*(effect.binds for effect in kept))
    changes = frozenset[str]().union(*(effect.changes for effect in kept))
    direct = (_named(answer.shown[one], answer.effects[one]) for one in search.kept)
    return Slice(
        keep=frozenset(answer.number[statement] for statement in search.kept),
        writers=frozenset(answer.number[statement] for statement in search.writers),
        reads=frozenset[str]().union(*(effect.reads for effect in kept)) & others,
        writes=binds.union(*direct) & given,
        fixed=(binds | changes) & given - search.channels,
        channels=frozenset(search.channels),
        sure=frozenset(answer.number[statement] for statement in search.sure),
    )


def _named(shown: Effects, effects: Effects) -> frozenset[str]:
    """The names by which a statement changes something: in its text, or else those it mentions."""
    return effects.changes & (shown.changes or effects.reads)


@dataclass(slots=True)
class _Search:
    """The walk from the last statement to the first, with the names still needed."""

    answer: Answer
    name: str
    given: Set[str]
    others: Set[str]
    through_others: bool
    needed: set[str]
    kept: set[ast.stmt] = field(default_factory=set)
    writers: set[ast.stmt] = field(default_factory=set)
    sure: set[ast.stmt] = field(default_factory=set)
    channels: set[str] = field(default_factory=set)

    def step(self, statement: ast.stmt) -> None:
        """Go one statement at the outermost level back."""
        if isinstance(statement, COMPOUND):
            # What is bound inside may be needed in the next turn of a loop, or not be bound at
            # all: statements are added until nothing new is needed, and no name is let go.
            while self._keep_inside(statement):
                pass
        elif self._keep(statement):
            # What only the record binds is needed still: the record takes nothing away.
            effects = self.answer.effects[statement]
            self.needed -= self.answer.shown[statement].binds - effects.reads
            self._need(effects.reads)

    def _keep_inside(self, statement: ast.stmt, in_kept_loop: bool = False) -> bool:
        """Keep what is needed inside a compound statement; True if that added something."""
        before = len(self.kept), len(self.needed)
        is_loop = isinstance(statement, ast.For | ast.While)
        loop_is_kept = statement in self.kept if is_loop else in_kept_loop
        for block in blocks(statement):
            for inner in block:
                if isinstance(inner, COMPOUND):
                    self._keep_inside(inner, loop_is_kept)
                elif isinstance(inner, LOOP_CONTROL) and loop_is_kept:
                    self.kept.add(inner)
                elif self._keep(inner):
                    self._need(self.answer.effects[inner].reads)
        if any(inner in self.kept for block in blocks(statement) for inner in block):
            self.kept.add(statement)
            self.sure.add(statement)
        if statement in self.kept or self._keep(statement):
            self._need(self.answer.effects[statement].reads)
        return before != (len(self.kept), len(self.needed))

    def _keep(self, statement: ast.stmt) -> bool:
        """Keep a statement if it writes what is needed; True if it does."""
        effects = self.answer.effects[statement]
        # Nearly all statements bind a name or two, and neither is needed here.
        if all(map(self.needed.isdisjoint, (effects.binds, effects.changes, effects.perhaps))):
            return False
        binds = self.needed & effects.binds
        changes = self.needed & effects.changes
        # Names that change through another one.
        hidden = changes - _named(self.answer.shown[statement], effects)
        through = effects.changes & effects.reads & self.others if hidden else frozenset[str]()
        if not self.through_others and effects.binds & self.others:
            changes = set()
        elif not self.through_others and through:
            changes -= hidden
        perhaps = self.needed & effects.perhaps
        is_live = self.answer.number[statement] in self.answer.live
        if not (binds or changes or perhaps) or not is_live:
            return False
        self.kept.add(statement)
        if binds or changes:
            self.sure.add(statement)
        if hidden & changes:
            # Needed itself, gradient or not: through it the change is made.
            self.needed |= through
            self.channels |= through - {self.name}
        if self.name in changes:
            # `dY = dX.mul_(z)` makes dY, and changes dX on the way.
            self.channels |= effects.binds & self.others
        if self.name in binds or self.name in changes:
            self.writers.add(statement)
        return True

    def _need(self, names: Set[str]) -> None:
        self.needed |= names - self.given
