"""The forward program: straight-line Python in which every line `name = expression` is a step."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch import Tensor


class NotAForwardProgram(ValueError):
    """A function that is not straight-line code; the message names the line."""


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a forward program.

    `reads` are the inputs and earlier steps that `expression` names, in order of first mention.
    """

    name: str
    expression: str
    reads: tuple[str, ...]
    line: str
    code: CodeType = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class ForwardProgram:
    """A forward pass as a list of steps, with everything autograd can say about it.

    `annotations` hold, for each input, the text from which instances are drawn
    (see `grader.program.instances`); `loss` is the last step, a scalar in nats.
    """

    name: str
    inputs: tuple[str, ...]
    annotations: Mapping[str, str]
    steps: tuple[Step, ...]
    scope: Mapping[str, Any] = field(repr=False)

    @property
    def loss(self) -> str:
        """The name of the last step."""
        return self.steps[-1].name

    def readers(self, name: str) -> tuple[str, ...]:
        """The steps that read `name`: the branches through which its gradient arrives."""
        return tuple(step.name for step in self.steps if name in step.reads)

    def descendants(self, name: str) -> frozenset[str]:
        """The steps whose values depend on `name`."""
        found = {name}
        for step in self.steps:
            if not found.isdisjoint(step.reads):
                found.add(step.name)
        return frozenset(found - {name})

    def between(self, name: str, ends: Collection[str]) -> list[str]:
        """The steps from `name` up to `ends`, each with what it reads, in order."""
        live, found = {name}, dict[str, None]()
        for step in self.steps:
            if not live.isdisjoint(step.reads):
                found |= dict.fromkeys((step.name, *step.reads))
                if step.name not in ends:
                    live.add(step.name)
        return [*found]

    def run(self, inputs: Mapping[str, Tensor]) -> dict[str, Any]:
        """Every input and every step's value, by name."""
        values: dict[str, Any] = {name: inputs[name] for name in self.inputs}
        for step in self.steps:
            values[step.name] = self._evaluate(step, values)
        return values

    @torch.enable_grad()  # a notebook may call this under `torch.no_grad()`
    def gradients(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The gradient of the loss with respect to every floating-point tensor, from autograd.

        Tensors the loss does not depend on get zeros. Each gradient has its tensor's shape.
        """
        leaves = {
            name: value.detach().clone().requires_grad_() if is_differentiable(value) else value
            for name, value in inputs.items()
        }
        tensors = {
            name: value for name, value in self.run(leaves).items() if is_differentiable(value)
        }
        gradients = torch.autograd.grad(
            tensors[self.loss],
            list(tensors.values()),
            allow_unused=True,
            materialize_grads=True,
        )
        return dict(zip(tensors, gradients, strict=True))

    @torch.enable_grad()
    def vjp(
        self,
        values: Mapping[str, Any],
        name: str,
        upstream: Mapping[str, Tensor],
        through: str | None = None,
    ) -> Tensor:
        """The gradient of `name` when the gradients of some later steps are given.

        Every path from `name` towards the loss ends at the first step in `upstream` that it
        meets, or else at the loss, whose gradient is 1. With the readers of `name` as
        `upstream` this is the local VJP; with nothing it is the gradient itself.

        Args:
            values: what `run` returned, at which the program is differentiated.
            name: an input or a step.
            upstream: gradients by step name, each with the shape of its step.
            through: count only the branch that enters this reader of `name`.
        """
        leaf = values[name].detach().clone().requires_grad_()
        live: dict[str, Tensor] = {}
        reached: list[tuple[Tensor, Tensor]] = []
        for step in self.steps:
            enters = name in step.reads and through in (None, step.name)
            if not enters and live.keys().isdisjoint(step.reads):
                continue
            value = self._evaluate(step, {**values, **live, **({name: leaf} if enters else {})})
            if not isinstance(value, Tensor) or not value.requires_grad:
                continue
            if step.name in upstream:
                reached.append((value, upstream[step.name]))
            elif step.name == self.loss:
                reached.append((value, torch.ones_like(value)))
            else:
                live[step.name] = value
        if not reached:
            return torch.zeros_like(leaf)
        # A weighted sum instead of `grad_outputs`, whose checks import a computer algebra system.
        weighted = torch.stack([(value * cotangent).sum() for value, cotangent in reached])
        gradients: tuple[Tensor, ...] = torch.autograd.grad(weighted.sum(), leaf)
        return gradients[0]

    def _evaluate(self, step: Step, values: Mapping[str, Any]) -> Any:
        return eval(step.code, {**self.scope, **values})


def is_differentiable(value: object) -> bool:
    """True for floating-point tensors: what has a gradient."""
    return isinstance(value, Tensor) and value.is_floating_point()


def parse_program(function: Callable[..., Tensor]) -> ForwardProgram:
    """Read a forward function's own source as a program.

    The function takes tensors annotated `Annotated[Tensor, "shape"]`, assigns one name a line,
    each name once, and returns its last one.

    Raises:
        NotAForwardProgram: a line is anything else; the message says which.
    """
    source = textwrap.dedent(inspect.getsource(function))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    signature = inspect.signature(function, eval_str=True)
    inputs = tuple(signature.parameters)
    annotations = {
        name: _shape_annotation(function.__name__, name, parameter.annotation)
        for name, parameter in signature.parameters.items()
    }
    steps = tuple(_parse_steps(definition, source, inputs))
    return ForwardProgram(function.__name__, inputs, annotations, steps, function.__globals__)


def body_source(function: Callable[..., Tensor]) -> str:
    """The text of a forward function's body without docstring and return: a notebook's cell."""
    source = textwrap.dedent(inspect.getsource(function))
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    body = definition.body
    has_docstring = ast.get_docstring(definition) is not None
    before = body[0].end_lineno if has_docstring else body[0].lineno - 1
    assert before is not None
    lines = source.splitlines()[before : body[-1].lineno - 1]
    return textwrap.dedent("\n".join(lines)).strip()


def _parse_steps(
    definition: ast.FunctionDef, source: str, inputs: tuple[str, ...]
) -> Iterator[Step]:
    known = set(inputs)
    body = definition.body[1:] if ast.get_docstring(definition) is not None else definition.body
    *assignments, last = body
    for statement in assignments:
        line = ast.get_source_segment(source, statement) or ""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in known:
                pass
            case _:
                where = f"{definition.name}, line {statement.lineno},"
                raise NotAForwardProgram(
                    f"{where} is not a step: `{line}`. A forward program consists of lines"
                    " `name = expression`, each name assigned once."
                )
        names = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
        names.sort(key=lambda node: (node.lineno, node.col_offset))
        reads = tuple(dict.fromkeys(node.id for node in names if node.id in known))
        known.add(name)
        code = compile(ast.Expression(value), f"<forward program {definition.name}>", "eval")
        yield Step(name, ast.unparse(value), reads, line, code)
    match last:
        case ast.Return(value=ast.Name(id=returned)) if assignments and returned == name:
            return
    raise NotAForwardProgram(
        f"{definition.name} must end by returning the name its last step assigns, the loss."
    )


def _shape_annotation(program: str, name: str, annotation: Any) -> str:
    texts = [item for item in getattr(annotation, "__metadata__", ()) if isinstance(item, str)]
    if len(texts) != 1:
        raise NotAForwardProgram(
            f"{program} must annotate its input {name} with its shape, for example"
            f' `{name}: Annotated[Tensor, "n, n_hidden"]`.'
        )
    return texts[0]
