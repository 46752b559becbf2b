"""What a notebook passes on its way through `grader check`: modules, functions, types and stages.

Two notebooks of exercise 1 are graded in this process, as `grader check` does it: the solution, and
one with a fault. What is counted is the process that judges; the worker, and what is imported of it
here, is left out. A module is passed if one of its functions is called, and not if it is only
imported. A function is a `def` by its name: lambdas, comprehensions and what runs while a module
is imported do not count. A type is a class of the grader of which an object is made.

A stage is entered when a function of its room is called while none of another stage is under way;
`grading.grade`, which calls one stage after another, belongs to none. To make an object, or to read
a property of one, enters nothing. What one stage calls of another is listed by `-v`. The exercise
is prepared before, as once for all notebooks; with `--cold` that is counted, too.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from grader.execution.runner import Runner
from grader.grading.grade import grade
from grader.program.course import built_in_course
from grader.program.exercises import exercises_of, load_exercises
from grader.program.references import prepare
from grader.reports import terminal
from grader.reports.result import complete
from grader.submission.read import read_submission

SOLUTION = Path(__file__).parent.parent / "notebooks/solutions/01_atomic_backprop.ipynb"

NOTEBOOKS = {"right": ("", ""), "one fault": ("dlogits.sum(0)", "dlogits.sum(0, keepdim=True)")}
"""What is replaced in the solution, and by what."""

STAGES = {
    "submission": "read",
    "answer": "parse",
    "execution": "run",
    "grading": "judge",
    "diagnosis": "diagnose",
    "reports": "show",
}
"""The stage of a room; all others, such as `program`, are of use to several."""

CONDUCTOR = "grader.grading.grade"


class Trace:
    """A profile of this process; `sys.setprofile` calls it."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.types: set[str] = set()
        self.entered: list[str] = []
        self.between = Counter[tuple[str, str, str]]()
        self._stages = [""]
        self._importing = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code, module = frame.f_code, str(frame.f_globals.get("__name__"))
        if event not in ("call", "return"):
            return
        if not code.co_flags & inspect.CO_NEWLOCALS:  # the body of a module or of a class
            self._importing += 1 if event == "call" else -1
            return
        if self._importing:
            return
        if event == "call" and (code.co_name == "__init__" or module.startswith("namedtuple_")):
            made = frame.f_locals[code.co_varnames[0]]
            self._add_type(made if isinstance(made, type) else type(made))
        if not _is_counted(module):
            return
        if event == "return":
            self._stages.pop()
            return
        if not code.co_name.startswith("<") and not code.co_filename.startswith("<"):
            self.functions.add((module, code.co_qualname))
        self._enter(frame, module, code.co_qualname)

    def _enter(self, frame: FrameType, module: str, function: str) -> None:
        before = self._stages[-1]
        stage = "" if module == CONDUCTOR else STAGES.get(module.split(".")[1], before)
        if _reads_or_makes(frame):
            stage = before
        self._stages.append(stage)
        if before and stage != before:
            self.between[before, stage, f"{module.removeprefix('grader.')}.{function}"] += 1
        elif stage and not before and self.entered[-1:] != [stage]:
            self.entered.append(stage)

    def _add_type(self, made: type) -> None:
        if _is_counted(made.__module__):
            self.types.add(f"{made.__module__}.{made.__qualname__}")


def _reads_or_makes(frame: FrameType) -> bool:
    """True for a property, an object's `__init__` and the like, and for a part of a function."""
    name = frame.f_code.co_name
    kept = inspect.getattr_static(type(frame.f_locals.get("self")), name, None)
    return name.startswith(("__", "<")) or isinstance(kept, property)


def _is_counted(module: str) -> bool:
    return module.startswith("grader.") and not module.startswith("grader.worker")


def check(path: Path, runner: Runner) -> str:
    """The table that `grader check` prints of a notebook."""
    submission = read_submission(path, built_in_course())
    exercises = exercises_of(built_in_course(), submission.notebook)
    report = grade(exercises, submission.cells, runner)
    return terminal.render(complete(submission, report, exercises), width=100, colour=False)


def write_with_fault(path: Path, right: str, wrong: str) -> None:
    """Write the solution's notebook with one thing replaced."""
    notebook: dict[str, Any] = json.loads(SOLUTION.read_text(encoding="utf-8"))
    replaced = 0
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if right and cell["cell_type"] == "code" and right in source:
            cell["source"], replaced = source.replace(right, wrong), replaced + 1
    assert replaced == bool(right), f"{right} stands in {replaced} cells."
    path.write_text(json.dumps(notebook), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what each notebook passes."""
    parser = argparse.ArgumentParser(description=inspect.cleandoc(__doc__ or ""))
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("-v", "--verbose", action="store_true", help="list what is passed")
    parser.add_argument("--cold", action="store_true", help="count how exercises are prepared, too")
    options = parser.parse_args(arguments)
    with Runner() as runner, tempfile.TemporaryDirectory() as folder:
        for name, (right, wrong) in NOTEBOOKS.items():
            path = Path(folder) / "01_atomic_backprop.ipynb"
            write_with_fault(path, right, wrong)
            if options.cold:
                load_exercises.cache_clear()
            else:
                for exercise in exercises_of(built_in_course(), path.stem):
                    prepare(exercise)
            trace = Trace()
            sys.setprofile(trace)
            try:
                check(path, runner)
            finally:
                sys.setprofile(None)
            show(name, trace, options.verbose)


def show(name: str, trace: Trace, is_verbose: bool) -> None:
    modules = Counter(module for module, _ in trace.functions)
    print(
        f"trace: {name:9s} {len(modules)} modules, {len(trace.functions)} functions,"
        f" {len(trace.types)} types; stages: {', '.join(trace.entered)}",
        flush=True,
    )
    if not is_verbose:
        return
    for module, count in sorted(modules.items()):
        names = sorted(function for home, function in trace.functions if home == module)
        print(f"  {module}: {count} ({', '.join(names[:4])}{', ...' if count > 4 else ''})")
    print(f"  types: {', '.join(sorted(trace.types))}")
    for (before, stage, function), times in sorted(trace.between.items()):
        print(f"  {before} calls {stage}: {function} ({times} times)")


if __name__ == "__main__":
    main()
