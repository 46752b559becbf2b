from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.bulk.batches import MOST_TASKS, Batching


def add(batching: Batching[int], tasks: range, threads: int) -> list[list[int]]:
    """One after the other, as a run does it; the batches that are sent."""
    sent = []
    for task in tasks:
        batching.add(task)
        sent += batching.due(threads)
    return sent


def test_a_small_class_is_shared_by_all_threads() -> None:
    assert [len(batch) for batch in add(Batching(), range(8), threads=4)] == [1] * 8


def test_a_task_waits_while_each_thread_has_a_batch_and_no_longer() -> None:
    batching: Batching[int] = Batching()
    assert add(batching, range(8), threads=1) == [[0], [1], [2, 3], [4, 5, 6, 7]]
    for tasks in (1, 1, 2):
        batching.returned(tasks)
    assert add(batching, range(8, 9), threads=2) == [[8]]  # one of two has nothing
    assert add(batching, range(9, 10), threads=2) == []
    batching.returned(1)
    assert batching.due(2) == [[9]]


def test_what_waits_goes_when_there_are_more_threads() -> None:
    batching: Batching[int] = Batching()
    assert add(batching, range(5), threads=2) == [[0], [1], [2], [3]]
    assert batching.due(3) == [[4]]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_large_class_travels_in_full_batches_before_long(threads: int) -> None:
    under_way = 2 * threads * MOST_TASKS
    batching: Batching[int] = Batching()
    sent = deque(add(batching, range(under_way), threads))
    sizes: list[int] = []
    next_task = under_way
    for _ in range(50 * threads):
        back = len(sent.popleft())
        batching.returned(back)
        new = add(batching, range(next_task, next_task + back), threads)
        next_task += back
        sizes += map(len, new)
        sent += new
    assert {*sizes[-10 * threads :]} == {MOST_TASKS}


def test_the_last_of_a_large_class_are_shared_by_all_threads() -> None:
    batching: Batching[int] = Batching()
    for batch in add(batching, range(100), threads=4):
        batching.returned(len(batch))
    for batch in batching.due(4):
        batching.returned(len(batch))
    assert [len(batch) for batch in add(batching, range(100, 108), threads=4)] == [1] * 8


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=200))
def test_nothing_is_lost_nor_waits_while_a_thread_is_idle(steps: list[tuple[bool, int]]) -> None:
    """Tasks, batches and workers come and go: each task is sent once, and in order."""
    batching: Batching[int] = Batching()
    sent: list[int] = []
    out: deque[int] = deque()
    added = 0

    def send(threads: int) -> None:
        for batch in batching.due(threads):
            assert 0 < len(batch) <= MOST_TASKS
            sent.extend(batch)
            out.append(len(batch))
        assert len(sent) == added or len(out) >= threads

    for is_new, threads in steps:
        if is_new:
            batching.add(added)
            added += 1
        elif out:
            batching.returned(out.popleft())
        send(threads)
    while out:
        batching.returned(out.popleft())
        send(1)
    assert sent == [*range(added)]
