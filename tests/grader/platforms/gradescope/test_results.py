from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import jsonschema
import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.rubric import Rubric, parse_rubric
from grader.platforms.gradescope.results import (
    Circumstances,
    Results,
    not_graded,
    own_failure,
    results_of,
    staff_lines,
)
from grader.platforms.gradescope.settings import ExportSettings, Visibility
from tests.helpers.gradescope_schema import validate
from tests.helpers.lines import BATCHNORM, FUSED, Document, as_line, graded, gradient

SETTINGS = ExportSettings(BATCHNORM)
ORDINARY = Circumstances(SETTINGS, seconds=3.21)
LATE = Circumstances(SETTINGS, late=True, submitted=datetime(2026, 11, 21, 12, tzinfo=UTC))
LETTERS = "pcfter"
PLAIN_ELEMENTS = {"p", "strong", "code", "pre", "ul", "li"}

HOSTILE = "</pre></code><script>alert(1)</script><img src=x onerror=alert(2)> & `b` \u202e\x1b[2J"


class Elements(HTMLParser):
    """The elements of a piece of HTML, each opened and closed in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        assert not attrs
        self.names.add(tag)
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def results(
    line: Document,
    settings: ExportSettings = SETTINGS,
    rubric: Rubric | None = None,
    about: Circumstances = ORDINARY,
) -> Results:
    found = results_of(as_line(line), replace(about, settings=settings, rubric=rubric or Rubric()))
    validate(found)
    return found


def every_outcome() -> Document:
    return graded("a.ipynb", "", LETTERS, BATCHNORM)


def with_gradient(**changes: Any) -> Document:
    line = graded("a.ipynb", "", "ffffff", BATCHNORM)
    name = line["gradients"][0]["name"]
    line["gradients"][0] = gradient(name, "f", **changes)
    return line


def flag(kind: str, message: str) -> Document:
    return {"kind": kind, "line": 3, "message": message, "cell": "ex3-forward"}


def test_a_test_for_each_gradient_in_its_order() -> None:
    found = results(every_outcome())
    names = ["dbngain", "dbnbias", "dxhat", "dvar", "dmu", "dhprebn"]
    assert [test["name"] for test in found["tests"]] == names
    assert [test["number"] for test in found["tests"]] == list("123456")
    assert [test["score"] for test in found["tests"]] == [1, 1, 0, 0, 0, 0]
    assert {test["max_score"] for test in found["tests"]} == {1}
    assert [test["status"] for test in found["tests"]] == ["passed"] * 2 + ["failed"] * 4
    assert [test["tags"] for test in found["tests"]] == [
        ["pass"],
        ["carried"],
        ["fail"],
        ["to do"],
        ["error"],
        ["refused"],
    ]
    assert found["score"] == 2
    assert found["execution_time"] == 3.21


def test_what_the_student_is_told_of_a_gradient() -> None:
    diagnosis = [
        {"kind": "missing-sum", "message": "`dbngain` is not summed.", "hint": "Which axis?"},
        {"kind": "sign", "message": "`dbngain` has the wrong sign.", "hint": ""},
        {"kind": "scale", "message": "a third guess", "hint": ""},
    ]
    (first, *_) = results(with_gradient(diagnosis=diagnosis, shape=[27], code="dbngain = h"))[
        "tests"
    ]
    text = Elements(first["output"]).text
    assert text.split("\n") == [
        "✗ fail · ex2-fused, line 2",
        "dbngain = h",
        "dbngain is not summed.",
        "Hint: Which axis?",
        "Or: dbngain has the wrong sign.",
        "As cmp shows it: exact: False | approximate: False | maxdiff: 0.25 | "
        "shape: (27,), expected (32, 27)",
    ]
    assert first["extra_data"] == {"verdict": "fail", "diagnosis": ["missing-sum", "sign"]}


def test_students_text_stays_text() -> None:
    line = with_gradient(
        code=HOSTILE,
        note=f"This line raised {HOSTILE}.",
        cell=HOSTILE,
        diagnosis=[{"kind": "name", "message": HOSTILE, "hint": HOSTILE}],
    )
    line["file"] = f"{HOSTILE}.ipynb"
    line["flags"] = [flag("outside-answer", HOSTILE), flag("denied", HOSTILE)]
    found = results(line, about=Circumstances(SETTINGS, notes=[HOSTILE]))
    texts = [found["output"], *(test["output"] for test in found["tests"])]
    for text in texts:
        elements = Elements(text)
        assert elements.names <= PLAIN_ELEMENTS
        assert "\u202e" not in elements.text
        assert "\x1b" not in elements.text
    for text in texts[:2]:
        assert "<script>alert(1)</script><img" in Elements(text).text
    assert not any("\n" in text for text in staff_lines(as_line(line), ORDINARY))
    refused = not_graded(HOSTILE, Circumstances(SETTINGS, notes=[HOSTILE]))
    validate(refused)
    assert Elements(refused["tests"][0]["output"]).names <= PLAIN_ELEMENTS


def test_the_rubric_says_what_a_gradient_is_worth() -> None:
    rubric = parse_rubric(
        "default = 2\ncarried = 0.5\nlate = 0.5\nround = 0.25\n[ex3]\ndbngain = 3.3\ndxhat = 0\n",
        COURSE,
    )
    found = results(every_outcome(), rubric=rubric)
    assert [test["score"] for test in found["tests"]] == [3.3, 1, 0, 0, 0, 0]
    assert [test["max_score"] for test in found["tests"]] == [3.3, 2, 0, 2, 2, 2]
    # half a point is not a pass, and nothing of nothing is none
    assert [test["status"] for test in found["tests"]][:3] == ["passed", "failed", "failed"]
    assert found["score"] == 4.25  # 4.3, rounded as in the gradebook
    assert rubric.most(BATCHNORM) == Fraction(45, 4)
    assert results(every_outcome(), rubric=rubric, about=LATE)["score"] == 2.25
    assert (
        "late; it keeps 50 % of its points"
        in results(every_outcome(), rubric=rubric, about=LATE)["output"]
    )


def test_a_late_submission_is_noted() -> None:
    assert "late; it keeps its points" in results(every_outcome(), about=LATE)["output"]
    assert "late" not in results(every_outcome())["output"]
    assert results(every_outcome(), about=LATE)["extra_data"]["late"] is True


@pytest.mark.parametrize("visibility", list(Visibility))
def test_until_tests_are_visible_nothing_tells_a_verdict(visibility: Visibility) -> None:
    found = results(every_outcome(), replace(SETTINGS, visibility=visibility))
    assert found["visibility"] == visibility
    assert not any("visibility" in test for test in found["tests"])
    assert ("1 fail" in found["output"]) == (visibility is Visibility.VISIBLE)


def test_suspicions_are_for_the_staff() -> None:
    line = graded("a.ipynb", "", "pp", FUSED)
    line["flags"] = [flag("denied", "a socket was asked for"), flag("not-code", "turn it back")]
    settings = ExportSettings(FUSED)
    about = Circumstances(SETTINGS, staff=["seed 7"])
    found = results(line, settings, about=about)
    assert found["stdout_visibility"] == "hidden"
    assert len(found["tests"]) == 2
    assert "socket" not in repr(found)
    assert "turn it back" in found["output"]
    assert staff_lines(as_line(line), about) == [
        "seed 7",
        "denied: a socket was asked for (ex3-forward, line 3)",
        "not-code: turn it back (ex3-forward, line 3)",
    ]

    open_ = replace(settings, stdout_visibility=Visibility.VISIBLE)
    *_, hidden = results(line, open_, about=about)["tests"]
    assert hidden["visibility"] == "hidden"
    assert "socket" in hidden["output"]
    assert "score" not in hidden
    # With a hidden test the student sees no total: there is none without need.
    line["flags"] = line["flags"][1:]
    assert len(results(line, open_, about=about)["tests"]) == 2


def test_no_result_tells_a_student_the_seed() -> None:
    found = results(every_outcome(), about=Circumstances(SETTINGS, staff=["seed 987654321"]))
    assert "987654321" not in repr(found)


def test_a_leaderboard_only_where_it_is_wanted() -> None:
    assert "leaderboard" not in results(every_outcome())
    wanted = results(every_outcome(), replace(SETTINGS, leaderboard=True))
    assert wanted["leaderboard"] == [{"name": "Points", "value": 2.0, "order": "desc"}]


def test_what_cannot_be_graded_gets_a_sentence_and_no_points() -> None:
    settings = replace(SETTINGS, visibility=Visibility.AFTER_PUBLISHED)
    found = not_graded("There is no notebook.", replace(LATE, settings=settings))
    validate(found)
    assert found["score"] == 0
    (test,) = found["tests"]
    assert (test["score"], test["max_score"], test["status"]) == (0, 6, "failed")
    assert test["output"] == "<p>There is no notebook.</p>"
    assert test["visibility"] == "visible"
    failure = own_failure(Circumstances(SETTINGS))
    validate(failure)
    assert "not through its answers" in failure["tests"][0]["output"]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"tests": []},
        {"tests": [{"name": "no score anywhere"}]},
        {"score": 1, "points": 1},
        {"score": "1"},
        {"score": 1, "visibility": "secret"},
        {"score": 1, "tests": [{"status": "pass"}]},
        {"score": 1, "tests": [{"output_format": "markdown"}]},
        {"score": 1, "leaderboard": [{"value": 1}]},
    ],
)
def test_the_schema_finds_mistakes(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validate(wrong)


def test_the_specifications_own_example_fits_the_schema() -> None:
    test = {"score": 2.0, "max_score": 2.0, "status": "passed", "name": "A name"}
    test |= {"name_format": "text", "number": "1.1", "output": "...", "output_format": "text"}
    test |= {"tags": ["tag1"], "visibility": "visible", "extra_data": {}}
    ranks = [{"name": "Time", "value": 15.1, "order": "asc"}, {"name": "Stars", "value": "*****"}]
    shown = {"visibility": "after_due_date", "stdout_visibility": "visible", "extra_data": {}}
    formats = {"output_format": "simple_format", "test_output_format": "text"}
    validate({"score": 44.0, "execution_time": 136, "output": "...", **formats, **shown})
    validate({"tests": [test, {"name": "Style check", "status": "failed"}], "leaderboard": ranks})


def test_no_html_has_an_attribute_or_a_style() -> None:
    texts = [test["output"] for test in results(every_outcome())["tests"]]
    assert not any(re.search(r"<\w+ ", text) for text in texts)
