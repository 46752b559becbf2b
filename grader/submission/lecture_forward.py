"""The forward pass of a copy of the lecture's notebook, as the text of a forward function."""

# A notebook's forward pass is anybody's code, and its text is run where answers are judged. So only
# arithmetic and a few functions of tensors are taken from it.

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.answer.statements import walk_names
from grader.answer.torch_words import WORDS
from grader.program.course import built_in_course

INPUTS = ("C", "Xb", "W1", "b1", "bngain", "bnbias", "W2", "b2", "Yb")
"""What the lecture's forward pass begins with, in the order in which it is read."""

SIZES: Mapping[str, tuple[str, int]] = {
    "n": ("Xb", 0),
    "batch_size": ("Xb", 0),
    "block_size": ("Xb", 1),
    "vocab_size": ("C", 0),
    "n_embd": ("C", 1),
    "n_hidden": ("W1", 1),
}
"""The lecture's names of lengths, each with an input and the axis that has this length."""

FORWARD = frozenset(WORDS["forward"])
"""The attributes that are read."""

_KNOWN = {*INPUTS, *SIZES, "torch", "F", "range", "len", "sum"}

MOST_NODES = 200
"""Names, numbers and operators of a step."""

_PLAIN = (
    *(ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Slice, ast.Tuple, ast.List),
    *(ast.Constant, ast.Name, ast.Attribute, ast.keyword),
    *(ast.operator, ast.unaryop, ast.expr_context),
)

Assigned = Mapping[str, tuple[int, ast.expr | None]]
"""The names that a notebook assigns: at which of its statements last, and what, if that shows."""


def names_in(value: ast.expr) -> list[str]:
    """The names in an expression, in the order in which it is read."""
    found = sorted(walk_names(value), key=lambda name: (name.lineno, name.col_offset))
    return [name.id for name in found]


def _signature() -> dict[str, str]:
    """The parameters of the course's first forward function, which has the lecture's names."""
    (_, text), *_ = built_in_course().sources
    functions = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    arguments = next(functions).args.args
    return {one.arg: ast.unparse(one.annotation) for one in arguments if one.annotation}


@dataclass(frozen=True, slots=True)
class Forward:
    """A forward pass: its steps in order, and what it calls each input of the lecture."""

    steps: Mapping[str, str]
    inputs: Mapping[str, str]

    def up_to(self, end: str) -> Mapping[str, str]:
        """The steps up to the one called `end`; none where there is no such step."""
        names = [*self.steps]
        behind = names.index(end) + 1 if end in names else 0
        return {name: self.steps[name] for name in names[:behind]}

    def text(self, arriving: str = "") -> str:
        """A file with a function `forward` that takes these steps, and returns the last.

        Its parameters are the inputs, and the gradient that is `arriving`.
        """
        parameters = [f"{self.inputs[name]}: {text}" for name, text in _signature().items()]
        if arriving:
            parameters.append(f"{arriving}: Annotated[Tensor, 'n, n_hidden']")
        lines = (
            "from typing import Annotated",
            "import torch",
            "import torch.nn.functional as F",
            "from torch import Tensor",
            f"def forward({', '.join(parameters)}):",
            *(f"    {n} = {self.inputs[name]}.shape[{axis}]" for n, (name, axis) in SIZES.items()),
            *(f"    {name} = {text}" for name, text in self.steps.items()),
            f"    return {[*self.steps][-1]}",
        )
        return "\n".join(lines) + "\n"


def forward_to(end: str, assigned: Assigned, parameters: Iterable[str]) -> Forward | None:
    """The forward pass up to the step called `end`; None where a step cannot be read.

    A step is plain arithmetic of inputs, of the notebook's own `parameters`, steps and numbers.
    Names that are no step take the place of the inputs that do not occur, in the order in which
    they are read.
    """
    needed, steps = {end}, dict[str, ast.expr]()
    for name, (_, value) in sorted(assigned.items(), key=lambda item: -item[1][0]):
        if name in needed - _KNOWN and value and _is_plain(value):
            needed.update(names_in(value))
            steps[name] = value
    kept, read, inputs = dict[str, str](), dict[str, None](), {*INPUTS, *parameters}
    for name, value in reversed(steps.items()):
        names = names_in(value)
        # What is made of no input, such as a batch of the data set, is one.
        if isinstance(value, ast.Constant) or not {*inputs, *kept}.isdisjoint(names):
            read |= dict.fromkeys(one for one in names if one not in kept)
            kept[name] = ast.unparse(value)
    others = [name for name in read if name not in _KNOWN]
    missing = [name for name in INPUTS if name not in read]
    is_clear = len(others) in (0, len(missing)) and kept.keys().isdisjoint(others)
    if end not in kept or not is_clear:
        return None
    return Forward(kept, {name: name for name in INPUTS} | dict(zip(missing, others, strict=False)))


def _is_plain(value: ast.expr) -> bool:
    nodes = [*itertools.islice(ast.walk(value), MOST_NODES + 1)]
    return len(nodes) <= MOST_NODES and all(
        isinstance(node, _PLAIN)
        and getattr(node, "attr", "T") in FORWARD
        and isinstance(getattr(node, "value", None), ast.expr | int | float | None)
        for node in nodes
    )
