import os
import subprocess
import sys

import pytest

from benchmarks.grade_command.processor_time import (
    Meter,
    ProcessTable,
    _below,
    _fields,
    _from_nanoseconds,
    _from_statistics,
    _waited_for,
    meter,
)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

BURN = "import time\nwhile time.process_time() < 0.3: pass"
"""A process that ends as soon as it has used so much, however busy the machine is."""


def use(processors: Meter) -> None:
    process = subprocess.Popen([sys.executable, "-c", BURN], preexec_fn=processors.enter)
    processors.glance(process.pid)
    process.wait()


@pytest.mark.slow
def test_a_process_is_counted_whichever_way() -> None:
    with meter() as processors:
        use(processors)
        assert processors.seconds() > 0.25
    table = ProcessTable(_waited_for())
    use(table)
    assert table.seconds() > 0.25
    assert table.sandboxed_seconds == 0


def test_a_sandboxed_process_counts_until_its_parent_has_waited_for_it() -> None:
    table = ProcessTable(_waited_for(), {-7: (-8, 2.0), -9: (os.getpid(), 3.0)})
    table.glance(os.getpid())
    # Other tests' workers, which may be there as well, have numbers above zero.
    assert {n: seen for n, seen in table.sandboxed.items() if n < 0} == {-7: (-8, 2.0)}
    assert table.seconds() >= 2.0


def test_what_proc_tells_is_understood() -> None:
    assert _fields(os.getpid())[1] == os.getppid()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert child.pid in set(_below(os.getpid()))
    finally:
        child.communicate(b"\n")


def test_both_kinds_of_control_groups_are_understood() -> None:
    assert _from_nanoseconds("1500000000\n") == 1.5
    assert _from_statistics("usage_usec 2500000\nuser_usec 1\n") == 2.5


@pytest.mark.slow
def test_a_process_at_work_counts_for_as_much_as_when_it_has_ended() -> None:
    burning = [sys.executable, "-c", f"{BURN}\nprint(flush=True)\ninput()"]
    own, other = (
        subprocess.Popen(burning, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)
    )
    try:
        for process in (own, other):
            assert process.stdout is not None
            process.stdout.readline()
        table = ProcessTable(_waited_for())
        assert table.seconds() == 0
        table.glance(own.pid)
        at_work = table.seconds()
        own.communicate(b"\n")
        assert 0.25 < at_work <= table.seconds() + 0.02 < at_work + 0.2
    finally:
        other.communicate(b"\n")
