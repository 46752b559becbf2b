"""A line comes back as it was written."""

from __future__ import annotations

import json
from dataclasses import replace

from grader.classroom.run.line import file_text, grading_text, read_line
from grader.verdict import WrongValue, pack_map
from tests.helpers.lines import as_line, graded


def test_a_wrong_value_comes_back() -> None:
    line = as_line(graded("a.ipynb", "ada", "fp"))
    assert line.report is not None
    wrong = WrongValue("value:0123456789ab", pack_map(["448", "404"]))
    first, second = line.report.verdicts
    report = replace(line.report, verdicts=(replace(first, wrong=wrong), second))
    line = replace(line, report=report)
    assert (
        read_line(json.dumps(json.loads(file_text(line.file)) | json.loads(grading_text(line))))
        == line
    )
