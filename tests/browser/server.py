"""A JupyterLab server that knows nothing of its user's own settings."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SECONDS_TO_START = 600
SECONDS_TO_STOP = 300

SETTINGS = {
    # A question about news, and a request to another machine.
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    # Every cell is in the page, also those that are far from what one sees of it.
    "notebook-extension/tracker": {"windowingMode": "none"},
}
"""What differs from JupyterLab's defaults, by plugin of `@jupyterlab`."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its address with a slash at the end, and the token that opens it."""

    url: str
    token: str


@contextmanager
def serve(notebooks: Path, scratch: Path) -> Iterator[Server]:
    """Run JupyterLab on a folder of notebooks, with everything it writes in another folder."""
    folders = {
        "JUPYTER_CONFIG_DIR": scratch / "config",
        "JUPYTER_DATA_DIR": scratch / "data",
        "JUPYTER_RUNTIME_DIR": scratch / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": scratch / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": scratch / "workspaces",
        "IPYTHONDIR": scratch / "ipython",
    }
    for folder in folders.values():
        folder.mkdir(parents=True)
    for plugin, values in SETTINGS.items():
        file = scratch / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")
    environment = os.environ | {name: str(folder) for name, folder in folders.items()}
    # For the tests' own process: a notebook's kernel draws into the notebook.
    environment.pop("MPLBACKEND", None)

    token = secrets.token_hex()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": "0",  # any that is free
        "ServerApp.root_dir": str(notebooks),
        "IdentityProvider.token": token,
    }
    command += [f"--{name}={value}" for name, value in options.items()]
    log = scratch / "server.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=notebooks, env=environment, stdout=stream, stderr=subprocess.STDOUT
        )
    try:
        yield Server(_address(process, folders["JUPYTER_RUNTIME_DIR"], log), token)
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server, and its kernels with it.

    Where its own tidying up fails, it never ends: it stops its loop only after that.
    """
    process.terminate()
    try:
        process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _address(process: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """Where the server says it listens, as soon as it does."""
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline and process.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            try:
                return str(json.loads(file.read_text(encoding="utf-8"))["url"])
            except json.JSONDecodeError:
                pass  # half written
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start. Its log:\n{log.read_text(encoding='utf-8')}")
