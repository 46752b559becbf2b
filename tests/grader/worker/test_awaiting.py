"""What awaits runs to its end, with tasks, time and work handed to a thread."""

from __future__ import annotations

import asyncio

import pytest

from grader.worker.threads import run_to_end


async def _gathered(found: list[int]) -> None:
    async def one(k: int) -> int:
        await asyncio.sleep(0.001 * (3 - k))
        found.append(k)
        return k

    found.extend(await asyncio.gather(one(1), one(2)))


async def _handed_to_a_thread(found: list[int]) -> None:
    found.append(await asyncio.to_thread(abs, -1))


async def _handed_on(found: list[int]) -> None:
    queue = asyncio.Queue[int](1)

    async def put() -> None:
        for k in range(3):
            await queue.put(k)

    async with asyncio.TaskGroup() as group:
        group.create_task(put())
        found.extend([await queue.get() for _ in range(3)])


@pytest.mark.parametrize(
    ("work", "found"),
    [(_gathered, [2, 1, 1, 2]), (_handed_to_a_thread, [1]), (_handed_on, [0, 1, 2])],
)
def test_all_that_is_awaited_runs(work: object, found: list[int]) -> None:
    seen: list[int] = []
    assert callable(work)
    run_to_end(work(seen))
    assert seen == found


def test_what_is_raised_comes_out() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("as it is")

    with pytest.raises(ValueError, match="as it is"):
        run_to_end(fail())


def test_a_loop_that_runs_here_already_goes_on() -> None:
    """A notebook's cells run in one."""

    async def notebook() -> list[int]:
        seen: list[int] = []
        run_to_end(_gathered(seen))
        await asyncio.sleep(0)
        return seen

    assert asyncio.run(notebook()) == [2, 1, 1, 2]
