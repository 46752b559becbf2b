from __future__ import annotations

import pytest

from benchmarks.grade_command.process import ROOT
from benchmarks.grade_two_workers import LEAN


def test_dask_is_set_as_the_guide_sets_it() -> None:
    page = ROOT / "docs/pages/instructor/options.md"
    said = page.read_text(encoding="utf-8").splitlines()
    exports = [line.removeprefix("$ export ") for line in said if line.startswith("$ export DASK_")]
    assert exports == [f"{name}={value}" for name, value in LEAN.items()]


def test_dask_has_what_is_set() -> None:
    pytest.importorskip("distributed", reason="the extra [dask] is not installed")
    import dask.config

    for name in LEAN:
        key = name.removeprefix("DASK_").lower().replace("__", ".")
        assert dask.config.get(key) is not None
