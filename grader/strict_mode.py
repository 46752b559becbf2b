"""Strict mode, in which a check cell raises where a gradient does not pass."""

from __future__ import annotations

import os
from collections.abc import Iterable

from grader.reports import wording
from grader.spoken_error import SpokenError
from grader.verdict import Outcome, Verdict

VARIABLE = "GRADER_STRICT"
"""Environment variable that turns it on: anything but an empty word or "0"."""


class NotEveryGradientPasses(SpokenError):
    """What a check cell ends with in strict mode, so that whoever runs the notebook notices."""


def is_strict() -> bool:
    return os.environ.get(VARIABLE, "").strip() not in {"", "0"}


def insist(verdicts: Iterable[Verdict]) -> None:
    """Raise unless every gradient passes, by the rule of `grader check` and its exit code.

    Raises:
        NotEveryGradientPasses: names those that do not pass; a `carried` one is among them.
    """
    others = [v for v in verdicts if v.outcome is not Outcome.PASS]
    if others:
        named = ", ".join(f"{v.name} ({wording.word(v.outcome)})" for v in others)
        raise NotEveryGradientPasses(f"Not every gradient of this check passes: {named}.")
