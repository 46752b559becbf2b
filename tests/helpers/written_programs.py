"""Forward programs written as text, for tests that need many small ones."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

import torch
import torch.nn.functional as F

from grader.program.forward_program import ForwardProgram, Step
from grader.program.references import References, make_references

SCOPE = {"torch": torch, "F": F, "math": math}

INPUTS: Mapping[str, str] = {
    "x": "n, m",
    "y": "n, m",
    "row": "1, m",
    "column": "n, 1",
    "vector": "m",
    "W": "m, k",
    "square": "m, m",
    "z": "n, t, m",
    "table": "k, m",
    "index": "n < k",
    "labels": "n < m",
}
"""Inputs of every sort, with their shapes; no two sizes are equal on any instance."""

SIZES = (6, 3, 4, 9, 10, 12, 14, 15)
"""What a program's sizes are at the lecture's, in order of first mention."""


def write_program(text: str, inputs: Mapping[str, str] = INPUTS) -> ForwardProgram:
    """The program with the lines `name = expression` of a text; the last one is the loss."""
    known, steps = list(inputs), []
    for number, line in enumerate(text.strip().splitlines(), start=1):
        name, expression = line.strip().split(" = ", 1)
        tree = ast.parse(expression, mode="eval")
        words = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        reads = tuple(word for word in known if word in words)
        code = compile(tree, "<text>", "eval")
        steps.append(Step(name, expression, reads, line, code, number))
        known.append(name)
    return ForwardProgram("written", tuple(inputs), dict(inputs), tuple(steps), SCOPE)


def references_of(program: ForwardProgram, seed: int = 1) -> References:
    """The references of a written program."""
    sizes = dict(zip(program.size_names, SIZES, strict=False))
    return make_references(program, sizes, seed)
