"""The forward pass of a copy of the lecture's notebook, as the text of a forward function."""

# A notebook's forward pass is anybody's code, and its text is run where answers are judged. So only
# arithmetic and a few functions of tensors are taken from it.

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence

from grader.answer.statements import walk_names
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

FUNCTIONS = frozenset(
    "T abs amax cross_entropy div exp flatten float indices log log_softmax logsumexp long matmul"
    " max mean mm mul nll_loss one_hot pow reshape rsqrt sigmoid size shape softmax sqrt square"
    " squeeze std sub sum t tanh unsqueeze values var view".split()
)
"""The attributes that are read: none of them reaches out of the computation."""

_PLAIN = (
    *(ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Slice, ast.Tuple, ast.List),
    *(ast.Constant, ast.Name, ast.Attribute, ast.keyword),
    *(ast.operator, ast.unaryop, ast.expr_context),
)
_MODULES = ("torch", "F", "range")

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
    found = dict[str, tuple[int, str]]()

    def reach(name: str, before: float) -> bool:
        if name in (*INPUTS, *SIZES, *_MODULES, *found):
            return True
        at, value = assigned.get(name, (before, None))
        if value is None or at >= before or not _is_plain(value):
            return False
        if not all(reach(part.id, at) for part in walk_names(value)):
            return False
        found[name] = at, ast.unparse(value)
        return True

    if not reach(end, math.inf):
        return {}
    return {name: text for name, (_, text) in sorted(found.items(), key=lambda step: step[1][0])}


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
    return all(
        isinstance(node, _PLAIN) and getattr(node, "attr", "T") in FUNCTIONS
        for node in ast.walk(value)
    )
