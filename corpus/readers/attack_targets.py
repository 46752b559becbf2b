"""What attacks aim at: files and servers on this machine, and right values as a table."""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from corpus.readers.attacks import Attack
from corpus.readers.exercise_text import lecture_notebook
from corpus.readers.lecture_course import ATOMIC
from grader.program.references import SEED, prepare

OUTSIDE = (
    *(Path.home(), Path.cwd()),
    *(Path(name) for name in ("/srv", "/tmp", "/var/tmp", "/dev/shm")),
)
"""Where an attack may hope to leave a file, beside the folder made for it."""


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


@contextlib.contextmanager
def open_places() -> Iterator[Places]:
    """Targets on this machine, each watched."""
    with tempfile.TemporaryDirectory(prefix="attacked-") as folder:
        yield from _open_in(Path(folder))


def _open_in(folder: Path) -> Iterator[Places]:
    found = Places(folder)
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
    names = lecture_notebook()
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
