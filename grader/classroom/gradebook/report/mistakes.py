"""The mistakes of a class, gradient by gradient, with their students and lines."""

from __future__ import annotations

import io
import re
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import TypeVar

from grader.classroom.intake.class_folder import Student
from grader.reports.wording import note
from grader.verdict import TO_MEND, Diagnosis, Outcome, Report, Verdict

Gradient = tuple[str, str]
"""A notebook, and the name of one of its gradients."""

LONGEST = 200
"""The most characters of a line that are shown."""

_SHORTEST_NAME = 3
"""Parts of a name with fewer letters are ignored, because they are also words of mathematics."""

MOST_LINES = 3
"""The most students' lines that are shown for a mistake."""

MOST_LINKS = 12
"""The most students of a mistake with a link each. The table finds the others."""

_MOST_TEXTS = 100
"""The most different lines of one mistake that are counted. Students are added in the table's
order, so that the same lines are always left out."""

_SAYS = "says:"

_TITLES = tomllib.loads(files(__package__).joinpath("kind_titles.toml").read_text(encoding="utf-8"))

C = TypeVar("C", str, tuple[str, str])


@dataclass(slots=True)
class Mistake:
    """One mistake in one gradient: its students, their lines without names, and the sentences.

    `key` is the kind of the diagnosis. Without a diagnosis, it says what the students have in
    common: "value:" and a digest, "nan", "missing", "shape:27x32", "type:list", "dtype:int64", or
    "says:" and the sentence. `specimen` is the verdict that shows the mistake best, by a map of its
    error or else by its shape. `others` counts the wrong gradients of the same notebook nearer the
    loss, which may show in the specimen too.
    """

    gradient: Gradient
    key: str
    diagnosed: bool
    students: int = 0
    named: list[Student] = field(default_factory=list)
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    diagnosis: Diagnosis | None = None
    specimen: Verdict | None = None
    others: int = 0

    @property
    def shown(self) -> dict[str, list[str]]:
        """The most common lines, each under the sentence most often said about it."""
        messages: dict[str, Counter[str]] = defaultdict(Counter)
        for (line, message), students in self.said.items():
            messages[line][message] = students
        ranked = list(most_common(Counter({line: m.total() for line, m in messages.items()})))
        found: dict[str, list[str]] = {}
        for line in [each for each in ranked if each][:MOST_LINES] or ranked[:1]:
            found.setdefault(next(iter(most_common(messages[line]))), []).append(line)
        return found

    @property
    def hint(self) -> str:
        """The nudge for its kind."""
        return self.diagnosis.hint if self.diagnosis else ""

    @property
    def title(self) -> str:
        """The mistake in words, with `code` between backticks."""
        return in_words(self.key) if self.diagnosed else title_of(self.key, self.students)

    def add(self, student: Student, verdict: Verdict, others: int) -> None:
        """Add a student with this number of wrong gradients nearer the loss."""
        self.students += 1
        if len(self.named) < MOST_LINKS:
            self.named.append(student)
        message = ""
        if verdict.diagnosis:
            self.diagnosis = self.diagnosis or verdict.diagnosis[0]
            message = verdict.diagnosis[0].message
        elif not self.key.startswith(_SAYS) and verdict.why != "not-the-gradient":
            message = note(verdict)
        if names_author(message, student):
            message = ""
        said = (shareable(verdict.code, student), message)
        if said in self.said or len(self.said) < _MOST_TEXTS:
            self.said[said] += 1
        shape, expected = verdict.comparison.shape, verdict.comparison.expected_shape
        shows = None not in (shape, expected) and (
            shape != expected or (verdict.wrong is not None and verdict.wrong.map)
        )
        if shows and (self.specimen is None or others < self.others):
            self.specimen, self.others = verdict, others


@dataclass(slots=True)
class Mistakes:
    """All mistakes of a class. `keys_of` gives, for each student, the mistake in each gradient."""

    found: dict[Gradient, dict[str, Mistake]] = field(default_factory=lambda: defaultdict(dict))
    keys_of: list[dict[Gradient, str]] = field(default_factory=list)
    _kinds: dict[tuple[Gradient, str], Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    def add(self, student: Student, reports: Iterable[Report]) -> None:
        """Add a student, with the reports that count."""
        keys: dict[Gradient, str] = {}
        for report in reports:
            wrong = [verdict for verdict in report.verdicts if verdict.outcome in TO_MEND]
            for others, verdict in enumerate(wrong):  # from the loss down
                gradient = sys.intern(report.notebook), sys.intern(verdict.name)
                keys[gradient] = key = sys.intern(mistake_key(verdict))
                of_gradient = self.found[gradient]
                if key not in of_gradient:
                    of_gradient[key] = Mistake(gradient, key, bool(verdict.diagnosis))
                of_gradient[key].add(student, verdict, others)
                digest = verdict.wrong.digest if verdict.wrong else ""
                if verdict.diagnosis and digest.startswith("value:"):
                    self._kinds[gradient, digest][key] += 1
        self.keys_of.append(keys)

    def of(self, gradient: Gradient) -> list[Mistake]:
        """The mistakes in a gradient, the most common first."""
        return sorted(self.found.get(gradient, {}).values(), key=_rank)

    def most_common(self) -> list[Mistake]:
        """The mistakes in all gradients, the most common first."""
        return sorted((m for each in self.found.values() for m in each.values()), key=_rank)

    def kind_of_same_value(self, mistake: Mistake) -> str:
        """The most common diagnosis of others with the same wrong value; "" if there is none."""
        kinds = self._kinds.get((mistake.gradient, mistake.key), Counter[str]())
        return "" if mistake.diagnosed else next(iter(most_common(kinds)), "")


def title_of(key: str, students: int) -> str:
    """The title of the mistake with this key, which so many students share; a kind is itself."""
    sort, _, rest = key.partition(":")
    match sort:
        case "value":
            return "the same wrong value" if students > 1 else "a wrong value"
        case "nan":
            return "NaN or infinite"
        case "missing":
            return "no value"
        case "shape":
            return f"shape ({rest.replace('x', ', ')})"
        case "type" | "dtype":
            return f"{sort} {rest}"
        case "refused":
            return "autograd was asked for it"
        case "says":
            return rest or "wrong"
    return key


def in_words(title: str) -> str:
    """The title as people read it: a sentence for a known kind, and otherwise its word.

    >>> in_words("missing-sum"), in_words("a wrong value")
    ('a sum is missing', 'a wrong value')
    """
    return str(_TITLES.get(title, title))


def mistake_key(verdict: Verdict) -> str:
    """The key that equal mistakes in a gradient share; see `Mistake`."""
    if verdict.diagnosis:
        return verdict.diagnosis[0].kind
    if verdict.outcome is Outcome.REFUSED:
        return "refused"
    if verdict.wrong and verdict.wrong.digest:
        return verdict.wrong.digest
    return f"{_SAYS}{note(verdict)}"


def most_common(counts: Counter[C]) -> dict[C, int]:
    """The counts, the largest first, and equal ones in the order of their keys."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _rank(mistake: Mistake) -> tuple[int, bool, Gradient, str]:
    return -mistake.students, not mistake.diagnosed, mistake.gradient, mistake.key


def shareable(code: str, author: Student) -> str:
    """The line without its comments; "" if it contains a part of its author's name or id.

    >>> shareable("dz  = p * dp  # by Ada", Student("ada-1", "Lovelace, Ada"))
    'dz = p * dp'
    >>> shareable("ada = p * dp", Student("ada-1", "Lovelace, Ada"))
    ''
    """
    line = " ".join(without_comments(code).split())
    return "" if names_author(line, author) else line[:LONGEST]


def names_author(text: str, author: Student) -> bool:
    """True if the text contains a part of the author's name or id, even inside an identifier."""
    return not _parts(f"{author.name} {author.id}").isdisjoint(_parts(text))


@lru_cache(maxsize=10_000)
def without_comments(code: str) -> str:
    """The code without comments. If it is not Python, everything after a `#` is removed."""
    cuts: dict[int, int] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                cuts[token.start[0]] = token.start[1]
    except (tokenize.TokenError, SyntaxError, ValueError):
        # a bracket that is closed on another line, say: what was read so far may lack comments
        return "\n".join(line.partition("#")[0].rstrip() for line in code.splitlines())
    lines = code.splitlines()
    return "\n".join(
        line[: cuts[number]].rstrip() if number in cuts else line
        for number, line in enumerate(lines, 1)
    )


@lru_cache(maxsize=10_000)
def _parts(text: str) -> frozenset[str]:
    """The words of a text, including those inside an identifier."""
    return frozenset(
        word for word in re.findall(r"[^\W\d_]+", text.lower()) if len(word) >= _SHORTEST_NAME
    )
