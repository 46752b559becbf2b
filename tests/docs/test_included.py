from pathlib import Path

import pytest

from docs.building import included as module
from docs.building.included import included
from grader.authoring.course import read_repository


def test_a_file_comes_without_its_title() -> None:
    text = included("CHANGELOG.md", "maintainer/changelog.md")
    assert not text.startswith("#")
    assert "\n## [" in text


def test_links_lead_to_pages_of_the_site_or_to_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notebooks").mkdir()
    text = "# Title\n\n[a](CONTRIBUTING.md#style) [b](notebooks) [c](Makefile) [d](https://e.org)\n"
    (tmp_path / "TEXT.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "PROJECT", tmp_path)
    here = read_repository()
    assert included("TEXT.md", "maintainer/index.md") == (
        f"[a](../maintainer/index.md#style) [b]({here}/tree/main/notebooks)"
        f" [c]({here}/blob/main/Makefile) [d](https://e.org)"
    )


def test_what_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"index.md includes NOTHING.md, which is not there"):
        included("NOTHING.md", "index.md")
