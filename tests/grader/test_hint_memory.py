from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader import hint_memory
from grader.hint_levels import read_levels
from grader.hint_memory import (
    Asked,
    Hint,
    ask,
    earlier_hints,
    forget,
    next_hint,
    parse_memory,
    review,
    without,
)

LEVELS = {
    "ex1": {"dh": ("h one", "h two", "h three"), "dC": ("C one", "C two", "C three")},
    "ex2": {"dh": ("other one", "other two", "other three")},
}


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that remembers; its folder is not there yet."""
    monkeypatch.setenv("BACKPROP_NINJA_STATE", str(tmp_path / "some" / "state"))
    return tmp_path / "some" / "state" / "hints.json"


class TestNextHint:
    def test_each_time_one_level_more_and_then_all(self) -> None:
        asked: Asked = {}
        shown = []
        for _ in range(5):
            hint, asked = next_hint(asked, LEVELS, "ex1", "dh")
            shown.append((hint.level, hint.texts, hint.no_more))
        assert shown == [
            (1, ("h one",), False),
            (2, ("h two",), False),
            (3, ("h three",), False),
            (3, LEVELS["ex1"]["dh"], True),
            (3, LEVELS["ex1"]["dh"], True),
        ]
        assert asked == {"ex1": {"dh": 3}}

    @settings(deadline=None)
    @given(st.lists(st.sampled_from([("ex1", "dh"), ("ex1", "dC"), ("ex2", "dh")]), max_size=12))
    def test_every_gradient_of_every_exercise_is_counted_alone(
        self, requests: list[tuple[str, str]]
    ) -> None:
        asked: Asked = {}
        for number, (exercise, gradient) in enumerate(requests):
            before = requests[:number].count((exercise, gradient))
            hint, asked = next_hint(asked, LEVELS, exercise, gradient)
            assert hint.level == min(before + 1, 3)
            assert hint.no_more == (before >= 3)
            assert earlier_hints(asked, LEVELS, exercise, gradient).level == hint.level
            assert all(text in LEVELS[exercise][gradient] for text in hint.texts)

    def test_what_was_asked_for_is_not_changed_in_place(self) -> None:
        asked = {"ex1": {"dh": 1}}
        next_hint(asked, LEVELS, "ex1", "dh")
        assert asked == {"ex1": {"dh": 1}}

    def test_a_hint_that_the_course_has_no_longer_is_no_trouble(self) -> None:
        hint, _ = next_hint({"ex1": {"dh": 7}}, LEVELS, "ex1", "dh")
        assert (hint.level, hint.no_more) == (3, True)

    def test_earlier_hints_are_none_at_first(self) -> None:
        assert earlier_hints({}, LEVELS, "ex1", "dh") == Hint("ex1", "dh", 0, 3, ())
        assert earlier_hints({"ex1": {"dh": 2}}, LEVELS, "ex1", "dh").texts == ("h one", "h two")


@pytest.mark.parametrize(
    ("exercise", "gradients", "left"),
    [
        ("ex1", None, {"ex2": {"dh": 3}}),
        ("ex1", ["dh"], {"ex1": {"dC": 2}, "ex2": {"dh": 3}}),
        ("ex1", ["dh", "dC", "dx"], {"ex2": {"dh": 3}}),
        ("ex1", [], {"ex1": {"dh": 1, "dC": 2}, "ex2": {"dh": 3}}),
        ("ex9", None, {"ex1": {"dh": 1, "dC": 2}, "ex2": {"dh": 3}}),
    ],
)
def test_what_is_forgotten(exercise: str, gradients: list[str] | None, left: Asked) -> None:
    assert without({"ex1": {"dh": 1, "dC": 2}, "ex2": {"dh": 3}}, exercise, gradients) == left


class TestMemory:
    def test_it_lasts(self, memory: Path) -> None:
        texts = read_levels()["ex1"]["dcounts"]
        assert ask("ex1", "dcounts") == Hint("ex1", "dcounts", 1, 3, texts[:1])
        assert json.loads(memory.read_text()) == {"format": 1, "asked": {"ex1": {"dcounts": 1}}}
        assert ask("ex1", "dcounts").texts == texts[1:2]
        assert review("ex1", "dcounts").texts == texts[:2]
        assert review("ex1", "dcounts").texts == texts[:2], "looking back counts nothing"
        assert ask("ex4", "dlogits").level == 1
        assert forget("ex1", ["dcounts"]) == ""
        assert review("ex1", "dcounts").level == 0
        assert review("ex4", "dlogits").level == 1
        assert list(memory.parent.iterdir()) == [memory], "nothing is left lying about"

    def test_there_need_be_nothing_to_forget(self, memory: Path) -> None:
        assert forget("ex1") == ""
        assert not memory.parent.exists()

    @pytest.mark.usefixtures("memory")
    @pytest.mark.parametrize("what", [("ex1", "dnothing"), ("ex9", "dh")])
    def test_what_the_course_does_not_have(self, what: tuple[str, str], memory: Path) -> None:
        for function in (ask, review):
            with pytest.raises(KeyError):
                function(*what)
        assert not memory.exists()

    @pytest.mark.parametrize(
        "damaged",
        [
            "",
            "{",
            "[]",
            "null",
            '{"format": 2, "asked": {}}',
            '{"format": 1}',
            '{"format": 1, "asked": []}',
            '{"format": 1, "asked": {"ex1": 3}}',
            '{"format": 1, "asked": {"ex1": {"dh": "3"}}}',
            '{"format": 1, "asked": {"ex1": {"dh": true}}}',
            '{"format": 1, "asked": {"ex1": {"dh": -1}}}',
            "[" * 100_000,
        ],
    )
    def test_a_damaged_memory_is_kept_aside(self, damaged: str, memory: Path) -> None:
        memory.parent.mkdir(parents=True)
        memory.write_text(damaged)
        hint = ask("ex1", "dh")
        assert hint.level == 1
        assert f"{memory} is damaged. It is kept as hints.damaged-" in hint.trouble
        (aside,) = memory.parent.glob("hints.damaged-*.json")
        assert aside.read_text() == damaged
        assert ask("ex1", "dh") == Hint("ex1", "dh", 2, 3, read_levels()["ex1"]["dh"][1:2])

    def test_bytes_that_are_no_text_are_a_damaged_memory(self, memory: Path) -> None:
        memory.parent.mkdir(parents=True)
        memory.write_bytes(b"\xff\xfe")
        assert "is damaged" in ask("ex1", "dh").trouble

    def test_a_folder_that_cannot_be_made(self, memory: Path) -> None:
        memory.parent.parent.write_text("a file where a folder should be")
        hint = ask("ex1", "dh")
        assert hint.level == 1
        assert hint.texts
        assert hint.trouble.startswith("That you asked is not remembered: ")
        assert hint.trouble.endswith(".")
        assert review("ex1", "dh").trouble == ""
        assert forget("ex1") == ""

    def test_a_disk_that_is_full(self, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        ask("ex1", "dh")
        before = memory.read_bytes()

        def replace(self: Path, target: Path) -> Path:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", replace)
            hint = ask("ex1", "dh")
            assert forget("ex1") != ""
        assert hint.level == 2
        assert "(no space left on device)" in hint.trouble
        assert memory.read_bytes() == before
        assert list(memory.parent.iterdir()) == [memory]

    def test_a_memory_that_cannot_be_read(
        self, memory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ask("ex1", "dh")

        def read_text(self: Path, encoding: str) -> str:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "read_text", read_text)
        assert "cannot be read (permission denied)" in review("ex1", "dh").trouble

    def test_several_may_ask_at_once(self, memory: Path, project: Path) -> None:
        code = (
            "import sys; from pathlib import Path; from grader.hint_memory import ask\n"
            "print('ready', flush=True); sys.stdin.readline()\n"
            "for name in sys.argv[1:]: assert not ask('ex1', name).trouble"
        )
        names = list(read_levels()["ex1"])
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", code, *names],
                cwd=project,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for _ in range(3)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        for process in processes:  # all at the same moment
            assert process.stdin is not None
            process.stdin.write(b"go\n")
            process.stdin.flush()
        for process in processes:
            process.communicate()
        assert [process.returncode for process in processes] == [0, 0, 0]
        assert parse_memory(memory.read_text()) == {"ex1": dict.fromkeys(names, 3)}

    def test_without_locks_it_works_all_the_same(
        self, memory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
        assert [ask("ex1", "dh").level for _ in range(4)] == [1, 2, 3, 3]

    def test_a_lock_held_for_ever_is_not_waited_for(
        self, memory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fcntl = pytest.importorskip("fcntl")
        monkeypatch.setattr(hint_memory, "LOCK_PAUSE_SECONDS", 0.0)
        memory.parent.mkdir(parents=True)
        held = os.open(memory.parent, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert ask("ex1", "dh").level == 1
        finally:
            os.close(held)


def test_importing_it_imports_nothing_heavy() -> None:
    code = (
        "import sys, grader.hint_memory, grader.hint_text, grader.close_names;"
        "print([m for m in ('torch', 'rich', 'IPython', 'platformdirs') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"[]\n"
