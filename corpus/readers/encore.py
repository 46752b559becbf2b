"""The encore's course folder, its right answers, and what people write for its gradients first."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from corpus.readers import places
from grader.authoring.course import Layout
from grader.program.course import read_course

ANSWERS = places.ANSWERS / "encore"
COURSE = read_course(places.NOTEBOOKS / "encore")
LAYOUT = replace(Layout.of(COURSE), answers=ANSWERS)

PLAIN = {
    **{"ex5": "steps", "ex5f": "row_sums"},
    **{"ex6n": "one_expression", "ex6p": "steps", "ex6": "steps", "ex6e": "index_put"},
    **{"ex7": "steps", "ex7p": "steps"},
}
"""The right answer in which the mistakes of encore.toml are made, by exercise."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """What people write for a gradient at first; `kinds` name it, if anything does."""

    prefix: str
    gradient: str
    wrong: str
    kinds: tuple[str, ...]

    @property
    def source(self) -> str:
        """The right answer with this in the place of the gradient's one line."""
        line = rf"(?m)^{self.gradient} = .*$(\n    .*\n\))?"
        text = right(self.prefix, PLAIN[self.prefix])
        wrong, count = re.subn(line, lambda _: f"{self.gradient} = {self.wrong}", text)
        if count != 1:
            raise ValueError(f"{self.prefix}: {count} lines make {self.gradient}, instead of one")
        return wrong


def right(prefix: str, style: str) -> str:
    """The text of a right answer."""
    return (ANSWERS / prefix / "right" / f"{style}.py").read_text(encoding="utf-8")


def mistakes() -> Iterator[Mistake]:
    """Every mistake that is written down."""
    table = tomllib.loads((places.MISTAKES / "encore.toml").read_text(encoding="utf-8"))
    for prefix, gradients in table.items():
        for gradient, entries in gradients.items():
            for entry in entries:
                yield Mistake(prefix, gradient, entry["wrong"], tuple(entry["kinds"]))
