"""A browser, a server, and the answers that a student types."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.lab import Lab
from tests.browser.server import serve
from tests.exercise_text import read_cells

PROJECT = Path(__file__).resolve().parents[2]

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

Answers = Callable[[str], dict[str, str]]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.fail(NO_CHROMIUM, pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on copies of the blank notebooks."""
    folder = tmp_path_factory.mktemp("lab")
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    for path in PROJECT.glob("notebooks/*.ipynb"):
        shutil.copy(path, notebooks)
    pictures = PROJECT / "build" / "browser"
    pictures.mkdir(parents=True, exist_ok=True)
    with serve(notebooks, folder / "server") as server:
        yield Lab(browser, server, pictures)


@pytest.fixture
def right() -> Answers:
    """The cells of a right answer, such as that in `ex1/right/lecture`, by their grade ids."""

    def read(name: str) -> dict[str, str]:
        path = PROJECT / "tests" / "answers" / f"{name}.py"
        return dict(read_cells(path.read_text(encoding="utf-8")))

    return read
