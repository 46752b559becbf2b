from __future__ import annotations

from benchmarks.grade_command.process import ROOT
from benchmarks.grade_two_workers import LEAN


def test_dask_is_set_as_the_readme_sets_it() -> None:
    said = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    exports = [line.removeprefix("$ export ") for line in said if line.startswith("$ export DASK_")]
    assert exports == [f"{name}={value}" for name, value in LEAN.items()]
