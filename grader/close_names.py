"""Names that somebody may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST = 3


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Up to three of `known` that look like `name`, the likeliest first.

    >>> nearest("counts", ["dcounts", "dh", "dcounts_sum"])
    ['dcounts', 'dcounts_sum']
    """
    folded: dict[str, list[str]] = {}
    for candidate in dict.fromkeys(known):
        folded.setdefault(candidate.lower(), []).append(candidate)
    wanted = name.strip().lower()
    alike = difflib.get_close_matches(wanted, folded, n=MOST, cutoff=0.6)
    return [candidate for match in alike for candidate in folded[match]][:MOST]
