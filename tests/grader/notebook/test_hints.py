"""Which hint is meant, and the next one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE, EXERCISES
from grader.notebook import state
from grader.notebook.hints import (
    Hint,
    NoSuchHint,
    ask,
    forget,
    levels_in,
    read_levels,
    review,
    which_hint,
)
from grader.notebook.state import Asked, parse_state
from grader.program.course import read_course
from grader.program.course_file import BadCourse, CourseFile
from grader.program.exercises import Exercise
from tests.helpers.small_course import COURSE as COURSE_TEXT
from tests.helpers.small_course import write_course

NOTEBOOKS = {exercise.prefix: exercise.notebook for exercise in EXERCISES}


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.prefix)
def test_every_gradient_has_three(exercise: Exercise) -> None:
    levels = read_levels(COURSE)[exercise.prefix]
    assert set(levels) == set(exercise.gradients)
    assert all(len(texts) == 3 and all(map(str.strip, texts)) for texts in levels.values())


def test_there_is_no_exercise_but_the_courses() -> None:
    assert set(read_levels(COURSE)) == {exercise.prefix for exercise in EXERCISES}


def test_another_course(tmp_path: Path) -> None:
    course = read_course(write_course(tmp_path, hints='[n1]\ndx = ["Größe", "two"]\n'))
    assert read_levels(course) == {"n1": {"dx": ("Größe", "two")}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[n1", " is not TOML: "),
        (
            '[n1]\ndx = ["a"]\n\n[n2]\ndx = ["a"]\n',
            ": there is no exercise n2",
        ),
        ("n1 = 3", ": `n1` has to be a table, "),
        ('[n1]\ndx = ["a"]\ndy = ["a"]', ": n1 asks for no dy, "),
        ('[n1]\ndx = "a"', ", [n1]: the hints for dx have to be a list of texts."),
        ('[n1]\ndx = ["a", " "]', ", [n1]: the hints for dx have to be a list of texts."),
    ],
)
def test_bad_hints_get_a_sentence_with_the_key(text: str, says: str, tmp_path: Path) -> None:
    course = read_course(write_course(tmp_path, hints=text))
    with pytest.raises(BadCourse) as error:
        read_levels(course)
    assert str(error.value).startswith(f"{tmp_path / 'hints.toml'}{says}")


def test_hints_of_exercises_that_are_not_finished_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "hints.toml").write_text('[n2]\ndz = ["a"]\n', encoding="utf-8")
    assert levels_in(CourseFile(tmp_path / "hints.toml")) == {"n2": {"dz": ("a",)}}


def test_another_courses_hints_are_counted_apart(tmp_path: Path, memory: Path) -> None:
    text = COURSE_TEXT.replace('id = "n1"', 'id = "ex1"').replace('"dx", ', '"dx", "dout", ')
    hints = '[ex1]\ndout = ["one", "two"]\n'
    course = read_course(write_course(tmp_path / "course", course=text, hints=hints))
    ask(course, "ex1", "dout")
    assert parse_state(memory.read_text()).asked == {"Norms/ex1": {"dout": 1}}
    assert review(course, "ex1", "dout").level == 1
    assert forget(course, "ex1", ["dout"]) == ""
    assert review(course, "ex1", "dout").level == 0


@pytest.mark.parametrize(
    ("gradient", "latest", "asked", "found"),
    [
        ("dcounts", None, None, ("ex1", "dcounts")),
        ("counts", None, None, ("ex1", "dcounts")),
        ("dcounts", "ex4", None, ("ex1", "dcounts")),
        ("dlogits", "ex1", None, ("ex1", "dlogits")),
        ("dlogits", "ex2", None, ("ex2", "dlogits")),
        ("dlogits", "ex2s", None, ("ex2", "dlogits")),  # the same notebook's
        ("logits", "ex4", None, ("ex4", "dlogits")),
        ("dlogits", "ex1", "ex4", ("ex4", "dlogits")),
        ("dz", "ex2", None, ("ex2s", "dz")),
        ("dlogits", None, "ex2", ("ex2", "dlogits")),
    ],
)
def test_the_exercise_the_student_is_at_comes_first(
    gradient: str, latest: str | None, asked: str | None, found: tuple[str, str]
) -> None:
    assert which_hint(gradient, read_levels(COURSE), NOTEBOOKS, latest, asked) == found


@pytest.mark.parametrize(
    ("gradient", "latest", "asked", "sentence"),
    [
        ("dlogits", None, None, 'call hint("dlogits", "ex1"), hint("dlogits", "ex2") or hint('),
        ("dlogits", "ex3", None, "Several exercises ask for dlogits"),
        ("dcuonts", None, None, "There is no hint for dcuonts; did you mean dcounts?"),
        ("xyzzy", "ex3", None, "there is for dbngain, dbnbias, dxhat, dvar, dmu and dhprebn."),
        ("dcounts", "ex1", "ex2", "There is no hint for dcounts in ex2; there is for dlogits."),
        ("dcounts", None, "ex9", "There is no exercise ex9; there are ex1, ex2, "),
    ],
)
def test_what_is_not_clear_is_a_sentence(
    gradient: str, latest: str | None, asked: str | None, sentence: str
) -> None:
    with pytest.raises(NoSuchHint) as trouble:
        which_hint(gradient, read_levels(COURSE), NOTEBOOKS, latest, asked)
    assert sentence in str(trouble.value)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that remembers; its folder is not there yet."""
    monkeypatch.setenv("BACKPROP_NINJA_STATE", str(tmp_path / "some" / "state"))
    return tmp_path / "some" / "state" / "state.json"


def write(memory: Path, asked: Asked) -> None:
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text(json.dumps({"format": 1, "asked": asked}))


class TestNextHint:
    def test_each_time_one_level_more_and_then_all(self, memory: Path) -> None:
        texts = read_levels(COURSE)["ex1"]["dh"]
        shown = [ask(COURSE, "ex1", "dh") for _ in range(5)]
        assert [(hint.level, hint.texts, hint.no_more) for hint in shown] == [
            (1, texts[:1], False),
            (2, texts[1:2], False),
            (3, texts[2:], False),
            (3, texts, True),
            (3, texts, True),
        ]
        assert parse_state(memory.read_text()).asked == {"ex1": {"dh": 3}}

    @pytest.mark.usefixtures("memory")
    def test_every_gradient_of_every_exercise_is_counted_alone(self) -> None:
        wishes = [("ex1", "dh"), ("ex1", "dC"), ("ex4", "dh")]
        requests = random.Random(1).choices(wishes, k=20)
        for number, (exercise, gradient) in enumerate(requests):
            before = requests[:number].count((exercise, gradient))
            hint = ask(COURSE, exercise, gradient)
            assert hint.level == min(before + 1, 3)
            assert hint.no_more == (before >= 3)
            assert review(COURSE, exercise, gradient).level == hint.level
            assert set(hint.texts) <= set(read_levels(COURSE)[exercise][gradient])

    def test_a_hint_that_the_course_has_no_longer_is_no_trouble(self, memory: Path) -> None:
        write(memory, {"ex1": {"dh": 7}})
        assert review(COURSE, "ex1", "dh").texts == read_levels(COURSE)["ex1"]["dh"]
        hint = ask(COURSE, "ex1", "dh")
        assert (hint.level, hint.no_more) == (3, True)

    def test_earlier_hints_are_none_at_first(self, memory: Path) -> None:
        assert review(COURSE, "ex1", "dh") == Hint("dh", 0, 3, ())
        write(memory, {"ex1": {"dh": 2}})
        assert review(COURSE, "ex1", "dh").texts == read_levels(COURSE)["ex1"]["dh"][:2]


@pytest.mark.parametrize(
    ("exercise", "gradients", "left"),
    [
        ("ex1", ["dh"], {"ex1": {"dC": 2}, "ex2": {"dh": 3}}),
        ("ex1", ["dh", "dC", "dx"], {"ex1": {}, "ex2": {"dh": 3}}),
        ("ex1", [], {"ex1": {"dh": 1, "dC": 2}, "ex2": {"dh": 3}}),
        ("ex9", ["dh"], {"ex1": {"dh": 1, "dC": 2}, "ex2": {"dh": 3}}),
    ],
)
def test_what_is_forgotten(exercise: str, gradients: list[str], left: Asked, memory: Path) -> None:
    write(memory, {"ex1": {"dh": 1, "dC": 2}, "ex2": {"dh": 3}})
    assert forget(COURSE, exercise, gradients) == ""
    assert parse_state(memory.read_text()).asked == left


class TestMemory:
    def test_it_lasts(self, memory: Path) -> None:
        texts = read_levels(COURSE)["ex1"]["dcounts"]
        assert ask(COURSE, "ex1", "dcounts") == Hint("dcounts", 1, 3, texts[:1])
        assert json.loads(memory.read_text()) == {
            "format": 1,
            "asked": {"ex1": {"dcounts": 1}},
            "passed": {},
        }
        assert ask(COURSE, "ex1", "dcounts").texts == texts[1:2]
        assert review(COURSE, "ex1", "dcounts").texts == texts[:2]
        assert review(COURSE, "ex1", "dcounts").texts == texts[:2], "looking back counts nothing"
        assert ask(COURSE, "ex4", "dlogits").level == 1
        assert forget(COURSE, "ex1", ["dcounts"]) == ""
        assert review(COURSE, "ex1", "dcounts").level == 0
        assert review(COURSE, "ex4", "dlogits").level == 1
        assert list(memory.parent.iterdir()) == [memory], "nothing is left lying about"

    def test_there_need_be_nothing_to_forget(self, memory: Path) -> None:
        assert forget(COURSE, "ex1", ["dh", "dcounts"]) == ""
        assert not memory.parent.exists()

    @pytest.mark.usefixtures("memory")
    @pytest.mark.parametrize("what", [("ex1", "dnothing"), ("ex9", "dh")])
    def test_what_the_course_does_not_have(self, what: tuple[str, str], memory: Path) -> None:
        for function in (ask, review):
            with pytest.raises(KeyError):
                function(COURSE, *what)
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
        hint = ask(COURSE, "ex1", "dh")
        assert hint.level == 1
        assert f"{memory} is damaged. It is kept as state.damaged-" in hint.trouble
        (aside,) = memory.parent.glob("state.damaged-*.json")
        assert aside.read_text() == damaged
        assert ask(COURSE, "ex1", "dh") == Hint("dh", 2, 3, read_levels(COURSE)["ex1"]["dh"][1:2])

    def test_bytes_that_are_no_text_are_a_damaged_memory(self, memory: Path) -> None:
        memory.parent.mkdir(parents=True)
        memory.write_bytes(b"\xff\xfe")
        assert "is damaged" in ask(COURSE, "ex1", "dh").trouble

    def test_a_folder_that_cannot_be_made(self, memory: Path) -> None:
        memory.parent.parent.write_text("a file where a folder should be")
        hint = ask(COURSE, "ex1", "dh")
        assert hint.level == 1
        assert hint.texts
        assert hint.trouble.startswith("That you asked is not remembered: ")
        assert hint.trouble.endswith(".")
        assert review(COURSE, "ex1", "dh").trouble == ""
        assert forget(COURSE, "ex1", ["dh", "dcounts"]) == ""

    def test_a_disk_that_is_full(self, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        ask(COURSE, "ex1", "dh")
        before = memory.read_bytes()

        def replace(self: Path, target: Path) -> Path:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", replace)
            hint = ask(COURSE, "ex1", "dh")
            assert forget(COURSE, "ex1", ["dh", "dcounts"]) != ""
        assert hint.level == 2
        assert "(no space left on device)" in hint.trouble
        assert memory.read_bytes() == before
        assert list(memory.parent.iterdir()) == [memory]

    def test_a_memory_that_cannot_be_read(
        self, memory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ask(COURSE, "ex1", "dh")

        def read_text(self: Path, encoding: str) -> str:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "read_text", read_text)
        assert "cannot be read (permission denied)" in review(COURSE, "ex1", "dh").trouble

    def test_several_may_ask_at_once(self, memory: Path, project: Path) -> None:
        code = (
            "import sys; from grader.notebook.hints import ask\n"
            "from grader.program.course import built_in_course\n"
            "print('ready', flush=True); sys.stdin.readline()\n"
            "for name in sys.argv[1:]: assert not ask(built_in_course(), 'ex1', name).trouble"
        )
        names = list(read_levels(COURSE)["ex1"])
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
        assert parse_state(memory.read_text()).asked == {"ex1": dict.fromkeys(names, 3)}

    def test_without_locks_it_works_all_the_same(
        self, memory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
        assert [ask(COURSE, "ex1", "dh").level for _ in range(4)] == [1, 2, 3, 3]

    def test_a_lock_held_for_ever_is_not_waited_for(
        self, memory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fcntl = pytest.importorskip("fcntl")
        monkeypatch.setattr(state, "LOCK_PAUSE_SECONDS", 0.0)
        memory.parent.mkdir(parents=True)
        held = os.open(memory.parent, os.O_RDONLY)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert ask(COURSE, "ex1", "dh").level == 1
        finally:
            os.close(held)


def test_importing_it_imports_nothing_heavy() -> None:
    code = (
        "import sys, grader.notebook.hints, grader.notebook.hint_text, grader.close_names;"
        "print([m for m in ('torch', 'rich', 'IPython', 'platformdirs') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"[]\n"
