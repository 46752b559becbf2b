"""Problems: what a student is told about a statement that did not run to its end."""

from __future__ import annotations

import builtins
import re
from collections.abc import Container, Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F

from grader.answer.parse import Raised
from grader.close_names import SLIP, nearest
from grader.printable import counted, sentence
from grader.verdict import Reason, because
from grader.worker.results import REFUSED, Problem
from grader.worker.terms import NO_THREADS, Limits

FOLDERS = re.compile(r"(?<=')/[^']*/(?=[^'/]+')")
"""Matches the folders in a path that a message quotes."""

ADVICE = {
    "^only integer tensors of a single element": (
        "Is there a `.max(...)` along an axis? It gives two tensors, `.values` and `.indices`."
    ),
    "^Class values must be smaller than": (
        "An index is none of the columns: what does it count, and how many columns are there?"
    ),
    "^Tensors must have same number of dimensions": (
        "The one with fewer needs an axis of length 1: (n, 1), which `[:, None]` makes of (n,)."
    ),
    "^Boolean value of Tensor with more than one": (
        "`not`, `and`, `or` and Python's own `max` and `min` take one truth value each; for a mask"
        " there are `~`, `&`, `|`."
    ),
    r"^sum\(\): argument 'keepdim' \(position": (
        "Behind the axis stands `keepdim`, True or False; several axes stand in brackets of their"
        " own: `.sum((0, 1))`."
    ),
    r"^(a?max|a?min|mean|std|sum|var)\(\) got an unexpected keyword argument 'keep": (
        "PyTorch writes `keepdim`, in one word."
    ),
    r"^\w+\(\) missing .* \"dim\"$": "PyTorch calls an axis `dim`.",
    r"^sum\(\) takes at most 2 arguments|invalid keyword argument for sum\(\)$": (
        "This `sum` is Python's own; that of a tensor is `.sum(...)`, or `torch.sum`."
    ),
    "^only one element tensors can be converted": (
        "Several numbers were taken for one: `math` and `float` take one, `torch` has the same"
        " functions for tensors; `torch.stack` puts a list of tensors together."
    ),
    "^(Subtraction|Negation), the `-` operator, ": (
        "A mask holds True and False; `.float()` makes ones and zeros of it."
    ),
    "^'(float|int|Tensor)' object is not callable": "Is a `*` missing before a bracket?",
    r"^sqrt\(\): .* must be Tensor, not": "Of a plain number `n`, the root is `n**0.5`.",
    r"^(erf|exp|log|tanh)\(\): .* must be Tensor, not": r"For a plain number there is `math.\1`.",
}
"""Explanations to add to an exception, by words in its message."""

XOR = r"bitwise_xor|for \^"
"""Matches the messages of PyTorch and Python about a `^` between numbers that have no bits."""

NO_POWER = "in Python `^` is no power, `**` is"
"""The explanation if `^` was meant as a power."""

DENIALS = frozenset(
    {"PermissionError", "BlockingIOError", "FileNotFoundError", "ConnectionRefusedError"}
    | {"gaierror", "ProcessLookupError", "OperationalError"}
)
"""Exceptions with which the system or the sandbox denies something."""

UNBOUND = because("unbound")
"""The explanation of a name that is not defined and resembles no other."""

OF_NUMBERS = ("exp", "log", "sqrt")
"""PyTorch functions that people also call on plain numbers, for which `math` has them."""

OF_VALUES = ("mean", "var", "std", "device")
"""PyTorch functions whose names people also use for their results or arguments."""


def describe_problem(
    problem: Problem,
    limits: Limits,
    gradients: Container[str],
    known: Sequence[str] = (),
    unbound: Reason = UNBOUND,
) -> Raised:
    """Explain to the student, in one sentence, why a statement did not run to its end.

    Args:
        problem: the worker's report.
        limits: the limits of the statement.
        gradients: the gradients of the program's tensors. If an undefined name is one of these,
            the student may not have written it yet.
        known: names to suggest if an undefined name resembles one of them.
        unbound: the sentence to add if it resembles none of them.
    """
    gigabytes = f"{limits.memory_bytes / 2**30:g} GB"
    kind, message = problem.kind, problem.message
    match kind:
        case "TimeLimit":
            # Of a loop that does not end it may be any, and quick each time.
            seconds = counted(limits.statement_seconds, "second")
            said = f"The answer was still at this line after {seconds}."
            return Raised(said, by_limit=True, problem=problem)
        case "Gone":
            return replace(_raised(f"{message}.", problem), by_limit=True)
        case "SystemExit" | "KeyboardInterrupt":
            return _raised("asked Python to stop.", problem)
        case _ if message == NO_THREADS:
            return Raised(message, problem=problem)
        case _ if ran_out_of_memory(problem):
            did = f"asked for more memory than the {gigabytes} an answer may use."
            return replace(_raised(did, problem), by_limit=True)
    # A path of the machine that grades says nothing to a student.
    said = FOLDERS.sub("", message.rstrip("."))
    if re.search(XOR, said):
        return _raised(f"raised {kind}: {NO_POWER}.", problem)
    if not said:
        return _raised(f"raised {kind}.", problem)
    found = ((re.search(words, said), advice) for words, advice in ADVICE.items())
    advice = "".join(f" {match.expand(advice)}" for match, advice in found if match)
    raised = _raised(f"raised {kind}: {sentence(said)}{advice}", problem)
    missing = raised.unbound
    if kind != "NameError" or not missing or missing in gradients:
        return raised
    if missing in known:
        return replace(raised, guess=because("not-yet") if unbound == UNBOUND else unbound)
    meant = _meant(missing, known)
    return replace(raised, guess=because("meant", meant=meant) if meant else unbound)


def _raised(did: str, problem: Problem) -> Raised:
    return Raised(f"This line {did}", did=did, problem=problem)


def _meant(name: str, known: Sequence[str]) -> str:
    """Guess which name was meant by one that is not defined."""
    alike = next((f"`{one}`" for one in nearest(name, known, SLIP)), "")
    if alike.lower() == f"`{name.lower()}`":
        return alike
    if name == "keepdim":
        return "`keepdim=True`"
    if hasattr(builtins, capital := name.capitalize()):  # true, false, none
        return f"`{capital}`"
    if name in OF_VALUES:
        return alike
    for prefix, module in (("torch", torch), ("F", F)):
        if callable(getattr(module, name, None)):
            of_number = f" (of a plain number, `math.{name}`)" if name in OF_NUMBERS else ""
            return f"`{prefix}.{name}`{of_number}"
    return alike


def ran_out_of_memory(problem: Problem) -> bool:
    """Say whether Python or PyTorch reports with this exception that memory ran out."""
    is_torchs = problem.kind == "RuntimeError" and "allocate memory" in problem.message
    return is_torchs or problem.kind == "MemoryError"


def find_incident(problem: Problem) -> tuple[str, str] | None:
    """Make a flag of an exception, with kind and sentence, if a human should know about it.

    The kinds are `autograd`, `memory-limit` and `denied`. Most exceptions are ordinary mistakes.
    """
    kind, message = problem.kind, problem.message
    if REFUSED in message:
        return "autograd", "A statement reached for PyTorch's autograd while it ran."
    if ran_out_of_memory(problem):
        return "memory-limit", "A statement asked for more memory than an answer may use."
    if kind in DENIALS or (kind == "OSError" and message.startswith("[Errno")):
        return "denied", f"A statement asked the system for what it was denied: {message}."
    return None
