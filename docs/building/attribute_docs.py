"""What the source of a class says about its attributes."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from itertools import pairwise


def attribute_docs(class_: type) -> Mapping[str, str]:
    """The string below each assignment in a class's body, on one line, by the attribute's name."""
    (definition,) = ast.parse(inspect.getsource(class_)).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for statement, following in pairwise(definition.body):
        match statement, following:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(inspect.cleandoc(text).split())
    return found
