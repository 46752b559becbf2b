"""Parsing: read a forward function's own source as a program."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import Any

from torch import Tensor

from grader.program.forward_program import ONE_EACH, ForwardProgram, NotAForwardProgram, Step

STEPS = "A forward program consists of lines `name = expression`, each name assigned once."


@cache  # a course's programs are asked for at many places
def parse_program(function: Callable[..., Any]) -> ForwardProgram:
    """Read a forward function's own source as a program.

    The function takes tensors annotated `Annotated[Tensor, "shape"]`, assigns one name on each
    line, assigns each name once, and returns the last one, which is the loss.

    Raises:
        NotAForwardProgram: a line does anything else; the message says which line.
    """
    program, returned = read_function(function)
    if returned != (program.steps[-1].name,):
        raise NotAForwardProgram(
            f"{program.name}, line {program.steps[-1].number}: the last step has to assign what is"
            " returned, the loss."
        )
    return program


def read_function(function: Callable[..., Any]) -> tuple[ForwardProgram, tuple[str, ...]]:
    """Read a forward function as a program, and find the names that it returns.

    Parameters that have a default but no shape are constants of the program.

    Raises:
        NotAForwardProgram: it is not straight-line code; the message says which line.
    """
    if not hasattr(function, "__globals__"):
        raise NotAForwardProgram(f"{function!r} is not a plain Python function.")
    name, (definition, source) = function.__name__, source_of(function)
    try:
        signature = inspect.signature(function, eval_str=True)
    except Exception as error:  # an annotation is code: it may raise anything
        raise NotAForwardProgram(
            f"{name}, line {definition.lineno}: an annotation cannot be read ({error}). A shape is"
            ' written `x: Annotated[Tensor, "n, n_hidden"]`.'
        ) from error
    constants = {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if parameter.default is not parameter.empty and not _shapes(parameter.annotation)
    }
    annotations = {
        parameter: _shape_annotation(definition, parameter, value.annotation)
        for parameter, value in signature.parameters.items()
        if parameter not in constants
    }
    body = definition.body[ast.get_docstring(definition) is not None :]
    last = body.pop() if body and isinstance(body[-1], ast.Return) else definition
    steps = tuple(_parse_steps(definition, body, source, {*annotations}))
    known = {*annotations, *(step.name for step in steps)}
    _refuse_names_of_gradients(definition, annotations, steps)
    match last:
        case ast.Return(value=ast.Name(id=one)) if one in known:
            returned: tuple[str, ...] = (one,)
        case ast.Return(value=ast.Tuple(elts=several)) if several:
            returned = tuple(node.id for node in several if isinstance(node, ast.Name))
            if len(returned) < len(several) or not known.issuperset(returned):
                returned = ()
        case _:
            returned = ()
    if not returned or not steps:
        raise NotAForwardProgram(
            f"{name}, line {last.lineno}: a forward function ends by returning the name of its"
            " last step, or several of its names."
        )
    scope = {**function.__globals__, **inspect.getclosurevars(function).nonlocals, **constants}
    return ForwardProgram(name, tuple(annotations), annotations, steps, scope), returned


def source_of(function: Callable[..., Any]) -> tuple[ast.FunctionDef, str]:
    """Return a function's definition, with line numbers as in its file, and that part of the file.

    Raises:
        NotAForwardProgram: the function has no source, or is not made by `def`.
    """
    try:
        lines, first = inspect.getsourcelines(function)
        source = textwrap.dedent("".join(lines))
        definition = ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError) as error:
        if not inspect.isroutine(function):
            raise NotAForwardProgram(f"{function!r} is not a plain Python function.") from error
        name = getattr(function, "__name__", repr(function))
        raise NotAForwardProgram(
            f"The source of {name} cannot be read: it has to stand in a file or in a notebook."
        ) from error
    if not isinstance(definition, ast.FunctionDef):
        raise NotAForwardProgram(f"{function.__name__}, line {first}, is not a `def`.")
    before = max(0, first - 1)
    return ast.increment_lineno(definition, before), "\n" * before + source


def body_source(function: Callable[..., Tensor]) -> str:
    """The text of a forward function's body, without docstring and return, for a notebook cell."""
    definition, source = source_of(function)
    body = definition.body
    has_docstring = ast.get_docstring(definition) is not None
    before = body[0].end_lineno if has_docstring else body[0].lineno - 1
    assert before is not None
    lines = source.splitlines()[before : body[-1].lineno - 1]
    return textwrap.dedent("\n".join(lines)).strip()


def _parse_steps(
    definition: ast.FunctionDef, body: Sequence[ast.stmt], source: str, known: set[str]
) -> Iterator[Step]:
    for statement in body:
        line = ast.get_source_segment(source, statement) or ""
        shown = line.partition("\n")[0]
        no_step = f"{definition.name}, line {statement.lineno}, is not a step: `{shown}`"
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assigned = {name: value}
            case ast.Assign(targets=[ast.Tuple(elts=several)], value=value) if _is_shape(value):
                pairs = (
                    (node.id, n) for n, node in enumerate(several) if isinstance(node, ast.Name)
                )
                assigned = {
                    name: ast.parse(f"{ast.unparse(value)}[{n}]", mode="eval").body
                    for name, n in pairs
                    if name != "_"
                }
            case ast.Assign(targets=[ast.Tuple() | ast.List()]):
                raise NotAForwardProgram(f"{no_step} assigns several names. {ONE_EACH}")
            case _:
                raise NotAForwardProgram(f"{no_step}. {STEPS}")
        for name, value in assigned.items():
            if name in known:
                raise NotAForwardProgram(f"{no_step} assigns {name} again. {STEPS}")
            names = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
            names.sort(key=lambda node: (node.lineno, node.col_offset))
            reads = tuple(dict.fromkeys(node.id for node in names if node.id in known))
            known.add(name)
            code = compile(ast.Expression(value), f"<forward program {definition.name}>", "eval")
            yield Step(name, ast.unparse(value), reads, line, code, statement.lineno)


def _is_shape(value: ast.expr) -> bool:
    """True for `x.shape` and `x.size()`, which may be unpacked into several names."""
    match value:
        case ast.Attribute(attr="shape") | ast.Call(func=ast.Attribute(attr="size"), args=[]):
            return True
    return False


def _refuse_names_of_gradients(
    definition: ast.FunctionDef, inputs: Collection[str], steps: Sequence[Step]
) -> None:
    """Raise NotAForwardProgram if a name is also the name of another one's gradient.

    An input is allowed to be the upstream gradient of a step.
    """
    names = {*inputs, *(step.name for step in steps)}
    lines = {**dict.fromkeys(inputs, definition.lineno), **{s.name: s.number for s in steps}}
    for name, line in lines.items():
        of = name[1:]
        if name.startswith("d") and of in (inputs if name in inputs else names):
            raise NotAForwardProgram(
                f"{definition.name}, line {line}: {name} is the name of the gradient of {of}, so"
                f" give the {'input' if name in inputs else 'step'} {name} another name."
            )


def _shapes(annotation: Any) -> list[str]:
    return [item for item in getattr(annotation, "__metadata__", ()) if isinstance(item, str)]


def _shape_annotation(definition: ast.FunctionDef, name: str, annotation: Any) -> str:
    texts = _shapes(annotation)
    if len(texts) != 1:
        raise NotAForwardProgram(
            f"{definition.name}, line {definition.lineno}, must annotate its input {name} with its"
            f' shape, for example `{name}: Annotated[Tensor, "n, n_hidden"]`.'
        )
    return texts[0]
