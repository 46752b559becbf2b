"""`grader explain`: why a hand-written backward pass is wrong."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from grader.close_names import nearest
from grader.commands import exit_codes
from grader.commands.options import said_by
from grader.commands.speech import has_colour, say, terminal_width
from grader.printable import printable
from grader.user_error import UserError
from makemore_data.interruption import uninterrupted


def _read_sizes(texts: tuple[str, ...]) -> dict[str, int]:
    sizes = {}
    for text in texts:
        name, _equals, length = text.partition("=")
        if not (name.isidentifier() and length.isdecimal()):
            raise ValueError(f"{text} is not a size: write d=7.")
        sizes[name] = int(length)
    return sizes


@click.command()
@click.argument("forward", metavar="FILE:FORWARD")
@click.argument("backward", metavar="FILE:BACKWARD")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="NAME=LENGTH",
    callback=said_by(_read_sizes),
    help="Fix a size, such as d=7; the others are chosen.",
)
@click.option(
    "--inputs",
    metavar="FILE:FUNCTION",
    help="A function that draws inputs which the annotations cannot describe.",
)
def explain(
    forward: str, backward: str, as_json: bool, sizes: dict[str, int], inputs: str | None
) -> int:
    """Say of each gradient in the function BACKWARD whether it is right, and why not.

    FORWARD is a function of straight-line code, its inputs annotated with their shapes; BACKWARD
    asks by name for inputs, steps, sizes and the gradients that arrive, or is a
    torch.autograd.Function. Both files are run, like any Python program.

    The exit code is 0 if every gradient is right, 1 if not, and 2 if there is nothing to explain.
    """
    with uninterrupted():
        from grader.explanation.explain import explain as why

    draws = _load(inputs) if inputs else None
    explanation = why(_load(forward), _load(backward), sizes=sizes, inputs=draws)
    if as_json:
        say(explanation.to_json() + "\n")
    else:
        say(explanation.as_text(terminal_width(), has_colour()))
    return exit_codes.PASSED if explanation.ok else exit_codes.NOT_PASSED


def _load(text: str) -> Any:
    """Load the object that `file.py:name` names."""
    file, _, name = text.rpartition(":")
    if not file or not name.isidentifier():
        raise UserError(f"{printable(text)} is not a function of a file: write file.py:function.")
    module = _run(Path(file).absolute(), file)
    if not hasattr(module, name):
        meant = nearest(name, vars(module))
        ending = f" Is it {meant[0]}?" if meant else ""
        raise UserError(f"{printable(file)} has no {printable(name)}.{ending}")
    return getattr(module, name)


@cache
def _run(path: Path, shown: str) -> ModuleType:
    """Run a file as a module, which can import others from its folder."""
    if not path.is_file():
        raise UserError(f"There is no file {printable(shown)}.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{printable(shown)} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    # As Python does for a program, because dataclasses, for instance, look up their module.
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UserError(_why_not(error, path, shown)) from error
    return module


def _why_not(error: Exception, path: Path, shown: str) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == path]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    where = f", line {lines[-1]}" if lines and lines[-1] else ""
    words = str(error).strip().split("\n")[0].rstrip(".")
    return f"{printable(shown)}{where}, raised {type(error).__name__}: {printable(words)}."
