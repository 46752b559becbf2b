"""Profilers run what they are put around, and measure nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from grader.execution.sandbox import Sandbox
from tests.helpers.confined import ConfinedWorker, confined_worker, run_outside

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere they measure")


@pytest.fixture(scope="module")
def worker() -> Iterator[ConfinedWorker]:
    with confined_worker(Sandbox.NONE, "torch") as running:
        yield running


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
