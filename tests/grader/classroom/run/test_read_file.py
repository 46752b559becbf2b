from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.classroom.intake.walk import Parts
from grader.classroom.run import read_file
from grader.classroom.run.read_file import read_handed_in
from grader.submission.notebook_file import LARGEST_FILE, UnreadableNotebook, refuse_unfit

NAME = "ada/a.ipynb"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "bob").mkdir()
    (tmp_path / "class" / "bob" / "a.ipynb").write_text("bob's")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.ipynb").write_text("the instructor's")
    return tmp_path / "class"


def read(root: Path) -> bytes:
    return read_handed_in(root, Path(NAME).parts, Path(NAME))


def test_a_file_is_read(root: Path) -> None:
    (root / NAME).write_bytes(b"ada's\0")
    assert read(root) == b"ada's\0"


def link_out(path: Path) -> None:
    path.symlink_to(path.parents[2] / "secret" / "a.ipynb")


def link_to_another(path: Path) -> None:
    path.symlink_to("../bob/a.ipynb")


def broken_link(path: Path) -> None:
    path.symlink_to("nowhere")


def linked_folder(path: Path) -> None:
    path.parent.rmdir()
    path.parent.symlink_to("../secret")


def linked_to_the_neighbour(path: Path) -> None:
    path.parent.rmdir()
    path.parent.symlink_to("bob")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    os.chdir(path.parent)  # the names of sockets are short
    socket.socket(socket.AF_UNIX).bind(path.name)


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, LARGEST_FILE + 1)


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")  # it is its file that counts
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (link_out, "is a link, or in a folder that is one"),
        (link_to_another, "is a link, or in a folder that is one"),
        (broken_link, "is a link, or in a folder that is one"),
        (linked_folder, "is a link, or in a folder that is one"),
        (linked_to_the_neighbour, "is a link, or in a folder that is one"),
        (pipe, "is not a regular file"),
        (unix_socket, "is not a regular file"),
        (sparse, "has more than 32 MB: clear the outputs"),
        (Path.mkdir, "is a folder"),
        (lambda path: None, "There is no file"),
    ],
)
def test_what_is_no_file_gets_a_sentence(
    make: Callable[[Path], None], says: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    make(root / NAME)
    with pytest.raises(UnreadableNotebook) as caught:
        read(root)
    assert says in str(caught.value)
    assert str(root) not in str(caught.value)


def test_a_link_that_takes_a_files_place_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = root / NAME
    path.write_text("ada's")
    look = refuse_unfit

    def look_then_swap(status: os.stat_result, name: Path) -> None:
        look(status, name)
        path.unlink()
        link_out(path)

    monkeypatch.setattr(read_file, "refuse_unfit", look_then_swap)
    with pytest.raises(UnreadableNotebook, match="too many levels of symbolic links"):
        read(root)


def test_a_pipe_that_takes_a_files_place_is_not_waited_for(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = root / NAME
    path.write_text("ada's")
    look = refuse_unfit

    def look_then_swap(status: os.stat_result, name: Path) -> None:
        look(status, name)
        if path.is_file():
            path.unlink()
            os.mkfifo(path)

    monkeypatch.setattr(read_file, "refuse_unfit", look_then_swap)
    with pytest.raises(UnreadableNotebook, match="is not a regular file"):
        read(root)


@pytest.mark.parametrize(
    "parts",
    [
        ("..", "secret", "a.ipynb"),
        (),
        ("ada", "..", "..", "secret", "a.ipynb"),
        ("/", "etc", "passwd"),
        ("ada/../../secret/a.ipynb",),
    ],
)
def test_nothing_outside_is_read(parts: Parts, root: Path) -> None:
    with pytest.raises(UnreadableNotebook, match="is not in the folder"):
        read_handed_in(root, parts, Path(NAME))
