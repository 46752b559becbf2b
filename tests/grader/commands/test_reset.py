from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.readers.lecture_course import COURSE
from grader import cli
from grader.commands import exit_codes
from grader.notebook import hints
from grader.submission.backup import back_up
from grader.submission.blank_cells import read_blank_cells
from grader.submission.notebook_file import cells_in
from grader.submission.reset import Reset, reset_cells
from tests.helpers.course_notebooks import FIRST, FOLDER, NAMES, dump, right_cells, with_answers

BLANKS = read_blank_cells(COURSE)
GRADED = {
    notebook: {name: text for name, text in cells.items() if text.startswith("# answer: ")}
    for notebook, cells in BLANKS.items()
}
"""The blanks without the cells that nobody grades, whose ids are hashes."""
FIRST_BLANKS = GRADED["01_atomic_backprop"]


def reset(text: str, blanks: Mapping[str, str] = FIRST_BLANKS) -> Reset:
    return reset_cells(text, cells_in(text.encode(), Path("x.ipynb")), blanks)


def cell_named(document: dict[str, Any], cell_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(c for c in document["cells"] if c["id"] == cell_id)
    return found


class TestText:
    @pytest.mark.parametrize("name", NAMES)
    def test_a_filled_in_notebook_is_the_blank_again_byte_for_byte(self, name: str) -> None:
        blank = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
        answers = {grade_id: f"{text}\n1 + 1" for grade_id, text in GRADED[name].items()}
        filled = dump(with_answers(FOLDER / f"{name}.ipynb", answers))
        done = reset(filled, BLANKS[name])
        assert filled != blank
        assert done == Reset(blank, tuple(answers), ())
        assert reset(blank, BLANKS[name]) == Reset(blank, (), ())

    def test_a_cell_that_nobody_grades_is_reset_too(self) -> None:
        name = "03_fused_batchnorm"
        solution = (FOLDER / "solutions" / f"{name}.ipynb").read_text(encoding="utf-8")
        done = reset(solution, {"ex3-function": BLANKS[name]["ex3-function"]})
        assert done.changed == ("ex3-function",)
        sources = ["".join(cell["source"]) for cell in json.loads(done.text)["cells"]]
        assert BLANKS[name]["ex3-function"] in sources

    @settings(max_examples=25, deadline=None)
    @given(
        layout=st.sampled_from(
            [{"indent": 1}, {"indent": 4}, {}, {"separators": (",", ":")}, {"indent": "\t"}]
        ),
        ascii_=st.booleans(),
        as_list=st.booleans(),
        newline=st.sampled_from(["\n", "\r\n"]),
        mark=st.sampled_from(["", "\ufeff"]),
        chosen=st.sets(st.sampled_from(sorted(FIRST_BLANKS))),
        written=st.text(max_size=40),
    )
    def test_nothing_else_changes(
        self,
        layout: dict[str, Any],
        ascii_: bool,
        as_list: bool,
        newline: str,
        mark: str,
        chosen: set[str],
        written: str,
    ) -> None:
        document = with_answers(FIRST, right_cells() | {"ex1-tanh": written})
        document["metadata"]["mine"] = {"Größe": [1.0, None, "🐢"]}
        document["cells"].insert(3, {"cell_type": "markdown", "id": "m", "source": "mine é"})
        document["cells"].append({"cell_type": "code", "id": "c", "source": ["dh = 1"]})
        if not as_list:
            for cell in document["cells"]:
                cell["source"] = "".join(cell["source"])
        text = mark + json.dumps(document, ensure_ascii=ascii_, **layout).replace("\n", newline)
        done = reset(text, {name: FIRST_BLANKS[name] for name in chosen})

        expected = json.loads(text.removeprefix(mark))
        for name in chosen:
            answer, check = cell_named(expected, name), cell_named(expected, f"{name}-check")
            blank = FIRST_BLANKS[name]
            answer["source"] = blank.splitlines(keepends=True) if as_list else blank
            for cell in (answer, check):
                cell["outputs"], cell["execution_count"] = [], None
        assert done.text.startswith(mark)
        assert json.loads(done.text.removeprefix(mark)) == expected
        assert set(done.changed) == chosen
        assert done.missing == ()
        # what does not change keeps its very characters: line by line, where there are lines
        kept = set(re.split(r"[\r\n]+", text))
        new = [line for line in re.split(r"[\r\n]+", done.text) if line not in kept]
        if "indent" in layout:
            allowed = ("outputs", "execution_count", "source", "your turn", "# answer")
            assert all(any(word in line for word in allowed) for line in new), new

    def test_metadata_may_have_been_dropped(self) -> None:
        document = with_answers(FIRST, right_cells())
        for cell in document["cells"]:
            cell["metadata"] = {}
        done = reset(dump(document))
        assert done.changed == tuple(FIRST_BLANKS)
        assert "said" not in done.text

    def test_every_copy_is_reset(self) -> None:
        document = with_answers(FIRST, right_cells())
        copied = cell_named(document, "ex1-tanh") | {"id": "copy"}
        document["cells"].append(copied)
        done = reset(dump(document))
        sources = ["".join(c["source"]) for c in json.loads(done.text)["cells"]]
        assert sources.count(FIRST_BLANKS["ex1-tanh"]) == 2
        assert done.changed.count("ex1-tanh") == 1

    def test_an_empty_answer_is_reset_in_the_files_own_layout(self) -> None:
        document = with_answers(FIRST, {"ex1-tanh": ""})
        assert '"source": []' in dump(document)
        assert reset(dump(document)).text == FIRST.read_text(encoding="utf-8")

    def test_cells_that_are_not_there(self) -> None:
        document = with_answers(FIRST, right_cells())
        document["cells"].remove(cell_named(document, "ex1-tanh"))
        cell_named(document, "ex1-max")["cell_type"] = "markdown"
        done = reset(dump(document))
        assert done.missing == ("ex1-max", "ex1-tanh")
        after = cell_named(json.loads(done.text), "ex1-max")
        assert after == cell_named(document, "ex1-max"), "a text is the student's own"

    def test_an_answer_cell_of_ones_own_stays(self) -> None:
        document = with_answers(FIRST, {})
        metadata = {"nbgrader": {"grade_id": "ex1-mine", "solution": True}}
        own = {"cell_type": "code", "id": "x", "metadata": metadata, "source": "dh = 2"}
        document["cells"].append(own)
        assert reset(dump(document)) == Reset(dump(document), (), ())

    def test_outputs_alone_are_a_change(self) -> None:
        document = with_answers(FIRST, {"ex1-tanh": FIRST_BLANKS["ex1-tanh"]})
        assert reset(dump(document)).changed == ("ex1-tanh",)

    def test_a_cell_without_outputs_gets_none(self) -> None:
        document = with_answers(FIRST, right_cells())
        for cell in document["cells"]:
            cell.pop("outputs", None)
            cell.pop("execution_count", None)
        assert '"outputs"' not in reset(dump(document)).text


Capture = pytest.CaptureFixture[str]


@pytest.fixture
def solved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BACKPROP_NINJA_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "1000")
    folder = tmp_path / "course"
    folder.mkdir()
    path = folder / "mine.ipynb"
    path.write_text(dump(with_answers(FIRST, right_cells())), encoding="utf-8")
    return path


def run(*arguments: object) -> int:
    return cli.main(["reset", *map(str, arguments)])


class TestCommand:
    def test_all_of_it(self, solved: Path, capsys: Capture) -> None:
        before = solved.read_bytes()
        hints.ask(COURSE, "ex1", "dh")
        hints.ask(COURSE, "ex2", "dlogits")
        assert run(solved) == exit_codes.PASSED
        assert solved.read_bytes() == FIRST.read_bytes()
        (backup,) = set(solved.parent.iterdir()) - {solved}
        assert re.fullmatch(r"mine\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.ipynb", backup.name)
        assert backup.read_bytes() == before
        out, err = capsys.readouterr()
        assert f"As it was before: {backup}\n" in out
        assert "reload it from disk" in out
        assert err == ""
        assert hints.review(COURSE, "ex1", "dh").level == 0
        assert hints.review(COURSE, "ex2", "dlogits").level == 1, "another notebook's"

    def test_again_it_changes_nothing(self, solved: Path, capsys: Capture) -> None:
        run(solved)
        before = sorted(solved.parent.iterdir())
        capsys.readouterr()
        assert run(solved) == exit_codes.PASSED
        assert sorted(solved.parent.iterdir()) == before
        assert "is blank there already: nothing was changed." in capsys.readouterr().out

    def test_one_cell(self, solved: Path) -> None:
        for gradient in ("dhpreact", "dh"):
            hints.ask(COURSE, "ex1", gradient)
        before = json.loads(solved.read_text(encoding="utf-8"))
        assert run(solved, "--exercise", "ex1-tanh") == exit_codes.PASSED
        after = json.loads(solved.read_text(encoding="utf-8"))
        changed = [a["id"] for a, b in zip(after["cells"], before["cells"], strict=True) if a != b]
        assert changed == ["ex1-tanh", "ex1-tanh-check"]
        assert hints.review(COURSE, "ex1", "dhpreact").level == 0
        assert hints.review(COURSE, "ex1", "dh").level == 1

    def test_a_whole_exercise_and_several(self, tmp_path: Path, solved: Path) -> None:
        assert run(solved, "--exercise", "ex1") == exit_codes.PASSED
        assert solved.read_bytes() == FIRST.read_bytes()

        second = tmp_path / "second.ipynb"
        second.write_bytes((FOLDER / "solutions/02_fused_cross_entropy.ipynb").read_bytes())
        assert run(second, "--exercise", "ex2", "--exercise", "ex2s-smoothing") == 0
        text = second.read_text(encoding="utf-8")
        assert "dlogits = ...  # your turn" in text
        assert "dz = ...  # your turn" in text

    def test_an_exercise_is_not_the_beginning_of_anothers_name(self, tmp_path: Path) -> None:
        second = tmp_path / "second.ipynb"
        second.write_bytes((FOLDER / "solutions/02_fused_cross_entropy.ipynb").read_bytes())
        assert run(second, "--exercise", "ex2") == exit_codes.PASSED
        assert "dz = ...  # your turn" not in second.read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("ex1-tan", "Did you mean ex1-tanh, "),
            ("ex2", "has no answer cell ex2."),
            ("\x1b[31m", "has no answer cell \\x1b[31m. It has ex1-warmup, "),
        ],
    )
    def test_an_unknown_exercise(self, solved: Path, name: str, said: str, capsys: Capture) -> None:
        before = solved.read_bytes()
        assert run(solved, "--exercise", name) == exit_codes.UNREADABLE
        err = capsys.readouterr().err
        assert said in err
        assert "and all of ex1 can be named at once." in err
        assert list(solved.parent.iterdir()) == [solved]
        assert solved.read_bytes() == before

    def test_what_is_no_notebook_of_the_course(self, tmp_path: Path, capsys: Capture) -> None:
        paths = {
            "gone.ipynb": None,
            "half.ipynb": FIRST.read_text(encoding="utf-8")[:1000],
            "other.ipynb": json.dumps({"nbformat": 4, "metadata": {}, "cells": []}),
        }
        for name, text in paths.items():
            if text is not None:
                (tmp_path / name).write_text(text)
        before = sorted(tmp_path.iterdir())
        for name in paths:
            assert run(tmp_path / name) == exit_codes.UNREADABLE
        assert run(tmp_path) == exit_codes.UNREADABLE
        gone, half, other, folder = capsys.readouterr().err.splitlines()
        assert gone.startswith("There is no file ")
        assert "breaks off at its end" in half
        assert "is not one of the course's notebooks" in other
        assert "is a folder" in folder
        assert sorted(tmp_path.iterdir()) == before

    def test_a_link(self, solved: Path, capsys: Capture) -> None:
        link = solved.with_name("link.ipynb")
        link.symlink_to(solved)
        before = solved.read_bytes()
        assert run(link) == exit_codes.UNREADABLE
        assert "is a link to another file" in capsys.readouterr().err
        assert link.is_symlink()
        assert solved.read_bytes() == before

    def test_no_backup_no_reset(
        self, solved: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
    ) -> None:
        before = solved.read_bytes()

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        hints.ask(COURSE, "ex1", "dh")
        assert run(solved) == exit_codes.UNREADABLE
        assert "no backup can be written beside it (no space left" in capsys.readouterr().err
        assert solved.read_bytes() == before
        assert list(solved.parent.iterdir()) == [solved]
        assert hints.review(COURSE, "ex1", "dh").level == 1, "nothing was reset"

    def test_saved_by_another_program_meanwhile(
        self, solved: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
    ) -> None:
        before = solved.read_bytes()

        def slowly(*arguments: Any) -> Path:
            solved.write_bytes(b"newer")
            return back_up(*arguments)

        monkeypatch.setattr("grader.commands.reset.back_up", slowly)
        assert run(solved) == exit_codes.UNREADABLE
        err = capsys.readouterr().err
        assert "was saved by another program at this very moment" in err
        (backup,) = set(solved.parent.iterdir()) - {solved}
        assert str(backup) in err
        assert (solved.read_bytes(), backup.read_bytes()) == (b"newer", before)

    def test_a_cell_that_was_deleted(self, solved: Path, capsys: Capture) -> None:
        document = json.loads(solved.read_text(encoding="utf-8"))
        document["cells"].remove(cell_named(document, "ex1-tanh"))
        solved.write_text(dump(document), encoding="utf-8")
        assert run(solved) == exit_codes.NOT_PASSED
        out, err = capsys.readouterr()
        assert "Back to the blank: ex1-loss, " in out
        assert err.startswith("ex1-tanh is no code cell of ")

    def test_a_memory_of_hints_that_cannot_be_written_is_only_a_pity(
        self, solved: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
    ) -> None:
        monkeypatch.setattr("grader.commands.reset.forget", lambda *_: "That is a pity.")
        assert run(solved) == exit_codes.PASSED
        assert capsys.readouterr().err == "That is a pity.\n"
        assert solved.read_bytes() == FIRST.read_bytes()

    def test_help(self, capsys: Capture) -> None:
        assert run("--help") == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "is written beside it first" in out
