from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from grader.answer.parse import LONGEST_ANSWER
from grader.submission.notebook_file import (
    MOST_JSON_VALUES,
    Cell,
    UnreadableNotebook,
    read_cells,
)


def notebook(*cells: Any, **changes: Any) -> bytes:
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)} | changes
    return json.dumps(document).encode()


def code(source: Any, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": []}


def sentence_about(path: Path) -> str:
    with pytest.raises(UnreadableNotebook) as caught:
        read_cells(path)
    return str(caught.value)


BAD = {
    "empty": (b"", "is empty: was it saved or downloaded completely?"),
    "spaces": (b" \n\t ", "is empty: was it saved or downloaded completely?"),
    "text": (b"dlogits = 1", "is not a notebook: it is not JSON (expecting value at line 1, "),
    "cut": (notebook(code("x"))[:-30], "breaks off at its end: was it saved or downloaded compl"),
    "cut in a string": (
        b'{"nbformat": 4, "cel',
        "breaks off at its end: was it saved or downloade",
    ),
    "python": (b"# %%\nimport torch\n", "is a Python file: hand in the .ipynb itself, or make one"),
    "jupytext": (
        b"# ---\n# jupyter:\n",
        "is a Python file: hand in the .ipynb itself, or make one",
    ),
    "page": (b"<!DOCTYPE html><html>", "is a web page, not a notebook: download the raw file, not"),
    "merge": (
        b'{\n<<<<<<< HEAD\n "nbformat": 4\n=======\n',
        "contains an unresolved merge (<<<<<<<): choose one side in git and save it again.",
    ),
    "zip": (b"PK\x03\x04\0", "is a zip archive: unpack it, and hand in the notebook itself."),
    "empty zip": (b"PK\x05\x06" + b"\0" * 18, "is a zip archive: unpack it, and hand in the noteb"),
    "gzip": (b"\x1f\x8b\x08\0", "is a gzip archive: unpack it, and hand in the notebook itself."),
    "rar": (b"Rar!\x1a\x07\0", "is a rar archive: unpack it, and hand in the notebook itself."),
    "nulls": (b"\0" * 100, "contains null bytes: the file is damaged, so take an earlier copy or"),
    "utf-16": (notebook().decode().encode("utf-16"), "contains null bytes: it was saved as UTF-16"),
    "latin-1": ('{"é": 1}'.encode("latin-1"), "is not UTF-8 text (byte 2 is 0xe9): was it saved"),
    "picture": (b"\x89PNG\r\n", "is not UTF-8 text (byte 0 is 0x89): was it saved in another enco"),
    "deep": (b"[" * 500_000, "is nested deeper than any notebook: it cannot be read."),
    "deep object": (b'{"a":' * 500_000, "is nested deeper than any notebook: it cannot be read."),
    "long number": (b"1" * 5000, "contains a number of thousands of digits: it cannot be read."),
    "values": (b"[" + b"{}," * MOST_JSON_VALUES, "holds more than 800,000 values: clear the outp"),
    "no UTF-8 emoji": (b'{"\xf0\x80\x80\x80": 1}', "is not UTF-8 text (byte 2 is 0xf0): was it s"),
    "halves in bytes": (b"\xf0\x9f\x98\x80\xed\xa0\x80", "is not UTF-8 text (byte 4 is 0xed): was"),
    "list": (b"[]", 'is JSON, but not a notebook: it has no "nbformat" number.'),
    "number": (b"1", 'is JSON, but not a notebook: it has no "nbformat" number.'),
    "object": (b"{}", 'is JSON, but not a notebook: it has no "nbformat" number.'),
    "true": (notebook(nbformat=True), 'is JSON, but not a notebook: it has no "nbformat" number.'),
    "nbformat 3": (
        notebook(nbformat=3, worksheets=[]),
        "is a notebook of the old format 3: open and save it in JupyterLab, or convert it with "
        "`jupyter nbconvert --to notebook --nbformat 4 ",
    ),
    "nbformat 2": (notebook(nbformat=2), "is a notebook of the old format 2: open and save it in"),
    "nbformat 5": (notebook(nbformat=5), "is a notebook of format 5, and this grader knows format"),
    "no cells": (b'{"nbformat": 4}', "is not a whole notebook: it has no list of cells."),
    "cells": (notebook(cells={"a": 1}), "is not a whole notebook: it has no list of cells."),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_notebook_gets_one_sentence(kind: str, tmp_path: Path) -> None:
    data, expected = BAD[kind]
    path = tmp_path / "homework.ipynb"
    path.write_bytes(data)
    sentence = sentence_about(path)
    assert sentence.startswith(f"{path} {expected}")
    assert re.fullmatch(r"[^\n]+[.?]", sentence)


def test_python_files_are_known_by_their_name_too(tmp_path: Path) -> None:
    path = tmp_path / "01_atomic_backprop.py"
    path.write_text("import torch\n")
    assert f"{path} is a Python file" in sentence_about(path)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("essay.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
        ("Essay.DOCX", b"PK\x03\x04\0\0"),
        ("scan.jpeg", b"\xff\xd8\xff\0"),
    ],
)
def test_documents_and_pictures_are_known_by_their_names(
    tmp_path: Path, name: str, data: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert sentence_about(path) == (
        f"{path} is a document or a picture, not a notebook: hand in the .ipynb itself."
    )
    path.write_bytes(notebook())
    assert read_cells(path) is not None


def test_the_way_to_convert_can_be_pasted(tmp_path: Path) -> None:
    path = tmp_path / "my homework.ipynb"
    path.write_bytes(notebook(nbformat=3))
    assert f"--nbformat 4 '{path}'`." in sentence_about(path)


def test_no_such_file(tmp_path: Path) -> None:
    path = tmp_path / "gone.ipynb"
    assert sentence_about(path) == (
        f"There is no file {path}: check its name, and the folder you are in."
    )


def test_a_glob_that_no_shell_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "*.ipynb"
    assert sentence_about(path).startswith(f"No file is called {path}: the shell fills in * and ?")


def test_a_folder(tmp_path: Path) -> None:
    assert sentence_about(tmp_path) == (
        f"{tmp_path} is a folder: name the notebooks in it, as in `grader check FOLDER/*.ipynb`."
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe.ipynb"
    os.mkfifo(path)
    assert f"{path} is not a regular file" in sentence_about(path)


def test_a_loop_of_links(tmp_path: Path) -> None:
    path = tmp_path / "loop.ipynb"
    path.symlink_to(path)
    assert re.fullmatch(rf"{path} cannot be opened: .*symbolic links.*\.", sentence_about(path))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "secret.ipynb"
    path.write_bytes(notebook())
    path.chmod(0)
    assert sentence_about(path).endswith("cannot be read: its permissions do not allow it.")


def test_permission_refused_wherever_the_tests_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", refuse)
    sentence = sentence_about(tmp_path / "secret.ipynb")
    assert sentence.endswith("cannot be read: its permissions do not allow it.")


@pytest.mark.parametrize("name", ["null\0.ipynb", "x" * 5000 + ".ipynb"])
def test_names_no_file_can_have(name: str) -> None:
    sentence = sentence_about(Path(name))
    assert "cannot be opened: " in sentence
    assert sentence.isprintable()


def test_names_are_safe_to_show(tmp_path: Path) -> None:
    assert r"\x1b[31m \udcff.ipynb" in sentence_about(tmp_path / "\x1b[31m\n\udcff.ipynb")


def test_too_large_a_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "huge.ipynb"
    with path.open("wb") as file:
        file.truncate(2**40)  # sparse: it takes no room
    assert sentence_about(path) == (
        f"{path} has more than 32 MB: clear the outputs of its cells and save it again."
    )


def cell(tmp_path: Path, data: Any) -> Cell:
    path = tmp_path / "homework.ipynb"
    path.write_bytes(data if isinstance(data, bytes) else notebook(data))
    return read_cells(path)[0]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a\nb", "a\nb"),
        (["a\n", "b"], "a\nb"),
        (["a", "b"], "a\nb"),
        ([], ""),
        (["a"], "a"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("whole \U0001f600", "whole \U0001f600"),
        ("\ude00\ud83d\U0001f600\ud83d", "\ufffd\ufffd\U0001f600\ufffd"),
        ("\U0001f600" * LONGEST_ANSWER, "\U0001f600" * LONGEST_ANSWER),
        ("\U0001f600" * (LONGEST_ANSWER + 5), "\U0001f600" * (LONGEST_ANSWER + 1)),
        ("null \x00", "null \x00"),
        (None, None),
        (5, None),
        (["a", 5], None),
        ({"a": "b"}, None),
        ("x" * 1_000_000, "x" * (LONGEST_ANSWER + 1)),
    ],
)
def test_sources(source: Any, text: str | None, tmp_path: Path) -> None:
    assert cell(tmp_path, code(source)).source == text


def test_an_emoji_is_the_same_written_out_and_escaped(tmp_path: Path) -> None:
    data = json.dumps(json.loads(notebook(code("\U0001f600 é 中"))), ensure_ascii=False).encode()
    assert b"\\" not in data
    assert cell(tmp_path, data).source == "\U0001f600 é 中"


def test_a_cell_without_a_source(tmp_path: Path) -> None:
    assert cell(tmp_path, {"cell_type": "code"}) == Cell(1, "code", None, {})


@pytest.mark.parametrize("metadata", [None, [], "x", {"nbgrader": None}, {"nbgrader": [1]}])
def test_odd_metadata_is_none_at_all(metadata: Any, tmp_path: Path) -> None:
    assert cell(tmp_path, {"cell_type": "code", "metadata": metadata}).nbgrader == {}


def test_what_is_no_cell_still_counts(tmp_path: Path) -> None:
    path = tmp_path / "homework.ipynb"
    path.write_bytes(notebook(None, code("a"), "cell", code("b")))
    assert [(cell.number, cell.source) for cell in read_cells(path)] == [(2, "a"), (4, "b")]


def test_a_byte_order_mark_is_no_harm(tmp_path: Path) -> None:
    assert cell(tmp_path, b"\xef\xbb\xbf" + notebook(code("a"))).source == "a"


def test_outputs_are_not_looked_at(tmp_path: Path) -> None:
    data = notebook({"cell_type": "code", "source": "a", "outputs": [{"n": float("nan")}, 3]})
    assert b"NaN" in data
    assert cell(tmp_path, data).source == "a"


def test_missing_ids_and_minor_versions_pass_without_a_warning(tmp_path: Path) -> None:
    # pytest turns a warning into an error
    path = tmp_path / "homework.ipynb"
    for minor in (0, 4, 5, 99, None, "5"):
        path.write_bytes(notebook(code("a"), code("a"), nbformat_minor=minor))
        assert len(read_cells(path)) == 2
