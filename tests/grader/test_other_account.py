from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from grader.other_account import NOBODY, account_trouble, with_other_account
from grader.sandbox import NoSandbox, Sandbox, require, sandboxed, worker_environment

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="setpriv is Linux's")


@pytest.fixture(autouse=True)
def _tried_anew() -> Iterator[None]:
    account_trouble.cache_clear()
    yield
    account_trouble.cache_clear()


@linux
@pytest.mark.parametrize(
    ("user", "program", "says"),
    [
        (1000, "/usr/bin/setpriv", "Only root can start"),
        (0, None, "setpriv, which starts students' code under another account, is missing"),
    ],
)
def test_why_there_is_no_other_account(
    monkeypatch: pytest.MonkeyPatch, user: int, program: str | None, says: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(shutil, "which", lambda _: program)
    with pytest.raises(NoSandbox, match=says):
        require(Sandbox.ACCOUNT)


@linux
def test_a_python_that_others_may_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/setpriv")
    monkeypatch.setattr(
        "grader.other_account.with_other_account",
        lambda _: [sys.executable, "-c", "import sys; sys.exit('Permission denied')"],
    )
    with pytest.raises(NoSandbox, match=r"\(Permission denied\): may everybody read the folder"):
        sandboxed(["true"], Sandbox.ACCOUNT)


def test_nothing_of_the_judges_environment_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "of the judge's")
    assert "A_SECRET" in worker_environment(Sandbox.NONE)
    assert "A_SECRET" not in worker_environment(Sandbox.ACCOUNT)


@linux
@pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 1)() != 0 or shutil.which("setpriv") is None,
    reason="only root can start anything under another account",
)
def test_the_other_account_is_nobodys_for_good() -> None:
    shell = "id -u; id -G; grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status"
    said = subprocess.check_output(with_other_account(["sh", "-c", shell]), text=True).split()
    assert said == [str(NOBODY), str(NOBODY), "NoNewPrivs:", "1", "CapEff:", "0" * 16]
