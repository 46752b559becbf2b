"""What a child may send, and what is made of it."""

from __future__ import annotations

import mmap
import os
import time
from dataclasses import dataclass, field

import pytest

from grader.worker import listening
from grader.worker.job import Terms
from grader.worker.listening import (
    CURRENT,
    DONE,
    EVENT,
    FINISHED,
    LARGEST_RESULT,
    Gone,
    JudgeGone,
    Progress,
)
from grader.worker.scratch import Scratch
from grader.worker.terms import Limits

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")

LIMITS = Limits(0.2, 5.0, 2**30)


def terms(runs: int) -> Terms:
    return Terms(LIMITS, runs, stays=False, continues=False)


ENDED, NONSENSE = "ended the Python process that ran it", "sent back what no gradient can be"
FORGED = "This answer sent back what no gradient can be."


@dataclass(slots=True)
class Listened:
    """What the worker makes of bytes from a child, and of what stands in the shared memory."""

    progress: Progress = field(default_factory=lambda: Progress(terms(2), 0.0))
    blobs: list[tuple[int, bytes]] = field(default_factory=list)


def listen(
    sent: bytes,
    *,
    closed: bool = True,
    current: tuple[int, int] = (1, 4),
    done: int = 0,
    into: Listened | None = None,
    seconds: float = 5.0,
    runs: int = 2,
) -> Listened:
    heard = into or Listened()
    heard.progress.done = done
    reading, writing = os.pipe()
    shared = mmap.mmap(-1, CURRENT.size)
    CURRENT.pack_into(shared, 0, *current)
    judge, other = os.pipe()
    with Scratch() as scratch:
        try:
            os.write(writing, sent)
            if closed:
                os.close(writing)
            heard.progress.terms = terms(runs)
            heard.progress.until = time.monotonic() + seconds
            listening.listen(reading, shared, scratch, judge, heard.progress)
        finally:
            for descriptor in (reading, judge, other, *(() if closed else (writing,))):
                os.close(descriptor)
            heard.blobs = [(count, bytes(blob)) for count, blob in heard.progress.blobs]
    return heard


def test_results_are_kept_as_they_come() -> None:
    heard = listen(
        EVENT.pack(FINISHED, 1, 3) + b"abc" + EVENT.pack(FINISHED, 2, 0) + EVENT.pack(DONE, 0, 0)
    )
    assert heard.blobs == [(1, b"abc"), (1, b"")]
    assert heard.progress.done == 2
    assert heard.progress.current is None


def test_what_is_sent_is_limited_in_all() -> None:
    heard = Listened()
    heard.progress.blobs = [(1, memoryview(bytes(LARGEST_RESULT - 2)))]
    with pytest.raises(Gone, match=NONSENSE):
        listen(EVENT.pack(FINISHED, 2, 3) + b"abc", done=1, into=heard)
    heard.progress.blobs = [(1, memoryview(bytes(LARGEST_RESULT - 3)))]
    listen(EVENT.pack(FINISHED, 2, 3) + b"abc" + EVENT.pack(DONE, 0, 0), done=1, into=heard)
    assert heard.blobs[1] == (1, b"abc")


def test_many_runs_may_come_at_once_and_after_those_of_an_earlier_child() -> None:
    done = EVENT.pack(DONE, 0, 0)
    assert listen(EVENT.pack(FINISHED, 2, 1) + b"x" + done).blobs == [(2, b"x")]
    assert listen(EVENT.pack(FINISHED, 2, 1) + b"x" + done, done=1).blobs == [(1, b"x")]


@pytest.mark.parametrize(
    ("sent", "how"),
    [
        (b"", ENDED),
        (b"nonsense", ENDED),
        (b"nonsense, and more than an event of it", NONSENSE),
        (EVENT.pack(FINISHED, 1, 4)[:-1], ENDED),
        (EVENT.pack(FINISHED, 1, 10) + b"half", ENDED),
        (EVENT.pack(FINISHED, 1, LARGEST_RESULT + 1), NONSENSE),
        (EVENT.pack(FINISHED, 1, 2**64 - 1), NONSENSE),
        (EVENT.pack(FINISHED, 0, 0), NONSENSE),
        (EVENT.pack(FINISHED, 3, 0), NONSENSE),
        (EVENT.pack(FINISHED, 2**32 - 1, 0), NONSENSE),
        (EVENT.pack(FINISHED, 1, 0) * 2, NONSENSE),
        (EVENT.pack(FINISHED, 2, 0) + EVENT.pack(FINISHED, 1, 0), NONSENSE),
        (EVENT.pack(b"x", 1, 0), NONSENSE),
        (b"\x00" * EVENT.size, NONSENSE),
    ],
)
def test_a_child_that_ends_or_sends_nonsense_is_gone(sent: bytes, how: str) -> None:
    heard = Listened()
    with pytest.raises(Gone, match=how):
        listen(sent, into=heard)
    assert heard.progress.current == 4
    assert heard.progress.incidents == ([FORGED] if how == NONSENSE else [])


@pytest.mark.parametrize("sent", [b"", b"half an", EVENT.pack(FINISHED, 1, 10) + b"half"])
def test_a_child_that_falls_silent_is_gone(sent: bytes) -> None:
    with pytest.raises(Gone, match=r"did not end within 0\.2 seconds"):
        listen(sent, closed=False, seconds=0.1)


def test_silence_within_the_patience_for_one_statement_is_gone_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Long before the time of the whole answer is over."""
    monkeypatch.setattr(listening, "GRACE_SECONDS", -0.1)
    with pytest.raises(Gone, match=r"did not end within 0\.2 seconds"):
        listen(b"", closed=False, seconds=10**6)


def test_what_came_before_the_end_is_kept() -> None:
    heard = Listened()
    with pytest.raises(Gone, match=ENDED):
        listen(EVENT.pack(FINISHED, 1, 3) + b"abc" + EVENT.pack(FINISHED, 2, 9), into=heard)
    assert heard.blobs == [(1, b"abc")]
    assert heard.progress.done == 1


def test_a_child_that_ends_before_any_statement_is_nobodys_fault() -> None:
    heard = Listened()
    with pytest.raises(Gone):
        listen(b"", current=(0, 7), into=heard)
    assert heard.progress.current is None


@pytest.mark.parametrize("statement", [0, 5, 2**32 - 1])
def test_the_blame_is_on_the_statement_in_shared_memory(statement: int) -> None:
    heard = Listened()
    with pytest.raises(Gone):
        listen(b"", current=(2**64 - 1, statement), into=heard)
    assert heard.progress.current == statement


def test_a_judge_that_hangs_up_ends_the_listening() -> None:
    reading, writing = os.pipe()
    judge, other = os.pipe()
    os.close(other)
    shared = mmap.mmap(-1, CURRENT.size)
    until = time.monotonic() + 10**6
    try:
        with Scratch() as scratch, pytest.raises(JudgeGone):
            listening.listen(reading, shared, scratch, judge, Progress(terms(2), until))
    finally:
        for descriptor in (reading, writing, judge):
            os.close(descriptor)
