from pathlib import Path

import pytest

from grader.course.hints import load_hints
from grader.source import SourceError


@pytest.mark.parametrize("text", ["[da", "[da]\nhint = 1\n", "da = 1\n"])
def test_hints_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "ex1.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=r"ex1\.toml cannot be read \(.*each with `hints = "):
        load_hints(tmp_path)
