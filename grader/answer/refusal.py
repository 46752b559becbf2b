"""The static look for autograd in an answer: what is refused, with its line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set

from grader.answer.parse import Answer
from grader.answer.statements import with_blocks
from grader.verdict import Flag, Place

ENGINE_ATTRIBUTES = frozenset(
    {"grad", "_grad", "backward", "autograd", "grad_fn", "next_functions", "retain_grad"}
    | {"requires_grad_", "register_hook", "register_post_accumulate_grad_hook"}
    | {"enable_grad", "set_grad_enabled", "grad_mode", "grad_and_value", "vjp", "jvp", "jacrev"}
    | {"jacfwd", "hessian", "linearize", "functorch", "_functorch", "forward_ad", "make_dual"}
    | {"_execution_engine", "_ImperativeEngine", "_engine_run_backward", "run_backward"}
    | {"_C", "ops", "aten"}
)
"""Attributes through which PyTorch differentiates. `torch.ops` and `torch._C` hold the aten
backward operators, which no hand-written backward pass needs."""

STORED_ATTRIBUTES = frozenset({"requires_grad"})
"""Attributes that may be read, but not set."""

ENGINE_MODULES = re.compile(
    r"torch\.(autograd|func|_C|ops|nn\.grad|_functorch|_decomp|fx|utils\.checkpoint)\b|functorch\b"
)
"""Modules that are not imported in an answer."""

BACKWARD_OPERATOR = re.compile(r"_backward(_|$)|backward_data")
"""Names of the aten operators that make up autograd's own backward pass."""

LOOKUPS = frozenset(
    {"getattr", "attrgetter", "methodcaller", "__getattribute__", "import_module", "__import__"}
)
"""Functions that take a name as a string."""

_KINDS = frozenset({ast.Attribute, ast.Call, ast.Import, ast.ImportFrom})


def find_offences(answer: Answer) -> dict[int, tuple[Flag, ...]]:
    """The uses of autograd that show in the text of an answer, by number of their statement.

    This says where. A use that does not show, in a string for instance, earns nothing either:
    the worker has switched the engine off.
    """
    suspects = [
        top
        for top, nodes in answer.nodes.items()
        if any(use for node in nodes if type(node) in _KINDS for use in _uses(node))
    ]
    own = _own_members(answer) if suspects else set()
    found = {
        number: tuple(
            Flag("autograd", message, Place(answer.places[number].cell, line))
            for line, message in _look_at(answer.statements[number], own)
        )
        for top in suspects
        for number in sorted(answer.inside[top])
    }
    return {number: flags for number, flags in found.items() if flags}


def _look_at(statement: ast.stmt, own: Set[str]) -> Iterator[tuple[int, str]]:
    """The lines on which a statement, without those inside it, uses autograd; with sentences."""
    spellings: dict[int, dict[str, None]] = {}
    waiting: list[ast.AST] = [with_blocks(statement, lambda _: [])]
    while waiting:
        node = waiting.pop()
        waiting.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Attribute) and node.attr in own and not _is_of_torch(node.value):
            continue
        line = getattr(node, "lineno", statement.lineno)
        for spelling in _uses(node):
            spellings.setdefault(line, {})[f"`{spelling}`"] = None
    for line, found in sorted(spellings.items()):
        verb = "lets" if len(found) == 1 else "let"
        yield (
            line,
            f"{' and '.join(found)} {verb} PyTorch's autograd answer; write this gradient by hand.",
        )


def _own_members(answer: Answer) -> set[str]:
    """Attributes that the answer's own classes define: a `Layer` may have a `backward`.

    Called on a tensor all the same, such a name finds the engine switched off.
    """
    members: set[str] = set()
    every = (node for nodes in answer.nodes.values() for node in nodes)
    for owner in (node for node in every if isinstance(node, ast.ClassDef)):
        for inner in ast.walk(owner):
            match inner:
                case ast.FunctionDef(name=name):
                    members.add(name)
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                    members.add(name)
        for inner in owner.body:
            if isinstance(inner, ast.Assign | ast.AnnAssign):
                names = (part for part in ast.walk(inner) if isinstance(part, ast.Name))
                members |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return members


def _uses(node: ast.AST) -> Iterator[str]:
    """How one node of the syntax tree uses autograd, as the student spelled it."""
    match node:
        case ast.Attribute(value=ast.Name(id="torch"), attr="func"):
            yield "torch.func"
        case ast.Attribute(attr=name, ctx=ast.Store()) if name in STORED_ATTRIBUTES:
            yield f".{name} ="
        case ast.Attribute(attr="requires_grad_" | "set_grad_enabled"):
            # Looked at where it is called: `requires_grad_(False)` is harmless.
            return
        case ast.Attribute(attr=name) if _is_refused(name):
            yield f".{name}"
        case ast.Import(names=aliases):
            yield from (f"import {a.name}" for a in aliases if ENGINE_MODULES.match(a.name))
        case ast.ImportFrom(module=str(module), names=aliases):
            for alias in aliases:
                full = f"{module}.{alias.name}"
                if ENGINE_MODULES.match(full) or (
                    module.split(".")[0] == "torch" and _is_refused(alias.name)
                ):
                    yield f"from {module} import {alias.name}"
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg == "requires_grad" and not _is_false(keyword.value):
                    yield "requires_grad="
            match node.func:
                case ast.Attribute(attr="requires_grad_" | "set_grad_enabled" as name):
                    values = [*node.args, *(keyword.value for keyword in keywords)]
                    if not (values and all(map(_is_false, values))):
                        yield f".{name}"
                case ast.Name(id=name) | ast.Attribute(attr=name) if name in LOOKUPS:
                    for text in (a.value for a in node.args if isinstance(a, ast.Constant)):
                        if isinstance(text, str) and any(map(_is_refused, text.split("."))):
                            yield f'{name}(..., "{text}")'


def _is_refused(name: str) -> bool:
    return name in ENGINE_ATTRIBUTES or BACKWARD_OPERATOR.search(name) is not None


def _is_of_torch(node: ast.expr) -> bool:
    """True for what is surely PyTorch's own: the module, or the loss."""
    return isinstance(node, ast.Name) and node.id in ("torch", "loss")


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
