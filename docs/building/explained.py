"""The guide's examples: functions with a mistake in them, and what is said about it."""

from __future__ import annotations

import contextlib
import io
import os
from functools import cache
from importlib import import_module
from unittest import mock

import torch
from torch.autograd.gradcheck import GradcheckError

from benchmarks.explain import NAMES, measure, table
from docs.building.included import PROJECT
from grader import assert_gradients, cli
from grader.authoring.course import read_repository

FOLDER = PROJECT / "docs" / "examples"

WIDTH = 88
"""Columns of the terminal that is shown."""


def example(file: str, forward: str, backward: str) -> str:
    """An example's file, the command that explains it, and what that prints."""
    source = (FOLDER / f"{file}.py").read_text(encoding="utf-8").strip()
    words = ["explain", f"{file}.py:{forward}", f"{file}.py:{backward}"]
    return (
        f"```{{code-block}} python\n:caption: {file}.py\n:linenos:\n\n{source}\n```\n\n"
        f"```console\n$ grader {' '.join(words)}\n{_printed(words)}\n```"
    )


def _printed(words: list[str]) -> str:
    out = io.StringIO()
    environment = {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    with (
        contextlib.chdir(FOLDER),
        contextlib.redirect_stdout(out),
        mock.patch.dict(os.environ, environment),
    ):
        cli.main(words)
    return out.getvalue().rstrip()


def failing_test() -> str:
    """A test of the third example, and what pytest prints of it."""
    swiglu = import_module("docs.examples.swiglu")
    call = "assert_gradients(swiglu, SwiGLU)"
    try:
        with mock.patch.dict(os.environ, {"COLUMNS": str(WIDTH - 8), "NO_COLOR": "1"}):
            assert_gradients(swiglu.swiglu, swiglu.SwiGLU)
    except AssertionError as error:
        lines = f"AssertionError: {error}".split("\n")
        shown = "\n".join(f"E       {line}".rstrip() for line in lines)
        test = f"def test_swiglu():\n    {call}"
        code = f"from grader import assert_gradients\nfrom swiglu import SwiGLU, swiglu\n\n\n{test}"
        failed = f"    def test_swiglu():\n>       {call}\n{shown}"
        return f"```python\n{code}\n```\n\n```text\n{failed}\n```"
    raise ValueError("The third example has no mistake any more.")


def gradcheck_says() -> str:
    """What PyTorch's own check says of the third example, its matrices left out."""
    swiglu = import_module("docs.examples.swiglu")
    generator = torch.Generator().manual_seed(1)
    shapes = (4, 3), (3, 5), (3, 5)
    inputs = [torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes]
    try:
        torch.autograd.gradcheck(
            swiglu.SwiGLU.apply, [tensor.requires_grad_() for tensor in inputs]
        )
    except GradcheckError as error:
        first = str(error).partition("\n")[0]
        return f"```text\nGradcheckError: {first}\nnumerical:tensor([[...\n```"
    raise ValueError("The third example has no mistake any more.")


@cache
def bugs_table() -> str:
    """How often the right gradient is blamed and the mistake named, in bugs that were made."""
    rows = table([measure(name) for name in NAMES])
    where = f"{read_repository()}/tree/main/corpus/bugs"
    return f"{rows}\n\n[The bugs, each with its source]({where})"
