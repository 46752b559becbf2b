"""Recording: which names a statement reads, binds and changes, seen while it runs."""

from __future__ import annotations

import marshal
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from operator import is_not
from types import BuiltinMethodType, CellType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from grader.worker.results import Seen
from grader.worker.terms import DYNAMIC_NAMES, MARK

MOST_OBJECTS = 300
"""Objects that one name is followed to: lists of tensors have tens."""

MOST_LOOKS = 50_000
"""Looks at a name, of some microseconds each; an answer takes some hundreds."""

ENOUGH = 2
"""Turns of a loop without news after which a statement in it is watched no longer."""

LARGEST_LOOK = 2**20
"""Numbers of a tensor that are compared; the small instance has a few hundred."""

NUMBERS = frozenset({int, float, bool, str})

BUILT_IN = (list, tuple, set, frozenset, deque)

PLAIN = frozenset({Tensor, ModuleType, type(None), bytes, range, slice, *NUMBERS})
"""Types of values that hold no others."""

FIXED = PLAIN - {Tensor}
"""Those of values that never change."""

UNTOLD = frozenset({MARK, "__annotations__", "__builtins__"})
"""Names that Python or the grader reads, not the answer."""


class Names(dict[str, Any]):
    """A namespace that remembers what was looked up and bound, by functions too.

    Python asks `__getitem__` of a namespace that is no plain dict, in 3.11 to 3.13; only class
    bodies, `global` names and `dict.update` go past it.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.reads: set[str] = set()
        self.binds: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        if name not in self.binds:
            self.reads.add(name)
        return dict.__getitem__(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.binds.add(name)
        dict.__setitem__(self, name, value)


class _Unread(Names):
    """The same namespace while nobody wants to know what is looked up: as quick as any."""

    __getitem__ = dict.__getitem__


class _Look(NamedTuple):
    """What a name held: the objects, how often each tensor was written to, all numbers.

    The objects are kept, or another might come to lie where one was. `memory` is where they lie.
    """

    objects: tuple[object, ...] = ()
    versions: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    memory: frozenset[int] = frozenset()

    def differs(self, before: _Look, directly: bool) -> bool:
        """Whether the value is another: for an alias, writing the same numbers is no change."""
        return (
            self.numbers != before.numbers
            or len(self.objects) != len(before.objects)
            or any(map(is_not, self.objects, before.objects))
            or (directly and self.versions != before.versions)
        )


NOTHING = _Look()


class Recorder:
    """Watches statements run in the namespace `names`, and knows afterwards what each did."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.seen: dict[int, Seen] = {}
        self._looks: dict[str, _Look] = {}
        self._held: dict[str, object] = {}
        self._holders: dict[int, set[str]] = {}
        self._number = -1
        self._same = Counter[int]()
        self._left = MOST_LOOKS
        self._stale = set(names)
        self._unwatched = set[int]()
        dict.__setitem__(names, MARK, self.at)

    def at(self, number: int, plain: bool = False) -> None:
        """A statement begins, and the one before has ended.

        One that is `plain` is not watched: it changes nothing, and its text shows the rest.
        """
        # Loops come here some thousand times, mostly with nothing new to see.
        if self._number < 0 and number in self._unwatched:
            return
        # A mistake in here, or a student's own object: the record is lost, the answer runs on.
        try:
            if self._number >= 0:
                self._look_after()
            if plain:
                self.seen.setdefault(number, Seen())
            watched = number >= 0 and self._same[number] < ENOUGH and self._left > 0 and not plain
            self._number = number if watched else -1
            self.names.__class__ = Names if watched else _Unread
            if watched:
                self._look_before()
            else:
                self._unwatched.add(number)
        except Exception:
            self._number, self._left, self.seen = -1, 0, {}

    def add(self, seen: Mapping[int, Seen]) -> None:
        """Know also what was seen in another run."""
        for number, one in seen.items():
            own = self.seen.setdefault(number, Seen())
            own.reads |= one.reads
            own.binds |= one.binds
            own.changes |= one.changes

    def give(self, values: Mapping[str, Tensor | float]) -> bool:
        """Put back what is missing of `values`, has another shape, or is zero.

        And give tensors a `.grad`. Tell whether something stood there that was put back.
        """
        names, put_back = self.names, False
        for name, value in values.items():
            if not isinstance(value, Tensor):
                continue
            held = dict.get(names, name)
            if not _is_in_shape(held, value) or is_all_zero(held):
                put_back |= name in names
                dict.__setitem__(names, name, value.clone())
                self._stale.add(name)
        for held in names.values():
            # Of some layouts there is none.
            with suppress(Exception):
                if type(held) is Tensor and held.grad is None and held.is_floating_point():
                    held.grad = torch.zeros_like(held)
        return put_back

    def _look_before(self) -> None:
        names = self.names
        # What they write may have been the same number until now, so that no change was seen.
        for seen in map(self.seen.__getitem__, self._unwatched & self.seen.keys()):
            self._stale |= seen.changes | seen.reads
        self._look_at(self._stale | names.binds)
        self._stale, self._unwatched, names.reads, names.binds = set(), set(), set(), set()

    def _look_after(self) -> None:
        names = self.names
        # Names of Python's own functions, such as `range`, lie elsewhere.
        reads = {name for name in names.reads if name in names or name in DYNAMIC_NAMES} - UNTOLD
        stored = names.binds - UNTOLD
        names.reads, names.binds = set(), set()
        held = [dict.get(names, name) for name in reads]
        perhaps: Iterable[tuple[str, Any]]
        if not PLAIN.issuperset(map(type, held)) or not reads.isdisjoint(DYNAMIC_NAMES):
            # Functions bind `global` names, and `globals().update` any, past `__setitem__`.
            self._left -= len(names)
            perhaps = dict.items(names)
        else:
            perhaps = ((name, dict.get(names, name)) for name in stored)
        # `acc += x` binds the name to the tensor that it had.
        last = self._held.get
        binds = {name for name, value in perhaps if value is not last(name, self)} - UNTOLD
        changes = self._look_at(binds | stored | reads, directly=True) - binds
        near = [self._looks[name].memory for name in changes]
        around = {other for memory in near for part in memory for other in self._holders[part]}
        if any(map(_moves_on, held)):
            around = set(self._looks)
        changes |= self._look_at(around - changes - binds)
        seen = self.seen.setdefault(self._number, Seen())
        if reads <= seen.reads and binds <= seen.binds and changes <= seen.changes:
            self._same[self._number] += 1
        seen.reads |= reads
        seen.binds |= binds
        seen.changes |= changes

    def _look_at(self, names: Iterable[str], directly: bool = False) -> set[str]:
        """Look at names again; those that changed since the last look."""
        changed, held, looks = set(), self._held, self._looks
        for name in names:
            if self._left <= 0 or not dict.__contains__(self.names, name):
                continue
            self._left -= 1
            before = looks.get(name, NOTHING)
            value = held[name] = dict.__getitem__(self.names, name)
            if type(value) in FIXED and before.objects and before.objects[0] is value:
                continue
            now = looks[name] = _look(value, self.names)
            if now.memory != before.memory:
                for part in before.memory - now.memory:
                    self._holders[part].discard(name)
                for part in now.memory - before.memory:
                    self._holders.setdefault(part, set()).add(name)
            if now.differs(before, directly):
                changed.add(name)
        return changed


def is_all_zero(held: object) -> bool:
    """True for a tensor of nothing but zeros: to add it to something changes nothing."""
    try:
        return type(held) is Tensor and not held.any()
    # Some layouts and dtypes cannot be asked.
    except Exception:
        return False


def _is_in_shape(held: object, value: Tensor) -> bool:
    try:
        return type(held) is Tensor and held.shape == value.shape
    # A nested tensor has no shape.
    except RuntimeError:
        return False


def _look(value: object, names: Names) -> _Look:
    if type(value) is Tensor:
        memory = frozenset((_memory(value),))
        return _Look((value,), (value._version,), (_numbers(value),), memory)
    if type(value) in PLAIN:
        return _Look((value,))
    if type(value) is list and NUMBERS.issuperset(map(type, value)):
        return _Look((value,), (), (hash(tuple(value)),), frozenset((id(value),)))
    if type(value) is list and _is_table(value):
        # As a whole: to look at one row after the other takes ten times as long.
        memory = frozenset(map(id, (value, *value)))
        return _Look((value, *value), (), (hash(marshal.dumps(value, 2)),), memory)
    objects = tuple(_reach(value, names))
    holders = {id(part) for part in objects if type(part) not in PLAIN}
    return _Look(
        objects,
        tuple(part._version for part in objects if type(part) is Tensor),
        tuple(_numbers(part) for part in objects if type(part) in (Tensor, np.ndarray, list)),
        frozenset(holders.union(_memory(part) for part in objects if _is_array(part)) - {0}),
    )


def _is_table(value: list[Any]) -> bool:
    """True for a list of lists of numbers."""
    return {*map(type, value)} == {list} and NUMBERS.issuperset(map(type, chain(*value)))


def _is_array(value: object) -> bool:
    return type(value) in (Tensor, np.ndarray)


def _reach(value: object, names: Names) -> Iterator[object]:
    """The objects that hang on a value, itself first; numbers in lists are not among them."""
    known = {id(value)}
    pending = [value]
    while pending and len(known) < MOST_OBJECTS:
        part = pending.pop()
        yield part
        for inner in _inside(part, names):
            if type(inner) not in NUMBERS and id(inner) not in known:
                known.add(id(inner))
                pending.append(inner)
    if pending or _moves_on(value):
        # What hangs on it, or how far it has got, shows nowhere: who reads it may change it.
        yield object()


def _inside(part: object, names: Names) -> Iterable[object]:
    kind = type(part)
    if kind in PLAIN or kind is np.ndarray:
        return ()
    if isinstance(part, dict):
        return () if part is names else list(dict.values(part))
    if isinstance(part, BUILT_IN):
        base: Any = next(base for base in BUILT_IN if isinstance(part, base))
        return [*base.__iter__(part)]
    if isinstance(part, FunctionType):
        cells = [cell.cell_contents for cell in part.__closure__ or () if cell != CellType()]
        if part.__globals__ is not names:
            return cells  # what a library has made of the answer's own: `vmap`, `singledispatch`
        return [*cells, part.__defaults__, part.__kwdefaults__, part.__dict__]
    if isinstance(part, MethodType):
        return (part.__self__, part.__func__)
    if isinstance(part, BuiltinMethodType):
        return () if type(part.__self__) is ModuleType else (part.__self__,)
    if isinstance(part, partial):
        return (part.func, part.args, part.keywords)
    if isinstance(part, type):
        return list(vars(part).values()) if part.__module__ == "__main__" else ()
    if isinstance(part, SimpleNamespace) or kind.__module__ == "__main__":
        slots = [name for base in kind.__mro__ for name in vars(base).get("__slots__", ())]
        return [getattr(part, name, None) for name in ("__dict__", *slots)]
    return ()


def _moves_on(value: object) -> bool:
    return hasattr(type(value), "__next__") or hasattr(type(value), "send")


def _numbers(part: object) -> int:
    """A hash of all numbers; writes by NumPy or through `.data` raise no version."""
    try:
        if isinstance(part, list):
            return hash(tuple(part)) if NUMBERS.issuperset(map(type, part)) else 0
        if isinstance(part, Tensor):
            if part.numel() > LARGEST_LOOK:
                return 0
            part = (part.view(torch.int16) if part.dtype is torch.bfloat16 else part).numpy()
        assert isinstance(part, np.ndarray)
        return hash(part.tobytes()) if part.size <= LARGEST_LOOK else 0
    # A layout or class of its own: its version has to do.
    except Exception:
        return 0


def _memory(array: object) -> int:
    """Where an array's memory begins, whatever part of it is seen."""
    while type(array) is np.ndarray and _is_array(array.base):
        array = array.base
    try:
        if isinstance(array, Tensor):
            return array.untyped_storage().data_ptr()
        assert isinstance(array, np.ndarray)
        return int(array.__array_interface__["data"][0])
    except Exception:
        return 0
