"""The forward pass of a copy of the lecture's notebook, as the text of a forward function."""

# A notebook's forward pass is anybody's code, and its text is run where answers are judged. So only
# arithmetic and a few functions of tensors are taken from it.

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping, Sequence

from grader.answer.statements import walk_names
from grader.answer.torch_words import WORDS
from grader.program.course import built_in_course

SIZES: Mapping[str, str] = {
    "n": "Xb.shape[0]",
    "batch_size": "Xb.shape[0]",
    "block_size": "Xb.shape[1]",
    "vocab_size": "C.shape[0]",
    "n_embd": "C.shape[1]",
    "n_hidden": "W1.shape[1]",
}
"""The lecture's names of lengths, and where a forward function has them from."""

FORWARD = frozenset(WORDS["forward"])
"""The attributes that are read."""

MOST_NODES = 200
"""Names, numbers and operators of a step."""

_PLAIN = (
    *(ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Slice, ast.Tuple, ast.List),
    *(ast.Constant, ast.Name, ast.Attribute, ast.keyword),
    *(ast.operator, ast.unaryop, ast.expr_context),
)
_KNOWN = ("torch", "F", "range", "len", "sum")

Assigned = Mapping[str, tuple[int, ast.expr | None]]
"""The names that a notebook assigns: at which of its statements last, and what, if that shows."""


def _signature() -> Sequence[ast.arg]:
    """The parameters of the course's first forward function."""
    (_, text), *_ = built_in_course().sources
    functions = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return next(functions).args.args


INPUTS = tuple(argument.arg for argument in _signature())
"""The lecture's names for what a forward pass begins with."""


def steps_to(end: str, assigned: Assigned) -> dict[str, str]:
    """The steps of a forward pass up to the one called `end`, in their order.

    None where one of them cannot be read: what is no input has to be plain arithmetic.
    """
    known = {*INPUTS, *SIZES, *_KNOWN}
    needed, steps = {end}, dict[str, str]()
    for name, (_, value) in sorted(assigned.items(), key=lambda item: -item[1][0]):
        if name in needed - known:
            if value is None or not _is_plain(value):
                return {}
            needed = needed - {name} | {part.id for part in walk_names(value)}
            steps[name] = ast.unparse(value)
    return dict(reversed(steps.items())) if steps and needed <= known else {}


def forward_text(steps: Mapping[str, str], arriving: str = "") -> str:
    """The text of a file with a function `forward` that takes these steps, and returns the last.

    Its parameters are the inputs, and the gradient that is `arriving`.
    """
    parameters = [ast.unparse(argument) for argument in _signature()]
    if arriving:
        parameters.append(f"{arriving}: Annotated[Tensor, 'n, n_hidden']")
    lines = (
        "from typing import Annotated",
        "import torch",
        "import torch.nn.functional as F",
        "from torch import Tensor",
        f"def forward({', '.join(parameters)}):",
        *(f"    {name} = {text}" for name, text in {**SIZES, **steps}.items()),
        f"    return {[*steps][-1]}",
    )
    return "\n".join(lines) + "\n"


def _is_plain(value: ast.expr) -> bool:
    nodes = [*itertools.islice(ast.walk(value), MOST_NODES + 1)]
    return len(nodes) <= MOST_NODES and all(
        isinstance(node, _PLAIN)
        and getattr(node, "attr", "T") in FORWARD
        and isinstance(getattr(node, "value", None), ast.expr | int | float | None)
        for node in nodes
    )
