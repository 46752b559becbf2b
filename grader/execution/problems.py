"""Problems: what a student is told of a statement that did not run to its end."""

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
"""The folders in a path that is quoted in a message."""

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
"""What an exception's words do not tell of what was written, by these words."""

XOR = r"bitwise_xor|for \^"
"""In the words of an exception of PyTorch's or Python's: `^` stood where there are no bits."""

NO_POWER = "in Python `^` is no power, `**` is"
"""What is said where `^` was meant for a power."""

DENIALS = frozenset(
    {"PermissionError", "BlockingIOError", "FileNotFoundError", "ConnectionRefusedError"}
    | {"gaierror", "ProcessLookupError", "OperationalError"}
)
"""Exceptions by which the system, or the sandbox, says no."""

UNBOUND = because("unbound")
"""What is said of a name that nothing has bound and that is like no other."""

OF_NUMBERS = ("exp", "log", "sqrt")
"""Functions of PyTorch's that are taken of plain numbers too, where `math` has them."""

OF_VALUES = ("mean", "var", "std", "device")
"""Functions of PyTorch's by whose names people call what they return, or what they set."""


def describe_problem(
    problem: Problem,
    limits: Limits,
    gradients: Container[str],
    known: Sequence[str] = (),
    unbound: Reason = UNBOUND,
) -> Raised:
    """What to tell the student about a statement that did not run to its end.

    Args:
        problem: as the worker reports it.
        limits: what the statement was given.
        gradients: those of the program's tensors; one that is missing may be still to do.
        known: the names that may have been meant by one that is not defined.
        unbound: what is said of one that is like none of these.
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
    """What may have been meant by a name that is not defined."""
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
    """True for an exception by which Python or PyTorch says so."""
    is_torchs = problem.kind == "RuntimeError" and "allocate memory" in problem.message
    return is_torchs or problem.kind == "MemoryError"


def find_incident(problem: Problem) -> tuple[str, str] | None:
    """What a human should know of an exception that a statement raised: kind and sentence.

    Kinds: `autograd`, `memory-limit`, `denied`. Most exceptions are mistakes, and nothing to know.
    """
    kind, message = problem.kind, problem.message
    if REFUSED in message:
        return "autograd", "A statement reached for PyTorch's autograd while it ran."
    if ran_out_of_memory(problem):
        return "memory-limit", "A statement asked for more memory than an answer may use."
    if kind in DENIALS or (kind == "OSError" and message.startswith("[Errno")):
        return "denied", f"A statement asked the system for what it was denied: {message}."
    return None
