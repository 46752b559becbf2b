import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.execution import sandbox
from grader.execution.sandbox import (
    NOBODY,
    NoSandbox,
    Sandbox,
    best_sandbox,
    require,
    sandboxed,
    why_not,
    with_other_account,
    worker_environment,
    worker_root,
)

needs_bwrap = pytest.mark.skipif(
    why_not(Sandbox.BWRAP) != "", reason=f"no sandbox here: {why_not(Sandbox.BWRAP)}"
)


@pytest.fixture
def other_machine() -> Iterator[None]:
    """What has been found out is forgotten, before and after."""
    why_not.cache_clear()
    yield
    why_not.cache_clear()


def inside(code: str) -> str:
    done = subprocess.run(
        sandboxed([sys.executable, "-P", "-c", code], Sandbox.BWRAP),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- the command line


@pytest.mark.slow
@needs_bwrap
def test_the_worker_can_be_imported_and_the_judge_cannot() -> None:
    code = f"""
import sys
sys.path.insert(0, {str(worker_root(Sandbox.BWRAP))!r})
import grader.worker.main
try:
    import grader.verdict
except ImportError as error:
    print(error.name)
"""
    assert inside(code) == "grader.verdict"


@needs_bwrap
def test_a_grader_that_is_installed_as_a_wheel_is_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "lib" / "python3.99" / "site-packages"
    for name in ("grader", "makemore_data", "something"):
        (packages / name).mkdir(parents=True)
        (packages / name / "exercises.py").write_text("answer = 1", encoding="utf-8")
    monkeypatch.setattr(sys, "base_exec_prefix", str(tmp_path))
    code = f"""
import pathlib
print(*sorted(p.parent.name for p in pathlib.Path({str(packages)!r}).rglob("*.py")))
"""
    assert inside(code) == "something"


@needs_bwrap
def test_a_package_in_a_folder_of_the_users_own_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "site-packages"
    (packages / "brought_along").mkdir(parents=True)
    (packages / "brought_along" / "__init__.py").touch()
    (tmp_path / "diary.txt").touch()
    monkeypatch.syspath_prepend(str(packages))
    monkeypatch.setattr(sandbox, "PACKAGES", ("brought_along", "torch"))
    code = f"""
import brought_along, os
print(os.listdir({str(tmp_path)!r}))
"""
    assert inside(code) == "['site-packages']"


@needs_bwrap
def test_python_is_the_same_inside() -> None:
    code = "import sys; print(sys.prefix, sys.base_prefix, sys.version)"
    outside = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert inside(code) == outside.stdout.strip()


@needs_bwrap
def test_a_worker_ends_with_the_one_that_started_it(project: Path) -> None:
    code = """
import subprocess, sys
sys.path.insert(0, sys.argv[1])
from grader.execution.sandbox import Sandbox, sandboxed
command = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
child = subprocess.Popen(sandboxed(command, Sandbox.BWRAP), stdout=sys.stdout)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, str(project)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as judge:
        assert judge.stdout is not None
        assert judge.stdout.readline() == "up\n"
        judge.kill()
        # The pipe is closed when the last process that writes to it has ended: long before 60 s.
        assert judge.stdout.read() == ""


def test_without_a_sandbox_the_command_stays_as_it_is() -> None:
    command = ["python", "-c", "pass"]
    assert sandboxed(command, Sandbox.NONE) == command
    assert (worker_root(Sandbox.NONE) / "grader" / "worker").is_dir()


def test_the_environment_of_a_sandbox_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_THE_JUDGE", "secret")
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")
    assert "TOKEN_OF_THE_JUDGE" in worker_environment(Sandbox.NONE)
    assert "TOKEN_OF_THE_JUDGE" not in worker_environment(Sandbox.BWRAP)
    assert worker_environment(Sandbox.BWRAP)["ATEN_CPU_CAPABILITY"] == "avx2"
    for kind in Sandbox:
        assert worker_environment(kind)["PYTHONHASHSEED"] == "0"


# --- where there is none


def fake_bwrap(folder: Path, script: str) -> None:
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


@pytest.mark.usefixtures("other_machine")
def test_a_machine_without_bwrap_is_told_how_to_get_it_and_how_to_go_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert best_sandbox() is Sandbox.NONE
    require(Sandbox.NONE)
    for refuse in (
        lambda: require(Sandbox.BWRAP),
        lambda: sandboxed(["python"], Sandbox.BWRAP),
    ):
        with pytest.raises(NoSandbox, match=r"apt install bubblewrap.*`--sandbox none`"):
            refuse()


@pytest.mark.usefixtures("other_machine")
def test_another_system_is_told_that_it_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.execution.sandbox.LINUX", False)
    assert best_sandbox() is Sandbox.NONE
    with pytest.raises(NoSandbox, match=r"Linux machine.*WSL 2.*`--sandbox none`"):
        require(Sandbox.BWRAP)


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for bwrap")
@pytest.mark.usefixtures("other_machine")
@pytest.mark.parametrize(
    ("said", "may_not"),
    [
        ("bwrap: setting up uid map: Permission denied", True),
        ("bwrap: Creating new namespace failed", True),
        ("bwrap: Unknown option --x", False),
    ],
)
def test_a_bwrap_that_fails_is_said_why(
    said: str, may_not: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_bwrap(tmp_path, f"echo '{said}' >&2; exit 1")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    trouble = why_not(Sandbox.BWRAP)
    assert said in trouble
    assert (sandbox.HOW_TO_ALLOW in trouble) == may_not


# --- another account

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="setpriv is Linux's")


@linux
@pytest.mark.usefixtures("other_machine")
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
@pytest.mark.usefixtures("other_machine")
def test_a_python_that_others_may_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/setpriv")
    monkeypatch.setattr(
        "grader.execution.sandbox.with_other_account",
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
