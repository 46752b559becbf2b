"""Snippets of code run in confined children, and outside for comparison."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader.execution.sandbox import Sandbox, sandboxed, worker_environment, worker_root

SCRIPT = Path(__file__).with_name("confined_worker.py")

OUTSIDE = """
import json, sys
order = json.loads(sys.stdin.read())
space = dict(order["names"])
exec(order["code"], space)
print(json.dumps(space["result"]))
"""


class ConfinedWorker:
    """A worker of `confined_worker.py` behind its pipes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.is_filtered: bool = self._read()["filtered"]

    def run(self, code: str, cpu_seconds: float = 20.0, **names: object) -> dict[str, Any]:
        """What becomes of a snippet that sets `result`."""
        assert self._process.stdin is not None
        order = {"code": code, "names": names, "cpu_seconds": cpu_seconds}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the worker ended with {self._process.wait()}"
        reply: dict[str, Any] = json.loads(line)
        return reply


@contextmanager
def confined_worker(
    sandbox: Sandbox, imports: str = "", without: str = ""
) -> Iterator[ConfinedWorker]:
    """A worker in a sandbox; it imports modules while warm and leaves layers out."""
    script = SCRIPT.read_text(encoding="utf-8")
    arguments = [str(worker_root(sandbox)), imports, without]
    with subprocess.Popen(
        sandboxed([sys.executable, "-P", "-c", script, *arguments], sandbox),
        env=worker_environment(sandbox),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield ConfinedWorker(process)
        finally:
            process.kill()


def run_outside(code: str, **names: object) -> Any:
    """What `result` a snippet sets in a process that nothing confines."""
    done = subprocess.run(
        [sys.executable, "-c", OUTSIDE],
        input=json.dumps({"code": code, "names": names}),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=600,
    )
    return json.loads(done.stdout.splitlines()[-1])
