"""What an autograder was exported with: the settings that travel in its zip."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

SETTINGS, RUBRIC, FALLBACK = "settings.json", "rubric.toml", "not_graded.json"
"""Files beside `setup.sh` in the zip: these settings, the rubric if any, and the results that
stand until there are better ones."""

FORMAT_VERSION = 1
SEED_BITS = 31


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
    made; whoever knew it could write down the hidden values' results.
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
            return secrets.randbits(SEED_BITS)
        digest = hmac.digest(self.key.encode(), submission.encode(), hashlib.sha256)
        return int.from_bytes(digest[:8], "big") >> (64 - SEED_BITS)


def pack_settings(settings: ExportSettings) -> bytes:
    """The settings as the zip holds them."""
    return json.dumps({"format": FORMAT_VERSION, **asdict(settings)}, indent=2).encode() + b"\n"


def read_settings(path: Path) -> ExportSettings:
    """What `pack_settings` has made.

    Raises:
        ValueError: the file is not one of those.
    """
    document = json.loads(path.read_bytes())
    if not isinstance(document, dict) or document.pop("format", None) != FORMAT_VERSION:
        raise ValueError(f"{path} was not written by this version of `grader export gradescope`.")
    try:
        settings = ExportSettings(**document)
        return replace(
            settings,
            visibility=Visibility(settings.visibility),
            stdout_visibility=Visibility(settings.stdout_visibility),
        )
    except TypeError as error:
        raise ValueError(
            f"{path} is not what `grader export gradescope` writes: {error}."
        ) from None
