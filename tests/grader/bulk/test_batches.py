from __future__ import annotations

from collections import deque
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.bulk.batches import BATCH_SECONDS, MOST_TASKS, Batching, do_all, pack, unpack
from grader.bulk.failures import CannotGrade


def add(batching: Batching[int], tasks: range, threads: int) -> list[list[int]]:
    """One after the other, as a run does it; the batches that are sent."""
    sent = []
    for task in tasks:
        batching.add(task)
        sent += batching.due(threads)
    return sent


def test_a_small_class_is_shared_by_all_threads() -> None:
    assert [len(batch) for batch in add(Batching(), range(8), threads=4)] == [1] * 8


def test_a_class_too_small_for_full_batches_waits_for_nobody() -> None:
    batching: Batching[int] = Batching()
    sent = deque(add(batching, range(9), threads=4))
    assert len(sent) == 8
    batching.back(len(sent.popleft()), 0.05)
    assert batching.due(4) == [[8]]


def test_a_large_class_travels_in_full_batches_before_long() -> None:
    threads, under_way = 2, 2 * 2 * MOST_TASKS
    batching: Batching[int] = Batching()
    sent = deque(add(batching, range(under_way), threads))
    sizes: list[int] = []
    next_task = under_way
    for _ in range(40):
        back = len(sent.popleft())
        batching.back(back, 0.05 * back)
        new = add(batching, range(next_task, next_task + back), threads)
        next_task += back
        sizes += map(len, new)
        sent += new
    assert min(sizes[-10:]) >= MOST_TASKS - 1


def test_what_takes_long_travels_alone() -> None:
    batching: Batching[int] = Batching()
    for batch in add(batching, range(32), threads=1):
        batching.back(len(batch), 10.0 * len(batch))
    assert {len(batch) for batch in add(batching, range(32, 64), threads=1)} == {1}


@given(
    st.integers(1, 9),
    st.lists(st.booleans(), max_size=200),
    st.floats(0.0, 3 * BATCH_SECONDS),
)
def test_nothing_is_lost_nor_waits_for_nothing(
    threads: int, adds: list[bool], seconds: float
) -> None:
    """Whatever comes and goes: each task is sent once, in order, and none while nothing is out."""
    batching: Batching[int] = Batching()
    sent: list[int] = []
    out: deque[int] = deque()
    added = 0

    def send() -> None:
        for batch in batching.due(threads):
            assert 0 < len(batch) <= MOST_TASKS
            sent.extend(batch)
            out.append(len(batch))
        assert out or len(sent) == added

    for more in adds:
        if more:
            batching.add(added)
            added += 1
        elif out:
            back = out.popleft()
            batching.back(back, seconds * back)
        send()
    while out:
        batching.back(out.popleft(), None)
        send()
    assert sent == [*range(added)]


class Fragile(Exception):
    """As many are: it cannot be unpickled."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


ERRORS = {"own": CannotGrade("no bwrap"), "fragile": Fragile("a", "b"), "other": OSError("?")}


def fail(kind: str) -> None:
    raise ERRORS[kind]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("own", "no bwrap"),
        ("fragile", r"cannot grade \(Fragile: ab\)"),
        ("other", r"\(OSError: \?\)"),
    ],
)
def test_what_a_task_raises_arrives_as_a_sentence(kind: str, said: str) -> None:
    seconds, (first, error, last) = unpack(
        do_all([pack(str), pack(partial(fail, kind)), pack(str)])
    )
    assert (first, last) == ("", "")
    assert seconds >= 0.0
    with pytest.raises(CannotGrade, match=said):
        raise error
