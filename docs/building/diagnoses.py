"""The catalogue of diagnoses: every kind, what is said of it, the hint that goes with it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import torch

from docs.building.attribute_docs import attribute_docs
from docs.building.samples import ATOMIC, reports
from grader.answer.parse import parse_answer
from grader.diagnosis.kinds import Kind, hint
from grader.notebook.forward_pass import describe_stale, find_stale
from grader.program.parse import parse_program
from grader.verdict import Diagnosis

EXAMPLES = Path(__file__).parents[2] / "corpus/mistakes/diagnoses.toml"
"""Mistakes with the diagnosis that the tests ask of the grader."""

MOST_EXAMPLES = 2


def catalogue() -> str:
    """A section for each kind, in the order of the code."""
    meanings = attribute_docs(Kind)
    return "\n\n".join(_section(kind, meanings[kind.name]) for kind in Kind)


def _section(kind: Kind, meaning: str) -> str:
    said = list(examples()[kind])
    quotes = "\n>\n".join(f"> {sentence}" for sentence in dict.fromkeys(d.message for d in said))
    return f"### `{kind}`\n\n{meaning}\n\n{quotes}\n\n*Hint:* {said[0].hint}"


@cache
def examples() -> Mapping[Kind, tuple[Diagnosis, ...]]:
    """Some diagnoses of each kind, as students are given them."""
    found: dict[Kind, list[Diagnosis]] = {kind: [] for kind in Kind}
    for diagnosis in [*_tested(), *_graded(), _stale()]:
        kind = Kind(diagnosis.kind)
        if len(found[kind]) < MOST_EXAMPLES:
            found[kind].append(diagnosis)
    return {kind: tuple(diagnoses) for kind, diagnoses in found.items()}


def _tested() -> Iterator[Diagnosis]:
    for entry in tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))["diagnosis"]:
        kind = Kind(entry["kind"])
        yield Diagnosis(kind, entry["message"], hint(kind, entry["gradient"]))


def _graded() -> Iterator[Diagnosis]:
    for report in reports().values():
        for verdict in report.verdicts:
            yield from verdict.diagnosis


def _stale() -> Diagnosis:
    """What a notebook says whose `h` is not that of its inputs."""
    program = parse_program(ATOMIC.forward)
    values = dict(program.instance(ATOMIC.sizes, 1, torch.float32).values)
    values["h"] = torch.zeros(ATOMIC.sizes["n"], ATOMIC.sizes["n_hidden"])
    return describe_stale(find_stale(program, values), program, parse_answer([]))
