from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader import cli
from grader.commands import exit_codes
from grader.commands.hint import find_gradient
from grader.notebook.hint_text import plain_mathematics
from grader.notebook.hints import read_levels
from grader.user_error import UserError
from tests.helpers.course_notebooks import FOLDER

LEVELS = {
    "ex1": {"dcounts": ("a", "b", "c"), "dlogits": ("a", "b", "c"), "dh": ("a", "b", "c")},
    "ex2": {"dlogits": ("a", "b", "c")},
    "ex2s": {"dz": ("a", "b", "c")},
    "ex4": {"dlogits": ("a", "b", "c"), "dh": ("a", "b", "c")},
}
NOTEBOOKS = {"ex1": "01_one", "ex2": "02_two", "ex2s": "02_two", "ex4": "04_four"}


@pytest.mark.parametrize(
    ("name", "notebook", "asked"),
    [
        ("dcounts", None, ("ex1", "dcounts")),
        ("counts", None, ("ex1", "dcounts")),
        (" dz ", None, ("ex2s", "dz")),
        ("dlogits", "02", ("ex2", "dlogits")),
        ("dlogits", "2", ("ex2", "dlogits")),
        ("dlogits", "04_four", ("ex4", "dlogits")),
        ("dlogits", "ex4", ("ex4", "dlogits")),
        ("logits", "01", ("ex1", "dlogits")),
        ("dz", "02_t", ("ex2s", "dz")),
    ],
)
def test_which_gradient_is_meant(name: str, notebook: str | None, asked: tuple[str, str]) -> None:
    assert find_gradient(name, notebook, LEVELS, NOTEBOOKS) == asked


@pytest.mark.parametrize(
    ("name", "notebook", "sentence"),
    [
        (
            "dlogits",
            None,
            "dlogits is asked for in 01_one, 02_two and 04_four. Say which: "
            "`grader hint dlogits --notebook 01`.",
        ),
        (
            "h",
            None,
            "dh is asked for in 01_one and 04_four. Say which: `grader hint dh --notebook 01`.",
        ),
        ("dcuonts", None, "There is no gradient dcuonts: did you mean dcounts?"),
        (
            "zebra",
            None,
            "There is no gradient zebra; there are dcounts, dlogits, dh, dz.",
        ),
        ("zebra", "02", "There is no gradient zebra; there are dlogits, dz."),
        (
            "dcounts",
            "04",
            "dcounts is not asked for in this notebook, but in 01_one: "
            "`grader hint dcounts --notebook 01`.",
        ),
        (
            "dh",
            "0",
            "There is no notebook 0; there are 01_one, 02_two, 04_four. "
            "The first two digits will do.",
        ),
        (
            "dh",
            "",
            "There is no notebook without a name; there are 01_one, 02_two, 04_four. "
            "The first two digits will do.",
        ),
        ("\x1b[1m", None, "There is no gradient \\x1b[1m; there are dcounts, dlogits, dh, dz."),
    ],
)
def test_a_sentence_where_it_is_not_one(name: str, notebook: str | None, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        find_gradient(name, notebook, LEVELS, NOTEBOOKS)
    assert str(caught.value) == sentence


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BACKPROP_NINJA_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "1000")
    return tmp_path / "state"


def run(*arguments: object) -> int:
    return cli.main(["hint", *map(str, arguments)])


def plain(text: str) -> str:
    return " ".join(plain_mathematics(text).split())


Capture = pytest.CaptureFixture[str]


@pytest.mark.usefixtures("state")
class TestCommand:
    def test_level_by_level(self, capsys: Capture) -> None:
        said = []
        for _ in range(4):
            assert run("dcounts") == exit_codes.PASSED
            out, err = capsys.readouterr()
            assert err == ""
            said.append(" ".join(out.split()))
        texts = [plain(text) for text in read_levels(COURSE)["ex1"]["dcounts"]]
        assert said[0] == f"Hint 1 of 3 for dcounts {texts[0]} (2 more: grader hint dcounts)"
        assert said[1] == f"Hint 2 of 3 for dcounts {texts[1]} (one more: grader hint dcounts)"
        assert said[2] == f"Hint 3 of 3 for dcounts {texts[2]}"
        assert said[3] == (
            "There are no more hints for dcounts; here are all 3 again. "
            f"1. {texts[0]} 2. {texts[1]} 3. {texts[2]}"
        )

    def test_looking_back_and_at_all_counts_nothing(self, capsys: Capture) -> None:
        run("dz", "--again")
        assert "You have not asked for a hint for dz yet; there are 3." in capsys.readouterr().out
        run("dz")
        capsys.readouterr()
        run("dz", "--all")
        assert capsys.readouterr().out.startswith("All 3 hints for dz\n\n1. ")
        run("dz", "--again")
        capsys.readouterr()
        run("dz")
        assert capsys.readouterr().out.startswith("Hint 2 of 3 for dz")

    def test_a_file_says_which_notebook(self, capsys: Capture, tmp_path: Path) -> None:
        path = tmp_path / "my own name.ipynb"
        path.write_bytes((FOLDER / "04_manual_training.ipynb").read_bytes())
        assert run("dlogits", "--notebook", path) == exit_codes.PASSED
        out = capsys.readouterr().out
        assert plain(read_levels(COURSE)["ex4"]["dlogits"][0]) in " ".join(out.split())
        assert f"(2 more: grader hint dlogits --notebook '{path}')" in out

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["dlogits"], "is asked for in 01_atomic_backprop, 02_fused_cross_entropy and 04_"),
            (["zebra"], "There is no gradient zebra"),
            (["dh", "--notebook", "gone.ipynb"], "There is no file gone.ipynb"),
            (["dh", "--notebook", __file__], "is a Python file"),
        ],
    )
    def test_a_sentence_and_no_hint(
        self, arguments: list[str], said: str, capsys: Capture, state: Path
    ) -> None:
        assert run(*arguments) == exit_codes.UNREADABLE
        out, err = capsys.readouterr()
        assert said in err
        assert out == ""
        assert not state.exists()

    @pytest.mark.parametrize(
        ("name", "is_told"), [("dscores", True), ("q", True), ("dcuonts", False)]
    )
    def test_a_course_nearby_is_told_of_where_it_asks_for_the_gradient(
        self,
        name: str,
        is_told: bool,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: Capture,
    ) -> None:
        for notebook in ("01_atomic_backprop.ipynb", "encore/05_attention.ipynb"):
            shutil.copy(FOLDER / notebook, tmp_path)
        monkeypatch.chdir(tmp_path)
        assert run(name) == exit_codes.UNREADABLE
        assert ("05_attention.ipynb carries its own course" in capsys.readouterr().err) is is_told

    def test_trouble_with_the_memory_keeps_no_hint_back(self, state: Path, capsys: Capture) -> None:
        state.write_text("no folder")
        assert run("dh", "--notebook", "01") == exit_codes.PASSED
        out, err = capsys.readouterr()
        assert out.startswith("Hint 1 of 3 for dh")
        assert err.startswith("That you asked is not remembered: ")

    def test_help(self, capsys: Capture) -> None:
        assert run("--help") == 0
        assert "each time you ask, you get the next one" in " ".join(
            capsys.readouterr().out.split()
        )


def test_the_program_itself(tmp_path: Path, project: Path) -> None:
    environment = os.environ | {"BACKPROP_NINJA_STATE": str(tmp_path), "PYTHONPATH": str(project)}

    def ask(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "grader", "hint", "counts", *arguments],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout

    assert ask().startswith("Hint 1 of 3 for dcounts")
    assert ask().startswith("Hint 2 of 3 for dcounts")


def test_asking_imports_nothing_heavy(tmp_path: Path, project: Path) -> None:
    code = (
        "import sys, grader.cli; grader.cli.main(['hint', 'dcounts']);"
        "print([m for m in ('torch', 'numpy', 'rich', 'watchfiles') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        check=True,
        cwd=project,
        env=os.environ | {"BACKPROP_NINJA_STATE": str(tmp_path)},
    )
    assert done.stdout.endswith(b"\n[]\n")
