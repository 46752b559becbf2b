from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run.journal import CUT, EARLIER, INDEX, BrokenJournal, Journal, read_lines
from grader.classroom.run.line import Line, Provenance, error_line, pack_line
from grader.classroom.run.settings import Settings, Versions
from grader.classroom.run.task import Task
from grader.worker.terms import Limits
from tests.helpers.fake_grading import fake_line

RUN = Provenance(1.0, "host-1", "none", 7, Versions("0.1", "3.11", "2.13"))


def make_file(key: str, sha256: str | None = "aa", late: bool = False) -> HandedIn:
    return HandedIn(key, key, key, sha256, late, submitted=None, attempt=0)


def make_line(key: str, score: int = 2, sha256: str | None = "aa") -> Line:
    return fake_line(make_file(key, sha256), score, RUN)


def edited(line: Line, **changes: object) -> bytes:
    """A line that somebody has edited; what is None is taken away."""
    document = json.loads(pack_line(line)) | changes
    kept = {key: value for key, value in document.items() if value is not None}
    return json.dumps(kept).encode() + b"\n"


def finish(journal: Journal, *keys: str, late: str = "") -> None:
    journal.finish({key: make_file(key, None, late=key == late) for key in keys})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


def keys(path: Path) -> list[str]:
    with Journal(path) as journal:
        return list(journal.entries)


def write(path: Path, *lines: Line) -> None:
    with Journal(path) as journal:
        for line in lines:
            journal.append(line)


def test_lines_are_there_as_soon_as_they_are_appended(path: Path) -> None:
    with Journal(path) as journal:
        for number, key in enumerate(("b", "a"), start=1):
            journal.append(make_line(key))
            assert path.read_bytes().count(b"\n") == number
        assert journal.line("b") == make_line("b")
    assert keys(path) == ["b", "a"]


def test_the_latest_line_counts(path: Path) -> None:
    write(path, make_line("a", 0), make_line("b"), make_line("a", 2, "bb"))
    with Journal(path) as journal:
        assert journal.line("a") == make_line("a", 2, "bb")
        assert journal.entries["a"].is_about(Task(make_file("a", "bb")))
        assert not journal.entries["a"].is_about(Task(make_file("a", "aa")))


@pytest.mark.parametrize(
    ("sentence", "same"), [("It is a link.", True), ("It is a folder.", False)]
)
def test_a_file_without_a_hash_is_known_by_its_sentence(
    sentence: str, same: bool, path: Path
) -> None:
    file = make_file("a", None)
    write(path, error_line(file, "unreadable", "It is a link.", RUN))
    with Journal(path) as journal:
        assert journal.entries["a"].is_about(Task(file, refusal=sentence)) is same


def test_a_line_cut_off_anywhere_is_mended(path: Path) -> None:
    whole, cut = pack_line(make_line("a")), pack_line(make_line("b"))
    for length in (*range(1, 40), *range(40, len(cut) - 1, 11), len(cut) - 1):
        path.write_bytes(whole + cut[:length])
        if length == len(cut) - 1:  # only its end is missing
            assert keys(path) == ["a", "b"]
            assert path.read_bytes() == whole + cut
        else:
            assert keys(path) == ["a"]
            assert path.read_bytes() == whole
            assert path.with_name(CUT).read_bytes() == cut[:length] + b"\n"
            path.with_name(CUT).unlink()
    write(path, make_line("c"))
    assert keys(path)[-1] == "c"


@pytest.mark.parametrize("end", [b"\n", b""], ids=["whole", "without its end"])
@pytest.mark.parametrize("other", [replace(RUN, seed=8), replace(RUN, sandbox="bwrap")])
def test_a_line_of_another_run_is_named(other: Provenance, end: bytes, path: Path) -> None:
    settings = Settings(RUN.seed, Limits(), RUN.sandbox, RUN.versions, COURSE)
    write(path, make_line("a"), replace(make_line("b"), run=other))
    path.write_bytes(path.read_bytes().removesuffix(b"\n") + end)
    with pytest.raises(BrokenJournal, match=r"Line 2 of .*another run with other settings"):
        Journal(path, settings)
    write(path, make_line("b"))
    with Journal(path) as journal:
        assert journal.line("b") == make_line("b")


def test_zeros_that_a_power_cut_leaves_are_mended(path: Path) -> None:
    whole = pack_line(make_line("a"))
    path.write_bytes(whole + bytes(5000))
    assert keys(path) == ["a"]
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "foreign",
    [
        b"\n",
        b"{}\n",
        b"[1]\n",
        b"name,points\n",
        pack_line(make_line("b"))[:-20] + b"\n",
        b"[" * 100_000 + b"\n",
        edited(make_line("b"), id=3),
        edited(make_line("b"), score="2"),
        edited(make_line("b"), score=1),
        edited(make_line("b"), gradients=[{"name": "da"}, {"name": "db"}]),
        edited(make_line("b"), gradients=None),
        edited(make_line("b"), notebook=None),
        edited(make_line("b"), run={}),
        edited(make_line("b"), flags=[{"kind": "autograd"}]),
        edited(make_line("b"), format=2),
        pack_line(make_line("b")).replace(b'"host', b'"gost'),
        pack_line(make_line("b")).replace(b'"late":false', b'"late":true'),
        pack_line(make_line("b")).replace(b",", b", ", 1),
        pack_line(make_line("b")).replace(b'"seal":"', b'"seal":"0'),
        b"\xff\n",
        pack_line(make_line("??")).replace(b"??", "é".encode()),
    ],
)
def test_a_foreign_line_is_named_and_nothing_is_changed(foreign: bytes, path: Path) -> None:
    before = pack_line(make_line("a")) + foreign + pack_line(make_line("c"))
    path.write_bytes(before)
    with pytest.raises(BrokenJournal, match=r"Line 2 of .* is not a result of this grader"):
        Journal(path)
    assert path.read_bytes() == before


def test_another_class_is_refused(path: Path) -> None:
    write(path, make_line("a"))
    with Journal(path) as journal:
        journal.refuse_strangers(["a", "b"])
        with pytest.raises(BrokenJournal, match="results of another class"):
            journal.refuse_strangers(["b"])


def nothing_written(descriptor: int, data: bytes) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def half_written(real: Callable[[int, bytes], int]) -> Callable[[int, bytes], int]:
    calls = []

    def write(descriptor: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) > 1:
            return nothing_written(descriptor, data)
        return real(descriptor, data[: len(data) // 2])

    return write


@pytest.mark.parametrize("failing", [nothing_written, half_written(os.write)])
def test_on_a_full_disk_a_line_is_not_written_by_halves(
    failing: Callable[[int, bytes], int], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal(path) as journal:
        journal.append(make_line("a"))
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", failing)
            with pytest.raises(OSError, match="No space left"):
                journal.append(make_line("b"))
        assert path.read_bytes() == pack_line(make_line("a"))
        journal.append(make_line("c"))
    assert keys(path) == ["a", "c"]


def test_the_order_is_that_of_the_ids_in_the_end(path: Path) -> None:
    write(path, make_line("c"), make_line("b", 0, "old"), make_line("gone"), make_line("a"))
    with Journal(path) as journal:
        journal.append(make_line("b", 2, "new"))
        finish(journal, "a", "b", "c", "ungraded", late="b")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [line["id"] for line in lines] == ["a", "b", "c"]
    assert [line["late"] for line in lines] == [False, True, False]
    assert lines[1]["sha256"] == "new"
    assert list(lines[1]) == list(json.loads(pack_line(make_line("b"))))
    earlier = path.with_name(EARLIER).read_bytes()
    assert earlier == pack_line(make_line("b", 0, "old")) + pack_line(make_line("gone"))


def test_what_is_settled_stays_as_it_is(path: Path) -> None:
    write(path, make_line("b"), make_line("a"))
    for _ in range(2):
        with Journal(path) as journal:
            finish(journal, "a", "b")
        assert path.read_bytes() == pack_line(make_line("a")) + pack_line(make_line("b"))
    assert sorted(file.name for file in path.parent.iterdir()) == [INDEX, path.name]


def test_results_that_cannot_be_replaced_stay(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, make_line("b"), make_line("a"))
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with Journal(path) as journal:
        monkeypatch.setattr("grader.whole_file.os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            finish(journal, "a", "b")
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


class Read:
    """Which lines a journal reads when it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[int] = []

        def reading(path: Path, settings: Settings | None, begin: int) -> object:
            self.begun.append(begin)
            return read_lines(path, settings, begin)

        monkeypatch.setattr("grader.classroom.run.journal.read_lines", reading)


def test_lines_of_the_index_are_not_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, make_line("b"), make_line("a"))
    size, read = path.stat().st_size, Read(monkeypatch)
    with Journal(path) as journal:
        assert journal.line("a") == make_line("a")
        finish(journal, "a", "b")
    with Journal(path) as journal:
        assert journal.line("a") == make_line("a")
        assert journal.line("b") == make_line("b")
    assert read.begun == [size, size]


@pytest.mark.parametrize("lost", [1, 30, 150, 10_000])
def test_what_a_power_cut_took_from_the_index_is_read_from_the_results(
    lost: int, path: Path
) -> None:
    write(path, make_line("a"), make_line("b"))
    index = path.with_name(INDEX)
    index.write_bytes(index.read_bytes()[:-lost])
    write(path, make_line("c"))
    assert keys(path) == ["a", "b", "c"]


def test_an_index_ahead_of_its_results_tells_no_line_that_is_not_there(path: Path) -> None:
    write(path, make_line("a"), make_line("b"))
    path.write_bytes(pack_line(make_line("a")) + pack_line(make_line("b"))[:50])
    assert keys(path) == ["a"]
    write(path, make_line("c"))
    assert keys(path) == ["a", "c"]


def test_a_line_taken_away_by_hand_makes_the_index_useless(path: Path) -> None:
    write(path, make_line("a"), make_line("long" * 9), make_line("c"), make_line("d"))
    a, _, c, d = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(a + c + d)
    assert keys(path) == ["a", "c", "d"]


def test_an_edited_line_gets_no_seal_of_ours(path: Path) -> None:
    write(path, make_line("b"), make_line("a"))
    before = path.read_bytes().replace(b'"points":1', b'"points":9', 1)
    path.write_bytes(before)
    edited_line = pytest.raises(BrokenJournal, match=r"The line of b in .* edited")
    with Journal(path) as journal, edited_line:
        finish(journal, "a", "b", late="b")
    assert path.read_bytes() == before


def test_the_index_of_other_settings_says_nothing(path: Path) -> None:
    settings = Settings(RUN.seed, Limits(), RUN.sandbox, RUN.versions, COURSE)
    with Journal(path, settings) as journal:
        journal.append(make_line("a"))
    with pytest.raises(BrokenJournal, match=r"Line 1 of .*another run with other settings"):
        Journal(path, replace(settings, seed=8))
