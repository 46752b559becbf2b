"""The settings on which a result line depends."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import secrets
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache

from grader.program.course import Course
from grader.user_error import UserError
from grader.worker.terms import Limits

SEED_BITS = 31

PATIENCE_SECONDS = 120.0
"""The seconds for reading, judging and explaining a notebook, besides two exercises' limits."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The seed of the hidden instances, the limits of an answer, and where it runs.

    `sandbox` is "bwrap" or "none". `versions` are those of the machine that hands out the work.
    `course` is the instructor's, and its forward functions travel with it.
    """

    seed: int
    limits: Limits
    sandbox: str
    versions: Versions
    course: Course


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions on which a verdict depends; of Python's, two numbers count (`minor`)."""

    grader: str
    python: str
    torch: str

    @property
    def minor(self) -> Versions:
        """The versions without the last number of Python's version."""
        return Versions(self.grader, ".".join(self.python.split(".")[:2]), self.torch)

    def __str__(self) -> str:
        return f"grader {self.grader}, Python {self.python}, torch {self.torch}"


def secret_seed() -> int:
    """Draw a new seed for the hidden values.

    The course is public: a student who knew the seed could write down the hidden results.
    """
    return secrets.randbits(SEED_BITS)


def task_seconds(limits: Limits) -> float:
    """The seconds for which a notebook may keep a process busy before the process is given up."""
    return limits.total_seconds + PATIENCE_SECONDS


class OtherSettings(UserError):
    """The requested settings differ from those of the results; the message says in what."""


def as_text(settings: Settings) -> str:
    """Write settings as JSON, with only the name and digest of the course."""
    return json.dumps(asdict(settings) | {"course": settings.course.digest})


def reconciled(text: str, wanted: Settings, given: Collection[str], where: str) -> Settings:
    """Read the settings that `as_text` wrote, if they agree with the requested ones.

    Args:
        text: the settings of the existing results.
        wanted: the requested settings.
        given: which of "seed" and "timeout" the instructor gave. For the others, the existing
            results decide.
        where: the folder of the results.

    Raises:
        OtherSettings: the settings do not agree.
    """
    document = json.loads(text)
    limits, versions = Limits(**document["limits"]), Versions(**document["versions"])
    had = Settings(document["seed"], limits, document["sandbox"], versions, wanted.course)
    if document["course"] != wanted.course.digest:
        raise OtherSettings(
            f"{where} was begun with another course, or another text of this one. Give the "
            "--course that it was begun with, or grade everything anew with another --out (with "
            f"--seed {had.seed}, on the same hidden values)."
        )
    for before, now in _differences(had, wanted, given):
        same = "" if "--seed" in now else f" (with --seed {had.seed}, on the same hidden values)"
        raise OtherSettings(
            f"{where} was begun with {before}, and now it would be {now}: results of both "
            f"could not be compared. Go on with {before}, or grade everything anew with another "
            f"--out{same}."
        )
    return had


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


@cache
def installed_versions() -> Versions:
    """The versions that this process uses, found without importing torch."""
    return Versions(_version("backprop-ninja"), platform.python_version(), _version("torch"))


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
