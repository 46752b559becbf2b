"""The worker: a process of its own that runs students' statements on given values.

It reads values and requests from standard input and answers each request on standard output.
What comes from a student's code is one safetensors blob with JSON as its metadata; nothing is ever
unpickled. References, seeds and verdicts never come here.

Each request is run in a child of its own, forked from this process, which has torch imported
already. The child says which statement it is about to run, so that whatever it dies of can be
blamed on a statement; the request is then taken up again by another child that leaves this
statement out.
"""

from __future__ import annotations

import json
import os
from io import FileIO

import torch

from grader.worker.child import JudgeGone, Warm, answer, answer_here
from grader.worker.confinement import Confinement
from grader.worker.engine import switch_off_engine
from grader.worker.frames import MOST_VALUES, read_frame, write_frame
from grader.worker.namespaces import Namespaces
from grader.worker.request import Values
from grader.worker.scratch import Scratch
from grader.worker.warm_up import warm_up

LARGEST_REQUEST = 2**30


def main(namespaces: Namespaces | None = None) -> None:
    """Answer requests until standard input ends.

    Args:
        namespaces: what `grader.worker.namespaces.launch` returned, before torch was imported.
    """
    requests, replies = _take_over_pipes()
    # One thread each: many workers share a machine, and a fork keeps only the forking thread.
    torch.set_num_threads(1)
    switch_off_engine()
    warm_up()
    kept: dict[str, Values] = {}
    scratch = Scratch()
    warm = Warm(Confinement.prepare(namespaces), scratch, kept, requests.fileno())
    while True:
        with scratch:
            parts = read_frame(requests, LARGEST_REQUEST, scratch.piece)
            if parts is None:
                return
            if bytes(parts[0]) == b"values":
                _keep(Values.unpack(parts), kept)
            else:
                try:
                    write_frame(replies, _answer(parts, warm))
                except JudgeGone:
                    return


def _keep(values: Values, kept: dict[str, Values]) -> None:
    kept[values.key] = values
    if len(kept) > MOST_VALUES:
        del kept[next(iter(kept))]


def _answer(parts: list[memoryview], warm: Warm) -> list[bytes | memoryview]:
    """The parts of the reply to a request."""
    progress = answer(parts, warm) if hasattr(os, "fork") else answer_here(parts, warm.values)
    head = {
        "runs": [count for count, _ in progress.blobs],
        "deadly": progress.deadly,
        "incidents": progress.incidents,
        "unfit": progress.unfit or warm.confinement.anomalies(),
    }
    return [json.dumps(head).encode(), *(blob for _, blob in progress.blobs)]


def _take_over_pipes() -> tuple[FileIO, FileIO]:
    """Keep the pipes to the judge for requests and replies: nothing else reads or prints there."""
    requests, replies = FileIO(os.dup(0), "rb"), FileIO(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    return requests, replies


if __name__ == "__main__":
    main()
