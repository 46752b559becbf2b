"""The folder of a gradebook: what it holds, with which settings, and which run has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import filelock

from grader.bulk.settings import Settings, Versions
from grader.printable import printable
from grader.whole_file import temporary_name, whole_file

RUN, RESULTS, LOCK = "run.json", "results.jsonl", ".lock"

FORMAT_VERSION = 1


class UnfitFolder(Exception):
    """The gradebook cannot go there, or not like this; the message is for the instructor."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the instructor wants of a run; None where they leave it open."""

    seed: int | None
    seconds: tuple[float, float] | None
    """For a statement and for a whole answer."""
    sandbox: str


def refuse_misplaced(folder: Path, out: Path) -> None:
    """Raise UnfitFolder where a gradebook would be among what students handed in."""
    inside, outside = out.resolve(), folder.resolve()
    if inside == outside or outside in inside.parents:
        raise UnfitFolder(
            f"{_shown(out)} is {'' if inside == outside else 'in '}the folder that is graded: "
            "choose a gradebook's folder elsewhere."
        )
    if inside in outside.parents:
        raise UnfitFolder(
            f"{_shown(out)} holds the folder that is graded: choose a gradebook's folder elsewhere."
        )


@contextmanager
def claimed(out: Path) -> Iterator[None]:
    """Make the folder if there is none, and keep other runs out of it.

    Raises:
        UnfitFolder: another run has it, it holds something else, it cannot be written.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        refuse_foreign(out)
        # The system's own lock: it is gone with the process that holds it, however that ended.
        lock = filelock.FileLock(out / LOCK, timeout=0)
        lock.acquire()
    except filelock.Timeout:
        raise UnfitFolder(
            f"Another `grader grade` is at work on {_shown(out)}: wait until it has finished, or "
            "stop it."
        ) from None
    except FileExistsError:
        raise UnfitFolder(f"{_shown(out)} is a file: a gradebook needs a folder.") from None
    except OSError as error:
        raise UnfitFolder(f"{_shown(out)} {cannot_be_written(error)}") from None
    try:
        yield
    finally:
        lock.release()


def cannot_be_written(error: OSError) -> str:
    """The rest of the sentence about a file or folder."""
    return f"cannot be written: {(error.strerror or str(error)).lower()}."


def refuse_foreign(out: Path) -> None:
    """Raise UnfitFolder where there is something, but no gradebook."""
    if not out.is_dir():
        return
    ours = {RUN, LOCK, temporary_name(out / RUN).name}
    names = {path.name for path in out.iterdir()}
    if RUN not in names and names - ours:
        raise UnfitFolder(
            f"{_shown(out)} holds something else than a gradebook ({printable(min(names - ours))}, "
            "for one): choose an empty folder, or one that is not there yet."
        )


def read_run(out: Path) -> dict[str, Any] | None:
    """What run.json says, or None in a new folder.

    Raises:
        UnfitFolder: it cannot be understood.
    """
    path = out / RUN
    try:
        document: Any = json.loads(path.read_bytes())
        Settings(**_settings_in(document))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise UnfitFolder(
            f"{_shown(path)} is not what a run has written: restore it, or choose another --out."
        ) from None
    except OSError as error:
        raise UnfitFolder(f"{_shown(path)} cannot be read: {error.strerror}.") from None
    assert isinstance(document, dict)
    return document


def has_results(out: Path) -> bool:
    """Whether a run has written a line there; before that, settings are free."""
    results = out / RESULTS
    return results.exists() and results.stat().st_size > 0


def settle(out: Path, asked: Asked, fresh: Settings) -> Settings:
    """The settings of this run: those of the folder, where it has results, or `fresh` ones.

    Raises:
        UnfitFolder: the folder's are not what is asked for.
    """
    document = read_run(out)
    if document is None or not has_results(out):
        return fresh
    if document.get("format") != FORMAT_VERSION:
        raise UnfitFolder(
            f"{_shown(out)} was begun by another version of the grader (format "
            f"{printable(str(document.get('format')))}, here {FORMAT_VERSION}): choose another "
            "--out."
        )
    settings = Settings(**_settings_in(document))
    for had, now in _differences(settings, asked, fresh):
        raise UnfitFolder(
            f"{_shown(out)} was begun with {had}, and now it would be {now}: results of both could "
            f"not be compared. Go on with {had}, or grade everything anew with another --out (with "
            f"--seed {settings.seed}, on the same hidden values)."
        )
    return settings


def _differences(had: Settings, asked: Asked, fresh: Settings) -> Iterator[tuple[str, str]]:
    if asked.seed not in (None, had.seed):
        yield f"--seed {had.seed}", f"--seed {asked.seed}"
    if asked.seconds not in (None, (had.statement_seconds, had.total_seconds)):
        yield f"--timeout {had.statement_seconds:g}", f"--timeout {fresh.statement_seconds:g}"
    if asked.sandbox != had.sandbox:
        yield f"--sandbox {had.sandbox}", f"--sandbox {asked.sandbox}"
    if had.versions.minor != fresh.versions.minor:
        yield str(had.versions.minor), str(fresh.versions.minor)


def _settings_in(document: Any) -> dict[str, Any]:
    limits = document["limits"]
    return {
        "seed": int(document["seed"]),
        "statement_seconds": float(limits["statement_seconds"]),
        "total_seconds": float(limits["total_seconds"]),
        "memory_bytes": int(limits["memory_bytes"]),
        "sandbox": str(document["sandbox"]),
        "versions": Versions(**document["versions"]),
    }


def write_run(out: Path, settings: Settings, convention: str) -> None:
    """Write run.json.

    Raises:
        OSError: it cannot be written.
    """
    document = {
        "format": FORMAT_VERSION,
        "seed": settings.seed,
        "limits": {
            "statement_seconds": settings.statement_seconds,
            "total_seconds": settings.total_seconds,
            "memory_bytes": settings.memory_bytes,
        },
        "sandbox": settings.sandbox,
        "convention": convention,
        "versions": asdict(settings.versions),
    }
    with whole_file(out / RUN, durable=True) as file:
        file.write(json.dumps(document, indent=2).encode("ascii") + b"\n")


def _shown(path: Path) -> str:
    return printable(str(path))
