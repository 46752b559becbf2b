"""Where a picture is shown."""

from types import SimpleNamespace as Shell
from typing import Any

import pytest

from grader.pictures import figures
from grader.pictures.front_end import is_live


@pytest.mark.parametrize(
    ("shell", "live"),
    [
        (None, False),
        (Shell(), False),
        (Shell(get_parent=dict), False),
        (Shell(get_parent=lambda: {"content": {"allow_stdin": False}}), False),
        (Shell(get_parent=lambda: {"content": {"allow_stdin": True}}), True),
    ],
)
def test_a_person_can_be_asked(monkeypatch: pytest.MonkeyPatch, shell: Any, live: bool) -> None:
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert is_live() is live
    html = figures.forks()._repr_html_()
    assert (html is not None) is live
    if html is not None:
        assert 'alt="A value x goes forward into two boxes, ' in html
        assert '[data-jp-theme-light="false"] .bpn-figure' in html
