from __future__ import annotations

from pathlib import Path

import pytest

from makemore_data import load_names


@pytest.fixture
def real_names(lecture_names: Path) -> list[str]:
    """The lecture's list, which the project may not carry along."""
    return load_names(lecture_names)


@pytest.fixture(scope="session")
def bundled_names() -> list[str]:
    return load_names("bundled")
