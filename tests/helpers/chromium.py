"""The browser that looks at pages and notebooks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, sync_playwright

NO_CHROMIUM = (
    "There is no Chromium here: install it (on Debian, `apt-get install chromium`), or set"
    " CHROMIUM to its path. These tests are never skipped."
)
# Root needs the first, a machine without a graphics card the second. The others keep the browser
# from calling home, where nobody answers.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

NO_FRAME_YET = "Unable to capture screenshot"
PICTURE_TRIES = 5
MILLISECONDS_BETWEEN_TRIES = 1000


def photograph(page: Page, path: Path) -> None:
    """Take a picture of the window for somebody to look at, or write down why there is none.

    Chromium copies the window's last frame. On a busy machine there may be none yet; it looks again
    five times, all at once, and gives up. No flag changes that. A test does not fail for want of a
    picture, for what it asserts is not in there.
    """
    reason = path.with_suffix(".missing.txt")
    for old in (path, reason):
        old.unlink(missing_ok=True)
    for _ in range(PICTURE_TRIES):
        try:
            page.screenshot(path=path)
            return
        except Error as error:
            refusal = str(error)
            if NO_FRAME_YET not in refusal:
                break
            page.wait_for_timeout(MILLISECONDS_BETWEEN_TRIES)
    reason.write_text(f"There is no {path.name}: {refusal}\n", encoding="utf-8")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.fail(NO_CHROMIUM, pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
