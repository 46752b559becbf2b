from __future__ import annotations

from datetime import UTC, datetime

import pytest

from grader.classroom.intake.times import as_instant, names_its_zone


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21 08:30:00.125000 UTC", datetime(2026, 11, 21, 8, 30, 0, 125000, UTC)),
        ("2026-11-21 08:30:00 UTC\n", datetime(2026, 11, 21, 8, 30, tzinfo=UTC)),
        ("2026-11-21T08:30:00Z", datetime(2026, 11, 21, 8, 30, tzinfo=UTC)),
        ("2026-11-21 08:30:00", datetime(2026, 11, 21, 8, 30, tzinfo=UTC)),
        ("2026-11-21 08:30:00.5 -08:00", datetime(2026, 11, 21, 16, 30, 0, 500000, UTC)),
        ("2026-11-21 08:30:00 +0100", datetime(2026, 11, 21, 7, 30, tzinfo=UTC)),
        ("2026-11-21 08:30:00 PST", datetime(2026, 11, 21, 8, 30, tzinfo=UTC)),
        ("2026-11-21 08:30:00.123456789 Z", datetime(2026, 11, 21, 8, 30, 0, 123456, UTC)),
        ("", None),
        ("UTC", None),
        ("yesterday", None),
        ("2026-02-30 08:30:00 UTC", None),
        ("2026-11-21 08:30:00 +99:00", None),
    ],
)
def test_what_systems_write(text: str, expected: datetime | None) -> None:
    assert as_instant(text) == expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("2026-11-21 08:30:00 UTC", True),
        ("2026-11-21T08:30:00Z\n", True),
        ("2026-11-21 08:30:00 +0100", True),
        ("2026-11-21 08:30:00 CST", False),
        ("2026-11-21 08:30:00", False),
        ("2026-11-21", False),
        ("", False),
    ],
)
def test_whether_a_zone_is_named(text: str, named: bool) -> None:
    assert names_its_zone(text) is named
