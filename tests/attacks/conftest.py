"""What the attacks aim at, and the graders that are attacked."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pytest

from corpus.readers.attacks import Attack
from corpus.readers.lecture_course import ATOMIC
from corpus.readers.places import PROJECT
from grader.execution.runner import Runner
from grader.execution.sandbox import NoSandbox, Sandbox
from grader.program.references import SEED, prepare
from grader.worker.terms import Limits
from tests.attacks.naive_grader import as_in_the_notebook

LIMITS = Limits(statement_seconds=0.4, total_seconds=3.0, memory_bytes=2**29)
"""What an attack may use: far less than a student, so that the corpus takes a minute."""

PATIENT = replace(LIMITS, statement_seconds=10.0, total_seconds=60.0)
"""For what earns something: on a busy machine it needs more, and has to earn it there too."""

OUTSIDE = (
    *(Path.home(), Path.cwd()),
    *(Path(name) for name in ("/srv", "/tmp", "/var/tmp", "/dev/shm")),
)
"""Where an attack may hope to leave a file, beside the folder made for it."""

TOKEN = "ATTACK_TOKEN_that_no_answer_may_read"


@dataclass(slots=True)
class Places:
    """Files and servers that attacks reach for; what they did to them is what counts.

    `canary` does not exist, `secret` holds a right line; `calls` are connections and datagrams
    that arrived.
    """

    folder: Path
    text: str = ""
    calls: list[str] = field(default_factory=list)

    @property
    def canary(self) -> Path:
        return self.folder / "canary"

    @property
    def secret(self) -> Path:
        return self.folder / "secret.py"

    def renew(self) -> None:
        """Everything as it was before an attack."""
        for path in self.folder.iterdir():
            if path.suffix != ".socket":
                path.unlink()
        self.secret.write_text("dlogits = (F.softmax(logits, 1) - F.one_hot(Yb, vocab_size)) / n\n")
        self.calls.clear()

    def harm(self) -> list[str]:
        """What an attack did: files made, changed or deleted, calls that arrived."""
        left = [
            path.name
            for path in self.folder.iterdir()
            if path != self.secret and path.suffix != ".socket"
        ]
        for folder in OUTSIDE:
            for path in folder.glob("*_by_an_attack"):
                left.append(str(path))
                path.unlink()
        if not self.secret.exists() or "softmax" not in self.secret.read_text():
            left.append("secret changed")
        return left + self.calls


def _listen(server: socket.socket, places: Places) -> None:
    while True:
        try:
            if server.type == socket.SOCK_DGRAM:
                places.calls.append(f"datagram {server.recv(100)!r}")
            else:
                connection, _ = server.accept()
                places.calls.append(f"connection to {server.family.name}")
                connection.close()
        except OSError:
            return


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    """Targets on this machine, each watched."""
    found = Places(tmp_path_factory.mktemp("attacked"))
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(str(found.folder / "server.socket"))
    unix.listen()
    servers = (tcp, udp, unix)
    found.text = "\n".join(
        (
            f"CANARY, SECRET = {str(found.canary)!r}, {str(found.secret)!r}",
            f"TCP_PORT, UDP_PORT = {tcp.getsockname()[1]}, {udp.getsockname()[1]}",
            f"UNIX_SOCKET = {str(found.folder / 'server.socket')!r}",
            f"OUTSIDE = {[str(folder) for folder in OUTSIDE]!r}",
        )
    )
    for server in servers:
        threading.Thread(target=_listen, args=(server, found), daemon=True).start()
    yield found
    for server in servers:
        # Shut down, `accept` returns; only closed, it would wait for ever.
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()


@cache
def table() -> str:
    """Right values as an attacker could write them down: the notebook's, the default seed's."""
    names = as_in_the_notebook()
    naive = {name: names[name[1:]].grad.tolist() for name in ("dlogits", "dC")}
    grounds = prepare(ATOMIC, SEED)
    seed = {
        tuple(reference.gradients["logits"].shape): reference.gradients["logits"].tolist()
        for reference in grounds.hidden
    }
    lecture = grounds.lecture_gradients["logits"]
    seed[tuple(lecture.shape)] = lecture.tolist()
    both = {"naive": naive, "seed": seed}
    return f"TABLE = {both!r}"


def text_of(attack: Attack, places: Places) -> str:
    """The attack's answer cell, with what it aims at."""
    before = [table()] if "table" in attack.uses else []
    return "\n".join([*before, attack.text(places.text)])


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
