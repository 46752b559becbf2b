"""Threads and pools of an answer work, though its process has one thread only."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator

import pytest

from grader.execution.sandbox import Sandbox
from grader.worker.threads import FOR_EVER, run_to_end
from tests.helpers.confined import ConfinedWorker, confined_worker, run_outside


@pytest.fixture(scope="module")
def worker() -> Iterator[ConfinedWorker]:
    if sys.platform != "linux":
        pytest.skip("elsewhere threads are real, and profilers measure")
    with confined_worker(Sandbox.NONE, "torch") as running:
        yield running


THREADS = "import threading, queue, time\nfrom threading import Thread\nresult = []\n"
FUTURES = "from concurrent.futures import *\n"
POOL = "from multiprocessing.pool import ThreadPool\nresult = []\n"
LOADER = (
    "from torch.utils.data import DataLoader\n"
    "batches = DataLoader([*range(7)], 3, num_workers=2, persistent_workers=True)\n"
)

ALIKE = {
    "started and joined": THREADS + "t = Thread(target=result.append, args=(1,))\n"
    "t.start(); t.join(); result.append(t.is_alive())",
    "a class of one's own": THREADS
    + "class T(Thread):\n    def run(self): result.append(1)\nt = T()\nt.start(); t.join()",
    "results by a queue": THREADS + "q = queue.Queue()\n"
    "for k in range(3): Thread(target=q.put, args=(k,)).start()\n"
    "result = sorted(q.get(timeout=5) for _ in range(3))",
    "a consumer first": THREADS + "q = queue.Queue()\n"
    "t = Thread(target=lambda: result.extend(iter(q.get, None)))\n"
    "t.start(); q.put(1); q.put(2); q.put(None); t.join()",
    "workers in the background": THREADS + "q = queue.Queue()\n"
    "def work():\n    while True:\n        result.append(q.get()); q.task_done()\n"
    "Thread(target=work, daemon=True).start()\n"
    "for _ in range(2):\n    q.put(1); q.put(2); q.join()",
    "one hands on to another": THREADS + "a, b = queue.Queue(), queue.Queue()\n"
    "def hand(source, target):\n    while True: target.put(source.get())\n"
    "Thread(target=hand, args=(b, c := queue.Queue()), daemon=True).start()\n"
    "Thread(target=hand, args=(a, b), daemon=True).start()\n"
    "a.put(7); result = c.get()",
    "an event": THREADS + "go = threading.Event()\n"
    "t = Thread(target=lambda: go.wait() and result.append(1))\n"
    "t.start(); go.set(); t.join()",
    "a loop that is told to stop": THREADS + "stop = threading.Event()\n"
    "def watch():\n    while not stop.is_set(): time.sleep(0.01)\n    result.append(1)\n"
    "t = Thread(target=watch, daemon=True)\nt.start(); stop.set(); t.join()",
    "a timer that is cancelled": THREADS + "t = threading.Timer(60, result.append, (1,))\n"
    "t.start(); t.cancel(); t.join()",
    "an executor's map": FUTURES
    + "with ThreadPoolExecutor(2) as pool: result = list(pool.map(abs, [-1, -2]))",
    "what was submitted": FUTURES + "pool = ThreadPoolExecutor()\n"
    "tasks = [pool.submit(pow, 2, k) for k in range(3)]\n"
    "result = sorted(t.result() for t in as_completed(tasks))",
    "what went wrong": FUTURES + "task = ThreadPoolExecutor().submit(int, 'x')\n"
    "result = type(task.exception()).__name__",
    "a pool's map": POOL + "with ThreadPool(2) as pool:\n"
    "    result = pool.map(abs, [-1, -2]) + pool.starmap(pow, [(2, 3)])",
    "a pool's results to come": POOL + "pool = ThreadPool(2)\n"
    "tasks = [pool.map_async(abs, [-1], callback=result.append),"
    " pool.starmap_async(pow, [(2, 3)]), pool.apply_async(int, ('x',))]\n"
    "result += [task.get() for task in tasks[:2]] + sorted(pool.imap_unordered(abs, [-5]))\n"
    "tasks[2].wait(); result.append(tasks[2].successful()); pool.close(); pool.join()",
    "a pool that is set up": POOL + "ThreadPool(1, result.append, (1,)).apply(abs, (-2,))",
    "a pool of processes by its short name": "import multiprocessing.dummy\n"
    "with multiprocessing.dummy.Pool(2) as pool: result = pool.map(abs, [-1])",
    "a loader with workers": LOADER + "result = [batch.tolist() for batch in batches]",
}
"""What comes to the same with threads and without."""


@pytest.mark.slow
@pytest.mark.parametrize("snippet", ALIKE)
def test_it_comes_to_the_same_as_with_threads(snippet: str, worker: ConfinedWorker) -> None:
    became = worker.run(ALIKE[snippet])
    assert became.get("result") == run_outside(ALIKE[snippet]), became
    assert (became["status"], became["anomalies"]) == (0, None)


def test_processes_of_a_pool_are_no_processes(worker: ConfinedWorker) -> None:
    code = (
        FUTURES + "import multiprocessing, os\n"
        "with multiprocessing.Pool(2) as pool: result = [pool.apply(os.getpid) == os.getpid()]\n"
        "result.append(ProcessPoolExecutor().submit(os.getpid).result() == os.getpid())"
    )
    assert worker.run(code)["result"] == [True, True]


def test_a_wait_that_never_ends_is_an_error_at_once(worker: ConfinedWorker) -> None:
    code = THREADS + "try: queue.Queue().get()\nexcept RuntimeError as error: result = str(error)"
    assert worker.run(code)["result"] == FOR_EVER


def test_a_wait_with_an_end_ends(worker: ConfinedWorker) -> None:
    code = THREADS + "result = threading.Event().wait(0.01)"
    assert worker.run(code)["result"] is False


def test_no_thread_is_really_started(worker: ConfinedWorker) -> None:
    code = THREADS + "Thread(target=lambda: result.append(threading.get_native_id())).start()\n"
    code += "result = [result[0] == threading.get_native_id(), threading.active_count()]"
    assert worker.run(code)["result"] == [True, 1]


# --- profilers run what they are put around, and measure nothing

STEPS = "for k in range(4):\n        result += int(torch.tensor(k))\n        {}"
PROFILED = {
    "PyTorch's": "with torch.profiler.profile() as p:\n    {}\np.key_averages().table()",
    "one with a schedule": "s = torch.profiler.schedule(wait=1, warmup=1, active=1)\n"
    "with torch.profiler.profile(schedule=s, on_trace_ready=str, record_shapes=True) as p:\n"
    "    {}\np.events()",
    "the older one": "with torch.autograd.profiler.profile() as p:\n    {}\nstr(p)",
    "a name for a part": "with torch.profiler.record_function('part') as p:\n    {}",
    "Python's": "import cProfile\nwith cProfile.Profile() as p:\n    {}\np.disable()",
}


@pytest.mark.parametrize("profiler", PROFILED)
def test_what_a_profiler_is_around_runs(profiler: str, worker: ConfinedWorker) -> None:
    steps = STEPS.format("p.step()" if "schedule" in profiler else "")
    code = "import sys, torch\nresult, sys.stdout = 0, sys.stderr\n"
    code += PROFILED[profiler].format(steps)
    became = worker.run(code)
    assert became.get("result") == 6, became
    assert became["status"] == 0


def test_outside_python_s_profiler_measures() -> None:
    code = "import cProfile\nwith cProfile.Profile() as p: abs(1)\nresult = len(p.getstats()) > 0"
    assert run_outside(code) is True


def test_python_s_profiler_shows_nothing_of_the_grader(worker: ConfinedWorker) -> None:
    code = "import cProfile\nwith cProfile.Profile() as p: sorted([2, 1])\nresult = p.getstats()"
    assert worker.run(code)["result"] == []


# --- what awaits runs to its end, with tasks, time and work handed to a thread


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
