"""Write a folder with every student's page, in the form in which it is handed back."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.classroom.gradebook.grades_csv import id_cell, text_cell, write_csv
from grader.classroom.gradebook.report.pages import page_name
from grader.classroom.handback.platform_names import (
    PAGE,
    canvas_place,
    entries,
    moodle_place,
)
from grader.classroom.handback.recipients import Recipient, named
from grader.classroom.intake.csv_file import read_csv_file
from grader.classroom.intake.platform_layouts import CANVAS, MOODLE
from grader.classroom.spreadsheet import unescaped
from grader.printable import printable
from grader.user_error import UserError

LIST = "handback.csv"
"""The list of who got what, which also marks a folder as one of ours."""

_HEADER = ("id", "name", "file", "page")
Tell = Callable[[str], object]
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip knows, used for all pages so that equal pages give equal bytes."""


class InTheWay(UserError):
    """The folder is not empty; the message says what it holds and what to do."""


class NothingToHandBack(UserError):
    """There is no page to hand back; the message says why."""


class Form(StrEnum):
    """The ways to hand back pages."""

    CANVAS = "canvas"
    MOODLE = "moodle"
    FOLDER = "folder"


PLATFORMS = {Form.CANVAS: (CANVAS, canvas_place), Form.MOODLE: (MOODLE, moodle_place)}
"""The layout that a gradebook has to be made from, and where the platform looks for a page."""


@dataclass(frozen=True, slots=True)
class Given:
    """One page that is handed back: the file of the folder, and its name in that file."""

    recipient: Recipient
    file: str
    page: str


def hand_back(
    people: Sequence[Recipient],
    form: Form,
    out: Path,
    *,
    replace: bool = False,
    tell: Tell = lambda sentence: None,
) -> list[Given]:
    """Write the pages, and `handback.csv` with who got which. The folder is written whole or not.

    Args:
        people: the gradebook's students.
        form: how to hand back the pages.
        out: the folder, which is new, empty, or from an earlier call.
        replace: whether an earlier folder may be replaced.
        tell: called with each sentence for the instructor.

    Raises:
        InTheWay: `out` holds something; nothing has been written.
        NothingToHandBack: nobody would get a page; nothing has been written.
        OSError: a file cannot be written or read.
    """
    _refuse_full(out, replace=replace)
    out.parent.mkdir(parents=True, exist_ok=True)
    # Written beside the folder, so that all of it can take its place at once.
    with TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as waiting:
        new = Path(waiting) / "pages"
        new.mkdir()
        pages = _zips(form, people, new, tell) if form in PLATFORMS else _folders(people, new, tell)
        given = list(pages)
        if not given:
            raise NothingToHandBack("There is no page to hand back: nothing was written.")
        rows = [
            (id_cell(who.id), text_cell(who.name), id_cell(each.file), id_cell(each.page))
            for each in given
            for who in [each.recipient.student]
        ]
        write_csv(new / LIST, [_HEADER, *rows])
        if out.exists():
            shutil.rmtree(out)
        new.rename(out)
    adjusted = [each.recipient.student for each in given if each.recipient.adjusted]
    if adjusted:
        who = named(dict.fromkeys(adjusted))
        tell(f"Pages that say what you adjusted, with your comments: {who}.")
    return given


def _refuse_full(out: Path, *, replace: bool) -> None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise InTheWay(f"{printable(str(out))} is a file or a link: name a folder.")
    if not out.exists() or not any(out.iterdir()):
        return
    path = out / LIST
    ours = {LIST}
    if path.is_file():
        header, *rows = read_csv_file(path, "list of pages").rows or ((),)
        if header == _HEADER:
            ours |= {
                unescaped(row[header.index("file")]) for row in rows if len(row) == len(header)
            }
    files = {each.relative_to(out).as_posix() for each in out.rglob("*") if not each.is_dir()}
    if strange := files - ours:
        raise InTheWay(
            f"{printable(str(out))} holds something else than pages handed back "
            f"({printable(min(strange))}, for one): choose another --out."
        )
    if not replace:
        raise InTheWay(
            f"{printable(str(out))} holds pages that were handed back earlier: give --replace to "
            "write them anew, or choose another --out."
        )


def _zips(form: Form, people: Sequence[Recipient], out: Path, tell: Tell) -> Iterator[Given]:
    downloads, notices = entries(people, PLATFORMS[form][1], form.capitalize())
    for notice in notices:
        tell(notice)
    for download, pages in downloads.items():
        name = f"feedback-{Path(page_name(download)).stem}.zip" if download else "feedback.zip"
        with zipfile.ZipFile(out / name, "x", zipfile.ZIP_DEFLATED) as archive:
            for entry, each in pages.items():
                info = zipfile.ZipInfo(entry, _EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o644 << 16
                archive.writestr(info, each.page.read_bytes())
                yield Given(each, name, entry)


def _folders(people: Sequence[Recipient], out: Path, tell: Tell) -> Iterator[Given]:
    for each in people:
        (out / each.page.stem).mkdir()
        (out / each.page.stem / PAGE).write_bytes(each.page.read_bytes())
        yield Given(each, f"{each.page.stem}/{PAGE}", PAGE)
    if nothing := [each.student for each in people if not each.files]:
        tell(f"Handed in nothing, as their pages say: {named(nothing)}.")
