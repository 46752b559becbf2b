"""The families of attacks that the tests try, with what each attack is after."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from corpus.readers.attacks import Attack, corpus
from docs.building.markdown import folded, table
from grader.answer.suspicion import SENTENCES


def attack_table() -> str:
    """A foldable table for each family."""
    families = {family: list(attacks) for family, attacks in groupby(corpus(), _family)}
    summary = f"{len(corpus())} attacks in {len(families)} families."
    return "\n\n".join([summary, *(_fold(*family) for family in families.items())])


def suspicion_table() -> str:
    """What is flagged for a human although it may be innocent."""
    return table(["flag", "what the flag says"], ([f"`{k}`", s] for k, s in SENTENCES.items()))


def _family(attack: Attack) -> str:
    return attack.family


def _fold(family: str, attacks: Sequence[Attack]) -> str:
    rows = [[a.tries, a.must_not, _flags(a)] for a in attacks]
    body = table(["tries to", "must not", "a human sees"], rows)
    return folded(f"`{family}`: {len(attacks)} attacks", body)


def _flags(attack: Attack) -> str:
    return ", ".join(f"`{flag}`" for flag in sorted(attack.flags)) or "nothing"
