"""Straight-line programs as text, for tests of pictures that run nothing."""

import ast
import random
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TextStep:
    name: str
    expression: str
    reads: tuple[str, ...]


@dataclass(frozen=True)
class TextProgram:
    inputs: tuple[str, ...]
    annotations: Mapping[str, str]
    steps: tuple[TextStep, ...]

    @property
    def loss(self) -> str:
        return self.steps[-1].name


def read_text(text: str, **annotations: str) -> TextProgram:
    """A program from lines `name = expression` and its inputs with their annotations."""
    known = list(annotations)
    steps = []
    for line in text.strip().splitlines():
        name, expression = line.strip().split(" = ", 1)
        words = [node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)]
        reads = tuple(dict.fromkeys(word for word in words if word in known))
        steps.append(TextStep(name, expression, reads))
        known.append(name)
    return TextProgram(tuple(annotations), annotations, tuple(steps))


def make_chain(steps: int) -> TextProgram:
    lines = [f"x{index + 1} = 2 * x{index}" for index in range(steps)]
    return read_text("\n".join(lines), x0="n")


def make_tangle(steps: int, seed: int) -> TextProgram:
    """Steps that read two of the six tensors before them, and a parameter every now and then."""
    chance = random.Random(seed)
    names = ["x", "y"]
    annotations = {"x": "n", "y": "n"}
    lines = []
    for index in range(steps):
        first, second = chance.sample(names[-6:], 2)
        expression = f"{first} * {second}"
        if chance.random() < 0.3:
            annotations[f"weight{index}"] = "n, n"
            expression += f" @ weight{index}"
        lines.append(f"step_{index} = {expression}")
        names.append(f"step_{index}")
    lines.append(f"loss = {' + '.join(names[-5:])}")
    return read_text("\n".join(lines), **annotations)
