"""A line comes back as it was written, also one of an earlier version."""

from __future__ import annotations

from dataclasses import replace

from grader.classroom.run.line import pack_line, read_line
from grader.verdict import WrongValue, pack_map
from tests.helpers.lines import as_line, graded


def test_a_wrong_value_comes_back() -> None:
    line = as_line(graded("a.ipynb", "ada", "fp"))
    assert line.report is not None
    wrong = WrongValue("value:0123456789ab", pack_map(["448", "404"]))
    first, second = line.report.verdicts
    report = replace(line.report, verdicts=(replace(first, wrong=wrong), second))
    packed = pack_line(replace(line, report=report))
    again = read_line(packed)
    assert again.report is not None
    assert [verdict.wrong for verdict in again.report.verdicts] == [wrong, None]
    assert pack_line(again) == packed


def test_a_line_of_an_earlier_version_says_nothing_of_wrong_values() -> None:
    line = as_line(graded("a.ipynb", "ada", "ft"))
    assert line.report is not None
    assert [verdict.wrong for verdict in line.report.verdicts] == [None, None]
    assert b'wrong":{' not in pack_line(line)
