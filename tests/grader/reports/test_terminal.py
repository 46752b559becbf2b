from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import pytest

from grader.reports import terminal, wording
from grader.reports.result import Ungraded
from grader.verdict import Flag, Place, Report
from tests.helpers.reasons import said

Golden = Callable[[str, str], None]


@pytest.mark.parametrize("width", [60, 80])
def test_looks_as_kept(mixed: Report, golden: Golden, width: int) -> None:
    golden(f"mixed-{width}.txt", terminal.render(mixed, width=width, colour=False))


def test_overview_looks_as_kept(
    mixed: Report, solved: Report, blank: Report, ungraded: Ungraded, golden: Golden
) -> None:
    text = terminal.render_overview([mixed, solved, blank, ungraded], width=80, colour=False)
    golden("overview.txt", text)


@pytest.mark.parametrize("width", [1, 40, 47, 60, 72, 80, 100, 300])
def test_no_line_is_longer_than_the_terminal(mixed: Report, width: int) -> None:
    text = terminal.render(mixed, width=width, colour=False)
    assert max(map(len, text.splitlines())) <= max(width, terminal.NARROWEST)


@pytest.mark.parametrize("width", [40, 60, 80, 300])
def test_nothing_is_cropped(mixed: Report, width: int) -> None:
    """What is too long is wrapped: at every width the same words are there."""
    text = re.sub(r"\s+|│", "", terminal.render(mixed, width=width, colour=False))
    for verdict in mixed.verdicts:
        assert verdict.name in text
        for diagnosis in verdict.diagnosis[: wording.MOST_DIAGNOSES]:
            assert re.sub(r"\s", "", diagnosis.message + "Hint:" * bool(diagnosis.hint)) in text
    for flag in mixed.flags:
        assert re.sub(r"\s", "", flag.message) in text
    assert "{{7*7}}" in text


@pytest.mark.parametrize("colour", [True, False])
def test_students_reach_no_terminal(mixed: Report, colour: bool) -> None:
    """No escape sequence but the report's own, no control or bidirectional character."""
    text = terminal.render(mixed, width=80, colour=colour)
    if colour:
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert all(character == "\n" or character.isprintable() for character in text)
    plain = [line.rstrip() for line in text.splitlines()]
    assert plain == terminal.render(mixed, width=80, colour=False).splitlines()


def test_colour_is_never_all_there_is(mixed: Report) -> None:
    text = terminal.render(mixed, width=80, colour=True)
    assert "\x1b[32m✓ pass" in text
    assert "\x1b[1;31m✗ fail" in text


def test_every_sign_has_an_ascii_form(mixed: Report) -> None:
    text = terminal.in_ascii(terminal.render(mixed, width=80, colour=False))
    assert text.isascii()
    assert "?" not in text.replace("missing?", "").replace("size 1?", "").replace("now?", "")


def test_a_failure_without_a_diagnosis_has_the_judges_sentence(mixed: Report) -> None:
    note = "This is not the gradient of the loss with respect to counts."
    verdicts = [
        dataclasses.replace(v, reasons=said(note if v.name == "dcounts" else ""), diagnosis=())
        for v in mixed.verdicts
    ]
    report = dataclasses.replace(mixed, verdicts=tuple(verdicts))
    lines = terminal.render(report, width=80, colour=False).splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("✗ fail  dcounts "))
    assert note in [line.strip() for line in lines[head : head + 3]]
    assert sum(note in line for line in lines) == 1


def test_two_diagnoses_are_told_and_no_third(mixed: Report) -> None:
    text = terminal.render(mixed, width=100, colour=False)
    assert "Or: `dcounts` is assigned twice." in text
    assert "third guess" not in text


def test_without_colour_the_wrong_piece_has_signs_below_it(mixed: Report) -> None:
    wrong = next(v for v in mixed.verdicts if v.place is not None and v.diagnosis)
    verdict = dataclasses.replace(wrong, code="dh = dlogits @ W2 / 2", piece=(5, 17))
    report = dataclasses.replace(mixed, verdicts=(verdict,))
    shown = "    │ dh = dlogits @ W2 / 2\n           ^^^^^^^^^^^^\n"
    assert shown in terminal.render(report, width=80, colour=False)
    assert "^" not in terminal.render(report, width=80, colour=True)


def test_a_line_that_goes_on_in_the_next_has_its_bar_and_its_signs_there(mixed: Report) -> None:
    wrong = next(v for v in mixed.verdicts if v.place is not None and v.diagnosis)
    code = "dh = dlogits @ (some_long_name + another_long_name) / 2"
    verdict = dataclasses.replace(wrong, code=code, piece=(16, 50))
    report = dataclasses.replace(mixed, verdicts=(verdict,))
    shown = [
        *("    │ dh = dlogits @ (some_long_name +", " " * 22 + "^" * 16),
        *("    │ another_long_name) / 2", " " * 6 + "^" * 17),
    ]
    lines = terminal.render(report, width=40, colour=False).splitlines()
    first = lines.index(shown[0])
    assert lines[first : first + 4] == shown


def test_how_a_line_ended_is_said_where_its_verdict_does_not(mixed: Report) -> None:
    flags = [
        Flag("time-limit", "A statement did not end.", Place("ex1-softmax", line))
        for line in (4, 40)  # one passes; of the other the verdict says what it raised
    ]
    report = dataclasses.replace(mixed, flags=tuple(flags))
    assert wording.further_flags(report) == flags[:1]
