"""The words of code that no hand-written gradient needs, by kind of flag: a table and patterns."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _kind_of_word(table: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {word: kind for kind, words in table.items() for word in words}


ASKING = frozenset[str](_WORDS["asking"])
ANSWERS = frozenset[str](_WORDS["answers"])

ENGINE_MODULES = re.compile(
    r"torch\.(autograd(?!\.profiler\b)|func(?!\.vmap$)|_C|ops|nn\.grad|_functorch|_decomp|fx|utils\.checkpoint)\b"
    r"|functorch\b"
)
"""Modules with derivatives in them."""

BACKWARD_OPERATOR = re.compile(r"_backward(_|$)|backward_data")
"""Names of the aten operators that make up autograd's own backward pass."""

HARMLESS_MODULES = frozenset[str](_WORDS["harmless_modules"])
REACHED_THROUGH_OTHERS = frozenset[str](_WORDS["reached_through_others"])

NAMES = _kind_of_word(_WORDS["names"])
ATTRIBUTES = _kind_of_word(_WORDS["attributes"])
OF_MODULES = {
    **dict.fromkeys(REACHED_THROUGH_OTHERS, "module"),
    **_kind_of_word(_WORDS["of_modules"]),
}

NAMES_AS_VALUES = frozenset[str](_WORDS["names_as_values"])
LOOKS_AROUND = frozenset[str](_WORDS["looks_around"])
INNOCENT_DUNDERS = frozenset[str](_WORDS["innocent_dunders"])

SENTENCES: Mapping[str, str] = _WORDS["sentences"]

OF_VALUES = frozenset({"namespace", "table", "computed-name"})
"""Kinds that mean nothing where no gradient is made by the statement: notes, checks, pictures."""
