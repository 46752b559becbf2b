"""No regular expression goes back and forth over what a student wrote."""

from __future__ import annotations

import subprocess
import sys

import pytest

ROOMS = (
    *("answer", "diagnosis", "execution", "grading", "notebook", "pictures", "reports"),
    *("submission", "worker"),
)
MODULES = (*(f"grader.{room}" for room in ROOMS), "grader.classroom.spreadsheet")

NAMES = ("grader.classroom.intake", "grader.whole_file")
"""These read names of files, which have at most 255 characters."""

OWN = {
    "grader.answer.assigned": "from the beginning alone, a line",
}
"""Modules whose expressions are not searched for in a student's text, and why."""

EVERY = """
import ast, importlib, pkgutil, re, resource, sys
from pathlib import Path

resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
names, length, left_out, own = sys.argv[1].split(), int(sys.argv[2]), *map(str.split, sys.argv[3:])
expressions = {}
for name in names:
    package = importlib.import_module(name)
    below = pkgutil.iter_modules(getattr(package, "__path__", []), f"{name}.")
    for module in [package, *(importlib.import_module(found.name) for found in below)]:
        if module.__name__ in left_out:
            continue
        for value in vars(module).values():
            if isinstance(value, re.Pattern):
                expressions[value] = module.__name__
        for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re")),
                    args=[ast.Constant(value=str(text)), *_],
                ):
                    expressions[re.compile(text)] = module.__name__
units = [
    *" \\t\\na1=,([.-?'`_;${/%+#<@\\"",
    "a ", "a,", "a=", "1a", "(1", "- ", "a.", ";'", "a_1", "[a ", "\U0001f600",
]
for expression, module in expressions.items():
    for unit in units:
        for end in ("", "\\0", ")", "]"):
            text = (unit * length)[:length] + end
            if isinstance(expression.pattern, bytes):
                text = text.encode()
            print(module, repr(expression.pattern), ascii(unit), flush=True)
            expression.fullmatch(text)
            if module not in own:
                expression.search(text)
print(len(expressions))
"""


def tried(modules: tuple[str, ...], length: int, left_out: tuple[str, ...] = ()) -> int:
    """How many expressions read a hostile text of that length; a hopeless one is ended."""
    words = " ".join(modules), str(length), " ".join(left_out), " ".join(OWN)
    done = subprocess.run(
        [sys.executable, "-c", EVERY, *words],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    last = done.stdout.splitlines()[-1]
    assert done.returncode == 0, f"this does not end: {last}"
    return int(last)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limit of processor time")
def test_no_expression_is_lost_in_a_long_text() -> None:
    assert tried(MODULES, 200_000, NAMES) > 15


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limit of processor time")
def test_no_expression_is_lost_in_the_name_of_a_file() -> None:
    assert tried(NAMES, 255) > 10
