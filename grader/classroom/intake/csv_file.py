"""Read a CSV file from any program, with all that is needed to write it the same way again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.intake.class_folder import UnreadableClass, explained
from grader.classroom.spreadsheet import CsvForm
from grader.printable import printable
from grader.submission.notebook_file import shown

MAX_BYTES = 64 * 1024 * 1024
_DELIMITERS = ",;\t|"

_NO_TABLE = ("<", "{", "%PDF-")
"""The beginnings of JSON, PDF, and of web pages, which some systems call .xls or .csv."""


@dataclass(frozen=True, slots=True)
class CsvFile:
    """The form and the rows of a file, with the line on which each row begins."""

    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    form: CsvForm


def read_csv_file(path: Path, what: str) -> CsvFile:
    """Read the file, which sentences call "the `what`".

    Raises:
        UnreadableClass: the file is not a CSV file; the message is a sentence.
    """
    text, encoding = _decode(_read(path, what), path)
    if text.lstrip("\ufeff \t\r\n").startswith(_NO_TABLE) or "\0" in text:
        raise UnreadableClass(
            f"{shown(path)} is not a table of text (CSV): it begins with "
            f"{printable(text[:20])!r}. Export the {what} as CSV."
        )
    sep = ""
    if text[:4].lower() == "sep=":  # Excel's own first line
        sep, _, text = text.partition("\n")
        sep = sep.rstrip("\r")
    first = next((line for line in text.splitlines() if line.strip()), "")
    # outside of quotation marks; the first of them where there is none
    delimiter = sep.strip()[4:5] or max(_DELIMITERS, key="".join(first.split('"')[::2]).count)
    newline = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    rows, lines = [], []
    try:
        texts = [*io.StringIO(text, newline="")]
        reader = csv.reader(texts, delimiter=delimiter)
        read, above = 0, bool(sep)
        for row in reader:
            begins, record = read + 1 + above, texts[read : reader.line_num]
            if (len(record) > 1 or reader.line_num == len(texts)) and _is_open(record, delimiter):
                raise UnreadableClass(
                    f"Line {begins} of {shown(path)} opens a quotation mark that it does not close:"
                    " close it, or take it out."
                )
            rows.append(tuple(row))
            lines.append(begins)
            read = reader.line_num
    except csv.Error as error:
        raise UnreadableClass(
            f"{shown(path)} is not a table of text (CSV): {printable(str(error))}."
        ) from None
    return CsvFile(tuple(rows), tuple(lines), CsvForm(delimiter, encoding, newline, sep))


def _is_open(record: Sequence[str], delimiter: str) -> bool:
    r"""True if a quotation mark begins a cell but ends none, so that it swallows several lines.

    >>> _is_open(['ada,5" disk,"two\n', 'lines"'], ","), _is_open(['bob,"Bob'], ",")
    (False, True)
    """
    strict = len(record) > 1  # "Ada" L. in one line is odd, but whole
    try:
        return len([*csv.reader([*record, "\n"], delimiter=delimiter, strict=strict)]) == 1
    except csv.Error:
        return True


def _read(path: Path, what: str) -> bytes:
    with explained(f"The {what} {shown(path)} cannot be opened"):
        if not path.is_file():
            there = "is a folder" if path.is_dir() else "is not a file"
            why = there if path.exists() else "does not exist"
            raise UnreadableClass(f"The {what} {shown(path)} {why}: name the CSV file.")
        if path.stat().st_size > MAX_BYTES:
            raise UnreadableClass(
                f"{shown(path)} is larger than {MAX_BYTES // 2**20} MB: is it the {what}?"
            )
        return path.read_bytes()


def _decode(data: bytes, path: Path) -> tuple[str, str]:
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise UnreadableClass(f"{shown(path)} is a spreadsheet: save it as CSV and name that.")
    found = json.detect_encoding(data)  # by its mark, or by zeros among the first bytes
    for encoding in [found] if found != "utf-8" else ["utf-8", "cp1252", "latin-1"]:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise UnreadableClass(f"{shown(path)} is damaged: it begins as {found} and breaks off.")
