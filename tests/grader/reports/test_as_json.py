from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from grader.reports import as_json
from grader.reports.result import Ungraded
from grader.verdict import Report

Golden = Callable[[str, str], None]


def strict(text: str) -> Any:
    """Parse as a strict reader would: no NaN, no infinity, no half surrogate pair."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    document = json.loads(text, parse_constant=refuse)
    json.dumps(document, ensure_ascii=False).encode("utf-8")
    return document


def test_looks_as_kept(mixed: Report, golden: Golden) -> None:
    golden("mixed.json", as_json.render([mixed]))


def test_every_field_is_always_there(mixed: Report, solved: Report, blank: Report) -> None:
    for document in strict(as_json.render([mixed, solved, blank])):
        fields = ["format", "notebook", "score", "max_score", "gradients", "flags", "path"]
        assert list(document) == fields
        for gradient in document["gradients"]:
            assert list(gradient) == [
                *("name", "verdict", "exact", "approximate", "maxdiff", "shape", "expected_shape"),
                *("points", "max_points", "line", "diagnosis"),
                *("note", "reason", "cell", "global_check", "local_check"),
            ]
            for diagnosis in gradient["diagnosis"]:
                assert list(diagnosis) == ["kind", "message", "hint"]
        for flag in document["flags"]:
            assert list(flag) == ["kind", "line", "message", "cell"]


def test_the_scores_add_up(mixed: Report) -> None:
    document = strict(as_json.render([mixed]))
    assert document["score"] == sum(gradient["points"] for gradient in document["gradients"])
    assert document["max_score"] == len(document["gradients"])


def test_there_is_no_number_where_there_is_none(mixed: Report) -> None:
    gradients = {g["name"]: g for g in strict(as_json.render([mixed]))["gradients"]}
    assert gradients["demb"]["maxdiff"] is None  # infinite
    assert gradients["dcounts_sum"]["maxdiff"] is None  # to do
    assert gradients["dcounts_sum"]["shape"] is None
    assert gradients["dcounts_sum"]["line"] is None


def test_one_file_gives_an_object_and_several_an_array(
    mixed: Report, solved: Report, ungraded: Ungraded
) -> None:
    assert strict(as_json.render([solved]))["score"] == 3
    error = {
        "format": 1,
        "path": "no?.ipynb",
        "error": "There is no file no?.ipynb & <nothing> else.",
    }
    assert strict(as_json.render([ungraded])) == error
    several = strict(as_json.render([mixed, ungraded, solved]))
    assert [document.get("score") for document in several] == [4, None, 3]
    assert several[1] == error
