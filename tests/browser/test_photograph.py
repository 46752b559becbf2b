"""Pictures that Chromium cannot take when it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from playwright.sync_api import Error, Page

from tests.helpers.chromium import NO_FRAME_YET, PICTURE_TRIES, photograph


class FakePage:
    """Refuses so many times."""

    def __init__(self, refusals: int, why: str) -> None:
        self.refusals, self.why, self.asked = refusals, why, 0

    def screenshot(self, path: Path) -> None:
        self.asked += 1
        if self.asked <= self.refusals:
            raise Error(f"Page.screenshot: {self.why}")
        path.write_bytes(b"new")

    def wait_for_timeout(self, _: float) -> None:
        pass


@pytest.mark.parametrize(
    ("refusals", "why", "asked"),
    [
        (0, "", 1),
        (PICTURE_TRIES - 1, NO_FRAME_YET, PICTURE_TRIES),
        (PICTURE_TRIES, NO_FRAME_YET, PICTURE_TRIES),
        (1, "Target crashed", 1),
    ],
)
def test_a_picture_or_the_reason_why_not(
    tmp_path: Path, refusals: int, why: str, asked: int
) -> None:
    picture, reason = tmp_path / "page.png", tmp_path / "page.missing.txt"
    picture.write_bytes(b"of the last run")
    reason.write_text("of the last run")
    page = FakePage(refusals, why)
    photograph(cast(Page, page), picture)
    assert page.asked == asked
    if refusals < asked:
        assert picture.read_bytes() == b"new"
        assert not reason.exists()
    else:
        assert not picture.exists()
        assert reason.read_text() == f"There is no page.png: Page.screenshot: {why}\n"
