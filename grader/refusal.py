"""The static look for autograd in an answer: what is refused, with its line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from grader.answer import Answer
from grader.statements import COMPOUND, blocks
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
    {"getattr", "attrgetter", "methodcaller", "hasattr", "__getattribute__", "__getattr__"}
    | {"import_module", "__import__", "eval", "exec", "compile"}
)
"""Functions that take a name as a string."""


_WORDS = ENGINE_ATTRIBUTES | STORED_ATTRIBUTES | LOOKUPS | {"func", "__dict__"}


@dataclass(frozen=True, slots=True)
class Offence:
    """A use of autograd, with the number of the statement in which it stands."""

    statement: int
    flag: Flag


def find_offences(answer: Answer) -> tuple[Offence, ...]:
    """Every use of autograd that shows in the text of an answer, in order.

    This says where; that an answer earns nothing by a use which does not show is the
    worker's business, where the engine is switched off.
    """
    suspects = [
        number
        for top in answer.top
        if any(map(_is_worth_a_look, answer.nodes[top]))
        for number in sorted(answer.inside[top])
    ]
    own = _own_members(answer) if suspects else set()
    return tuple(
        Offence(number, Flag("autograd", message, Place(answer.places[number].cell, line)))
        for number in suspects
        for line, message in _look_at(answer.statements[number], own)
    )


def _is_worth_a_look(node: ast.AST) -> bool:
    """False for what cannot use autograd: all nodes of an ordinary answer."""
    match node:
        case ast.Attribute(attr=name):
            return name in _WORDS or "backward" in name
        case ast.Name(id=name):
            return name in LOOKUPS or name in ("vars", "globals")
        case ast.keyword(arg=name):
            return name == "requires_grad"
    return isinstance(node, ast.Import | ast.ImportFrom)


def _look_at(statement: ast.stmt, own: Set[str]) -> Iterator[tuple[int, str]]:
    """The lines of a statement on which autograd is used, each with a sentence."""
    spellings: dict[int, dict[str, None]] = {}
    for node in _own_nodes(statement):
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
    if not answer.defines:
        return members
    for node in (inner for statement in answer.top for inner in ast.walk(statement)):
        if isinstance(node, ast.ClassDef):
            for inner in ast.walk(node):
                match inner:
                    case ast.FunctionDef(name=name):
                        members.add(name)
                    case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                        members.add(name)
                    case ast.AnnAssign(target=ast.Name(id=name)):
                        members.add(name)
            for inner in node.body:
                if isinstance(inner, ast.Assign):
                    members |= {name.id for name in inner.targets if isinstance(name, ast.Name)}
    return members


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement; of a compound one, those of its own line."""
    inner = (
        {id(child) for block in blocks(statement) for child in block}
        if isinstance(statement, COMPOUND)
        else set()
    )
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(child for child in ast.iter_child_nodes(node) if id(child) not in inner)


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
            yield from _lookups(node)
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="requires_grad_" | "set_grad_enabled" as name)
                ):
                    values = [*node.args, *(keyword.value for keyword in keywords)]
                    if not (values and all(map(_is_false, values))):
                        yield f".{name}"
        case ast.Subscript(value=ast.Attribute(attr="__dict__"), slice=key):
            if (text := _text(key)) is not None and _is_refused(text):
                yield f'__dict__["{text}"]'
        case ast.Subscript(value=ast.Call(func=ast.Name(id="vars" | "globals")), slice=key):
            if (text := _text(key)) is not None and _is_refused(text):
                yield f'vars(...)["{text}"]'


def _lookups(call: ast.Call) -> Iterator[str]:
    """Names of autograd handed over as strings, as in `getattr(loss, "back" + "ward")`."""
    match call.func:
        case ast.Name(id=function) | ast.Attribute(attr=function):
            pass
        case _:
            return
    if function not in LOOKUPS:
        return
    for argument in call.args:
        text = _text(argument)
        if text is None:
            continue
        if function in ("eval", "exec", "compile"):
            yield from _inside_code(text)
        elif ENGINE_MODULES.match(text) or any(map(_is_refused, text.split("."))):
            yield f'{function}(..., "{text}")'


def _inside_code(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # It raises when run, where the worker reports it.
    for node in ast.walk(tree):
        yield from _uses(node)


def _text(node: ast.expr) -> str | None:
    """The string an expression surely is: a literal, or literals joined."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _text(left), _text(right)
            return None if first is None or second is None else first + second
        case ast.JoinedStr(values=values):
            parts = [
                _text(part.value) if isinstance(part, ast.FormattedValue) else _text(part)
                for part in values
            ]
            return None if None in parts else "".join(part for part in parts if part)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(glue)), attr="join"),
            args=[ast.List(elts=elements) | ast.Tuple(elts=elements)],
        ):
            words = [_text(element) for element in elements]
            return None if None in words else glue.join(word for word in words if word)
    return None


def _is_refused(name: str) -> bool:
    return name in ENGINE_ATTRIBUTES or BACKWARD_OPERATOR.search(name) is not None


def _is_of_torch(node: ast.expr) -> bool:
    """True for what is surely PyTorch's own: the module, or the loss."""
    return isinstance(node, ast.Name) and node.id in ("torch", "loss")


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
