from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader import cli
from grader.classroom.gradebook.rubric import example_rubric
from grader.commands import exit_codes
from grader.platforms.gradescope.archive import (
    autograder_zip,
    installed_wheel,
)
from grader.platforms.gradescope.settings import (
    ExportSettings,
    Visibility,
    pack_settings,
    read_settings,
)
from tests.helpers.gradescope_schema import validate

ATOMIC = "01_atomic_backprop"
SETTINGS = ExportSettings(ATOMIC, key="a secret")

Capture = pytest.CaptureFixture[str]


def unpacked(data: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(data))


def test_the_zip_has_what_gradescope_looks_for_at_its_top() -> None:
    archive = unpacked(autograder_zip(SETTINGS, b"default = 2\n", COURSE))
    modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o100755
    for script in ("setup.sh", "run_autograder"):
        text = archive.read(script)
        assert text.startswith(b"#!/usr/bin/env bash\n")
        assert b"\r" not in text
    assert archive.read("rubric.toml") == b"default = 2\n"
    assert json.loads(archive.read("settings.json"))["notebook"] == ATOMIC
    assert b"torch==2." in archive.read("constraints.txt")
    assert b"+" not in archive.read("constraints.txt")
    validate(json.loads(archive.read("not_graded.json")))
    assert "rubric.toml" not in unpacked(autograder_zip(SETTINGS, None, COURSE)).namelist()


def test_the_zip_says_where_pytorch_without_cuda_is() -> None:
    url = "https://wheels.example.org/cpu"
    without = unpacked(autograder_zip(SETTINGS, None, COURSE))
    assert "torch-index.txt" not in without.namelist()
    archive = unpacked(autograder_zip(SETTINGS, None, COURSE, url))
    assert archive.read("torch-index.txt").decode().strip() == url
    assert "$source/torch-index.txt" in archive.read("setup.sh").decode()


def test_the_same_order_gives_the_same_bytes() -> None:
    assert autograder_zip(SETTINGS, None, COURSE) == autograder_zip(SETTINGS, None, COURSE)


def test_the_wheel_holds_the_course_and_its_own_record(project: Path) -> None:
    name, data = installed_wheel()
    assert name.endswith("-py3-none-any.whl")
    archive = unpacked(data)
    names = set(archive.namelist())
    for package in ("grader", "makemore_data"):
        files = (path for path in (project / package).rglob("*") if path.is_file())
        own = {path.relative_to(project).as_posix() for path in files}
        assert {path for path in own if "__pycache__" not in path} <= names
    assert not any("__pycache__" in path for path in names)
    (folder,) = {path.partition("/")[0] for path in names if ".dist-info/" in path}
    assert b"Name: backprop-ninja" in archive.read(f"{folder}/METADATA")
    assert b"grader = grader.cli:main" in archive.read(f"{folder}/entry_points.txt")
    assert f"{folder}/licenses/LICENSE" in names
    record = list(csv.reader(io.StringIO(archive.read(f"{folder}/RECORD").decode())))
    assert {path for path, _, _ in record} == names
    for path, digest, size in record:
        if path != f"{folder}/RECORD":
            found = archive.read(path)
            sha256 = base64.urlsafe_b64encode(hashlib.sha256(found).digest()).rstrip(b"=")
            assert (digest, int(size)) == (f"sha256={sha256.decode()}", len(found))


def test_settings_come_back(tmp_path: Path) -> None:
    settings = replace(SETTINGS, visibility=Visibility.AFTER_DUE_DATE, leaderboard=True)
    path = tmp_path / "settings.json"
    path.write_bytes(pack_settings(settings))
    assert read_settings(path) == settings
    assert isinstance(read_settings(path).visibility, Visibility)


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"format": 1}', '{"format": 2, "notebook": ""}']
)
def test_settings_of_something_else(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"."):
        read_settings(path)


@pytest.mark.parametrize("other", [2, True, 1.0])
def test_settings_of_another_format(tmp_path: Path, other: object) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(json.loads(pack_settings(SETTINGS)) | {"format": other}))
    with pytest.raises(ValueError, match="was not written by this version of"):
        read_settings(path)


def test_a_submission_keeps_its_seed_and_shares_it_with_none() -> None:
    seeds = {SETTINGS.seed(str(number)) for number in range(100)}
    assert len(seeds) == 100
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert SETTINGS.seed("7") == SETTINGS.seed("7")
    assert SETTINGS.seed("7") != replace(SETTINGS, key="another").seed("7")
    assert SETTINGS.seed("") != SETTINGS.seed("")


def export(*arguments: str | Path) -> int:
    return cli.main(["export", "gradescope", *map(str, arguments)])


def test_the_command_writes_the_zip(tmp_path: Path, capsys: Capture) -> None:
    rubric = tmp_path / "rubric.toml"
    rubric.write_text(example_rubric(COURSE).replace("default = 1 ", "default = 2 ", 1))
    out = tmp_path / "autograder.zip"
    more = ("--visibility", "after_published", "--leaderboard", "--sandbox", "bwrap")
    assert export("--notebook", "02", "--rubric", rubric, "--out", out, *more) == exit_codes.PASSED
    said = capsys.readouterr().out
    assert "grades 02_fused_cross_entropy" in said
    assert "give it 4 points" in said
    settings = json.loads(zipfile.ZipFile(out).read("settings.json"))
    assert len(settings.pop("key")) == 32
    assert settings == {
        "format": 1,
        "notebook": "02_fused_cross_entropy",
        "visibility": "after_published",
        "stdout_visibility": "hidden",
        "leaderboard": True,
        "sandbox": "bwrap",
    }
    assert zipfile.ZipFile(out).read("rubric.toml") == rubric.read_bytes()


def test_the_command_refuses_with_a_sentence(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.zip"
    bad = tmp_path / "bad.toml"
    bad.write_text("carried = 7\n")
    for more in (["--notebook", "9"], ["--notebook", "1", "--rubric", str(bad)]):
        assert export(*more, "--out", out) == exit_codes.UNREADABLE
        assert capsys.readouterr().err.count("\n") == 1
        assert not out.exists()
    elsewhere = tmp_path / "no such folder" / "out.zip"
    assert export("--notebook", "1", "--out", elsewhere) == exit_codes.UNREADABLE
    assert "no such file or directory" in capsys.readouterr().err
