"""An answer that starts a thread, a pool or a profiler is told that these do not run here."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from grader.execution.sandbox import Sandbox
from grader.worker.terms import NO_THREADS
from tests.helpers.confined import ConfinedWorker, confined_worker, run_outside

FUTURES = "from concurrent.futures import *\n"
REFUSED = {
    "thread": "from threading import Thread\nresult = Thread(target=int).start()",
    "class of one's own": "from threading import Thread\n"
    "class Mine(Thread):\n    pass\nresult = Mine().start()",
    "timer": "from threading import Timer\nresult = Timer(0, int).start()",
    "executor": FUTURES + "result = list(ThreadPoolExecutor(2).map(abs, [-1]))",
    "executor of processes": FUTURES + "result = ProcessPoolExecutor(2).submit(abs, -1).result()",
    "pool": "from multiprocessing import Pool\nwith Pool(2) as p: result = p.map(abs, [-1])",
    "pool of threads": "from multiprocessing.pool import ThreadPool\n"
    "with ThreadPool(2) as p: result = p.map(abs, [-1])",
    "pool under its short name": "import multiprocessing.dummy\n"
    "with multiprocessing.dummy.Pool(2) as p: result = p.map(abs, [-1])",
    "process": "from multiprocessing import Process\nresult = Process(target=abs).start()",
    "loader with workers": "from torch.utils.data import DataLoader\n"
    "result = len(list(DataLoader([1, 2], num_workers=1)))",
    "profiler": "import torch.profiler\nwith torch.profiler.profile(): result = 1",
    "older profiler": "import torch\nwith torch.autograd.profiler.profile(): result = 1",
    "Python's profiler": "import cProfile\nwith cProfile.Profile(): result = 1",
}


@pytest.fixture(scope="module")
def worker() -> Iterator[ConfinedWorker]:
    if sys.platform != "linux":
        pytest.skip("a confined child is Linux's")
    with confined_worker(Sandbox.NONE, "torch") as running:
        yield running


@pytest.mark.parametrize("what", REFUSED)
def test_it_raises_one_sentence(what: str, worker: ConfinedWorker) -> None:
    became = worker.run(REFUSED[what])
    assert became.get("message") == NO_THREADS, became
    assert became["status"] == 0


def test_outside_they_run() -> None:
    assert run_outside(REFUSED["executor"]) == [1]


@pytest.mark.parametrize(
    "loop",
    ["from tqdm.auto import tqdm as bar", "from rich.progress import track as bar"],
)
def test_a_progress_bar_draws_nothing_and_its_loop_runs(loop: str, worker: ConfinedWorker) -> None:
    quiet = "import io, sys\nsys.stdout = sys.stderr = io.StringIO()\n"
    code = f"{quiet}{loop}\nresult = [k for k in bar(range(3))]"
    became = worker.run(code)
    assert became.get("result") == [0, 1, 2], became
