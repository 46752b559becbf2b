"""The lines of Python that a student would write for a gradient, from the forward pass."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from grader.authoring.backward.chain_rule import ChainRule, names_of
from grader.authoring.backward.operations import UnknownOperation
from grader.authoring.backward.readable import expression, made, text, total
from grader.program.compare import agrees
from grader.program.references import References
from grader.user_error import UserError

LONGEST_LINE = 88
"""In a longer sum, each long term gets a line of its own."""


@dataclass(frozen=True, slots=True)
class Derived:
    """Statements that assign a gradient, and the rules that they follow.

    `rules` say for each reader that passes something back, the last one first, in a word each
    which rules lead from its value back to the tensor.
    """

    lines: tuple[str, ...]
    rules: Mapping[str, tuple[str, ...]]


def derive(references: References, tensor: str) -> Derived:
    """Derive `d<tensor>` from the gradients of the steps that read the tensor.

    The lines use the program's names and sizes, and agree with autograd on the hidden instances.

    Raises:
        UserError: a step does what the table does not know; the message names line and operation.
    """
    program, gradient = references.program, f"d{tensor}"
    readers = frozenset(program.readers(tensor))
    chain_rule = ChainRule(tensor, references.hidden)
    followed, parts = dict[str, tuple[str, ...]](), list[tuple[str, ast.expr]]()
    for step in reversed(program.steps):
        try:
            passed, rules = chain_rule.through(step)
        except UnknownOperation as unknown:
            told = f"There is no backward for `{unknown}` in the line `{step.line}`"
            raise UserError(f"{told}: {gradient} has to be written by hand.") from None
        if passed:
            parts += [(step.name, part) for part in passed]
            followed[step.name] = rules
    lines = _lines(chain_rule, parts)
    for reference, floor in zip(references.hidden, references.floors(tensor), strict=True):
        names = names_of(reference, tensor)
        exec("\n".join(lines), names)
        due = reference.local_vjp(tensor, readers)
        if not due.isfinite().all():
            raise UserError(f"{gradient} is NaN or infinite on a hidden instance, in autograd too.")
        if not agrees(names[gradient], due, floor):
            told = "; ".join(step.line for step in program.steps if step.name in readers)
            raise UserError(f"What is derived for {gradient} from `{told}` differs from autograd.")
    return Derived(tuple(lines), followed)


def _lines(chain_rule: ChainRule, parts: Sequence[tuple[str, ast.expr]]) -> list[str]:
    """Statements that assign the gradient, then add to some places of it."""
    gradient, fills = f"d{chain_rule.tensor}", chain_rule.fills
    filling = [gradient + fill.removeprefix(name) for name, fill in fills.items()]
    rest = [(reader, part) for reader, part in parts if text(part) not in fills]
    terms = [part for _, part in rest]
    if len(terms) > 1 and len(text(total(terms))) > LONGEST_LINE:
        terms = [chain_rule.short(part, f"through_{reader}") for reader, part in rest]
    if len(filling) == 1 and not terms:
        filling = [filling[0].replace(" += ", " = ", 1)]
    whole = _whole(chain_rule, terms)
    if filling and terms and not isinstance(whole, ast.BinOp):
        whole = made("u.clone()", u=whole)  # what is filled is nobody else's
    lines = [f"{gradient} = {text(whole)}", *filling]
    return [*chain_rule.needed(lines), *lines]


def _whole(chain_rule: ChainRule, terms: Sequence[ast.expr]) -> ast.expr:
    """The sum of some terms, in the tensor's shape and dtype."""
    on, own = chain_rule.on, expression(chain_rule.tensor)
    if not terms:
        return made("torch.zeros_like(x)", x=own)
    whole = total(terms)
    if on.shape(whole) != on.shape(own):
        outside, inside = on.split(whole)
        whole = outside.of(on.whole(inside, own))
    value = on.value(whole)
    if not isinstance(value, Tensor):
        return made("torch.full_like(x, u)", u=whole, x=own)
    is_alike = value.dtype == on.value(own).dtype
    return whole if is_alike else made("u.type_as(x)", u=whole, x=own)
