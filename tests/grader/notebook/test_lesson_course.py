"""The calls of a notebook whose course lies beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.grader.notebook.test_lesson import execute, text
from tests.helpers.small_course import COURSE, FILES, RIGHT, write_course

SETUP = """\
import torch
from grader import board, check, nudge, points
x, gain, dout = torch.randn(6, 10), torch.randn(10), torch.randn(6, 10)
ms = (x**2).mean(1, keepdim=True)
inv = (ms + 1e-5) ** -0.5
xhat = x * inv
"""


@pytest.mark.slow
def test_a_course_beside_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_course(tmp_path, course=f"{COURSE}points = 3\n")
    script = {
        "setup": SETUP,
        "answer": f"# answer: n1-norm\n{RIGHT}",
        "check": "check()",
        "points": "print(points('dx'))",
        "board": "board()",
        "nudge": "nudge('gain', -1)",
    }
    outputs = execute(script, tmp_path)
    said = {key: text(outputs[key]) for key in ("check", "points", "board")}
    printed, picture = outputs["nudge"]
    assert printed.text.startswith("gain[9] = ")
    assert printed.text.endswith("\nAll three agree.\n")
    assert "as gain[9] moves" in picture.metadata["image/png"]["alt"]
    assert [line[:9] for line in said["check"].splitlines()] == ["✓ pass: d"] * 2
    assert said["points"] == "3\n"
    assert said["board"] == "6 of 6 points: every gradient passes. pass: dx, dgain"


@pytest.mark.slow
def test_a_course_that_the_notebook_carries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes before what lies beside; run again, it is what the cell says then."""
    write_course(tmp_path, course=COURSE.replace("n1", "n2"))
    carry = f"from grader import start_lesson\nstart_lesson({FILES!r})"
    script = {
        "carry": carry,
        "setup": SETUP,
        "answer": f"# answer: n1-norm\n{RIGHT}",
        "check": "check()",
        "board": "board('n1')",
        "carry other": carry.replace("n1", "n3"),
        "other board": "board('n3')",
    }
    outputs = execute(script, tmp_path)
    said = text(outputs["check"]).splitlines()
    assert [line[:9] for line in said] == ["✓ pass: d"] * 2
    assert text(outputs["board"]) == "2 of 2 points: every gradient passes. pass: dx, dgain"
    assert text(outputs["other board"]).startswith("0 of 2 points")


@pytest.mark.slow
def test_the_course_asked_for_goes_before_the_one_that_is_carried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_course(tmp_path / "norms", course=COURSE.replace("n1", "n2"))
    monkeypatch.setenv("GRADER_COURSE", "norms")
    script = {
        "carry": f"from grader import start_lesson\nstart_lesson({FILES!r})",
        "setup": SETUP,
        "board": "board('n1')",
    }
    outputs = execute(script, tmp_path)
    assert text(outputs["board"]).startswith("There is no exercise n1; there are n2.")


@pytest.mark.slow
def test_a_bad_course_is_a_sentence(tmp_path: Path) -> None:
    write_course(tmp_path, course=COURSE.replace("py:rms_norm", "py:norm"))
    calls = ("check()", "board()")
    outputs = execute({"setup": SETUP, **{call: call for call in calls}}, tmp_path)
    for call in calls:
        (output,) = outputs[call]
        assert output.text.endswith(
            "course.toml, n1: forward.py has no function norm; it has rms_norm.\n"
        )
        assert output.text.count("\n") == 1
