"""A server, and the answers that a student types."""

import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from corpus.readers.exercise_text import read_cells
from corpus.readers.places import PROJECT
from tests.browser.lab import Lab
from tests.browser.server import serve
from tests.helpers.chromium import browser

__all__ = ["browser", "lab", "right"]


Answers = Callable[[str], dict[str, str]]


@pytest.fixture(scope="session")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on copies of the blank notebooks, the encore's alone as on Colab."""
    folder = tmp_path_factory.mktemp("lab")
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    for path in (*PROJECT.glob("notebooks/*.ipynb"), *PROJECT.glob("notebooks/encore/*.ipynb")):
        shutil.copy(path, notebooks)
    pictures = PROJECT / "build" / "browser"
    pictures.mkdir(parents=True, exist_ok=True)
    with serve(notebooks, folder / "server") as server:
        yield Lab(browser, server, pictures)


@pytest.fixture
def right() -> Answers:
    """The cells of a right answer, such as that in `ex1/right/lecture`, by their grade ids."""

    def read(name: str) -> dict[str, str]:
        path = PROJECT / "corpus" / "answers" / f"{name}.py"
        return dict(read_cells(path.read_text(encoding="utf-8")))

    return read
