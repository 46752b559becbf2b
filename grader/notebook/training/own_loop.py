"""The parts of a training loop that a student of notebook 4 writes: run, judged, used if right."""

from __future__ import annotations

import ast
import inspect
import io
import re
import signal
import textwrap
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

import torch
from torch import Tensor

from grader.answer.parse import is_blank
from grader.answer.statements import stored_names
from grader.execution.own_process import alarm_if_free
from grader.execution.problems import NO_POWER, XOR
from grader.notebook.running_notebook import has_failed
from grader.notebook.training.adam_trial import adam, try_adam
from grader.notebook.training.deep_trial import deep_backward, try_deep_backward
from grader.notebook.training.first_prints import first_prints
from grader.notebook.training.inference_trials import try_calibration, try_logits, try_mean_loss
from grader.notebook.training.loop_trial import try_loop
from grader.notebook.training.sampling_trial import try_sample_name
from grader.notebook.training.step_trials import try_learning_rate, try_update
from grader.notebook.training.trial import Endless, Part, Trial, meaning
from grader.printable import listed, printable, sentence
from grader.worker.execution import TimeLimit
from makemore_data.model.inference import calibrate, logits_with, mean_loss, sample_name
from makemore_data.training.train import Run, learning_rate, train_steps, update

SECONDS = 5.0
"""How long a part may run; each takes a few thousandths of a second."""

TRIALS: Mapping[str, tuple[Part, Trial]] = {
    "update": (update, try_update),
    "learning_rate": (learning_rate, try_learning_rate),
    "loop": (train_steps, try_loop),
    "calibrate": (calibrate, try_calibration),
    "logits": (logits_with, try_logits),
    "mean_loss": (mean_loss, try_mean_loss),
    "sample_name": (sample_name, try_sample_name),
    "adam": (adam, try_adam),
    "deep_backward": (deep_backward, try_deep_backward),
}
"""Each part: the course's own, and its trial."""


def check_own(part: str, function: Part) -> Part:
    """Run a function of yours on small data; say whether it is right, or what is wrong.

    It runs in this notebook, on tensors made for the purpose, and does not find those of the
    notebook: what it needs are its arguments.

    Args:
        part: which part of the loop it is, such as "update".
        function: the part as you wrote it.

    Returns:
        Your function if it is right, else the course's own, so that the cells below can run. One
        that prints falls silent where it does so at every step.
    """
    if part not in TRIALS:
        print(f'There is no part "{part}" of the loop; there are {listed(TRIALS)}.')
        return function
    own, printed = TRIALS[part][0], io.StringIO()
    name = getattr(function, "__name__", part)
    if not callable(function):
        trouble = f"It is {type(function).__name__}, not a function."
    elif has_failed(name):  # what there is of that name is an earlier one
        trouble = "Its cell ended in an error: mend what stands below that cell, and run it again."
    else:
        trouble = _trouble(part, function, printed)
    said = f"fail\n  {trouble}" if trouble else "pass"
    if trouble and has_blank(function):
        said = "to do"
    print(f"{name:<16} | {said}")
    if not trouble:
        return first_prints(function, f"`{name}`") if printed.getvalue() else function
    print("  Until it passes, the cells below use the course's own.")
    return own


def has_blank(function: Part) -> bool:
    """True if a function has, or ends in, a `...` that its own lines should take the place of."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):  # what has no text of its own is not the blank
        return False
    match tree.body:
        case [ast.FunctionDef(body=body)]:
            return ast.unparse(body[-1]) == "..." or bool(_blank_names(body))
    return False


def _blank_names(body: Sequence[ast.stmt]) -> set[str]:
    """The names that are `...` at the end of some statements."""
    blank = set[str]()
    for one in body:
        stored = stored_names(one)
        blank = blank | stored if is_blank(one) else blank - stored
    return blank


def _trouble(part: str, function: Part, printed: io.StringIO) -> str:
    """What is wrong with a function, as a sentence, or ""; `printed` takes what it prints."""
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
                return TRIALS[part][1](function)
        except TimeLimit:
            return f"It did not end within {SECONDS:g} seconds."
        except Endless as endless:
            return str(endless)
        # Whatever a student's function raises is said in a sentence.
        except (Exception, SystemExit) as error:
            return _in_words(error, part, inspect.unwrap(function), hidden)


@contextmanager
def _in_time() -> Iterator[None]:
    """Raise `TimeLimit` where the block takes too long, if this thread may set an alarm."""
    with alarm_if_free() as has_alarm:
        try:
            if has_alarm:
                # And again, in case an `except:` of the student's caught the first.
                signal.setitimer(signal.ITIMER_REAL, SECONDS, 0.1)
            yield
        finally:
            if has_alarm:
                signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def _without_tensors(scope: dict[str, Any]) -> Iterator[set[str]]:
    """Take the tensors and runs out of a notebook's names for a while: nothing can change them."""
    kinds = (Tensor, Run, torch.Generator)
    hidden = {
        name: value
        for name, value in scope.items()
        if isinstance(value, kinds)
        or (isinstance(value, tuple | list) and any(isinstance(item, kinds) for item in value))
    }
    for name in hidden:
        del scope[name]
    try:
        yield set(hidden)
    finally:
        scope.update(hidden)


def _in_words(error: BaseException, part: str, function: Part, hidden: set[str]) -> str:
    file = function.__code__.co_filename if hasattr(function, "__code__") else ""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    line = f" in `{printable(own[-1].line or '')}`" if own else ""
    unknown = re.match(r"(?:name|cannot access local variable) '(\w+)'", str(error))
    if isinstance(error, UnboundLocalError) and unknown:
        return (
            f"`{unknown[1]}` is used{line} before it has a value: are the lines in the right order?"
        )
    if isinstance(error, NameError) and unknown and unknown[1] in hidden:
        return (
            f"It uses the notebook's `{unknown[1]}`{line}, whatever it is given: use the arguments,"
            " or what the function has made of them."
        )
    message = printable(str(error).partition("\n")[0])
    says = NO_POWER if re.search(XOR, message) else message
    said = sentence(f"It raises {type(error).__name__}{line}: {says}")
    means = meaning(part, message)
    return f"{said} {means}" if means else said
