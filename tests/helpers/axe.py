"""The axe accessibility engine, which says what keeps people from using a page."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from corpus.readers.places import PROJECT

VERSION = "4.14.1"
SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
FOLDER = PROJECT / "build" / "axe"
PATIENCE_SECONDS = 600
SERIOUS = {"serious", "critical"}

Complaints = Callable[[Page], list[str]]


@pytest.fixture(scope="session")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> Complaints:
    """What is serious or critical on a page, a sentence for each place.

    Axe is not part of the project: npm fetches this version once, and where it cannot be had, the
    tests that need it are skipped.
    """
    source = _source(tmp_path_factory)

    def look(page: Page) -> list[str]:
        page.evaluate(source)
        found = page.evaluate("async () => (await axe.run(document)).violations")
        return [
            f"{rule['impact']}: {rule['id']}: {node['target']} ({rule['help']})"
            for rule in found
            if rule["impact"] in SERIOUS
            for node in rule["nodes"]
        ]

    return look


def _source(folders: pytest.TempPathFactory) -> str:
    kept = FOLDER / f"axe-{VERSION}.min.js"
    if not kept.is_file():
        # Several processes may fetch it at once: each writes a file of its own and renames it.
        folder = folders.mktemp("axe")
        fetched = folder / kept.name
        fetched.write_bytes(_fetched(folder))
        FOLDER.mkdir(parents=True, exist_ok=True)
        shutil.copy(fetched, kept.with_suffix(f".{folder.name}.{id(folders)}"))
        kept.with_suffix(f".{folder.name}.{id(folders)}").replace(kept)
    content = kept.read_bytes()
    assert hashlib.sha256(content).hexdigest() == SHA256, f"{kept} is not axe-core {VERSION}."
    return content.decode()


def _fetched(folder: Path) -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("There is no npm here, which fetches axe-core.")
    words = [npm, "pack", f"axe-core@{VERSION}", "--silent", "--pack-destination", str(folder)]
    try:
        subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"npm cannot fetch axe-core {VERSION}: {error}")
    with tarfile.open(folder / f"axe-core-{VERSION}.tgz") as package:
        member = package.extractfile("package/axe.min.js")
        assert member is not None
        return member.read()
