"""The page about any notebook: what it says is printed is what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

SETUP = """\
import torch
import torch.nn.functional as F
g = torch.Generator().manual_seed(1)
n = 32
x = torch.randn(n, 10, generator=g)
y = torch.randint(27, (n,), generator=g)
W = torch.randn(10, 27, generator=g, requires_grad=True)
b = torch.zeros(27, requires_grad=True)"""


def test_the_page_shows_true_outputs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (project / "docs/pages/student/any-notebook.md").read_text(encoding="utf-8")
    load, *cells = re.findall(r"^```python\n(.*?)\n```$", page, re.DOTALL | re.MULTILINE)
    (printed,) = re.findall(r"^```text\n(.*?)\n```$", page, re.DOTALL | re.MULTILINE)
    in_memory = Config({"HistoryManager": {"hist_file": ":memory:"}})
    shell = InteractiveShell.instance(config=in_memory)
    try:
        for cell in (load, SETUP, *cells):
            shell.run_cell(cell, store_history=True)  # type: ignore[no-untyped-call]
    finally:
        InteractiveShell.clear_instance()
    assert capsys.readouterr().out.count(printed) == 2  # `explain()` shows the same
