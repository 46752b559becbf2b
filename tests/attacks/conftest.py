"""What the attacks aim at, and the graders that are attacked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from corpus.readers.attack_targets import Places, open_places
from corpus.readers.places import PROJECT
from grader.execution.runner import Runner
from grader.execution.sandbox import NoSandbox, Sandbox
from grader.worker.terms import Limits

LIMITS = Limits(statement_seconds=0.4, total_seconds=3.0, memory_bytes=2**29)
"""What an attack may use: far less than a student, so that the corpus takes a minute."""

PATIENT = replace(LIMITS, statement_seconds=10.0, total_seconds=60.0)
"""For what earns something: on a busy machine it needs more, and has to earn it there too."""

TOKEN = "ATTACK_TOKEN_that_no_answer_may_read"


@pytest.fixture(scope="session")
def places() -> Iterator[Places]:
    """Targets on this machine, each watched."""
    with open_places() as found:
        yield found


NaiveGrader = Callable[[str], list[str]]


@pytest.fixture(scope="session")
def naive_grader() -> Iterator[NaiveGrader]:
    """The grader without a defence: an answer's text to the gradients it takes for right."""
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "tests.attacks.naive_grader"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=PROJECT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "ATTACK_TOKEN": TOKEN},
    ) as process:

        def grade(source: str) -> list[str]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(source) + "\n")
            process.stdin.flush()
            found: list[str] = json.loads(process.stdout.readline())
            return found

        yield grade
        process.kill()


@pytest.fixture(scope="session")
def attacked() -> Iterator[Runner]:
    """The worker that all attacks of a session are run on, one after the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTACK_TOKEN", TOKEN)
        try:
            runner = Runner(LIMITS, Sandbox.BWRAP)
        except NoSandbox:
            runner = Runner(LIMITS, Sandbox.NONE)
        with runner:
            yield runner
