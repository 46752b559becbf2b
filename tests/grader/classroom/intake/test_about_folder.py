from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.intake.class_folder import ClassFolder
from grader.classroom.intake.class_reader import read_class
from grader.classroom.intake.times import time_in_words as moodle_time
from tests.helpers.trees import make

LATE, EARLY = "Saturday, 21 November 2026, 12:05 AM", "Friday, 20 November 2026, 6:00 PM"
DUE = datetime(2026, 11, 20, 23, 59, 59)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        (EARLY, "2026-11-20T18:00:00"),
        ("Friday, November 20, 2026, 6:00 PM", "2026-11-20T18:00:00"),
        ("Friday, 20 November 2026, 6:00\u202fPM", "2026-11-20T18:00:00"),
        ("Friday, 20 November 2026, 18:00", "2026-11-20T18:00:00"),
        ("Friday, 20 November 2026, 06:00", "2026-11-20T06:00:00"),
        ("Thursday, 5 November 2026, 12:30 AM", "2026-11-05T00:30:00"),
        ("Thursday, 05 November 2026, 12:30 PM", "2026-11-05T12:30:00"),
        ("5 November 2026, 09:30 am", "2026-11-05T09:30:00"),
        ("20 November 2026, 0:05", "2026-11-20T00:05:00"),
    ],
)
def test_a_time_in_english_words(text: str, moment: str) -> None:
    found = moodle_time(text)
    assert found is not None
    assert found.isoformat() == moment


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "yesterday", "11/10/2026, 18:00", "20.11.2026 18:00", "2026-11-20 18:00"),
        "Freitag, 20. November 2026, 18:00",
        "vendredi 20 novembre 2026, 18:00",
        "Sunday, 20 November 2026, 6:00 PM",  # it was a Friday
        *("20 November 2026, 6:00", "Friday, 20 November 2026, 9:30"),  # AM, or PM
        *("Friday, 20 November 2026, 18:00 PM", "Friday, 20 November 2026, 0:30 AM"),
        *("Thursday, 1 January 1970, 12:00 AM", "Monday, 1 January 0001, 00:00"),
        *("Monday, 31 November 2026, 6:00 PM", "20 November 0000, 6:00 PM", "20 May 2026, 9:75 PM"),
    ],
)
def test_what_is_no_sure_time(text: str) -> None:
    assert moodle_time(text) is None


def read(
    tmp_path: Path,
    *times: str,
    due: datetime | None = DUE,
    files: tuple[str, ...] = (),
    file_times: bool = False,
) -> ClassFolder:
    names = files or tuple(
        f"{who}_{n}_assignsubmission_file/x.ipynb" for n, who in enumerate(("Ada", "Bob"), start=1)
    )
    folder, roster = make(tmp_path / "in", *names), tmp_path / "worksheet.csv"
    lines = ["Identifier,Full name,Last modified (submission),Grade,Maximum grade"]
    people = enumerate(zip(("Ada", "Bob", "Cyd"), (*times, "-"), strict=False), start=1)
    lines += [f'Participant {n},{who},"{time}",,10' for n, (who, time) in people]
    roster.write_text("\n".join(lines), encoding="utf-8")
    return read_class(folder, COURSE, roster, due, file_times=file_times)


def test_moodles_worksheet_says_who_is_late(tmp_path: Path) -> None:
    found = read(tmp_path, EARLY, LATE)
    assert [item.late for item in found.handed_in] == [False, True]
    moment = datetime(2026, 11, 20, 18).astimezone()
    assert found.handed_in[0].submitted == moment.isoformat()
    said, due = found.notices
    assert said.startswith("The times at which 2 students handed in are those of Moodle's")
    assert due.startswith("The due time is ")
    assert read(tmp_path, EARLY, LATE, due=None).notices == ()


def test_it_goes_before_the_files_own_times(tmp_path: Path) -> None:
    due = datetime(2002, 1, 1, tzinfo=UTC)
    found = read(tmp_path, "Monday, 1 January 2001, 9:00 AM", "-", due=due, file_times=True)
    assert [item.late for item in found.handed_in] == [False, True]


def test_a_time_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    found = read(tmp_path, EARLY, "21. November 2026")
    assert [bool(item.submitted) for item in found.handed_in] == [True, False]
    assert found.notices[1] == (
        "'Last modified (submission)' of Bob cannot be read as a time ('21. November 2026', for "
        "one): download the worksheet with Moodle set to English. None of them is late by it."
    )
    assert not any("the folder does not say" in notice for notice in found.notices)
    neither = read(tmp_path, "-", "21. November 2026")
    said = "The folder does not say when 1 of 2 files came"
    assert any(notice.startswith(said) for notice in neither.notices)


@pytest.mark.parametrize(
    "files",
    [
        ("hw1/Ada_1_assignsubmission_file/x.ipynb", "hw2/Ada_7_assignsubmission_file/x.ipynb"),
        ("Ada/x.ipynb", "Bob/x.ipynb"),
    ],
)
def test_a_worksheet_speaks_of_one_download_of_moodles(
    tmp_path: Path, files: tuple[str, ...]
) -> None:
    found = read(tmp_path, LATE, LATE, files=files)
    assert [item.submitted for item in found.handed_in] == [None, None]
