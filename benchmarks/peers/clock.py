"""How long several commands take side by side."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


class CommandFailed(Exception):
    """A command of a peer did not do what it was asked for; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command with the folder it runs in and its environment variables."""

    words: tuple[str, ...]
    folder: Path
    variables: Mapping[str, str]


def seconds_of(commands: Sequence[Command]) -> float:
    """Run the commands at the same time; seconds until the last has ended."""
    start = time.perf_counter()
    running = [
        subprocess.Popen(
            command.words,
            cwd=command.folder,
            env=command.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for command in commands
    ]
    said = [process.communicate()[0] for process in running]
    seconds = time.perf_counter() - start
    for process, command, text in zip(running, commands, said, strict=True):
        if process.returncode:
            last = text.decode(errors="replace")[-2000:]
            raise CommandFailed(f"{' '.join(command.words)} gave {process.returncode}:\n{last}")
    return seconds
