"""Forward programs of any length, for tests of pictures, which run nothing."""

import random

from grader.program.forward_program import ForwardProgram
from tests.helpers.written_programs import write_program


def make_chain(steps: int) -> ForwardProgram:
    lines = [f"x{index + 1} = 2 * x{index}" for index in range(steps)]
    return write_program("\n".join(lines), {"x0": "n"})


def make_tangle(steps: int, seed: int) -> ForwardProgram:
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
    return write_program("\n".join(lines), annotations)
