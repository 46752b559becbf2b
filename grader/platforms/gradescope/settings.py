"""The settings with which an autograder was exported, and which travel in its zip."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from grader.classroom.run.settings import SEED_BITS, secret_seed
from grader.whole_file import is_format

SETTINGS, RUBRIC, FALLBACK = "settings.json", "rubric.toml", "not_graded.json"
"""The files beside `setup.sh` in the zip: these settings, the rubric if there is one, and the
results that hold until there are better ones."""

COURSE = "course"
"""The folder beside them with the instructor's course, if it is not the built-in one."""

FORMAT_VERSION = 1


class Visibility(StrEnum):
    """When students see something, in Gradescope's own terms."""

    VISIBLE = "visible"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """The instructor's choices.

    `sandbox` is "bwrap", or "account" if an account that owns nothing may take its place where
    bubblewrap does not work. `key` is a secret of this zip, from which the seed of each submission
    is made. A student who knew it could write down the hidden results.
    """

    notebook: str
    visibility: Visibility = Visibility.VISIBLE
    stdout_visibility: Visibility = Visibility.HIDDEN
    leaderboard: bool = False
    sandbox: str = "account"
    key: str = ""

    def seed(self, submission: str) -> int:
        """The seed of the hidden values. It is the same when a submission is graded again.

        Each submission has values of its own. Otherwise a student could write what an error message
        says about them into the next answer.
        """
        if not (self.key and submission):
            return secret_seed()
        digest = hmac.digest(self.key.encode(), submission.encode(), hashlib.sha256)
        return int.from_bytes(digest[:8], "big") >> (64 - SEED_BITS)


def pack_settings(settings: ExportSettings) -> bytes:
    """Write the settings as the zip holds them."""
    return json.dumps({"format": FORMAT_VERSION, **asdict(settings)}, indent=2).encode() + b"\n"


def read_settings(path: Path) -> ExportSettings:
    """Read what `pack_settings` has made.

    Raises:
        ValueError: the file was not written by `pack_settings`.
    """
    document = json.loads(path.read_bytes())
    try:
        if is_format(document.pop("format"), FORMAT_VERSION):
            return settings_from(document)
    except (AttributeError, KeyError, TypeError):
        pass
    raise ValueError(f"{path} was not written by this version of `grader export gradescope`.")


def settings_from(chosen: Mapping[str, Any]) -> ExportSettings:
    """Make the settings from these values, by name; visibilities may be given as text.

    Raises:
        KeyError: a visibility is missing.
        TypeError: a name is not one of a setting, or the notebook is missing.
        ValueError: a visibility is not one of Gradescope's.
    """
    names = ("visibility", "stdout_visibility")
    return ExportSettings(**{**chosen, **{name: Visibility(chosen[name]) for name in names}})
