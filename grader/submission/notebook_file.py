"""Read a notebook file into cells, or say in one sentence why it cannot be read."""

# Plain json where nbformat would do: `import nbformat` takes 1.1 s here (its schema validators),
# `import json` 0.02 s, and a cold `grader check` has one second beside torch. nbformat also warns
# about missing cell ids and repairs what it reads; a submission is to be read as it is.

from __future__ import annotations

import json
import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from grader.answer.parse import LONGEST_ANSWER
from grader.printable import printable
from grader.user_error import UserError, reason

KEY = "backprop_ninja"
"""Where a notebook's metadata name its course, `{"backprop_ninja": {"course": "norms"}}`, or say
that it is solved, `{"backprop_ninja": {"solved": true}}`."""

LARGEST_FILE = 32 * 2**20
"""Bytes of a notebook."""

MOST_JSON_VALUES = 800_000
"""Brackets and commas in a notebook: a value takes 100 bytes or more in memory, but 2 in a file."""

_DOCUMENTS = frozenset(
    {".doc", ".docx", ".gif", ".heic", ".jpeg", ".jpg", ".odt", ".pdf", ".png", ".pptx", ".rtf"}
)

_ARCHIVES = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"\x1f\x8b": "gzip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!": "rar",
}
"""What archives begin with; a zip without a file in it begins in its own way."""


class UnreadableNotebook(UserError):
    """A file that is not a notebook of the course; the message is one sentence for its owner."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as the file has it; `number` counts from 1.

    `source` is one string with "\\n" line ends, or None where the file holds no readable text. It
    ends where more than is read of an answer would follow.
    `nbgrader` is the cell's nbgrader metadata, empty where there is none.
    """

    number: int
    kind: str
    source: str | None
    nbgrader: Mapping[str, Any]


def read_cells(path: Path) -> tuple[Cell, ...]:
    """The cells of a format-4 notebook, in order.

    Raises:
        UnreadableNotebook: whatever is wrong with the file, in one sentence.
    """
    return cells_in(read_bytes(path), path)


def cells_in(data: bytes, path: Path) -> tuple[Cell, ...]:
    """The cells of a format-4 notebook whose file holds `data`; raises as `read_cells` does."""
    cells = _cell_list(_document_in(data, path), path)
    return tuple(
        _cell(number, cell) for number, cell in enumerate(cells, start=1) if isinstance(cell, dict)
    )


def metadata_in(data: bytes, path: Path) -> Mapping[str, Any]:
    """The metadata of the notebook whose file holds `data`; raises as `read_cells` does."""
    document = _document_in(data, path)
    metadata = document.get("metadata") if isinstance(document, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def is_solved(data: bytes, path: Path) -> bool:
    """Whether a notebook's metadata say that it is a course's own solution, with all answers."""
    own = metadata_in(data, path).get(KEY) if KEY.encode() in data else None
    return isinstance(own, dict) and own.get("solved") is True


def _document_in(data: bytes, path: Path) -> Any:
    """A file's JSON, whatever it holds; raises as `read_cells` does."""
    if not data or data.isspace():
        raise UnreadableNotebook(f"{shown(path)} is empty: was it saved or downloaded completely?")
    # Each is a byte: a shorter file need not be counted through.
    if len(data) > MOST_JSON_VALUES < sum(map(data.count, b",[{")):
        raise UnreadableNotebook(
            f"{shown(path)} holds more than {MOST_JSON_VALUES:,} values: clear the outputs of its "
            "cells and save it again."
        )
    return _parse(_decode(data, path), path)


def shown(path: Path) -> str:
    """The path as sentences name it."""
    return printable(str(path)) or "''"


def read_bytes(path: Path) -> bytes:
    """What a notebook's file holds; raises UnreadableNotebook where that cannot be read at all."""
    with explained(path):
        refuse_unfit(path.stat(), path)  # before it is opened: a pipe would be waited for
        with path.open("rb") as file:
            return read_whole(file, path)


def refuse_unfit(status: os.stat_result, path: Path) -> None:
    """Raise UnreadableNotebook for what is no regular file."""
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableNotebook(
            f"{shown(path)} is a folder: name the notebooks in it, "
            "as in `grader check FOLDER/*.ipynb`."
        )
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableNotebook(
            f"{shown(path)} is not a regular file: save the notebook to a file first."
        )


def read_whole(file: IO[bytes], path: Path) -> bytes:
    """All that an open file holds; raises UnreadableNotebook where that is too much."""
    data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise UnreadableNotebook(
            f"{shown(path)} has more than {LARGEST_FILE // 2**20} MB: clear the outputs of its "
            "cells and save it again."
        )
    return data


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the operating system says about a file into an UnreadableNotebook."""
    try:
        yield
    except FileNotFoundError:
        raise UnreadableNotebook(_not_found(path)) from None
    except PermissionError:
        raise UnreadableNotebook(
            f"{shown(path)} cannot be read: its permissions do not allow it."
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path itself
        raise UnreadableNotebook(f"{shown(path)} cannot be opened: {reason(error)}.") from None


def _not_found(path: Path) -> str:
    if "*" in str(path) or "?" in str(path):
        return (
            f"No file is called {shown(path)}: the shell fills in * and ? only outside quotes, "
            "and only where a file matches."
        )
    return f"There is no file {shown(path)}: check its name, and the folder you are in."


def _decode(data: bytes, path: Path) -> str:
    if path.suffix.lower() in _DOCUMENTS and not data.lstrip().startswith(b"{"):
        raise UnreadableNotebook(
            f"{shown(path)} is a document or a picture, not a notebook: hand in the .ipynb itself."
        )
    for begins, kind in _ARCHIVES.items():
        if data.startswith(begins):
            raise UnreadableNotebook(
                f"{shown(path)} is a {kind} archive: unpack it, and hand in the notebook itself."
            )
    if b"\0" in data:
        # no JSON in UTF-8 holds a raw null byte
        why = (
            "it was saved as UTF-16 text, so save it as UTF-8"
            if data.startswith((b"\xff\xfe", b"\xfe\xff"))
            else "the file is damaged, so take an earlier copy or download it again"
        )
        raise UnreadableNotebook(f"{shown(path)} contains null bytes: {why}.")
    try:
        return data.decode("utf-8-sig")  # -sig: some Windows editors write a byte order mark
    except UnicodeDecodeError as error:
        raise UnreadableNotebook(
            f"{shown(path)} is not UTF-8 text (byte {error.start} is 0x{data[error.start]:02x}): "
            "was it saved in another encoding, or is it another kind of file?"
        ) from None


def _parse(text: str, path: Path) -> Any:
    # What json reads beyond the standard, NaN above all, is left in peace: it stands in outputs
    # that no one grades.
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableNotebook(_not_json(text, error, path)) from None
    except RecursionError:
        raise UnreadableNotebook(
            f"{shown(path)} is nested deeper than any notebook: it cannot be read."
        ) from None
    except ValueError:  # Python refuses to convert integers of more than 4300 digits
        raise UnreadableNotebook(
            f"{shown(path)} contains a number of thousands of digits: it cannot be read."
        ) from None


def _not_json(text: str, error: json.JSONDecodeError, path: Path) -> str:
    start = text.lstrip()[:1000].lower()
    if path.suffix == ".py" or re.match(r"# (%%|---|\+)", start):
        return (
            f"{shown(path)} is a Python file: hand in the .ipynb itself, "
            "or make one with `jupytext --to notebook`."
        )
    if start.startswith("<"):
        return (
            f"{shown(path)} is a web page, not a notebook: download the raw file, "
            "not the page that shows it."
        )
    if "\n<<<<<<< " in text:
        return (
            f"{shown(path)} contains an unresolved merge (<<<<<<<): "
            "choose one side in git and save it again."
        )
    at_end = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    if start.startswith("{") and at_end:
        return f"{shown(path)} breaks off at its end: was it saved or downloaded completely?"
    return (
        f"{shown(path)} is not a notebook: it is not JSON "
        f"({error.msg.lower()} at line {error.lineno}, column {error.colno})."
    )


def _cell_list(document: Any, path: Path) -> list[Any]:
    version = document.get("nbformat") if isinstance(document, dict) else None
    if isinstance(version, bool) or not isinstance(version, int):
        raise UnreadableNotebook(
            f'{shown(path)} is JSON, but not a notebook: it has no "nbformat" number.'
        )
    if version < 4:
        raise UnreadableNotebook(
            f"{shown(path)} is a notebook of the old format {version}: open and save it in "
            "JupyterLab, or convert it with "
            f"`jupyter nbconvert --to notebook --nbformat 4 {shlex.quote(shown(path))}`."
        )
    if version > 4:
        raise UnreadableNotebook(
            f"{shown(path)} is a notebook of format {version}, and this grader knows format 4: "
            "is there a newer version of the grader?"
        )
    cells = document.get("cells")
    if not isinstance(cells, list):
        raise UnreadableNotebook(f"{shown(path)} is not a whole notebook: it has no list of cells.")
    return cells


def _cell(number: int, cell: dict[Any, Any]) -> Cell:
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return Cell(
        number=number,
        kind=str(cell.get("cell_type")),
        source=_text(cell.get("source")),
        nbgrader=nbgrader if isinstance(nbgrader, dict) else {},
    )


def _text(source: Any) -> str | None:
    """The cell's text: a string, or a list of lines that keep their ends."""
    if isinstance(source, list):
        try:
            joined = "".join(source)
        except TypeError:  # a line is no text
            return None
        ends_kept = len(source) < 2 or "\n" in joined[: len(joined) - len(source[-1])]
        source = joined if ends_kept else "\n".join(source)
    if not isinstance(source, str):
        return None
    # JSON may hold half an emoji, which Python can neither parse nor print.
    text: str = source.replace("\r\n", "\n").replace("\r", "\n")[: LONGEST_ANSWER + 1]
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
