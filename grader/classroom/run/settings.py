"""Settings that change a result line."""

from __future__ import annotations

import importlib.metadata
import platform
import secrets
from dataclasses import dataclass
from functools import cache

from grader.program.course import Course
from grader.worker.terms import Limits

SEED_BITS = 31

PATIENCE_SECONDS = 120.0
"""What a notebook may take beside two exercises' limits: to be read, judged, explained."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The seed of the hidden instances, what an answer may use, and where it runs.

    `sandbox` is "bwrap" or "none"; `versions` are those of the machine that hands out the work;
    `course` is the instructor's, whose forward functions travel with it.
    """

    seed: int
    limits: Limits
    sandbox: str
    versions: Versions
    course: Course


@dataclass(frozen=True, slots=True)
class Versions:
    """What a verdict depends on; of Python, the first two numbers (`minor`)."""

    grader: str
    python: str
    torch: str

    @property
    def minor(self) -> Versions:
        """The versions without the last number of Python's."""
        return Versions(self.grader, ".".join(self.python.split(".")[:2]), self.torch)

    def __str__(self) -> str:
        return f"grader {self.grader}, Python {self.python}, torch {self.torch}"


def secret_seed() -> int:
    """A new seed of the hidden values.

    The course is public: a student who knew the seed could write down the hidden results.
    """
    return secrets.randbits(SEED_BITS)


def task_seconds(limits: Limits) -> float:
    """How long a notebook may keep a process busy before that process is given up."""
    return 2 * limits.total_seconds + PATIENCE_SECONDS


@cache
def installed_versions() -> Versions:
    """The versions that this process has, without importing torch."""
    return Versions(_version("backprop-ninja"), platform.python_version(), _version("torch"))


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
