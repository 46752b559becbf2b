"""The made-up class of the guide."""

import tomllib

from docs.building.example_class import HERE, written

DERIVED = "# answer: b1-out\ndupdate = dout\n# answer: b1-update\ndpre = dupdate\ndb = dpre.sum(0)"


def test_lines_are_replaced_and_what_comes_after_a_stop_is_not_written() -> None:
    student = {"lines": {"dupdate": "\nd = dout\ndupdate = d"}, "until": "db"}
    assert "\n".join(written(DERIVED, student)) == (
        "# answer: b1-out\nd = dout\ndupdate = d\n"
        "# answer: b1-update\ndpre = dupdate\ndb = ...  # your turn"
    )


def test_the_class_has_twelve_of_whom_one_hands_in_nothing() -> None:
    students = tomllib.loads((HERE / "class.toml").read_text(encoding="utf-8"))
    assert len(students) == 12
    assert [id_ for id_, student in students.items() if student.get("absent")] == ["lena"]
