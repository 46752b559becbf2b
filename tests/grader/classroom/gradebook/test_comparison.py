"""Two gradebooks beside each other: who moved, which mistakes went, which came."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.gradebook.comparison import Comparison, NoGradebook, compare, read_book
from grader.classroom.gradebook.comparison_text import MOST_ROWS, as_json, as_text
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import render
from grader.classroom.intake.class_folder import Student
from tests.helpers.lines import BATCHNORM, FUSED, RUN, Document, class_of, graded, gradient, journal

DLOGITS, DZ = (FUSED, "dlogits"), (FUSED, "dz")


def compared(tmp_path: Path, *books: list[Document]) -> Comparison:
    found = []
    for number, lines in enumerate(books):
        folder = tmp_path / f"{number}"
        folder.mkdir(parents=True)
        results = journal(folder / "results.sqlite", lines)
        render(make_book(class_of(lines), results, Rubric()), folder)
        found.append(read_book(folder))
    return compare(*found)


def wrong(student: str, kind: str = "", digest: str = "", **changes: Any) -> Document:
    """A student with `dz` wrong."""
    line = graded(f"{student}.ipynb", student, "pf", **changes)
    said = [{"kind": kind, "message": "It is wrong.", "hint": ""}] if kind else []
    value = {"wrong": {"digest": digest, "map": ""}} if digest else {}
    line["gradients"][1] = gradient("dz", "f", diagnosis=said, **value)
    return line


def right(student: str, outcomes: str = "pp") -> Document:
    return graded(f"{student}.ipynb", student, outcomes)


def test_who_moved_by_how_much_and_in_what(tmp_path: Path) -> None:
    old = [right("ada", "ft"), right("bob", "pp"), right("cyd", "pf"), right("dan", "fp")]
    new = [right("ada", "pp"), right("bob", "pt"), right("cyd", "fc"), right("dan", "fp")]
    found = compared(tmp_path, old, new)
    assert [f"{each['student']}: {each['before']} to {each['after']}" for each in found.moved] == [
        "ada: 0 to 2",
        "bob: 2 to 1",
        "cyd: 1 to 1",
    ]
    assert [(each["gained"], each["lost"]) for each in found.moved] == [
        ([DLOGITS, DZ], []),
        ([], [DZ]),
        ([DZ], [DLOGITS]),
    ]
    assert found.same == 1


def test_who_did_not_hand_in_again_has_lost_nothing(tmp_path: Path) -> None:
    both = [right("ada"), graded("b.ipynb", "ada", "p" * 6, BATCHNORM)]
    found = compared(tmp_path, [*both, right("bob")], [right("ada", "pf"), right("bob")])
    (moved,) = found.moved
    assert (moved["lost"], moved["absent"]) == ([DZ], [BATCHNORM])
    assert "now" not in as_text(found).partition("ada")[2].splitlines()[0]
    assert "no longer: dz; not handed in again: 03" in as_text(found)


def test_wide_characters_keep_the_columns(tmp_path: Path) -> None:
    found = compared(
        tmp_path, [right("ada", "ft"), right("王小明", "ft")], [right("ada"), right("王小明")]
    )
    lines = as_text(found).splitlines()
    assert "  ada     0 → 2  now right: dlogits and dz" in lines
    assert "  王小明  0 → 2  now right: dlogits and dz" in lines


def test_wrong_is_apart_from_not_yet_done(tmp_path: Path) -> None:
    old, new = [right("ada", "ft"), right("bob", "pe")], [right("ada", "pc"), right("bob", "pt")]
    found = compared(tmp_path, old, new)
    old_shares, new_shares = found.shares["old"], found.shares["new"]
    assert old_shares == {"right": Fraction(1, 4), "wrong": Fraction(1, 2), "todo": Fraction(1, 4)}
    assert new_shares == {"right": Fraction(3, 4), "wrong": 0, "todo": Fraction(1, 4)}
    said = "25 % → 75 % right, 50 % → 0 % wrong, 25 % → 25 % not yet done."
    assert said in as_text(found)


def test_who_is_in_one_of_them_only(tmp_path: Path) -> None:
    found = compared(tmp_path, [right("ada"), right("bob")], [right("bob"), right("zoe")])
    assert (found.left, found.joined, found.same, found.moved) == (["ada"], ["zoe"], 1, [])
    assert "Only for the old gradebook: ada." in as_text(found)
    assert "Only for the new gradebook: zoe." in as_text(found)


def test_mistakes_that_went_came_and_changed(tmp_path: Path) -> None:
    old = [wrong("a", "sign"), wrong("b", "sign"), wrong("c", "bessel"), wrong("d", "bessel")]
    new = [wrong("a", "missing-sum"), wrong("b", "bessel"), right("c"), right("d")]
    found = compared(tmp_path, old, new)
    assert [(c["gradient"], c["title"], c["before"], c["after"]) for c in found.mistakes] == [
        (DZ, "sign", 2, 0),
        (DZ, "bessel", 2, 1),
        (DZ, "missing-sum", 0, 1),
    ]
    for title, change in (("went", "2 → 0"), ("came", "0 → 1"), ("more or fewer", "2 → 1")):
        assert re.search(rf"Mistakes that {title}[^:]*:\n  dz .* {change} ", as_text(found))


def test_equal_values_are_one_mistake_in_both_where_the_networks_are_the_same(
    tmp_path: Path,
) -> None:
    old = [wrong("a", digest="value:x"), wrong("b", digest="value:x"), wrong("c", digest="nan")]
    new = [wrong("a", digest="value:y"), right("b"), wrong("c", digest="nan")]
    found = compared(tmp_path, old, new)
    assert [(c["title"], c["before"], c["after"]) for c in found.mistakes] == [
        ("the same wrong value", 2, 0),
        ("a wrong value", 0, 1),
    ]
    other = {**RUN, "seed": 1}
    found = compared(
        tmp_path / "other", old, [wrong("a", digest="value:y", run=other), right("b"), right("c")]
    )
    assert not found.values_known
    assert ("a wrong value", 2, 1) in [
        (c["title"], c["before"], c["after"]) for c in found.mistakes
    ]
    assert "different hidden networks" in as_text(found)


def test_the_file_that_counts_is_compared(tmp_path: Path) -> None:
    again = graded("a2.ipynb", "ada", "pp", attempt=1)
    found = compared(tmp_path, [wrong("ada", "sign")], [wrong("ada", "sign"), again])
    assert [(c["title"], c["before"], c["after"]) for c in found.mistakes] == [("sign", 1, 0)]


def test_long_lists_are_cut_unless_all_is_asked_for(tmp_path: Path) -> None:
    names = [f"s{n:02}" for n in range(MOST_ROWS + 3)]
    found = compared(tmp_path, [right(n, "pt") for n in names], [right(n) for n in names])
    assert "... and 3 more: --all lists them." in as_text(found)
    assert "s22" not in as_text(found)
    everything = as_text(found, everything=True)
    assert "more: --all" not in everything
    assert all(name in everything for name in names)


def test_the_json_has_it_all(tmp_path: Path) -> None:
    found = compared(tmp_path, [wrong("ada", "sign")], [right("ada")])
    document = json.loads(as_json(found))
    assert document["moved"] == [
        {
            **{"student": "ada", "before": 1.0, "after": 2.0},
            **{"gained": [list(DZ)], "lost": [], "absent": [], "adjusted": False},
        }
    ]
    assert document["mistakes"] == [
        {"gradient": list(DZ), "title": "sign", "before": 1, "after": 0}
    ]
    assert document["shares"]["old"] == {"right": 0.5, "wrong": 0.5, "todo": 0.0}
    assert "  1 → 0  a sign is wrong" in as_text(found)


def test_students_are_named_where_the_gradebook_has_their_names(tmp_path: Path) -> None:
    books = []
    for name, outcomes in (("old", "pt"), ("new", "pp")):
        lines = [right("17", outcomes), right("bob", outcomes)]
        (out := tmp_path / name).mkdir()
        results = journal(out / "results.sqlite", lines)
        render(make_book(class_of(lines, [Student("17", "Ada \x1b[31m")]), results, Rubric()), out)
        books.append(read_book(out))
    said = as_text(compare(*books))
    assert "  Ada \\x1b[31m (17)  1 → 2  now right: dz\n" in said
    assert "  bob                1 → 2  now right: dz\n" in said


def test_what_a_student_wrote_cannot_colour_the_terminal(tmp_path: Path) -> None:
    found = compared(tmp_path, [wrong("\x1b[31mada", "\x1b[32msign")], [right("\x1b[31mada")])
    assert "\x1b" not in as_text(found)


def test_a_class_of_nobody(tmp_path: Path) -> None:
    found = compared(tmp_path, [], [])
    assert as_text(found).startswith("0 students handed in for both: ")
    assert found.shares["old"] is None
    assert json.loads(as_json(found))["shares"] == {"old": None, "new": None}


def test_classes_that_have_nobody_in_common(tmp_path: Path) -> None:
    said = as_text(compared(tmp_path, [right("ada")], [right("40000")]))
    assert said.startswith("Nobody is in both gradebooks: their ids differ, or ")


def test_a_folder_that_is_no_gradebook(tmp_path: Path) -> None:
    with pytest.raises(NoGradebook, match="holds no gradebook"):
        read_book(tmp_path)
    journal(tmp_path / "results.sqlite", [right("ada")])
    (tmp_path / ".unfinished").touch()
    with pytest.raises(NoGradebook, match="is not written to its end"):
        read_book(tmp_path)
