"""Slices: the statements of an answer that make one gradient."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass, field

from grader.answer.effects import Effects
from grader.answer.parse import Answer
from grader.answer.statements import COMPOUND


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
    fresh: set[str] = field(default_factory=set)
    """Needed names for which the statements inside were not looked at again yet."""

    def step(self, statement: ast.stmt) -> None:
        """Go one statement at the outermost level back."""
        if isinstance(statement, COMPOUND):
            self._keep_inside(statement)
        elif self._keep(statement, self.needed):
            # What only the record binds is needed still: the record takes nothing away.
            effects = self.answer.effects[statement]
            self.needed -= self.answer.shown[statement].binds - effects.reads
            self._need(effects.reads - self.given)

    def _keep_inside(self, top: ast.stmt) -> None:
        """Keep what is needed of a compound statement.

        What is bound inside may be needed in the next turn of a loop, or not be bound at all: a
        statement is looked at again for each name that it writes when that is needed, and no name
        is let go. What is sure to be bound inside before it is read is needed inside only.
        """
        block, inside = self.answer.compound[top], set[str]()
        due: dict[ast.stmt, Set[str]] = dict.fromkeys(block.inside, self.needed)
        while due:
            inner, names = due.popitem()
            is_new = inner not in self.kept
            kept = [inner] if self._keep(inner, names) and is_new else []
            while kept:
                one = kept.pop()
                self.kept.add(one)
                reads = self.answer.effects[one].reads - self.given
                bound_inside = reads & block.bound[one]
                self._need(reads - bound_inside)
                self.fresh |= bound_inside - inside
                inside |= bound_inside
                kept += block.ends.get(one, ())
                if one in block.above and block.above[one] not in self.sure:
                    self.sure.add(block.above[one])
                    kept.append(block.above[one])
            for name in self.fresh:
                for one in block.writing.get(name, ()):
                    due[one] = due.get(one, frozenset()) | {name}
            self.fresh.clear()

    def _keep(self, statement: ast.stmt, needed: Set[str]) -> bool:
        """Keep a statement if it writes what is needed; True if it does."""
        effects = self.answer.effects[statement]
        # Nearly all statements bind a name or two, and neither is needed here.
        if all(map(needed.isdisjoint, (effects.binds, effects.changes, effects.perhaps))):
            return False
        # A forged record names tens of thousands: each line takes as long as its smallest set.
        binds = needed & effects.binds
        changes = needed & effects.changes
        # Names that change through another one.
        hidden = changes - (self.answer.shown[statement].changes or effects.reads)
        through = self.others & effects.changes & effects.reads if hidden else frozenset[str]()
        if not self.through_others and effects.binds & self.others:
            changes = set()
        elif not self.through_others and through:
            changes -= hidden
        perhaps = needed & effects.perhaps
        is_live = self.answer.number[statement] in self.answer.live
        if not (binds or changes or perhaps) or not is_live:
            return False
        self.kept.add(statement)
        if binds or changes:
            self.sure.add(statement)
        if hidden & changes:
            # Needed itself, gradient or not: through it the change is made.
            self._need(through)
            self.channels |= through - {self.name}
        if self.name in changes:
            # `dY = dX.mul_(z)` makes dY, and changes dX on the way.
            self.channels |= effects.binds & self.others
        if self.name in binds or self.name in changes:
            self.writers.add(statement)
        return True

    def _need(self, names: Set[str]) -> None:
        self.fresh |= names - self.needed
        self.needed |= names
