"""How far a run is: what the progress bar and the closing summary count."""

from __future__ import annotations

from dataclasses import dataclass

from grader.bulk.journal import Entry


@dataclass(slots=True)
class Tally:
    """Counts over the files handed in.

    `kept` were graded by an earlier run; `passed`, `unfinished`, `unreadable` add up to all that
    are done, kept ones included; `flagged` are those of them that a human should look at.
    """

    total: int
    kept: int = 0
    passed: int = 0
    unfinished: int = 0
    unreadable: int = 0
    flagged: int = 0

    @property
    def done(self) -> int:
        return self.passed + self.unfinished + self.unreadable

    @property
    def fresh(self) -> int:
        """Files that this run has done itself."""
        return self.done - self.kept

    def count(self, entry: Entry, kept: bool = False) -> None:
        """Count a file that is done."""
        self.kept += kept
        if entry.error is not None:
            self.unreadable += 1
        elif entry.passed:
            self.passed += 1
        else:
            self.unfinished += 1
        self.flagged += entry.flagged
