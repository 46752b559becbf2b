"""What an autograder was exported with: the settings that travel in its zip."""

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
"""Files beside `setup.sh` in the zip: these settings, the rubric if any, and the results that
stand until there are better ones."""

COURSE = "course"
"""The folder beside them that holds the instructor's course, if it is not the built-in one."""

FORMAT_VERSION = 1


class Visibility(StrEnum):
    """When students see something, in Gradescope's own words."""

    VISIBLE = "visible"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """What the instructor has chosen.

    `sandbox` is "bwrap", or "account" for what is used where bubblewrap does not work: an account
    that owns nothing. `key` is a secret of this zip, from which the seed of each submission is
    made; a student who knew it could write down the hidden results.
    """

    notebook: str
    visibility: Visibility = Visibility.VISIBLE
    stdout_visibility: Visibility = Visibility.HIDDEN
    leaderboard: bool = False
    sandbox: str = "account"
    key: str = ""

    def seed(self, submission: str) -> int:
        """The seed of the hidden values: the same when a submission is graded again.

        Each submission has values of its own, since what an answer's error message says of them
        could be written into the next answer.
        """
        if not (self.key and submission):
            return secret_seed()
        digest = hmac.digest(self.key.encode(), submission.encode(), hashlib.sha256)
        return int.from_bytes(digest[:8], "big") >> (64 - SEED_BITS)


def pack_settings(settings: ExportSettings) -> bytes:
    """The settings as the zip holds them."""
    return json.dumps({"format": FORMAT_VERSION, **asdict(settings)}, indent=2).encode() + b"\n"


def read_settings(path: Path) -> ExportSettings:
    """Read what `pack_settings` has made.

    Raises:
        ValueError: the file is not one of those.
    """
    document = json.loads(path.read_bytes())
    try:
        if is_format(document.pop("format"), FORMAT_VERSION):
            return settings_from(document)
    except (AttributeError, KeyError, TypeError):
        pass
    raise ValueError(f"{path} was not written by this version of `grader export gradescope`.")


def settings_from(chosen: Mapping[str, Any]) -> ExportSettings:
    """The settings with these values, by their names; visibilities may be given as text.

    Raises:
        KeyError: a visibility is missing.
        TypeError: there is no setting of a name, or the notebook is missing.
        ValueError: a visibility is not one of Gradescope's.
    """
    names = ("visibility", "stdout_visibility")
    return ExportSettings(**{**chosen, **{name: Visibility(chosen[name]) for name in names}})
