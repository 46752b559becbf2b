from __future__ import annotations

import csv
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import grader.classroom.gradebook.write
import grader.commands.grade
from corpus.readers.places import PROJECT
from grader import cli
from grader.classroom.intake import class_reader
from grader.classroom.run.class_run import Run
from grader.classroom.run.line import Line
from grader.classroom.run.out_folder import claimed
from grader.classroom.run.results import RESULTS, BrokenResults, Results
from grader.commands import exit_codes
from grader.execution.sandbox import Sandbox, best_sandbox
from tests.helpers.course_notebooks import solved
from tests.helpers.dask_cluster import Cluster
from tests.helpers.fake_grading import InlinePool
from tests.helpers.lines import Document
from tests.helpers.processes import descendants, left_over
from tests.helpers.small_course import write_course

SOLUTION = solved("02_fused_cross_entropy")
BLANK = PROJECT / "notebooks" / "02_fused_cross_entropy.ipynb"
GRADER = Path(sys.executable).with_name("grader")
SANDBOX = ["--sandbox", str(best_sandbox())]
SECONDS = 600

Capture = pytest.CaptureFixture[str]


def hand_in(folder: Path, student: str, source: Path | bytes | str) -> Path:
    """Put a notebook, or an answer, into a student's folder."""
    path = folder / student / BLANK.name
    path.parent.mkdir(parents=True)
    if isinstance(source, Path):
        shutil.copy(source, path)
    elif isinstance(source, bytes):
        path.write_bytes(source)
    else:
        metadata = {"nbgrader": {"grade_id": "ex2-logits", "solution": True}}
        cell = {"cell_type": "code", "metadata": metadata, "source": source, "outputs": []}
        document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
        path.write_text(json.dumps(document))
    return path


def command(folder: Path, out: Path, *more: str) -> list[str]:
    return [str(GRADER), "grade", str(folder), "--out", str(out), *SANDBOX, *more]


def read(out: Path) -> dict[str, Document]:
    data = (out / "results.jsonl").read_bytes()
    return {line["student"]: line for line in map(json.loads, data.splitlines())}


def without_run(out: Path) -> list[Document]:
    return [
        {key: value for key, value in line.items() if key != "run"} for line in read(out).values()
    ]


def results(out: Path) -> list[Line]:
    """Those there are, also while a run goes on or after it was killed."""
    with suppress(OSError, BrokenResults), Results(out / RESULTS) as opened:
        return list(opened.lines())
    return []


def wait_for(out: Path, lines: int, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + SECONDS
    while len(results(out)) < lines:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.slow
def test_a_class_is_graded_whatever_it_hands_in(tmp_path: Path) -> None:
    folder, out = tmp_path / "class", tmp_path / "out"
    hand_in(folder, "ada", SOLUTION)
    hand_in(folder, "bob", BLANK)
    hand_in(folder, "eve", "while True: pass\ndlogits = 0")
    hand_in(folder, "kay", "dlogits = 0").write_text("no notebook")
    (hand_in(folder, "lyn", "").parent / "link.ipynb").symlink_to("/etc/passwd")
    (tmp_path / "roster.txt").write_text("ada\nbob\neve\nkay\nlyn\nzoe\n")
    # What students hand in is also where the instructor may be: none of it is imported.
    for name in ("torch.py", "struct.py", "grader.py"):
        (folder / name).write_text("raise SystemExit('a student was here')")
    more = ["--timeout", "0.5", "--roster", "../roster.txt", "--seed", "11"]
    first = subprocess.run(
        command(Path(), out, *more),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert first.returncode == exit_codes.PASSED, first.stderr
    assert "6 files of 5 students.\nstudents: 6, graded: 4, " in first.stdout
    assert "handed in nothing: 1, unreadable files: 2, " in first.stdout
    lines = read(out)
    assert set(lines) == {"ada", "bob", "eve", "kay", "lyn"}
    assert lines["ada"]["score"] == lines["ada"]["max_score"] == 2
    assert lines["ada"]["gradients"][0]["code"].startswith("dlogits = ")
    assert lines["ada"]["run"]["sandbox"] == best_sandbox()
    assert lines["ada"]["run"]["seed"] == 11
    assert lines["eve"]["score"] == 0
    assert "is not a notebook" in lines["kay"]["error"]
    with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        assert len(list(csv.reader(file))) == 1 + 6
    assert (out / "report" / "index.html").exists()

    # The same class on other machines, as it were: the same bytes.
    pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    other, cluster = tmp_path / "other", Cluster(tmp_path)
    try:
        cluster.add_worker(threads=2)
        cluster.add_worker()
        again = subprocess.run(
            command(Path(), other, *more, "--scheduler", cluster.address, "--quiet"),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    finally:
        cluster.close()
    assert "Other files, which are not notebooks" in first.stderr
    (wrong,) = (line for line in first.stdout.splitlines() if line.startswith("Could not be"))
    assert (again.returncode, again.stdout, again.stderr) == (exit_codes.PASSED, "", f"{wrong}\n")
    assert without_run(other) == without_run(out)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_run_can_be_interrupted_and_killed_and_gone_on_with(tmp_path: Path) -> None:
    folder, out = tmp_path / "class", tmp_path / "out"
    for number in range(8):
        hand_in(folder, f"a{number}", SOLUTION if number % 2 else BLANK)
    loops = [hand_in(folder, f"b{number}", "while True: pass\ndlogits = 0") for number in range(3)]
    hand_in(folder, "c", SOLUTION)
    kept: list[Line] = []
    endings: Sequence[tuple[Callable[[int], object], int]] = [
        (lambda group: os.killpg(group, signal.SIGINT), exit_codes.INTERRUPTED),
        (lambda process: os.kill(process, signal.SIGKILL), -signal.SIGKILL),
    ]
    for end, code in endings:
        process = subprocess.Popen(
            command(folder, out, "--jobs", "2"),
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # The second time, nothing but loops is left but for the last.
        wait_for(out, 8 if kept else 4, process)
        below = descendants(process.pid)
        end(process.pid)
        _, said = process.communicate(timeout=SECONDS)
        assert process.returncode == code, said
        assert "Traceback" not in said
        assert left_over(below) == []
        now = results(out)
        assert all(line in now for line in kept)
        kept = now
    for loop in loops:
        shutil.copy(BLANK, loop)
    done = subprocess.run(
        command(folder, out), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == exit_codes.PASSED, done.stderr
    assert "12 files of 12 students.\nstudents: 12, graded: 12, " in done.stdout
    assert f"{len(kept)} files had been done by an earlier run." in done.stdout
    assert [line["run"]["seed"] for line in read(out).values()].count(kept[0].run.seed) == 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    hand_in(tmp_path / "class", "ada", "2")
    hand_in(tmp_path / "class", "bob", "1")
    return tmp_path / "class"


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[InlinePool]:
    """The command without processes; the pools it has asked for."""
    made: list[InlinePool] = []

    def make_pool(*_: object) -> InlinePool:
        made.append(InlinePool())
        return made[-1]

    monkeypatch.setattr(grader.commands.grade, "make_pool", make_pool)
    return made


def run(folder: Path, *more: object) -> int:
    out = folder.parent / "out"
    words = ["grade", folder, "--out", out, "--sandbox", "none", *more]
    return cli.main([str(word) for word in words])


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--seed", 8], "begun with --seed 7, and now it would be --seed 8"),
        (["--timeout", 3], "begun with --timeout 10, and now it would be --timeout 3"),
        (["--sandbox", "bwrap"], "begun with --sandbox none, and now it would be --sandbox bwrap"),
        (["--out", "{folder}/out"], "is in the folder that is graded"),
        (["--out", "{folder}/../other"], "holds something else than a gradebook (letter"),
        (["--rubric", "{folder}/../nothing"], "The rubric"),
        (["--roster", "{folder}/../nothing"], "nothing"),
        (["--due", "tomorrow"], "'tomorrow' is not a time: write 2026-11-20"),
        (["--jobs", "0"], "0 is not in the range"),
        (["--due-notebooks", "02,9"], "there is no notebook '9' in the course"),
        (["--scale", "much"], "'much' is not a scale"),
        (["--canvas-column", "HW 1"], "needs Canvas's gradebook"),
        (
            ["--canvas-column", "09=HW 1"],
            "--canvas-column: there is no notebook '09' in the course",
        ),
        (
            ["--canvas-column", "2=HW 1", "--canvas-column", "02=HW 2"],
            "--canvas-column: 02_fused_cross_entropy cannot go into two columns",
        ),
        (["--adjustments", "{folder}/../nothing"], "The file of adjustments"),
        (["--roster-columns", "who=a"], "'who' says of no column what it is"),
        (["--roster-columns", "id"], "'id' says of no column what it is"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(
    more: list[Any],
    says: str,
    folder: Path,
    pools: list[InlinePool],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.setattr("grader.execution.sandbox.require", lambda sandbox: None)
    (folder.parent / "other").mkdir()
    (folder.parent / "other" / "letter").touch()
    assert run(folder, "--seed", 7) == exit_codes.PASSED
    before = (folder.parent / "out" / "results.jsonl").read_bytes()
    capsys.readouterr()
    words = [str(word).format(folder=folder) for word in more]
    assert run(folder, *words) == exit_codes.UNREADABLE
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.out == ""
    assert (folder.parent / "out" / "results.jsonl").read_bytes() == before
    assert len(pools) == 1


def test_a_second_run_at_the_same_time_is_refused(
    folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    with claimed(folder.parent / "out"):
        assert run(folder) == exit_codes.UNREADABLE
    assert "Another `grader grade` is at work" in capsys.readouterr().err
    assert run(folder) == exit_codes.PASSED


def test_without_bwrap_the_instructor_must_say_so(
    folder: Path, pools: list[InlinePool], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(
        "grader.execution.sandbox.why_not",
        lambda sandbox: "" if sandbox is Sandbox.NONE else "No bwrap.",
    )
    assert run(folder, "--sandbox", "bwrap") == exit_codes.UNREADABLE
    assert "say `--sandbox none`" in capsys.readouterr().err
    assert not (folder.parent / "out").exists()
    assert run(folder) == exit_codes.PASSED
    assert "Students' code ran without a sandbox." in capsys.readouterr().out


@pytest.mark.slow
def test_only_what_is_new_is_graded_and_who_is_late_needs_no_grading(
    folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    assert run(folder) == exit_codes.PASSED
    hand_in(folder, "cyd", "2")
    assert run(folder, "--due", "2026-11-20") == exit_codes.PASSED
    assert [len(pool.seen) for pool in pools] == [2, 1]
    assert "2 files had been done by an earlier run." in capsys.readouterr().out
    assert run(folder) == exit_codes.PASSED
    assert len(pools) == 2


def test_a_course_that_was_forgotten_can_be_named_then(
    tmp_path: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    link = hand_in(tmp_path / "class", "ada", "2").parent / "link.ipynb"
    link.with_name(BLANK.name).rename(tmp_path / "kept.ipynb")
    link.symlink_to("/etc/passwd")
    assert run(tmp_path / "class") == exit_codes.UNREADABLE
    assert "No file could be graded." in capsys.readouterr().err
    (tmp_path / "kept.ipynb").rename(link)
    named = "--course", write_course(tmp_path / "course")
    assert run(tmp_path / "class", *named) == exit_codes.PASSED
    assert run(tmp_path / "class") == exit_codes.PASSED
    assert run(tmp_path / "class", "--course", "built-in") == exit_codes.UNREADABLE
    assert "was begun with another course" in capsys.readouterr().err


def test_the_gradebook_remembers_how_it_was_made(
    folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    roster, rubric, out = (folder.parent / name for name in ("roster.csv", "points.toml", "out"))
    out.mkdir()
    (out / "class.toml").touch()
    decided = folder.parent / "decided.csv"
    decided.write_text("id,notebook,points\nAda,02,1\n")
    roster.write_text("Kennung,Wer\nada,Ada\nbob,Bob\nzoe,Zoe\n")
    rubric.write_text("default = 2\n")
    columns = "--roster-columns", "id=Kennung,name=Wer"
    asked = "--roster", roster, *columns, "--rubric", rubric, "--due", "2026-11-20"
    assert run(folder, *asked, "--adjustments", decided) == exit_codes.PASSED
    before, said = (out / "grades.csv").read_bytes(), capsys.readouterr()
    assert "changed" not in said.err
    assert "As before" not in said.out
    assert run(folder) == exit_codes.PASSED
    said = capsys.readouterr()
    assert said.out.startswith(
        f"As before ({out / 'class.toml'}): --roster roster.csv, --adjustments decided.csv, "
        "--rubric points.toml, "
        "--roster-columns id=Kennung,name=Wer, --due 2026-11-20.\n"
    )
    assert "changed" not in said.err
    assert (out / "grades.csv").read_bytes() == before
    # What is typed replaces what is remembered; what is deleted is forgotten.
    assert run(folder, "--due", "2026-12-24") == exit_codes.PASSED
    settings = (out / "class.toml").read_text()
    assert 'due = "2026-12-24"' in settings
    (out / "class.toml").write_text(settings.replace("rubric", "# rubric"))
    capsys.readouterr()
    assert run(folder) == exit_codes.PASSED
    said = capsys.readouterr()
    assert "--rubric" not in said.out
    assert re.search(r"^1 grade changed since [\d:]+: ada 1 → 0\.5\.$", said.err, re.MULTILINE)


def test_a_gradebook_moves_with_its_class_list(
    folder: Path, pools: list[InlinePool], capsys: Capture, tmp_path_factory: pytest.TempPathFactory
) -> None:
    term, far = folder.parent, tmp_path_factory.mktemp("far") / "points.toml"
    (term / "list.csv").write_text("ada\nbob\nzoe\n")
    far.write_text("default = 2\n")
    course = "--course", write_course(term / "course")
    assert run(folder, "--roster", term / "list.csv", "--rubric", far, *course) == 0
    settings = (term / "out/class.toml").read_text()
    assert 'roster = "../list.csv"' in settings
    assert f'rubric = "{far}"' in settings
    assert 'course = "../course"' in settings
    moved = term.rename(term.with_name("moved"))
    assert run(moved / "class") == exit_codes.PASSED
    assert (moved / "out/class.toml").read_text() == settings
    assert [row["id"] for row in grades(moved / "out")] == ["ada", "bob", "zoe"]


def test_a_run_without_a_sandbox_is_gone_on_with(
    folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    assert run(folder) == exit_codes.PASSED
    words = ["grade", str(folder), "--out", str(folder.parent / "out")]
    assert cli.main(words) == exit_codes.PASSED
    assert "class.toml): --sandbox none.\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('rostr = "x"', "class.toml says rostr, no option; did you mean roster?"),
        ("due = 2026-11-20", "due = 2026-11-20 needs quotes"),
        ("due = ", "class.toml cannot be read: Invalid value"),
        ('due = "soon"', "'soon' is not a time"),
    ],
)
def test_settings_that_cannot_be_used(
    text: str, said: str, folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    (folder.parent / "out").mkdir()
    (folder.parent / "out" / "class.toml").write_text(text)
    assert run(folder) == exit_codes.UNREADABLE
    assert said in capsys.readouterr().err
    assert pools == []


def test_awarded_points_keep_their_share(
    folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    out, rubric = folder.parent / "out", folder.parent / "rubric.toml"
    assert run(folder) == exit_codes.PASSED
    (out / "adjustments.csv").write_text("id,notebook,points\nada,02,1.5\n")
    assert run(folder) == exit_codes.PASSED
    for default, points in (("4", "6"), ("0.1", "0.15")):
        rubric.write_text(f"default = {default}\n")
        assert run(folder, "--rubric", rubric) == exit_codes.PASSED
        rows = csv.DictReader((out / "grades.csv").read_text("utf-8-sig").splitlines())
        assert next(rows)["total"] == points


def test_the_terminal_names_whose_work_earned_nothing(
    folder: Path, pools: list[InlinePool], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    names = "ada", "bob", "cyd", "d\x1b"
    monkeypatch.setattr(grader.classroom.gradebook.write, "lost_in", lambda _: names)
    assert run(folder) == exit_codes.PASSED
    assert "\nWork that earned nothing: ada, bob, cyd and 1 more. The" in capsys.readouterr().out
    monkeypatch.setattr(grader.classroom.gradebook.write, "lost_in", lambda _: names[3:])
    assert run(folder) == exit_codes.PASSED
    assert "Work that earned nothing: d\\x1b. The" in capsys.readouterr().out


def test_a_file_that_is_gone_is_said(
    folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    roster = folder.parent / "roster.csv"
    roster.write_text("ada\nbob\n")
    assert run(folder, "--roster", roster) == exit_codes.PASSED
    shutil.rmtree(folder / "bob")
    capsys.readouterr()
    assert run(folder, "--roster", roster, "--quiet") == exit_codes.PASSED
    said = capsys.readouterr().err
    assert said.startswith("Graded before and no longer in the folder: bob/")
    assert "results.earlier.jsonl keeps it" in said
    assert run(folder, "--roster", roster, "--quiet") == exit_codes.PASSED
    assert capsys.readouterr().err == ""
    assert "bob/" in (folder.parent / "out/results.earlier.jsonl").read_text()


def test_a_list_of_another_class_is_asked_about(
    folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    roster = folder.parent / "roster.csv"
    roster.write_text("Kennung,Wer\nada,x1\nzoe,y1\nbob,z1\n")
    assert run(folder, "--roster", roster) == exit_codes.UNREADABLE
    assert "--roster-columns id=Kennung,name=Wer" in capsys.readouterr().err
    assert run(folder, "--roster", roster, "--roster-columns", "id=Wer") == exit_codes.UNREADABLE
    said = capsys.readouterr().err
    assert "Of 2 who handed something in, 0 are in the class list" in said
    assert "read as id from 'Wer'" in said
    assert "give --yes" in said
    assert not (folder.parent / "out").exists()
    assert pools == []
    assert run(folder, "--roster", roster, "--roster-columns", "id=Wer", "--yes") == 0
    assert run(folder, "--roster", roster, "--roster-columns", "id=Kennung") == exit_codes.PASSED
    assert "give --yes" not in capsys.readouterr().err


def test_what_the_instructor_decides_survives_and_regrades_nothing(
    folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    out = folder.parent / "out"
    assert run(folder, "--due-notebooks", 2) == exit_codes.PASSED
    before = (out / "results.jsonl").read_bytes()
    (out / "adjustments.csv").write_text("id,notebook,points,comment\nbob,02,0.5,oral exam\n")
    assert run(folder, "--due-notebooks", 2) == exit_codes.PASSED
    assert run(folder, "--due-notebooks", 2) == exit_codes.PASSED
    assert "Adjusted by the instructor (* in the table): bob;" in capsys.readouterr().err
    assert (out / "results.jsonl").read_bytes() == before
    assert len(pools) == 1
    (bob,) = (row for row in grades(out) if row["id"] == "bob")
    assert (bob["total"], bob["comment"]) == ("0.5", "oral exam")
    assert "oral exam" in (out / "report" / "students" / "bob.html").read_text("utf-8")
    assert "oral exam" not in (out / "report" / "students" / "ada.html").read_text("utf-8")
    other = folder.parent / "other.csv"  # in place of the gradebook's own
    other.write_text("id,notebook,excused\nada,2,yes\n")
    assert run(folder, "--due-notebooks", 2, "--adjustments", other) == exit_codes.PASSED
    assert [row["total max"] for row in grades(out)] == ["0", "2"]
    other.write_text("id,notebook,excused\nada,2,yes\neve,2,yes\n")
    capsys.readouterr()
    assert run(folder, "--due-notebooks", 2, "--adjustments", other) == exit_codes.UNREADABLE
    assert "Line 3 of " in capsys.readouterr().err


def test_quiet_says_only_what_is_wrong(
    folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    (folder / "ada" / "names.txt").touch()
    (folder / "ada" / ".DS_Store").touch()
    hand_in(folder / "ada", "again", "2")
    decided = folder.parent / "decided.csv"
    decided.write_text("id,notebook,comment\nada,2,good\n")
    words = ["--due-notebooks", 2, "--adjustments", decided, "--quiet"]
    assert run(folder, *words) == exit_codes.PASSED
    assert capsys.readouterr() == ("", "")
    assert run(folder, *words[:-1]) == exit_codes.PASSED
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == [
        *("Not", "Other", "Adjusted")
    ]
    hand_in(folder, "cyd", "2").unlink()
    (folder / "cyd" / "link.ipynb").symlink_to("/etc/passwd")
    (folder / "cyd" / "etc").symlink_to("/etc")
    assert run(folder, *words) == exit_codes.PASSED
    assert capsys.readouterr() == (
        "",
        "Links to folders, which are not followed: cyd/etc.\n"
        "Could not be graded: cyd/link.ipynb. The report says why.\n",
    )


def test_what_the_instructor_decides_is_refused_before_anything_is_graded(
    folder: Path, pools: list[InlinePool], capsys: Capture
) -> None:
    decided = folder.parent / "decided.csv"
    decided.write_text("id,notebook,points,attempt\nada,2,3,\nbob,2,,7\n")
    assert run(folder, "--adjustments", decided) == exit_codes.UNREADABLE
    said = capsys.readouterr().err.splitlines()
    assert [line.split(" of ")[0] for line in said] == ["Line 2", "Line 3"]
    assert pools == []
    assert not (folder.parent / "out").exists()


def test_junit_xml_is_written_where_it_is_asked_for(folder: Path, pools: list[InlinePool]) -> None:
    assert run(folder, "--junitxml", folder.parent / "found.xml") == exit_codes.PASSED
    names = [suite.get("name") for suite in ET.parse(folder.parent / "found.xml").getroot()]
    assert names == ["ada", "bob"]
    assert not [*(folder.parent / "out").rglob("*.xml")]


def test_which_notebooks_are_due_can_be_said(folder: Path, pools: list[InlinePool]) -> None:
    out = folder.parent / "out"
    assert run(folder, "--due-notebooks", "03,2") == exit_codes.PASSED
    assert [row["total max"] for row in grades(out)] == ["8", "8"]
    assert run(folder, "--due-notebooks", "02_fused_cross_entropy") == exit_codes.PASSED
    assert [row["total max"] for row in grades(out)] == ["2", "2"]
    assert "not all notebooks" not in (out / "report" / "index.html").read_text("utf-8")


def test_the_files_own_times_make_them_late_where_the_instructor_says_so(
    folder: Path, pools: list[InlinePool]
) -> None:
    for student, day in (("ada", 20), ("bob", 22)):
        moment = datetime(2026, 11, day, 12).timestamp()
        os.utime(folder / student / BLANK.name, (moment, moment))
    assert run(folder, "--due", "2026-11-21") == exit_codes.PASSED
    assert [line["late"] for line in read(folder.parent / "out").values()] == [False, False]
    assert run(folder, "--due", "2026-11-21", "--file-times") == exit_codes.PASSED
    assert [line["late"] for line in read(folder.parent / "out").values()] == [False, True]
    assert len(pools) == 1


def grades(out: Path) -> list[dict[str, str]]:
    with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_disk_that_fails_gets_a_sentence(
    code: int,
    folder: Path,
    pools: list[InlinePool],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(Run, "grade_all", fail)
        assert run(folder) == exit_codes.UNREADABLE
    assert f"{os.strerror(code).lower()}. What is graded so far is kept" in capsys.readouterr().err
    assert run(folder) == exit_codes.PASSED


def test_pages_of_two_runs_are_not_handed_back(
    folder: Path, pools: list[InlinePool], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    out = folder.parent / "out"
    assert run(folder) == exit_codes.PASSED
    handback = ["handback", str(out), "--for", "folder"]
    with monkeypatch.context() as patch:
        patch.setattr(grader.classroom.gradebook.write, "lecture_page", stop)
        assert run(folder) == exit_codes.INTERRUPTED
    assert "Stopped before all tables and pages were written." in capsys.readouterr().err
    assert cli.main(handback) == exit_codes.UNREADABLE
    assert "has not written all of" in capsys.readouterr().err
    assert run(folder) == exit_codes.PASSED
    assert cli.main(handback) == exit_codes.PASSED


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-20", "2026-11-20T23:59:59"),
        ("2026-11-20T18:00+01:00", "2026-11-20T18:00:00+01:00"),
    ],
)
def test_a_day_ends_at_midnight(
    text: str, moment: str, folder: Path, pools: list[InlinePool], monkeypatch: pytest.MonkeyPatch
) -> None:

    seen: list[Any] = []
    real = class_reader.read_class

    def read_class(*arguments: Any, **others: Any) -> Any:
        seen.append(arguments[3])
        return real(*arguments, **others)

    monkeypatch.setattr(class_reader, "read_class", read_class)
    assert run(folder, "--due", text) == exit_codes.PASSED
    assert [when.isoformat() for when in seen] == [moment]


def test_a_rubric_to_edit_is_printed(capsys: Capture) -> None:
    assert cli.main(["grade", "--example-rubric"]) == exit_codes.PASSED
    assert "default = 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("others", "heavy"),
    [
        (("gradebook.fitting", "intake.class_reader"), {"torch", "numpy", "polars"}),
        (("gradebook.make_book", "gradebook.write"), {"torch", "numpy"}),
    ],
)
def test_what_the_process_that_keeps_the_books_imports_before_and_after_it_grades(
    others: tuple[str, ...], heavy: set[str]
) -> None:
    run = ("class_run", "local_pool", "grade_task", "display", "out_folder")
    rooms = (*others, *(f"run.{name}" for name in run))
    classroom = ", ".join(f"grader.classroom.{name}" for name in rooms)
    modules = f"grader.commands.grade, grader.execution.sandbox, {classroom}"
    program = f"import sys, {modules}\nassert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=PROJECT)
