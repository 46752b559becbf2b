"""One-fault variants of a right answer to any exercise, with what is true of them."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from corpus.readers.faults import OPERATORS, Fault, one_fault_variants, owners
from corpus.readers.labels import Label, is_number, nameless
from corpus.readers.mutation_site import Names, Site
from corpus.readers.one_fault import LabelledFault, is_noise, labelled
from corpus.readers.operators import DIAGNOSIS_MUTATIONS
from grader.authoring.draft.forward_file import shape_texts
from grader.diagnosis.kinds import Kind
from grader.program.compare import agrees
from grader.program.exercises import Exercise
from grader.program.forward_program import ForwardProgram
from grader.program.references import prepare

OF_THE_COURSE = {"gather-for-sum", "view-permuted"}
"""Operators whose mistakes need names of the course's forward pass."""

INDEX = "target"
"""What the functions call the entries to be picked."""


def variants(exercise: Exercise, right: str) -> Iterator[LabelledFault]:
    """The one-fault variants of a right answer, each with what is true of it."""
    references = prepare(exercise)
    instances = [reference.instance for reference in references.hidden]
    shape_of = {
        tensor: shape_texts(tensor, instances)
        for tensor, gradient in references.lecture_gradients.items()
        if gradient.ndim
    }
    names = Names(exercise.gradients, shape_of, exercise.sizes)
    for fault in one_fault_variants(right, names, (*OPERATORS, *DIAGNOSIS_MUTATIONS)):
        if fault.kind not in OF_THE_COURSE and not is_noise(fault):
            found = labelled(exercise.prefix, "derived", right, fault)
            yield replace(found, label=_label(fault, found.label, references.program))


def _label(fault: Fault, label: Label, program: ForwardProgram) -> Label:
    """What is true of a fault in these functions, which do what the course's do not."""
    site, mutant = fault.edit.site, fault.edit.mutant
    left, divisor = ast.unparse(mutant), fault.gradient[1:]
    quotients = [step.line for step in program.steps if step.line.endswith(f" / {divisor}")]
    match fault.kind, site.node:
        case "keepdim-dropped", _ if left == INDEX:
            return nameless(Kind.WRONG_SHAPE, reason="Indices in another shape.")
        case "first-branch-missing", ast.Call(func=ast.Name("sum")):
            return nameless(*label.kinds, reason="There are no zeros like a Python number: raised.")
        case _ if isinstance(site.parent, ast.Attribute) and is_number(mutant, site):
            return nameless(*label.kinds, reason="A Python number has no such method: raised.")
        case "factor-dropped", _ if isinstance(mutant, ast.Compare):
            also, reason = Kind.WRONG_DTYPE, "Without its factor a mask of truth values is left."
        case _, _ if Kind.POWER_RULE in label.kinds and _is_power_of_number(site):
            also, reason = Kind.CONSTANT_FACTOR, "A power of a number is a number."
        case "factor-dropped", _ if Kind.SUM_FOR_MEAN in label.kinds:
            also, reason = Kind.CONSTANT_FACTOR, "Without a divisor, so many times too large."
        case "sign-flipped", _ if _is_axis(site):
            also, reason = Kind.WRONG_AXIS, "Axis -1 is the last one, axis 1 is not."
        case "times-divide-swapped", ast.BinOp(_, _, ast.Call(func=ast.Attribute(attr="exp"))):
            also, reason = Kind.SIGN, "Divided by exp(a) is times exp(-a)."
        case "power-dropped", ast.BinOp() as node if _is_divisor(node, site.parent):
            also, reason = Kind.MISSING_FACTOR, "Divided once instead of twice."
        case "other-forward", ast.Name(name) if _is_inverse(name, left, program):
            both = {Kind.POWER_RULE, Kind.OPERATOR}
            return Label(label.kinds | both, label.named, "The one is a power of the other.")
        case "divided-by-zero", _:
            also, reason = Kind.CONSTANT_FACTOR, "The zero is a factor too many."
        case "times-divide-swapped", ast.BinOp() as node if _is_divisor(node, site.parent):
            also, reason = Kind.BRACKETS, "a / (b / c) is a / b / c in other brackets."
        case "power-dropped", ast.BinOp(ast.Name(name)) if name == divisor and quotients:
            also, reason = Kind.WRONG_NAME, "The quotient is a tensor: a / b**2 is (a / b) / b."
        case "other-forward", ast.Name(name) if f"{left} = {name} / {divisor}" in quotients:
            also, reason = Kind.POWER_RULE, "The quotient is a tensor: (a / b) / b is a / b**2."
        case _:
            return label
    return Label(label.kinds | {also}, label.named, reason)


def _is_axis(site: Site) -> bool:
    """True for the axis of a sum or mean: `.sum(-1)`, `.mean(dim=-1)`."""
    call = next((parent for parent in site.parents if isinstance(parent, ast.Call)), None)
    return call is not None and ast.unparse(call.func).endswith((".sum", ".mean"))


def _is_divisor(node: ast.expr, parent: ast.AST) -> bool:
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div) and parent.right is node


def _is_power_of_number(site: Site) -> bool:
    powers = (p for p in (site.node, *site.parents) if isinstance(p, ast.BinOp))
    bases = [p.left for p in powers if isinstance(p.op, ast.Pow)]
    return bool(bases) and is_number(bases[0], site)


def _is_inverse(name: str, other: str, program: ForwardProgram) -> bool:
    inverses = {(step.name, step.expression) for step in program.steps}
    return not inverses.isdisjoint({(name, f"{other} ** (-1)"), (other, f"{name} ** (-1)")})


def is_right(exercise: Exercise, fault: LabelledFault) -> bool:
    """True where a variant is no mistake: all its values are right.

    They do not show a mistake in a line that makes or reads a gradient that is zero by structure:
    that line has to be right by itself. Such a gradient may be exact zeros, and may be left out.
    """
    references, tensor = prepare(exercise), fault.gradient[1:]
    zeros, readers = references.zero_by_structure, {*references.program.readers(tensor)}
    own = _own_lines(exercise, fault)
    shows = not any(re.search(rf"\bd{zero}\b", own) for zero in zeros)
    floors = {d: references.floors(d[1:]) for d in exercise.gradients}
    alone, whole = [], []
    for number, reference in enumerate(references.hidden):
        drawn, values = reference.cotangents, reference.instance.values
        upstreams = {f"d{step}": drawn[step] for step in readers if step in drawn}
        sizes = reference.instance.sizes
        value = _run(own, {**sizes, **values, **upstreams}).get(fault.gradient)
        due = [reference.local_vjp(tensor, readers)]
        due += [reference.local_vjp(tensor, readers - zeros, zeros)] if readers & zeros else []
        due += [torch.zeros_like(due[0])] if tensor in zeros else []
        alone.append(isinstance(value, Tensor) and any(agrees(value, each) for each in due))
        found = _run(fault.source, {**sizes, **values})
        whole.append(
            all(
                isinstance(found.get(d), Tensor)
                and agrees(found[d], reference.gradients[d[1:]], floors[d][number])
                for d in exercise.gradients
            )
        )
    return all(whole) and (shows or all(alone))


def _own_lines(exercise: Exercise, fault: LabelledFault) -> str:
    """The statements that make the gradient of a fault."""
    statements = ast.parse(fault.source).body
    makers = owners(fault.source, exercise.gradients)
    own = [statements[place] for place, gradient in makers.items() if gradient == fault.gradient]
    return "\n".join(map(ast.unparse, own))


def _run(source: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """The names after some statements, nothing where they raise; what is known stays as it is."""
    copies = {n: v.clone() if isinstance(v, Tensor) else v for n, v in known.items()}
    names: dict[str, Any] = {"math": math, "torch": torch, "F": F, **copies}
    with suppress(Exception), warnings.catch_warnings(action="ignore"):
        exec(source, names)
        return names
    return {}
