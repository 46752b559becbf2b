from __future__ import annotations

import doctest
import json
import shutil
from pathlib import Path

import pytest

import grader.authoring.address
from grader.authoring import address as module
from grader.authoring.address import (
    owner_and_name,
    readdressed,
    repoint,
    repository_address,
)
from grader.authoring.build import build, verify
from grader.authoring.course import read_repository
from grader.user_error import UserError


def test_examples_hold() -> None:
    assert doctest.testmod(grader.authoring.address).failed == 0


@pytest.mark.parametrize(
    "text",
    ["a-b/c.d_e", "https://github.com/a-b/c.d_e", "https://github.com/a-b/c.d_e/", " a-b/c.d_e "],
)
def test_each_way_to_write_it_is_the_same_address(text: str) -> None:
    address = repository_address(text)
    assert address == "https://github.com/a-b/c.d_e"
    assert owner_and_name(address) == "a-b/c.d_e"


@pytest.mark.parametrize(
    "text", ["", "name", "a/b/c", "https://gitlab.com/a/b", "a/b c", "../b", "a/..", 'a/b"', "a/"]
)
def test_what_is_none_gets_a_sentence(text: str) -> None:
    with pytest.raises(UserError, match="should look like owner/name"):
        repository_address(text)


OLD, NEW = "https://github.com/a/b", "https://github.com/class-27/b.fork"


@pytest.mark.parametrize(
    "text",
    [
        "[x](https://github.com/{owner}/{name})",
        "see github.com/{owner}/{name}.",
        "git+https://github.com/{owner}/{name}.git",
        "https://colab.research.google.com/github/{owner}/{name}/blob/main/x.ipynb",
        "https://raw.githubusercontent.com/{owner}/{name}/main/",
        "https://{owner}.github.io/{name}/",
        "$ git clone https://github.com/{owner}/{name}\n$ cd {name}\n$ make lab",
    ],
)
def test_every_form_of_the_address_changes(text: str) -> None:
    old, new = text.format(owner="a", name="b"), text.format(owner="class-27", name="b.fork")
    assert readdressed(old, OLD, NEW) == new
    assert readdressed(new, NEW, OLD) == old


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/a/bcd",
        "https://github.com/a/b-2",
        "https://github.com/za/b",
        "https://gitlab.com/a/b",
        "the folder a/b",
        "cd b",
        "https://ba.github.io/b",
    ],
)
def test_other_addresses_stay(text: str) -> None:
    assert readdressed(text, OLD, NEW) == text


@pytest.mark.slow
def test_outputs_stay_and_nothing_runs(
    toy_course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build()
    (toy_course / "README.md").write_text("https://github.com/a/b", encoding="utf-8")
    solution = toy_course / "notebooks/solutions/01_toy.ipynb"
    before = json.loads(solution.read_text(encoding="utf-8"))
    monkeypatch.setattr(module, "build", lambda: pytest.fail("something was run"))
    capsys.readouterr()
    repoint("class-27/b.fork")
    said = capsys.readouterr().out
    assert "wrote pyproject.toml" in said
    assert "wrote README.md" in said
    assert NEW in (toy_course / "README.md").read_text(encoding="utf-8")
    assert verify() == []
    after = json.loads(solution.read_text(encoding="utf-8"))
    assert [cell.get("outputs") for cell in after["cells"]] == [
        cell.get("outputs") for cell in before["cells"]
    ]
    for name in ("notebooks/01_toy.ipynb", "notebooks/solutions/01_toy.ipynb"):
        assert "github.com/a/b" not in (toy_course / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_is_out_of_date_for_another_reason_is_built(
    toy_course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build()
    source = toy_course / "notebooks/source/01_toy.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(text + "\n# %% [markdown]\n# One text more.\n", encoding="utf-8")
    capsys.readouterr()
    repoint(NEW)
    said = capsys.readouterr().out
    assert "is out of date" in said
    assert "Building the notebooks anew." in said
    assert verify() == []


@pytest.mark.slow
def test_the_same_address_changes_nothing(
    toy_course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build()
    capsys.readouterr()
    repoint(OLD)
    assert capsys.readouterr().out == f"Everything leads to {OLD} already.\n"


def test_what_is_no_address_changes_nothing(toy_course: Path) -> None:
    before = (toy_course / "pyproject.toml").read_text(encoding="utf-8")
    with pytest.raises(UserError):
        repoint("not an address")
    assert (toy_course / "pyproject.toml").read_text(encoding="utf-8") == before


@pytest.mark.slow
def test_the_course_itself_follows(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork's copy: nothing leads to the old address any more, and nothing needs to run."""
    copy = tmp_path / "fork"
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        copy.mkdir(exist_ok=True)
        shutil.copy(project / name, copy / name)
    for name in ("docs", "notebooks", "grader", "makemore_data"):
        shutil.copytree(project / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(copy)
    old = read_repository().removeprefix("https://github.com/")
    monkeypatch.setattr(module, "build", lambda: pytest.fail("something was run"))
    repoint("ada/fork")  # which verifies them
    for path in module.addressed_files():
        assert old not in path.read_text(encoding="utf-8"), path
