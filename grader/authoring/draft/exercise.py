"""The draft of an exercise: what its notebook shows, asks for and tells."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import torch

from grader.authoring.backward.derive import Derived, derive
from grader.authoring.backward.table import Operation
from grader.authoring.blank import secrets_of
from grader.authoring.draft.forward_file import needed, shape_texts
from grader.authoring.draft.hints import make_hints
from grader.pictures.gradient_graph import gradient_graph
from grader.program.exercises import Exercise
from grader.program.forward_program import ForwardProgram, Step, is_differentiable
from grader.program.instances import read_shape
from grader.program.parse import body_source, source_of
from grader.program.references import SEED, References, prepare
from grader.user_error import UserError

RULES = Path(__file__).with_name("rules.toml")


@dataclass(frozen=True, slots=True)
class Rule:
    """What `rules.toml` says of a rule."""

    name: str
    rule: str
    hint: str
    figure: str = ""
    caption: str = ""
    slopes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gradient:
    """One gradient: its tensor's shape, the lines that read it, its solution and its hints.

    `trouble` is a sentence why there is no solution, or "".
    """

    name: str
    shape: str
    readers: tuple[str, ...]
    hints: tuple[str, ...]
    lines: tuple[str, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """The gradients that are complete once the way back has passed a line.

    `arrives` is the gradient that arrives there, "" where the line is the last; `before` are those
    that arrive at other lines which read the same tensors; `rules` are needed here for the first
    time, `slopes` are sentences on functions that are; `known` are the names of rules told before.
    """

    grade_id: str
    line: str
    arrives: str
    before: tuple[str, ...]
    gradients: tuple[Gradient, ...]
    rules: tuple[Rule, ...]
    slopes: tuple[str, ...]
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A row of the table of names."""

    name: str
    shape: str
    numbers: str
    readers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """What the templates show of an exercise.

    `inputs` are statements that draw an instance; `given` are the inputs that are gradients, each
    with its tensor.
    """

    exercise: Exercise
    title: str
    about: str
    imports: str
    inputs: str
    forward: str
    given: Mapping[str, str]
    tensors: tuple[Tensor, ...]
    pieces: tuple[Piece, ...]

    @property
    def gradients(self) -> list[Gradient]:
        """All gradients, from the loss down."""
        return [gradient for piece in self.pieces for gradient in piece.gradients]


@cache
def rules() -> dict[str, Rule]:
    """The rules by the words that a derivation has for them."""
    return {word: Rule(**told) for word, told in tomllib.loads(RULES.read_text("utf-8")).items()}


def make_draft(exercise: Exercise, file: ast.Module, text: str) -> Draft:
    """Draft an exercise whose gradients are still to be found.

    Args:
        exercise: its forward function and sizes.
        file: the syntax tree of the file that the function stands in.
        text: the same as it is written.

    Raises:
        UserError: nothing in the function has a gradient, or none that is a number, or it does not
            run on every size.
    """
    references, forward = prepare(exercise), exercise.forward
    program = references.program
    _check_that_they_are_numbers(references)
    pieces = tuple(_pieces(exercise, references))
    if not pieces:
        raise UserError(f"{program.name} has no gradient to write: none of its tensors has one.")
    gradients = tuple(gradient.name for piece in pieces for gradient in piece.gradients)
    definition, _ = source_of(forward)
    above = needed(file, definition.body)
    imports = [node for node in above if isinstance(node, ast.Import | ast.ImportFrom)]
    others = [node for node in above if node not in imports]
    return Draft(
        exercise=replace(exercise, gradients=gradients),
        title=program.name.replace("_", " ").strip().capitalize(),
        about=(inspect.getdoc(forward) or "").partition("\n\n")[0],
        imports="\n".join(_texts(imports, text)),
        inputs="\n".join([*_texts(others, text), *_inputs(exercise, program)]),
        forward=body_source(forward),
        given=given_gradients(program),
        tensors=tuple(_tensors(references)),
        pieces=pieces,
    )


def _check_that_they_are_numbers(references: References) -> None:
    """Raise `UserError` for a step that gives NaN, if an input has no gradient for it."""
    program = references.program
    for reference in references.hidden:
        values, gradients = reference.instance.values, reference.gradients
        if all(gradients[name].isfinite().all() for name in program.inputs if name in gradients):
            continue
        if (step := program.first_nan(values)) is None:
            continue
        raise UserError(
            f"{program.name}: `{step.line}` gives NaN for some numbers. Inputs are drawn around 0:"
            " let a step before it bring them where it is defined, such as `x.exp()`."
        )


def _pieces(exercise: Exercise, references: References) -> Iterator[Piece]:
    program, told = references.program, list[str]()
    derived, troubles = _derivations(references)
    readers = {
        name: _readers(references, name, derived.get(name)) for name in (*derived, *troubles)
    }
    secrets = secrets_of("\n".join(each.lines) for each in derived.values())

    def gradient(name: str) -> Gradient:
        known, said = derived.get(name), {word: rule.hint for word, rule in rules().items()}
        hints = make_hints(name, readers[name], program.loss, known, said, secrets)
        return Gradient(
            name=f"d{name}",
            shape=_shape(references, name),
            readers=tuple(step.line for step in readers[name]),
            hints=tuple(hints),
            lines=known.lines if known else (),
            trouble=troubles.get(name, ""),
        )

    for number, step in enumerate(reversed(program.steps), start=1):
        names = [name for name in step.reads if step in readers.get(name, [])[-1:]]
        found = [derived[name].rules for name in names if name in derived]
        words = dict.fromkeys(word for each in found for passed in each.values() for word in passed)
        new = [word for word in words if word not in told]
        told += new
        read_by = list(dict.fromkeys(each for name in names for each in readers[name]))
        slopes = [each for each in dict.fromkeys(_slopes(read_by)) if each not in told]
        told += slopes
        if names:
            yield Piece(
                grade_id=f"{exercise.prefix}-{step.name if step.name.isascii() else number}",
                line=step.line,
                arrives="" if step.name == program.loss else f"d{step.name}",
                before=tuple(
                    f"d{each.name}" for each in read_by if each not in (step, program.steps[-1])
                ),
                gradients=tuple(_said_once(map(gradient, names))),
                rules=tuple(rules()[word] for word in new),
                slopes=tuple(slopes),
                known=tuple(rules()[word].name for word in words if word not in new),
            )


def _slopes(steps: Iterable[Step]) -> Iterator[str]:
    """A sentence for each function of one number in some steps."""
    for node in (node for step in steps for node in ast.walk(ast.parse(step.expression))):
        if isinstance(node, ast.Call):
            name = Operation.read(node, lambda _: False).name
            if name in rules()["function"].slopes:
                yield rules()["function"].slopes[name]


def _said_once(gradients: Iterable[Gradient]) -> Iterator[Gradient]:
    """Gradients of one cell without the helper lines that stand in it already.

    A line is left out as long as no name in it has got another value since.
    """
    written: set[str] = set()
    for gradient in gradients:
        lines = [line for line in gradient.lines if line not in written]
        for line in lines:
            name = re.escape(line.partition(" = ")[0])
            written = {other for other in written if not re.search(rf"\b{name}\b", other)} | {line}
        yield replace(gradient, lines=tuple(lines))


def _asked(references: References) -> list[str]:
    """The tensors whose gradients a student is to write: all on a way to the loss, none given."""
    program, values = references.program, references.lecture.values
    given = given_gradients(program)
    others = {program.loss, *given, *(gradient[1:] for gradient in given)}
    asked = gradient_graph(program).keys() - others
    return [name for name in program.names if name in asked and is_differentiable(values[name])]


def given_gradients(program: ForwardProgram) -> dict[str, str]:
    """The inputs that are gradients arriving from outside, each with its tensor."""
    named = {name: name[1:].removesuffix("_given") for name in program.inputs if name[0] == "d"}
    return {name: tensor for name, tensor in named.items() if tensor in program.names}


def _derivations(references: References) -> tuple[dict[str, Derived], dict[str, str]]:
    """The derivations by tensor; where there is none, a sentence why."""
    derived, troubles = dict[str, Derived](), dict[str, str]()
    for name in _asked(references):
        try:
            derived[name] = derive(references, name)
        except UserError as trouble:
            troubles[name] = str(trouble)
    return derived, troubles


def _readers(references: References, name: str, derived: Derived | None) -> list[Step]:
    """The steps that pass something back to a tensor, the last one first."""
    program, known = references.program, references.program.readers(name)
    if derived is not None:
        known = tuple(derived.rules)
    return [step for step in reversed(program.steps) if step.name in known]


def _tensors(references: References) -> Iterator[Tensor]:
    program, values = references.program, references.lecture.values
    for name in program.names:
        if isinstance(values[name], torch.Tensor):
            numbers = ", ".join(map(str, values[name].shape))
            readers = tuple(step.name for step in program.steps if name in step.reads)
            yield Tensor(name, _shape(references, name), numbers, readers)


def _shape(references: References, name: str) -> str:
    axes = shape_texts(name, [reference.instance for reference in references.hidden])
    return ", ".join(axes).replace(" * ", " · ") or "a single number"


def _texts(nodes: Sequence[ast.stmt], text: str) -> list[str]:
    return [ast.get_source_segment(text, node) or "" for node in nodes]


def _inputs(exercise: Exercise, program: ForwardProgram) -> Iterator[str]:
    """The lines that draw an instance as the grader does: sizes, constants, inputs."""
    for size, length in exercise.sizes.items():
        yield f"{size} = {length}"
    parameters = inspect.signature(exercise.forward).parameters
    for name, parameter in parameters.items():
        if name not in program.annotations:
            yield f"{name} = {parameter.default!r}"
    yield f"generator = torch.Generator().manual_seed({SEED})"
    for name, annotation in program.annotations.items():
        axes, below = read_shape(annotation)
        shape = f"({axes[0]},)" if len(axes) == 1 else f"({', '.join(axes)})"
        if below:
            yield f"{name} = torch.randint({below}, {shape}, generator=generator)"
            continue
        scale = ""
        if len(axes) > 1:  # weights by their rows; data by their width, not by how many there are
            width = axes[-1] if axes[0] == next(iter(exercise.sizes)) else axes[0]
            root = f" / {width if width.isidentifier() else f'({width})'}**0.5"
            scale = root if width != "1" else ""
        yield f"{name} = torch.randn({shape}, generator=generator){scale}"
