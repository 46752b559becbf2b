from __future__ import annotations

import pickle
import time
from functools import partial

import pytest

from grader.bulk import dask_work
from grader.bulk.dask_work import do_all, pack, unpack
from grader.bulk.failures import CannotGrade, Displaced


class Fragile(Exception):
    """As many are: it cannot be unpickled."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


ERRORS = {"own": CannotGrade("no bwrap"), "fragile": Fragile("a", "b"), "other": OSError("?")}


def fail(kind: str) -> None:
    raise ERRORS[kind]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("own", "^no bwrap$"),
        ("fragile", r"cannot grade \(Fragile: ab\)"),
        ("other", r"cannot grade \(OSError: \?\)"),
    ],
)
def test_what_a_task_raises_arrives_as_a_sentence(kind: str, said: str) -> None:
    done = do_all([pack(partial(int, "1")), pack(partial(fail, kind)), pack(partial(int, "3"))])
    first, error, last = unpack(done, 3)
    assert (first, last) == (1, 3)
    with pytest.raises(CannotGrade, match=said):
        raise error


def test_a_task_that_cannot_be_read_there_concerns_no_other() -> None:
    error, other = unpack(do_all([b"of another version", pack(int)]), 2)
    assert isinstance(error, CannotGrade)
    assert other == 0


def test_behind_a_long_task_the_others_are_displaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_work, "BATCH_SECONDS", 0.02)
    first, *others = unpack(do_all([pack(partial(time.sleep, 0.05)), pack(int), pack(int)]), 3)
    assert first is None
    assert [type(other) for other in others] == [Displaced, Displaced]


def test_one_task_is_done_however_little_time_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_work, "BATCH_SECONDS", -1.0)
    done, other = unpack(do_all([pack(int), pack(int)]), 2)
    assert done == 0
    assert isinstance(other, Displaced)


def test_results_of_another_number_of_tasks_are_refused() -> None:
    with pytest.raises(ValueError, match="1 results of 2 tasks"):
        unpack(pickle.dumps([0]), 2)
