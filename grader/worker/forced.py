"""The forced run, which checks every line of a hand-written backward pass by itself, in one go.

The whole answer runs once, in a namespace that hands out gradients (teacher forcing). Each
statement has a *target*: the gradients that it writes or, if it writes none, the gradients that
depend on what it writes or, if there are none either, those that the next statement writes. While
the statement runs, the name of a gradient means

* its random upstream, which is *lent*, if it lies above the target and is not written here;
* its true value, which is *given*, in a run for one gradient that was made from its siblings;
* otherwise the answer's *own* value of it.

So in the end, the value of each gradient is what its own lines make of random upstreams. It is
right if it is their VJP, whether or not the lines above are right.

Objects count, and not names: if a helper is the same tensor as a lent gradient, it reads as the
upstream, and memory that changes tells which gradient was written, whatever its name was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from operator import is_not
from typing import Any

import torch
from torch import Tensor

from grader.worker.job import Line, Statement
from grader.worker.results import Problem, Trace
from grader.worker.terms import MARK

MOST_TURNS = 4
"""How often an answer runs again because it wrote more than its text shows."""

Execute = Callable[[Statement, dict[str, Any]], Problem | None]
"""Runs a statement in a namespace, and returns what kept it from its end, if anything did."""


# The namespace, and the memory that gradients lie in.


class Memory:
    """The memory of a gradient, lent or own, with its content when it was last looked at."""

    def __init__(self, gradient: str, tensor: Tensor) -> None:
        self.gradient, self.tensor = gradient, tensor
        self.was, self.version = tensor.clone(), tensor._version
        torch.equal(tensor, self.was)  # raises here, and not later, if it cannot be compared

    def changed(self, uncounted: bool) -> Tensor | None:
        """Return the content from before a change, or None if there was none.

        With `uncounted`, the numbers are compared even if PyTorch has counted no change.
        """
        if self.tensor._version == self.version and not uncounted:
            return None
        before, self.version = self.was, self.tensor._version
        if self.tensor.shape == before.shape and torch.equal(self.tensor, before):
            return None
        self.was = self.tensor.clone()
        return before

    def holds(self, value: object) -> bool:
        """Say whether a value lies in this memory."""
        if type(value) is not Tensor:
            return False
        try:
            return value.untyped_storage().data_ptr() == self.tensor.untyped_storage().data_ptr()
        except Exception:  # a kind of tensor without memory of its own
            return False


class Names(dict[str, Any]):
    """The answer's namespace, which lends `upstreams` in place of gradients.

    Because it is not a plain dict, Python calls its `__getitem__` for every name, in functions too.

    `own` has the answer's own value of each gradient, and `lent` the tensors that stand for an
    upstream now. The others say what the current statement did: `reads` are the names that it read
    in the answer's own version, `borrowed` the gradients that it was lent, and `bound` the names
    that it assigned.
    """

    def __init__(self, values: Mapping[str, Any], upstreams: Mapping[str, Tensor]) -> None:
        super().__init__(values)
        self.start, self.upstreams = dict(values), upstreams
        self.own, self.lent, self.memories = dict[str, Any](), dict[str, Tensor](), list[Memory]()
        self.held: list[Any] = []  # what the gradients' names stood for at the last look
        self.standing_for = defaultdict[int, set[str]](set)  # an object's id -> gradients
        self.begin(frozenset(), frozenset())

    def begin(self, lends: Set[str], writes: Set[str]) -> None:
        """Prepare for a statement, which is lent some gradients and writes some names."""
        self.lends, self.writes = lends, writes
        self.reads, self.borrowed, self.bound = set[str](), set[str](), set[str]()

    def __setitem__(self, name: str, value: Any) -> None:
        self.bound.add(name)
        dict.__setitem__(self, name, value)

    def __getitem__(self, name: str) -> Any:
        if name in self.lends:
            return self._lend(name)
        value = dict.get(self, name)
        if id(value) in self.standing_for and value is not self.start.get(name):
            same = self.standing_for[id(value)]
            if name not in same and same.isdisjoint(self.writes) and same & self.lends:
                return self._lend(min(same & self.lends))
        if name not in self.bound:  # what a statement binds itself, it has from nowhere
            self.reads.add(name)
        return dict.__getitem__(self, name) if value is None else value

    def get(self, name: str, default: Any = None) -> Any:
        """Return a name's value, as `globals().get` does."""
        return self[name] if name in self or name in self.lends else default

    def _lend(self, gradient: str) -> Tensor:
        self.borrowed.add(gradient)
        if gradient not in self.lent:
            self.lent[gradient] = self.upstreams[gradient].clone()
            self.memories.append(Memory(gradient, self.lent[gradient]))
        return self.lent[gradient]

    def rebound(self, gradients: Sequence[str]) -> set[str]:
        """Find the gradients whose names mean another object than before, for whatever reason."""
        held = [*map(partial(dict.get, self), gradients)]
        is_known = bool(self.held) and not any(map(is_not, held, self.held))
        if is_known and self.bound.isdisjoint(gradients):
            return set()  # as in most turns of a loop
        self.held = held
        new = {g for g in gradients if dict.get(self, g, self) is not self.own.get(g, self)}
        for g in new:
            old, value = self.own.pop(g, None), dict.get(self, g, self)
            self.standing_for[id(old)].discard(g)
            self.memories = [m for m in self.memories if m.gradient != g or m.tensor is not old]
            if value is self:
                continue
            self.own[g] = value
            if type(value) is Tensor:
                self.standing_for[id(value)].add(g)
                with suppress(Exception):  # a kind of tensor that cannot be copied or compared
                    self.memories.append(Memory(g, value))
        return new


# What each statement is lent.


def find_lends(
    lines: Sequence[Line], writes: Mapping[int, Set[str]], above: Mapping[str, Set[str]]
) -> dict[int, frozenset[str]]:
    """Find the gradients that each statement is lent, by its number: those above its target.

    Args:
        lines: the statements, in the order of the text.
        writes: the names that each statement writes.
        above: for each gradient, those between its tensor and the loss.
    """
    gradients, following = frozenset(above), frozenset[str]()
    goes_into: defaultdict[str, frozenset[str]] = defaultdict(frozenset)  # name -> gradients
    lends = dict[int, frozenset[str]]()
    for line in reversed(lines):
        own = gradients & writes[line.number]
        following = own or following
        indirectly = frozenset[str]().union(*(goes_into[name] for name in writes[line.number]))
        target = own or indirectly or following
        handed_down = frozenset[str]().union(*(above[g] for g in target))
        lends[line.number] = handed_down - target if target else gradients
        for name in writes[line.number] - line.reads:
            goes_into.pop(name, None)  # what the name stood for before is another matter
        for name in line.reads:
            goes_into[name] |= target
    return lends


# The run.


class ForcedRun:
    """A run of statements in a namespace that hands out gradients.

    After `run`, `values` holds what each gradient's own lines have made of the upstreams,
    `problems` says what kept statements from their end, and `unshown` lists the writes that the
    text does not show.
    """

    def __init__(
        self,
        names: Names,
        lends: Mapping[int, Set[str]],
        writes: Mapping[int, Set[str]],
        gradients: Set[str],
        uncounted: bool,
    ) -> None:
        self.names, self.lends, self.writes = names, lends, writes
        self.gradients, self.uncounted = gradients, uncounted
        self.values = dict[str, Any]()
        self.problems = list[Problem]()
        self.unshown = set[tuple[int, str]]()
        self.lent = defaultdict[str, set[str]](set)
        self.siblings = defaultdict[str, set[str]](set)
        self.spoilt = defaultdict[str, set[str]](set)
        self.assigned = dict[str, Any]()
        self.spoiling = dict[str, int]()
        self._differences = dict[str, Tensor]()  # by which an upstream changed with its alias
        self._number: int | None = None
        self._ordered = tuple(gradients)

    def run(self, statements: Iterable[Statement], execute: Execute) -> None:
        """Run the statements one after the other, even if one of them raises."""
        dict.__setitem__(self.names, MARK, self._at)
        for statement in statements:
            self._at(statement.number)
            if (problem := execute(statement, self.names)) is not None:
                self.problems.append(problem)
        self._at(None)
        for g, others in self.spoilt.items():  # what it was spoilt with counts as read
            self.lent[g] = self.lent[g].union(*(self.lent[other] for other in others)) - {g}
        self.values = {
            g: value + self._differences[g] if g in self._differences else value
            for g, value in self.names.own.items()
        }

    def trace(self, assigned: Mapping[str, Tensor]) -> Trace:
        """Return the trace to be sent back, with those `assigned` values that can be sent."""
        lent, siblings, spoilt = (
            {g: frozenset(made[g]) for g in self.gradients if made.get(g)}
            for made in (self.lent, self.siblings, self.spoilt)
        )
        spoiling = frozenset((number, g) for g, number in self.spoiling.items())
        return Trace(lent, siblings, spoilt, assigned, spoiling, frozenset(self.unshown))

    def _at(self, number: int | None) -> None:
        """Note that a statement begins and the one before has ended. Blocks call this as `MARK`."""
        if self._number is not None:
            self._look_at(self._number)
        self._number = number
        if number is not None:
            self.names.begin(self.lends[number], self.writes[number])

    def _look_at(self, number: int) -> None:
        """Record what the statement did that has just run."""
        names = self.names
        bound = names.rebound(self._ordered)
        wrote = bound | names.bound | self.writes[number]
        self.unshown.update((number, g) for g in bound - self.writes[number])
        for settled in (self.spoilt, self.assigned, self.spoiling, self._differences):
            for g in wrote & settled.keys():
                del settled[g]
        assigned = self.gradients & (bound | names.bound)
        for memory in [
            one for one in names.memories if self.uncounted or one.tensor._version != one.version
        ]:
            before = memory.changed(self.uncounted)
            if before is None or memory.gradient in (assigned or wrote):
                continue  # nothing happened, or what the statement is there for
            self._find_writer(number, memory, before, wrote, assigned)
        self._take_down_reads(wrote)

    def _find_writer(
        self, number: int, memory: Memory, before: Tensor, wrote: Set[str], assigned: Set[str]
    ) -> None:
        """Record a change in the memory of a gradient that the statement does not assign.

        The gradient was spoilt if it shares its memory with one that the statement writes, or if
        the statement's purpose is to assign others, as in `dY = dX.mul_(z)`. Otherwise the
        statement writes this gradient after all.
        """
        names, g, tensor = self.names, memory.gradient, memory.tensor
        own = names.own.get(g)
        others = {one for one in self.gradients & wrote if memory.holds(names.own.get(one))} - {g}
        if others := others or (set(assigned) if g in wrote else set()):
            self.spoilt[g] |= others
            self.spoiling[g] = number
            self.assigned.setdefault(g, before if tensor is own else own)
            if tensor is not own and tensor.shape == before.shape:
                self._differences[g] = self._differences.get(g, 0) + tensor - before
        elif g not in wrote:
            self.unshown.add((number, g))
        if tensor is names.lent.get(g):
            del names.lent[g]  # other statements are lent a fresh one

    def _take_down_reads(self, wrote: Set[str]) -> None:
        """Record that what was written depends on all that the statement read, and its sources."""
        names = self.names
        siblings = (names.reads & self.gradients) - wrote
        for made, direct in ((self.lent, names.borrowed), (self.siblings, siblings)):
            read = direct.union(*(made[name] for name in names.reads if name in made))
            for name in wrote:
                stays = name in names.reads or name not in names.bound
                made[name] = (read | made[name] if stays else read) - {name}
