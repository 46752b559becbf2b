"""Names that nothing has bound: which others may have been meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable

from grader.printable import listed

MOST = 3

SLIP = 0.7
"""How alike, as difflib counts, a slip of the pen is: `bnvar_inv` is none of `bngain`, at 0.67."""

UNDEFINED = re.compile(r"name '(\w+)' is not defined")
"""What Python says of a name that nothing has bound."""


def nearest(name: str, known: Iterable[str], at_least: float = 0.6) -> list[str]:
    """Up to three of `known` that look like `name`, the likeliest first.

    `at_least` is how alike they are, as difflib counts, from 0 to 1.

    >>> nearest("counts", ["dcounts", "dh", "dcounts_sum"])
    ['dcounts', 'dcounts_sum']
    """
    folded: dict[str, list[str]] = {}
    for candidate in dict.fromkeys(known):
        folded.setdefault(candidate.lower(), []).append(candidate)
    wanted = name.strip().lower()
    alike = difflib.get_close_matches(wanted, folded, n=MOST, cutoff=at_least)
    # A letter is half of a name this short.
    alike += [c for c in folded if wanted and c == f"d{wanted}" and c not in alike]
    return [candidate for match in alike for candidate in folded[match]][:MOST]


def did_you_mean(names: Iterable[str], known: Collection[str], at_least: float = 0.6) -> str:
    """What to ask of names that are none of `known`, if some look like one; else "".

    >>> did_you_mean(["dlogit"], ["dlogits", "dh"])
    'did you mean dlogits?'
    """
    close = dict.fromkeys(one for name in names for one in nearest(name, known, at_least))
    return f"did you mean {listed(close, 'or')}?" if close else ""
