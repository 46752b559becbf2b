from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.readers.lecture_course import NOTEBOOKS
from grader.reports.watch_board import (
    NARROWEST,
    URGENT_FIRST,
    Changes,
    WatchBoard,
    render_block,
    render_board,
    render_farewell,
)
from grader.verdict import Flag, Outcome, Place, Report, Verdict
from tests.grader.reports.conftest import verdict

NAMES = NOTEBOOKS["01_atomic_backprop"][0].gradients
NOW = datetime(2026, 11, 21, 14, 3, 22)


def board(
    verdicts: tuple[Verdict, ...],
    changes: Changes | None = None,
    flags: tuple[Flag, ...] = (),
    trouble: str = "",
    checking: bool = False,
    saved: datetime | None = None,
) -> WatchBoard:
    path = Path("work/mine.ipynb")
    report = Report("01_atomic_backprop", verdicts, flags, path)
    return WatchBoard(path, report, changes or {}, NOW, 0.1, saved, trouble, checking)


def text(shown: WatchBoard, width: int = 100, height: int = 40) -> str:
    return "\n".join(line.plain.rstrip() for line in render_board(shown, width, height))


ALL_PASS = tuple(verdict(name, Outcome.PASS, 0.0) for name in NAMES)
TO_DO = tuple(verdict(name, Outcome.TODO) for name in NAMES)


def wrong(name: str, outcome: Outcome = Outcome.FAIL, note: str = "It is wrong.") -> Verdict:
    return Verdict(
        name,
        outcome,
        verdict(name, Outcome.FAIL, 1.0).comparison,
        verdict(name, Outcome.FAIL).global_check,
        verdict(name, Outcome.FAIL).local_check,
        note,
        Place("ex1-softmax", 2),
        code="dcounts = counts * dprobs",
    )


MIXED = (*ALL_PASS[:4], wrong("dcounts"), *TO_DO[5:12], wrong("dbngain"), *ALL_PASS[13:])


def test_a_whole_board() -> None:
    shown = board(MIXED, {Outcome.PASS: ("dprobs",), Outcome.FAIL: ("dcounts", "dbngain")})
    assert text(shown) == "\n".join(
        [
            "Ctrl-C to stop · work/mine.ipynb",
            "",
            "01_atomic_backprop  checked 14:03:22",
            "17 of 26 points   ✓ 17 pass   ✗ 2 fail   … 7 to do",
            "since the last check:  ✗ now fail: dcounts, dbngain  ✓ now pass: dprobs",
            "",
            "✓ dlogprobs        … dlogit_maxes     ✗ dbngain          ✓ dbndiff          ✓ demb",
            "✓ dprobs           … dlogits          ✓ dbnbias          ✓ dbnmeani         ✓ dC",
            "✓ dcounts_sum_inv  … dh               ✓ dbnraw           ✓ dhprebn",
            "✓ dcounts_sum      … dW2              ✓ dbnvar_inv       ✓ dembcat",
            "✗ dcounts          … db2              ✓ dbnvar           ✓ dW1",
            "… dnorm_logits     … dhpreact         ✓ dbndiff2         ✓ db1",
            "",
            "✗ fail  dcounts, dbngain  ex1-softmax, line 2",
            "    │ dcounts = counts * dprobs",
            "  It is wrong.",
        ]
    )


def test_a_small_one_shows_what_does_not_pass() -> None:
    assert text(board(MIXED), 40, 12) == "\n".join(
        [
            "Ctrl-C to stop · work/mine.ipynb",
            "01_atomic_backprop  checked 14:03:22",
            "17 of 26 points   ✓ 17 pass   ✗ 2 fail",
            "   … 7 to do",
            "✗ fail: dcounts, dbngain",
            "… to do: dnorm_logits, dlogit_maxes,",
            "dlogits, dh, dW2, db2, dhpreact",
            "✗ fail  dcounts, dbngain  ex1-softmax,",
            "line 2",
            "    │ dcounts = counts * dprobs",
            "  It is wrong.",
        ]
    )


OUTCOMES = st.sampled_from(list(Outcome))


@settings(deadline=None)  # a busy machine
@given(
    st.lists(OUTCOMES, min_size=26, max_size=26),
    st.sets(st.sampled_from(NAMES)),
    st.integers(1, 200),
    st.integers(1, 60),
    st.sampled_from(["", "Waiting for a whole file: " + "word " * 30]),
    st.sampled_from(["", "It is wrong.", "long " * 60]),
)
def test_it_always_fits(
    outcomes: list[Outcome], new: set[str], width: int, height: int, trouble: str, note: str
) -> None:
    verdicts = tuple(
        wrong(name, outcome, note if len(note) < 20 else f"{name} {note}")
        for name, outcome in zip(NAMES, outcomes, strict=True)
    )
    changes = {o: tuple(n for n in NAMES if n in new) for o in set(outcomes[:3])} if new else {}
    flags = (Flag("kind", "Something to look at.", Place("ex1-max", 2)),)
    shown = board(verdicts, changes, flags, trouble)
    lines = render_board(shown, width, height)
    assert len(lines) <= height
    assert all(line.cell_len <= max(width, NARROWEST) for line in lines)
    assert all("\n" not in line.plain for line in lines)
    assert lines[0].plain.startswith("Ctrl-C to stop"[: max(width, 14)])
    if height >= 8 and width >= 60 and not trouble and not changes:
        assert f"{shown.report.score} of 26 points" in text(shown, width, height)  # type: ignore[union-attr]


def test_what_is_left_out_is_counted() -> None:
    verdicts = (*(wrong(name, note=f"{name}.") for name in NAMES[:5]), *ALL_PASS[5:])
    lines = text(board(verdicts), 100, 20).split("\n")
    assert 18 <= len(lines) <= 20
    shown = sum(line.startswith("✗ fail  d") for line in lines)
    assert lines[-1] == f"… {5 - shown} more: `grader check`"
    assert shown >= 2


def test_many_changes_are_counted() -> None:
    line = text(board(ALL_PASS, {Outcome.PASS: NAMES})).split("\n")[4]
    assert line == (
        "since the last check:  ✓ now pass: dlogprobs, dprobs, dcounts_sum_inv and 23 more"
    )


def test_what_changed_is_bold_in_the_picture() -> None:
    lines = render_board(board(ALL_PASS, {Outcome.PASS: ("dprobs",)}), 100, 40)
    bold = [
        line.plain[span.start : span.end].strip()
        for line in lines[6:]
        for span in line.spans
        if "bold" in str(span.style)
    ]
    assert bold == ["dprobs"]


def test_everything_passes() -> None:
    assert text(board(ALL_PASS)).endswith("\nAll 26 gradients pass.")


def test_the_states_of_the_title() -> None:
    path = Path("mine.ipynb")
    assert "checking for the first time ..." in text(WatchBoard(path))
    assert "not checked yet" in text(WatchBoard(path, trouble="Waiting."))
    assert "01_atomic_backprop  checking ..." in text(board(MIXED, checking=True))
    later = datetime(2026, 11, 21, 14, 5, 0)
    assert "checked 14:03:22, saved 14:05:00 with the same answers" in text(
        board(MIXED, saved=later)
    )


def test_trouble_keeps_the_rest() -> None:
    said = text(board(MIXED, trouble="Waiting for a whole file: it breaks off."))
    assert "\nWaiting for a whole file: it breaks off.\n17 of 26 points" in said
    assert "✗ fail  dcounts" in said


def test_flags_and_short_remarks_are_there() -> None:
    carried = wrong("dh", Outcome.CARRIED, "Right by itself.")
    flag = Flag("kind", "Look\nhere.", Place("ex1-max", 2))
    said = text(board((*MIXED[:8], carried, *MIXED[9:]), flags=(flag,)))
    assert "↓ dh\n  Right by itself." in said
    assert said.endswith("Look here. (ex1-max, line 2)")


def test_a_students_escapes_reach_no_terminal() -> None:
    shown = board((wrong("dcounts", note="\x1b[31mred"),), trouble="\x1b[2J")
    shown = WatchBoard(Path("a\x1b[1m.ipynb"), shown.report, checked=NOW, trouble="\x1b[2J")
    assert "\x1b" not in text(shown)
    assert "\x1b" not in render_block(shown, 80)


def test_blocks_for_a_pipe() -> None:
    block = render_block(board(MIXED, {Outcome.FAIL: ("dcounts",)}), 100)
    assert block == (
        "01_atomic_backprop  checked 14:03:22\n"
        "17 of 26 points   ✓ 17 pass   ✗ 2 fail   … 7 to do\n"
        "since the last check:  ✗ now fail: dcounts\n"
        "✗ fail  dcounts, dbngain  ex1-softmax, line 2\n"
        "    │ dcounts = counts * dprobs\n"
        "  It is wrong.\n"
    )


def test_the_farewell_is_short() -> None:
    assert render_farewell(board(MIXED), 100) == (
        "01_atomic_backprop  checked 14:03:22\n17 of 26 points   ✓ 17 pass   ✗ 2 fail   … 7 to do\n"
    )
    assert render_farewell(WatchBoard(Path("x.ipynb")), 100) == ""


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_its_place_among_the_changes(outcome: Outcome) -> None:
    assert outcome in URGENT_FIRST
    assert "now" in text(board(ALL_PASS, {outcome: ("dh",)}))
