"""The folder of a gradebook: what it holds, with which settings, and which run has it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import filelock

from grader.classroom.run.journal import BrokenJournal, read_lines
from grader.classroom.run.line import seal
from grader.classroom.run.settings import Settings, Versions
from grader.printable import printable
from grader.submission.notebook_file import shown
from grader.user_error import UserError, reason
from grader.whole_file import is_format, is_left_over, write_whole
from grader.worker.terms import Limits

RUN, RESULTS, LOCK = "run.json", "results.jsonl", ".lock"
UNFINISHED = ".unfinished"
"""There while tables and pages are written: what was stopped then may be of two runs."""

FORMAT_VERSION = 1


class UnfitFolder(UserError):
    """The gradebook cannot go there, or not like this; the message is for the instructor."""


def refuse_misplaced(folder: Path, out: Path) -> None:
    """Raise UnfitFolder where a gradebook would be among what students handed in."""
    inside, outside = out.resolve(), folder.resolve()
    if inside == outside or outside in inside.parents:
        raise UnfitFolder(
            f"{shown(out)} is {'' if inside == outside else 'in '}the folder that is graded: "
            "choose a gradebook's folder elsewhere."
        )
    if inside in outside.parents:
        raise UnfitFolder(
            f"{shown(out)} holds the folder that is graded: choose a gradebook's folder elsewhere."
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
        for path in filter(is_left_over, out.iterdir()):
            path.unlink()
    except filelock.Timeout:
        raise UnfitFolder(
            f"Another `grader grade` is at work on {shown(out)}: wait until it has finished, or "
            "stop it."
        ) from None
    except FileExistsError:
        raise UnfitFolder(f"{shown(out)} is a file: a gradebook needs a folder.") from None
    except OSError as error:
        raise UnfitFolder(f"{shown(out)} cannot be written: {reason(error)}.") from None
    try:
        yield
    finally:
        lock.release()


def refuse_foreign(out: Path) -> None:
    """Raise UnfitFolder where there is something, but no gradebook."""
    if not out.is_dir():
        return
    names = {path.name for path in out.iterdir() if not is_left_over(path)} - {LOCK}
    if names and RUN not in names:
        raise UnfitFolder(
            f"{shown(out)} holds something else than a gradebook ({printable(min(names))}, for "
            "one): choose an empty folder, or one that is not there yet."
        )


def has_results(out: Path) -> bool:
    """True if a run has graded a file there; before that, settings are free.

    Lines that say why a file could not be graded do not count: another course may be meant.
    """
    try:
        return any(line.report for _, _, line in read_lines(out / RESULTS))
    except FileNotFoundError:
        return False
    except BrokenJournal:  # opened, it says what is wrong with it
        return True


def choose_settings(out: Path, wanted: Settings, given: Collection[str]) -> Settings:
    """The settings of this run: those of the folder, where it has results, or else `wanted`.

    Args:
        out: the gradebook's folder.
        wanted: the settings of a new gradebook.
        given: the options among "seed" and "timeout" that the instructor gave; the folder decides
            about the others.

    Raises:
        UnfitFolder: the folder's settings are not what is asked for, or cannot be understood.
    """
    path = out / RUN
    if not path.exists():
        return wanted
    document = _read_run(path)
    if not has_results(out):
        return wanted
    if not is_format(format_ := document["format"], FORMAT_VERSION):
        raise UnfitFolder(
            f"{shown(out)} was begun by another version of the grader (format "
            f"{printable(str(format_))}, here {FORMAT_VERSION}): choose another --out."
        )
    limits, versions = Limits(**document["limits"]), Versions(**document["versions"])
    had = Settings(document["seed"], limits, document["sandbox"], versions, wanted.course)
    if document.get("course", wanted.course.digest) != wanted.course.digest:
        raise UnfitFolder(
            f"{shown(out)} was begun with another course, or another text of this one. Give the "
            "--course that it was begun with, or grade everything anew with another --out (with "
            f"--seed {had.seed}, on the same hidden values)."
        )
    for before, now in _differences(had, wanted, given):
        same = "" if "--seed" in now else f" (with --seed {had.seed}, on the same hidden values)"
        raise UnfitFolder(
            f"{shown(out)} was begun with {before}, and now it would be {now}: results of both "
            f"could not be compared. Go on with {before}, or grade everything anew with another "
            f"--out{same}."
        )
    return had


def convention_of(out: Path) -> str:
    """How the folder was laid out that the gradebook was made from.

    Raises:
        UnfitFolder: there is no gradebook, or it cannot be understood.
    """
    path = out / RUN
    if not path.is_file():
        raise UnfitFolder(
            f"{shown(out)} is no gradebook: name the folder that `grader grade` has written."
        )
    return str(_read_run(path)["convention"])


def _read_run(path: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(path.read_bytes())
        if document.pop("seal") != seal(json.dumps(document)):
            raise ValueError("it was edited")
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise UnfitFolder(
            f"{shown(path)} is not what a run has written: restore it, or choose another --out."
        ) from None
    except OSError as error:
        raise UnfitFolder(f"{shown(path)} cannot be read: {reason(error)}.") from None
    return document


def _differences(
    had: Settings, wanted: Settings, given: Collection[str]
) -> Iterator[tuple[str, str]]:
    if "seed" in given and wanted.seed != had.seed:
        yield f"--seed {had.seed}", f"--seed {wanted.seed}"
    if "timeout" in given and wanted.limits != replace(
        had.limits, memory_bytes=wanted.limits.memory_bytes
    ):
        before, now = had.limits.statement_seconds, wanted.limits.statement_seconds
        yield f"--timeout {before:g}", f"--timeout {now:g}"
    if wanted.sandbox != had.sandbox:
        yield f"--sandbox {had.sandbox}", f"--sandbox {wanted.sandbox}"
    if had.versions.minor != wanted.versions.minor:
        yield str(had.versions.minor), str(wanted.versions.minor)


def begin(out: Path, settings: Settings, convention: str) -> None:
    """Begin a gradebook: write run.json, and delete results in which nothing is graded.

    Raises:
        OSError: it cannot be written.
    """
    (out / RESULTS).unlink(missing_ok=True)
    own = asdict(settings) | {"course": settings.course.digest}
    document = {"format": FORMAT_VERSION, **own, "convention": convention}
    document["seal"] = seal(json.dumps(document))
    write_whole(out / RUN, json.dumps(document, indent=2) + "\n", durable=True)
