from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.readers.places import ANSWERS, PROJECT
from grader.execution.sandbox import NoSandbox, Sandbox, why_not
from grader.platforms.gradescope.archive import installed_wheel
from grader.platforms.gradescope.run import LEAST_MEMORY, MOST_MEMORY, answers_memory, main
from grader.program.course import read_course
from tests.helpers.autograder_tree import (
    KEY,
    VENV,
    hand_in,
    notebook_with,
    run_autograder,
    settings_for,
    unpack,
)
from tests.helpers.course_notebooks import FIRST, FOLDER, dump, right_cells, solved, with_answers
from tests.helpers.gradescope_schema import validate
from tests.helpers.small_course import COURSE as SMALL_COURSE
from tests.helpers.small_course import RIGHT, write_course

ATOMIC, FUSED = FIRST.stem, "02_fused_cross_entropy"
SAMPLES = ANSWERS / "ex1" / "samples"

HOSTILE = """\
# answer: ex2-dlogits
import json, os
ROOT = {root!r}
seen = []
for place in ("results/results.json", "source/settings.json", "source/forged", "run_autograder"):
    path = os.path.join(ROOT, place)
    for mode in "rwa":
        try:
            with open(path, mode) as file:
                seen.append(file.read() if mode == "r" else file.write('{{"score": 99}}'))
        except BaseException as error:
            pass
for deed in (
    lambda: os.write(1, b'{{"score": 99}}'),
    lambda: os.kill(os.getppid(), 9),
    lambda: os.fork(),
    lambda: os.chmod(ROOT, 0o777),
    lambda: os.rename(ROOT + "/results", ROOT + "/gone"),
    lambda: seen.append(os.listdir(ROOT)),
    lambda: os.setuid(0),
):
    try:
        deed()
    except BaseException:
        pass
dlogits = int("<script>SEEN</script>" + repr(seen))
"""
"""An answer that reaches for its own results, for the key, for the process above it."""

# What the profile of a container that is started without special rights refuses.
LIKE_DOCKER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from grader.worker.confinement import NO_NEW_PRIVILEGES, control, system_call_filter
from grader.worker.system_calls import ALLOW, ARGUMENT, LOAD, MACHINES, REFUSE, RETURN, assemble
NEW_USER, HAS_BITS = 0x10000000, 0x45
table = {
    "x86_64": {"refused": (272, 308, 165, 166, 155), "clone": 56},
    "aarch64": {"refused": (97, 268, 40, 39, 41), "clone": 220},
}[os.uname().machine]
ends = dict.fromkeys(table["refused"], REFUSE)
ends[table["clone"]] = [
    (LOAD, 0, 0, ARGUMENT[0]), (HAS_BITS, 0, 1, NEW_USER), *REFUSE, *ALLOW
]
ends[435] = [(RETURN, 0, 0, 0x00050000 | 38)]  # clone3
control(NO_NEW_PRIVILEGES, 1)()
system_call_filter(assemble(ends, ALLOW, MACHINES[os.uname().machine][1]))()
os.execvp(sys.argv[2], sys.argv[2:])
"""


def solution(notebook: str) -> str:
    return solved(notebook).decode()


def blank(notebook: str) -> str:
    return (FOLDER / f"{notebook}.ipynb").read_text("utf-8")


def hostile(root: Path) -> str:
    return notebook_with(FOLDER / f"{FUSED}.ipynb", HOSTILE.format(root=str(root)))


def nothing_was_reached(root: Path, printed: str) -> None:
    """What holds after `HOSTILE`."""
    text = (root / "results" / "results.json").read_text()
    assert json.loads(text)["score"] == 0
    assert KEY not in text
    assert "<script>" not in text
    assert "SEEN&lt;/script&gt;[]" in text
    assert not (root / "source" / "forged").exists()
    assert (root / "run_autograder").read_text().startswith("#!")
    assert '{"score": 99}' not in printed


@pytest.mark.slow
def test_the_script_grades_what_gradescope_has_put_there(tmp_path: Path) -> None:
    unpack(tmp_path, settings_for(FUSED), b"late = 0.5\n[ex2]\ndlogits = 3\n")
    answers = (
        "# answer: ex2-dlogits\ndlogits = (F.softmax(logits, 1) - F.one_hot(Yb, vocab_size)) / n\n"
    )
    hand_in(
        tmp_path,
        {
            f"week 2/{FUSED}.ipynb": notebook_with(FOLDER / f"{FUSED}.ipynb", answers),
            "week 1/first.ipynb": "{",
            "grader.py": "raise SystemExit('a student was here')",
            "torch.py": "raise SystemExit('a student was here')",
        },
    )
    ran = run_autograder(tmp_path)
    assert ran.scores == {"dlogits": 3, "dz": 0}
    assert ran.results["score"] == 1.5
    assert "it keeps 50 % of its points" in ran.results["output"]
    assert f"Graded: <code>week 2/{FUSED}.ipynb</code>" in ran.results["output"]
    assert ran.results["extra_data"]["late"] is True
    assert f"seed {settings_for(FUSED).seed('123456')}" in ran.printed
    assert "late: submitted 2018-08-01" in ran.printed


@pytest.mark.slow
def test_a_course_goes_along_and_one_that_is_handed_in_does_not_count(tmp_path: Path) -> None:
    own = write_course(tmp_path / "norms", course=f"{SMALL_COURSE}points = 3\n")
    unpack(tmp_path, settings_for("01_rms_norm"), course=read_course(own))
    cell = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "source": f"# answer: n1-a\n{RIGHT}",
    }
    named = {"backprop_ninja": {"course": "."}}
    document = {"nbformat": 4, "nbformat_minor": 5, "metadata": named, "cells": [cell]}
    files = {"a.ipynb": json.dumps(document), "course.toml": SMALL_COURSE}
    hand_in(tmp_path, {**files, "forward.py": "raise SystemExit('a student was here')"})
    ran = run_autograder(tmp_path)
    assert ran.scores == {"dx": 3, "dgain": 3}
    assert "a student was here" not in ran.printed


@pytest.mark.parametrize(
    ("container", "answer"),
    [(None, MOST_MEMORY), (768 * 2**20, LEAST_MEMORY), (3 * 2**30, 2**30), (2**40, MOST_MEMORY)],
)
def test_an_answer_gets_no_more_memory_than_the_container_can_spare(
    container: int | None, answer: int
) -> None:
    assert answers_memory(container) == answer


def test_the_autograders_own_failure_is_a_sentence_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unpack(tmp_path, settings_for(FUSED))
    hand_in(tmp_path, {"a.ipynb": "{}"})

    def refuse(_: Sandbox) -> None:
        raise NoSandbox("bwrap is missing.")

    monkeypatch.setattr("grader.platforms.gradescope.run.require", refuse)
    main(tmp_path)
    results = json.loads((tmp_path / "results" / "results.json").read_bytes())
    validate(results)
    assert "not through its answers" in results["tests"][0]["output"]
    assert "bwrap" not in repr(results)
    assert "bwrap is missing" in capsys.readouterr().out


def test_what_is_no_submission_needs_no_worker(tmp_path: Path) -> None:
    unpack(tmp_path, settings_for(FUSED, sandbox="bwrap"))
    hand_in(tmp_path, {"answer.py": "dlogits = 0"})
    main(tmp_path)
    results = json.loads((tmp_path / "results" / "results.json").read_bytes())
    assert "There is no notebook in what you handed in (answer.py)" in repr(results["tests"])


def test_a_container_that_is_ended_leaves_a_sentence(tmp_path: Path) -> None:
    unpack(tmp_path, settings_for(FUSED))
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nkill -9 $$\n")
    python.chmod(0o755)
    places = {"AUTOGRADER_ROOT": str(tmp_path), "BACKPROP_NINJA_VENV": str(tmp_path / "venv")}
    script = ["bash", str(tmp_path / "run_autograder")]
    assert subprocess.run(script, env={**os.environ, **places}, check=False).returncode != 0
    results = json.loads((tmp_path / "results" / "results.json").read_bytes())
    validate(results)
    assert "the autograder did not finish" in results["tests"][0]["output"]
    assert results["tests"][0]["max_score"] == 2


@pytest.mark.parametrize("script", ["setup.sh", "run_autograder"])
def test_the_scripts_are_bash(tmp_path: Path, script: str) -> None:
    unpack(tmp_path, settings_for(FUSED))
    subprocess.run(["bash", "-n", str(tmp_path / "source" / script)], check=True)


COMMANDS = {
    "apt-get": "true",
    "setpriv": 'until [ "$1" = -- ]; do shift; done; shift; exec "$@"',
    "python3": """
        if [ "$2" = venv ]; then
            mkdir -p "$3/bin" "$3/lib/python3.11/site-packages"
            cp "$0" "$3/bin/python"
            cp -r "$PACKAGES/grader" "$PACKAGES/makemore_data" "$3/lib/python3.11/site-packages"
        fi
        """,
}
"""What `setup.sh` calls, so far as it matters which files are there in the end."""


def test_no_other_account_may_read_what_is_beside_the_worker(tmp_path: Path) -> None:
    unpack(tmp_path, settings_for(FUSED, sandbox="account"))
    for name, text in COMMANDS.items():
        command = tmp_path / "commands" / name
        command.parent.mkdir(exist_ok=True)
        command.write_text(f"#!/bin/bash\n{text}\n")
        command.chmod(0o755)
    places = {"AUTOGRADER_ROOT": str(tmp_path), "BACKPROP_NINJA_VENV": str(tmp_path / "venv")}
    path = {"PATH": f"{tmp_path / 'commands'}:{os.environ['PATH']}", "PACKAGES": str(PROJECT)}
    script = ["bash", "-c", f"umask 022; . {tmp_path / 'source' / 'setup.sh'}"]
    subprocess.run(script, env={**os.environ, **places, **path}, check=True)

    packages = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"

    def may_be_read(path: Path) -> bool:
        inside = [path, *path.parents][: len(path.relative_to(packages).parts)]
        return all(part.stat().st_mode & 0o004 for part in inside)

    files = {path.relative_to(packages) for path in packages.rglob("*") if path.is_file()}
    assert Path("makemore_data/course/forward.py") in files
    open_to_all = {file for file in files if may_be_read(packages / file)}
    worker = {file for file in files if file.parts[:2] == ("grader", "worker")}
    assert open_to_all == {Path("grader/__init__.py"), *worker}


@pytest.mark.tools
def test_the_scores_are_those_of_a_gradebook(tmp_path: Path) -> None:
    handed_in = {
        "full": dump(with_answers(FIRST, right_cells())),
        "blank": blank(ATOMIC),
        **{
            path.stem: notebook_with(FIRST, path.read_text("utf-8"))
            for path in sorted(SAMPLES.glob("*.py"))
        },
    }
    scores = {}
    for student, text in handed_in.items():
        root = tmp_path / student
        unpack(root, settings_for(ATOMIC))
        hand_in(root, {f"{ATOMIC}.ipynb": text})
        ran = run_autograder(root)
        assert len(ran.results["tests"]) == 26
        scores[student] = ran.results["score"]
        path = tmp_path / "class" / student / f"{ATOMIC}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    grade = [sys.executable, "-m", "grader", "grade", str(tmp_path / "class"), "--quiet"]
    out = tmp_path / "gradebook"
    sandbox = settings_for(ATOMIC).sandbox
    subprocess.run([*grade, "--out", str(out), "--sandbox", sandbox], check=True)
    lines = map(json.loads, (out / "results.jsonl").read_bytes().splitlines())
    assert scores == {line["student"]: line["score"] for line in lines}
    assert scores["full"] == 26
    assert scores["blank"] == 0
    assert 0 < scores["half_done"] < scores["one_fault"] < 26


@pytest.mark.tools
def test_a_hostile_submission_reaches_nothing(tmp_path: Path) -> None:
    unpack(tmp_path, settings_for(FUSED))
    hand_in(tmp_path, {f"{FUSED}.ipynb": hostile(tmp_path)})
    ran = run_autograder(tmp_path)
    nothing_was_reached(tmp_path, ran.printed)
    assert "module" in ran.printed, "nobody was told"


@pytest.mark.tools
@pytest.mark.skipif(
    sys.prefix == VENV and why_not(Sandbox.ACCOUNT) != "",
    reason="needs root, and a Python that everybody may run: set BACKPROP_NINJA_VENV to one",
)
def test_where_no_namespace_can_be_made_another_account_runs_answers(tmp_path: Path) -> None:
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(0o755)  # as /autograder is: what keeps an answer out is not pytest
    unpack(tmp_path, settings_for(FUSED, sandbox="account"))
    hand_in(tmp_path, {f"{FUSED}.ipynb": hostile(tmp_path)})
    like_docker = [str(Path(VENV) / "bin" / "python"), "-c", LIKE_DOCKER, str(PROJECT)]
    ran = run_autograder(tmp_path, *like_docker)
    assert "sandbox account" in ran.printed
    nothing_was_reached(tmp_path, ran.printed)
    hand_in(tmp_path, {f"{FUSED}.ipynb": solution(FUSED)})
    assert run_autograder(tmp_path, *like_docker).results["score"] == 2


@pytest.mark.tools
@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "Nothing was handed in"),
        ({"a.ipynb": "{"}, "a.ipynb breaks off at its end"),
        ({"a.ipynb": "PK\x03\x04"}, "is a zip archive"),
        ({"a.ipynb": "[" * 500_000}, "nested deeper than any notebook"),
        ({"a.ipynb": blank(ATOMIC)}, f"a.ipynb is {ATOMIC}; the notebook to hand in here is"),
        ({"a.ipynb": blank(FUSED), "b.ipynb": solution(FUSED)}, "not clear which one to grade"),
    ],
)
def test_what_cannot_be_graded_gets_a_sentence(
    tmp_path: Path, files: dict[str, str], says: str
) -> None:
    unpack(tmp_path, settings_for(FUSED))
    hand_in(tmp_path, files)
    ran = run_autograder(tmp_path)
    assert ran.results["score"] == 0
    assert says in ran.output("The notebook")


@pytest.mark.tools
def test_pip_installs_the_wheel(tmp_path: Path) -> None:
    name, data = installed_wheel()
    (tmp_path / name).write_bytes(data)
    there = tmp_path / "there"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(there), str(tmp_path / name)], check=True)
    code = (
        f"import sys; sys.path.insert(0, {str(there)!r})\n"
        "import grader.platforms.gradescope.run as r\n"
        "print(r.__file__); from grader.cli import main; main(['--version'])"
    )
    said = subprocess.check_output([sys.executable, "-P", "-c", code], text=True, cwd=tmp_path)
    assert said.startswith(str(there))
    assert "grader 0." in said
