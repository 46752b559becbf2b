"""Check the parts of the training loop that a student writes in notebook 4."""

from __future__ import annotations

import ast
import ctypes
import inspect
import io
import re
import textwrap
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import torch
from torch import Tensor

from grader.execution.problems import NO_POWER, XOR
from grader.notebook.running_notebook import has_failed
from grader.notebook.training.first_prints import first_prints
from grader.notebook.training.inference_trials import INFERENCE_TRIALS
from grader.notebook.training.step_trials import STEP_TRIALS
from grader.notebook.training.trial import (
    N_HIDDEN,
    PIECES,
    Endless,
    Misused,
    Part,
    RaisedByPiece,
    find_difference,
    recognise,
)
from grader.printable import listed, printable, sentence
from grader.worker.engine import one_thread
from grader.worker.execution import TimeLimit
from makemore_data.training.train import Run

SECONDS = 5.0
"""How long a part may run; each takes a few tenths of a second at most."""

TRIALS = {**STEP_TRIALS, **INFERENCE_TRIALS}
"""How each part is tried, in the order of the notebook."""


def check_own(part: str, function: Part) -> Part:
    """Run a function of yours on small data, and say whether it is right or what is wrong.

    Your function runs in this notebook, on tensors made for the check. While it runs, the tensors
    of the notebook are out of its reach, so it has to work with its arguments.

    Args:
        part: which part of the loop it is, such as "update".
        function: the part as you wrote it.

    Returns:
        Your function if it is right, and otherwise the course's own, so that the cells below can
        run. If yours prints at every step, only its first prints are shown.
    """
    if part not in TRIALS:
        print(f'There is no part "{part}" of the loop; there are {listed(TRIALS)}.')
        return function
    printed, word = io.StringIO(), "fail"
    name = getattr(function, "__name__", part)
    try:
        with one_thread():
            trouble = _find_trouble(part, name, function, printed)
    except Exception as error:  # the checker's own: a student's comes as `RaisedByPiece`
        word, trouble = "not checked", _describe_own_failure(error)
    if not trouble:
        print(f"{name:<16} | pass")
        return first_prints(function, f"`{name}`") if printed.getvalue() else function
    print(f"{name:<16} | " + ("to do" if ends_in_blank(function) else f"{word}\n  {trouble}"))
    print("  Until it passes, the cells below use the course's own.")
    return TRIALS[part].own


def _describe_own_failure(error: Exception) -> str:
    return sentence(
        "This is not your mistake. The check itself has failed, with"
        f" {type(error).__name__}: {_first_line(error)}"
    )


def ends_in_blank(function: Part) -> bool:
    """True if a function ends in the `...` that its own lines should take the place of."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):  # what has no text of its own is not the blank
        return False
    match tree.body:
        case [ast.FunctionDef(body=[*_, last])]:
            return ast.unparse(last) == "..."
    return False


def _find_trouble(part: str, name: str, function: Part, printed: io.StringIO) -> str:
    """Say in a sentence what is wrong with a function, or return "". `printed` takes its prints."""
    if not callable(function):
        return f"It is {type(function).__name__}, not a function."
    if has_failed(name):  # the function of that name is an earlier version
        return "Its cell ended in an error. Mend the error shown below that cell, and run it again."
    scope = getattr(inspect.unwrap(function), "__globals__", {})
    with _without_tensors(scope) as hidden:
        try:
            with (
                torch.random.fork_rng([]),
                warnings.catch_warnings(),
                redirect_stdout(printed),
                _in_time(),
            ):
                warnings.simplefilter("ignore")  # such as that one number has no variance
                torch.manual_seed(0)
                difference = find_difference(TRIALS[part], function)
        except (TimeLimit, Endless):
            return str(PIECES[part].get("endless") or f"It did not end within {SECONDS:g} seconds.")
        except Misused as misused:
            return str(misused)
        except RaisedByPiece as raised:
            error = raised.__cause__ or raised
            return _in_words(error, part, inspect.unwrap(function), hidden)
    return recognise(part, TRIALS[part], difference) if difference else ""


@contextmanager
def _in_time() -> Iterator[None]:
    """Raise `TimeLimit` in this thread if the block takes too long.

    Another thread keeps the time, because Windows has no alarms.
    """
    thread, ended = ctypes.c_ulong(threading.get_ident()), threading.Event()
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def watch() -> None:
        seconds = SECONDS
        while not ended.wait(seconds):
            raise_in(thread, ctypes.py_object(TimeLimit))
            seconds = 0.1  # and again, in case an `except:` of the student's caught the first

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        raise_in(thread, None)  # what was not raised yet comes too late


@contextmanager
def _without_tensors(scope: dict[str, Any]) -> Iterator[set[str]]:
    """Hide a notebook's tensors and runs from its functions, so that nothing can change them.

    Its number of hidden units is hidden as well, because the check's network has fewer.
    """
    kinds = (Tensor, Run, torch.Generator)
    hidden = {
        name: value
        for name, value in scope.items()
        if name == "n_hidden"
        or isinstance(value, kinds)
        or (isinstance(value, tuple | list) and any(isinstance(item, kinds) for item in value))
    }
    for name in hidden:
        del scope[name]
    try:
        yield set(hidden)
    finally:
        scope.update(hidden)


def _in_words(error: BaseException, part: str, function: Part, hidden: set[str]) -> str:
    """Tell the student what a function raised, in which line, and what it means if known."""
    file = function.__code__.co_filename if hasattr(function, "__code__") else ""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = f" in `{printable(own[-1].line or '')}`" if own else ""
    if isinstance(error, NameError) and error.name in hidden:
        size = " The check's network is smaller: `W1.shape[1]` is its number of hidden units."
        return (
            f"It uses the notebook's `{error.name}`{line}, whatever it is given. Use the arguments,"
            f" or what the function has made of them.{size if error.name == 'n_hidden' else ''}"
        )
    message = _first_line(error)
    says = NO_POWER if re.search(XOR, message) else message
    said = sentence(f"It raises {type(error).__name__}{line}: {says}")
    meanings = PIECES["raised"]["meanings"]
    means = (text for pattern, text in meanings if re.search(pattern, f"{part}: {message}"))
    of_check = isinstance(error, RuntimeError) and re.search(rf"(?<!\d){N_HIDDEN}(?!\d)", message)
    network = f"(The check's network has {N_HIDDEN} hidden units.)" if of_check else ""
    return " ".join(filter(None, [said, network, next(means, "")]))


def _first_line(error: BaseException) -> str:
    return printable(str(error).partition("\n")[0])
