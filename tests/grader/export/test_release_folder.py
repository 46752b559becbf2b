from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.export.release_folder import MANIFEST, Occupied, write_release

FIRST = {"README.md": b"one", "grader/judge.py": b"judge", "grader/old.py": b"old"}
SECOND = {"README.md": b"two", "grader/judge.py": b"judge", "grader/new.py": b"new"}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST and ".git" not in path.parts
    }


@pytest.fixture
def released(tmp_path: Path) -> Path:
    folder = tmp_path / "class"
    write_release(FIRST, folder)
    return folder


def test_a_new_folder_gets_the_files(tmp_path: Path) -> None:
    written = write_release(FIRST, tmp_path / "deep" / "class")
    assert contents(tmp_path / "deep" / "class") == FIRST
    assert (set(written.new), written.removed, written.kept) == (set(FIRST), (), ())


def test_an_empty_clone_is_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("[core]")
    write_release(FIRST, tmp_path)
    assert contents(tmp_path) == FIRST
    assert (tmp_path / ".git" / "config").read_text() == "[core]"


def test_an_earlier_release_is_brought_up_to_date(released: Path) -> None:
    (released / ".git").mkdir()
    (released / "syllabus.md").write_bytes(b"the instructor's own")
    written = write_release(SECOND, released)
    assert contents(released) == SECOND | {"syllabus.md": b"the instructor's own"}
    assert written.new == ("README.md", "grader/new.py")
    assert written.removed == ("grader/old.py",)
    assert (released / ".git").is_dir()


def test_what_somebody_has_changed_stays(released: Path) -> None:
    (released / "README.md").write_bytes(b"our class meets on Tuesdays")
    (released / "grader/old.py").write_bytes(b"patched")
    for _ in range(2):  # and the next release still knows
        written = write_release(SECOND, released)
        assert "README.md" in written.kept
        assert (released / "README.md").read_bytes() == b"our class meets on Tuesdays"
        assert (released / "grader/old.py").read_bytes() == b"patched"
    (released / "README.md").unlink()
    assert write_release(SECOND, released).new == ("README.md",)


def test_the_same_again_writes_nothing(released: Path) -> None:
    written = write_release(FIRST, released)
    assert (written.new, written.removed, written.kept) == ((), (), ())


@pytest.mark.parametrize(
    "manifest", [None, "", "[]", '{"format": 99, "files": {}}', '{"format": 1}']
)
def test_any_other_folder_is_left_alone(tmp_path: Path, manifest: str | None) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    if manifest is not None:
        (tmp_path / MANIFEST).write_text(manifest)
    with pytest.raises(Occupied, match="is not empty and holds no earlier release"):
        write_release(FIRST, tmp_path)
    assert set(contents(tmp_path)) == {"thesis.tex"}


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "class").write_text("")
    with pytest.raises(Occupied, match="is a file"):
        write_release(FIRST, tmp_path / "class")


def test_a_manifest_cannot_remove_what_lies_outside(released: Path) -> None:
    outside = released.parent / "outside.txt"
    write_release({"a": b"same"}, released.parent / "other")
    outside.write_bytes(b"same")
    manifest = json.loads((released.parent / "other" / MANIFEST).read_text())
    manifest["files"]["../outside.txt"] = manifest["files"]["a"]
    (released.parent / "other" / MANIFEST).write_text(json.dumps(manifest))
    write_release({"b": b"b"}, released.parent / "other")
    assert outside.exists()


def test_where_nothing_can_be_written_there_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    write_release({"a": b"1"}, tmp_path / "class")
    with pytest.raises(Occupied, match="cannot be written"):
        write_release({"a/b": b"2"}, tmp_path / "class")
