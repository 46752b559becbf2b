"""What all tests share: no network, no window, a warm worker, and where the lecture's names are."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from corpus.readers.places import PROJECT

if TYPE_CHECKING:
    from grader.execution.runner import Runner

# Before anything imports matplotlib, and for the child processes of the tests too.
os.environ["MPLBACKEND"] = "Agg"
# pytest-xdist gives every core its test; torch would give every test all cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Notebook 1 and the encore's notebook 7 train briefly, and the latter compiles nothing.
os.environ["BACKPROP_NINJA_STEPS"] = "60"

# A shell lets its background jobs ignore Ctrl-C, and all that they start: no test could send one.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Which names a test uses, it says itself. The variable's own value is kept under another name,
# for pytest-xdist's workers are children of this process.
LECTURE_NAMES = os.environ.setdefault(
    "LECTURE_NAMES_OF_TESTS", os.environ.get("MAKEMORE_NAMES", "bundled")
)
os.environ["MAKEMORE_NAMES"] = "bundled"

# No test measures time: on a busy machine an example may take long.
settings.register_profile("course", deadline=None)
settings.load_profile("course")


LIKE_WINDOWS = Path(__file__).parent / "like_windows"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--like-windows`."""
    text = "take away what Windows lacks, with a console in cp1252, and run the tests of that alone"
    parser.addoption("--like-windows", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Let every process that a test starts lack what Windows lacks, if that is asked for."""
    if config.getoption("--like-windows"):
        os.environ["PYTHONPATH"] = str(LIKE_WINDOWS)
        os.environ["PYTHONIOENCODING"] = "cp1252:strict"


MOST_CASES = 12
"""Cases of a parametrised test that `make test` runs; `make test-all` runs every one."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what a parametrised test has beyond its sample.

    The sample is spread evenly over the cases, in their order. A test that carries
    `@pytest.mark.sample(key, *folders)` has one case of each value of the key instead, or all of
    them where one of the folders is not as it is on the main branch.
    """
    option = items[0].config.getoption("--like-windows") if items else False
    items[:] = [item for item in items if option == bool(item.get_closest_marker("like_windows"))]
    tests: dict[tuple[str, str], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            tests.setdefault((str(item.path), item.originalname), []).append(item)
    for cases in tests.values():
        chosen = {*_sample(cases)}
        for case in cases:
            if case not in chosen:
                case.add_marker(pytest.mark.slow)


def _sample(cases: list[pytest.Function]) -> list[pytest.Function]:
    marker = cases[0].get_closest_marker("sample")
    if marker is None:
        step = max(len(cases) / MOST_CASES, 1)
        return [cases[int(place * step)] for place in range(min(len(cases), MOST_CASES))]
    key, *folders = marker.args
    if _have_changed(*folders):
        return cases
    return [*{key(*case.callspec.params.values()): case for case in reversed(cases)}.values()]


@cache
def _have_changed(*folders: str) -> bool:
    """True if some folders are not as they are on the main branch, as far as git knows it."""
    command = ["git", "diff", "--quiet", "origin/main", "--", *folders]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, check=False).returncode == 1


_LOCAL_HOSTS = {"127.0.0.1", "::1", "localhost"}


@pytest.fixture
def project() -> Path:
    """The folder of this checkout."""
    return PROJECT


@pytest.fixture
def lecture_names() -> Path:
    """The lecture's names.txt; the test is skipped where MAKEMORE_NAMES names no such file."""
    path = Path(LECTURE_NAMES).absolute()
    if LECTURE_NAMES == "bundled" or not path.is_file():
        pytest.skip("MAKEMORE_NAMES does not name the lecture's names.txt")
    return path


@pytest.fixture(scope="session")
def warm_runner() -> Iterator[Runner]:
    """One worker for all tests of a process whose answers end."""
    # Only here: before torch is imported, the variables above have to be set.
    from grader.execution.runner import Runner
    from grader.worker.terms import Limits

    with Runner(Limits(statement_seconds=20.0, total_seconds=120.0)) as runner:
        yield runner


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail, rather than wait, where a test reaches for another machine."""
    connect: Callable[..., Any] = socket.socket.connect

    def refuse(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in _LOCAL_HOSTS:
            raise AssertionError(f"A test tried to reach {address}; tests need no network.")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refuse)
