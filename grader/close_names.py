"""Undefined names: find the names that a student may have meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable

from grader.printable import listed

MOST = 3

SLIP = 0.7
"""How similar a slip of the pen is at least, as difflib counts. At 0.67, `bnvar_inv` is not one of
`bngain`."""

UNDEFINED = re.compile(r"name '(\w+)' is not defined")
"""Python's message about an undefined name."""


def nearest(name: str, known: Iterable[str], at_least: float = 0.6) -> list[str]:
    """Up to three of `known` that look like `name`, the likeliest first.

    `at_least` is the least similarity, as difflib counts it, from 0 to 1.

    >>> nearest("counts", ["dcounts", "dh", "dcounts_sum"])
    ['dcounts', 'dcounts_sum']
    """
    folded: dict[str, list[str]] = {}
    for candidate in dict.fromkeys(known):
        folded.setdefault(candidate.lower(), []).append(candidate)
    wanted = name.strip().lower()
    alike = difflib.get_close_matches(wanted, folded, n=MOST, cutoff=at_least)
    # In a name this short, a single letter is half of it.
    alike += [c for c in folded if wanted and c == f"d{wanted}" and c not in alike]
    return [candidate for match in alike for candidate in folded[match]][:MOST]


def did_you_mean(names: Iterable[str], known: Collection[str], at_least: float = 0.6) -> str:
    """The question about names that are not `known`, if some look like a known one; else "".

    >>> did_you_mean(["dlogit"], ["dlogits", "dh"])
    'did you mean dlogits?'
    """
    close = dict.fromkeys(one for name in names for one in nearest(name, known, at_least))
    return f"did you mean {listed(close, 'or')}?" if close else ""
