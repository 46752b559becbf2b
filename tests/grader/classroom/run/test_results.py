"""What a run knows is there as soon as it is known, and is never mixed with another run's."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run.line import Line, Provenance, error_line
from grader.classroom.run.results import (
    EARLIER,
    EXPORT,
    RESULTS,
    UNFINISHED,
    BrokenResults,
    Results,
)
from grader.classroom.run.settings import OtherSettings, Settings, Versions
from grader.worker.terms import Limits
from tests.helpers.fake_grading import fake_line
from tests.helpers.lines import SETTINGS, graded, journal, unreadable

RUN = Provenance(1.0, "host-1", "none", 7, Versions("0.1", "3.11", "2.13"))
BOTH = ("seed", "timeout")
LONGER = Limits(2.0, 12.0, SETTINGS.limits.memory_bytes)
OTHER_TORCH = replace(SETTINGS.versions, torch="9.0")
PATCHED_PYTHON = replace(SETTINGS.versions, python=f"{SETTINGS.versions.python}9")


def make_file(key: str, sha256: str | None = "aa", late: bool = False) -> HandedIn:
    return HandedIn(key, key, key, sha256, late, submitted=None, attempt=0)


def make_line(key: str, score: int = 2, sha256: str | None = "aa") -> Line:
    return fake_line(make_file(key, sha256), score, RUN)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / RESULTS


@pytest.fixture
def results(path: Path) -> Iterator[Results]:
    with Results(path, change=True) as results:
        yield results


def ids(path: Path) -> list[str]:
    with Results(path) as results:
        return [line.file.id for line in results.lines()]


def test_lines_are_there_as_soon_as_they_are_added(results: Results, path: Path) -> None:
    results.add(make_line("b"))
    assert ids(path) == ["b"]
    results.add(make_line("a"))
    assert ids(path) == ["a", "b"]
    assert results.line("b") == make_line("b")


def test_the_latest_line_counts(results: Results) -> None:
    for line in (make_line("a", 0), make_line("a", 2, "bb")):
        results.add(line)
    assert results.line("a") == make_line("a", 2, "bb")
    assert results.known(make_file("a", "bb")) == (None,)
    assert results.known(make_file("a", "aa")) is None


@pytest.mark.parametrize(
    ("sentence", "same"), [("It is a link.", True), ("It is a folder.", False)]
)
def test_a_file_without_a_hash_is_known_by_its_sentence(
    sentence: str, same: bool, results: Results
) -> None:
    file = make_file("a", None)
    results.add(error_line(file, "unreadable", "It is a link.", RUN))
    assert results.known(replace(file, reason=sentence)) == (("It is a link.",) if same else None)


def test_a_file_is_known_by_its_looks(results: Results) -> None:
    stamp = "1 2 3 4"
    results.add(make_line("a"), stamp)
    results.add(make_line("b"))
    assert results.unchanged("a", stamp) == (None,)
    assert results.unchanged("a", "2 2 3 4") is None
    assert results.unchanged("b", None) is None


def test_another_class_is_refused(results: Results) -> None:
    results.add(make_line("a"))
    results.refuse_strangers(["a", "b"])
    with pytest.raises(BrokenResults, match="results of another class"):
        results.refuse_strangers(["b"])


def test_a_full_disk_loses_nothing(results: Results, path: Path) -> None:
    results.add(make_line("a"))
    pages = results._db.execute("PRAGMA page_count").fetchone()[0]
    results._db.execute(f"PRAGMA max_page_count = {pages}")
    large = error_line(make_file("a", "bb"), "unreadable", "large " * 9999, RUN)
    with pytest.raises(OSError, match="disk is full"):
        results.add(large)
    assert results.line("a") == make_line("a")
    results._db.execute("PRAGMA max_page_count = 999")
    results.add(large)
    assert ids(path) == ["a"]


def test_what_a_killed_process_has_added_is_there(path: Path) -> None:
    program = (
        "import os, signal; from pathlib import Path\n"
        "from tests.grader.classroom.run.test_results import Results, make_line\n"
        f"results = Results(Path({str(path)!r}), change=True)\n"
        "results.add(make_line('a'))\n"
        "results._db.execute('BEGIN'); results._set_aside('a')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    assert ids(path) == ["a"]
    with Results(path, change=True) as results:
        results.add(make_line("b"))
    assert ids(path) == ["a", "b"]
    assert sorted(file.name for file in path.parent.iterdir()) == [UNFINISHED, RESULTS]


def test_what_has_changed_or_gone_is_kept_aside(results: Results, path: Path) -> None:
    for line in (make_line("c"), make_line("b", 0, "old"), make_line("gone"), make_line("a")):
        results.add(line)
    results.add(make_line("b", 2, "new"))
    files = {key: make_file(key, None, late=key == "b") for key in ("a", "b", "c", "ungraded")}
    assert results.keep(files) == ["gone"]
    assert results.keep(files) == []
    results.export()
    lines = [json.loads(line) for line in path.with_name(EXPORT).read_bytes().splitlines()]
    assert [line["id"] for line in lines] == ["a", "b", "c"]
    assert [line["late"] for line in lines] == [False, True, False]
    assert lines[1]["sha256"] == "new"
    earlier = [json.loads(line) for line in path.with_name(EARLIER).read_bytes().splitlines()]
    assert [(line["id"], line["sha256"]) for line in earlier] == [("b", "old"), ("gone", "aa")]


def test_an_export_that_cannot_be_written_leaves_the_one_before(
    results: Results, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results.add(make_line("a"))
    results.export()
    before = path.with_name(EXPORT).read_bytes()
    results.add(make_line("b"))
    path.with_name(EXPORT).chmod(0o600)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(OSError, match="full"):
            results.export()
    assert path.with_name(EXPORT).read_bytes() == before


@pytest.mark.parametrize("text", ["name,points\n", "\xff" * 5000])
def test_what_is_no_file_of_results_is_refused(text: str, path: Path) -> None:
    path.write_text(text)
    for change in (False, True):
        with pytest.raises(BrokenResults, match="is not what a run has written"):
            Results(path, change=change)
    assert path.read_text() == text


def test_another_format_is_refused(path: Path) -> None:
    journal(path, [])
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 2")
    for change in (False, True):
        with pytest.raises(BrokenResults, match=r"another version .* \(format 2, here 1"):
            Results(path, change=change)


@pytest.fixture
def begun(path: Path) -> Path:
    """A file with a result in it."""
    return journal(path, [graded("a", "ada", "pp")])


def begin(path: Path, wanted: Settings, given: tuple[str, ...] = BOTH) -> Settings:
    with Results(path, change=True) as results:
        return results.begin(wanted, given, "plain")


def test_what_an_instructor_leaves_open_is_as_it_was(begun: Path) -> None:
    fresh = replace(SETTINGS, seed=99, limits=Limits())
    assert begin(begun, fresh, ()) == SETTINGS


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (
            replace(SETTINGS, seed=8),
            r"begun with --seed 7, and now .* --seed 8: .* another --out\.$",
        ),
        (replace(SETTINGS, limits=LONGER), r"--timeout 1, .* 2: .* --out \(with --seed 7, on"),
        (replace(SETTINGS, sandbox="bwrap"), "begun with --sandbox none, .* bwrap:"),
        (
            replace(SETTINGS, versions=OTHER_TORCH),
            r"torch [^ ]*, and now it would be .* torch 9\.0",
        ),
    ],
)
def test_other_settings_are_refused(wanted: Settings, says: str, begun: Path) -> None:
    with pytest.raises(OtherSettings, match=says):
        begin(begun, wanted)
    assert ids(begun) == ["a"]
    journal(begun, [])  # before the first result, settings are free
    assert begin(begun, wanted) == wanted


def test_where_nothing_was_graded_settings_are_free_and_it_begins_anew(path: Path) -> None:
    wanted = replace(SETTINGS, seed=8)
    journal(path, [unreadable("a", "ada"), unreadable("b", "bob")])
    assert begin(path, wanted) == wanted
    assert ids(path) == []
    journal(path, [unreadable("a", "ada"), graded("b", "bob", "pf")])
    with pytest.raises(OtherSettings, match="begun with --seed 7"):
        begin(path, wanted)


def test_a_patched_python_is_the_same(begun: Path) -> None:
    assert begin(begun, replace(SETTINGS, versions=PATCHED_PYTHON)) == SETTINGS
