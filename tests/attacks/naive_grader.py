"""A grader without any defence: it runs an answer in the notebook and compares with `allclose`.

It shows that an attack of the corpus would work. It is a process of its own: for each line of its
input, an answer as a JSON string, it prints the gradients that it took for right, as JSON. Each
answer runs in a fork, so that what one patches the next does not find.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys

import torch

from corpus.readers.exercise_text import GRADIENTS, lecture_notebook

PATIENCE_SECONDS = 300


def right_gradients(source: str) -> list[str]:
    """The gradients of an answer that `torch.allclose` takes for right, in the same process."""
    names = lecture_notebook()
    references = {name: names[name[1:]].grad.clone() for name in GRADIENTS}
    # As in a notebook, a cell that raises leaves what the lines before it assigned.
    with contextlib.suppress(Exception):
        exec(source, names)
    right = []
    for name, reference in references.items():
        with contextlib.suppress(Exception):
            if names.get(name, ...) is not ... and torch.allclose(names[name], reference):
                right.append(name)
    return right


def grade_in_fork(source: str) -> list[str]:
    """Grade one answer; nothing if it ends its process or takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            # What an answer prints is not a reply.
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 0)
            os.dup2(nowhere, 1)
            signal.alarm(PATIENCE_SECONDS)
            os.write(writing, json.dumps(right_gradients(source)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    found: list[str] = json.loads(data) if data else []
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    # What many attacks import is imported once, before the forks; the modules are lazy.
    for module in ("torch._dynamo", "functorch.compile", "sympy"):
        importlib.import_module(module)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(grade_in_fork(json.loads(line))) + "\n")
        sys.stdout.flush()
