import json
import re
from pathlib import Path

import pytest

from docs.building.attribute_docs import attribute_docs
from docs.building.verdicts import checks_table, comparison_line, json_example, verdict_table
from grader.reports.wording import word
from grader.verdict import EARNS_POINTS, FORMAT_VERSION, Outcome

pytestmark = pytest.mark.slow  # eight submissions are graded


@pytest.fixture(scope="module")
def checks() -> list[tuple[str, ...]]:
    """The rows of the table of checks: two findings, the verdict, an example."""
    rows = [line.strip("| ").split(" | ", 3) for line in checks_table().splitlines()[2:]]
    return [tuple(row) for row in rows]


def test_every_verdict_has_a_row_with_its_points() -> None:
    for outcome in Outcome:
        meaning = attribute_docs(Outcome)[outcome.name]
        points = "1" if outcome in EARNS_POINTS else "0"
        assert f"| `{word(outcome)}` | {meaning} | {points} |" in verdict_table()


def test_a_class_repository_says_the_same_of_verdicts(project: Path) -> None:
    (readme,) = (project / "grader").glob("**/student/README.md")
    rows = re.findall(
        r"^\| `([a-z ]+)` \| (.+) \| (\d) \|$", readme.read_text(encoding="utf-8"), re.MULTILINE
    )
    meanings = attribute_docs(Outcome)
    assert rows == [(word(o), meanings[o.name], "1" if o in EARNS_POINTS else "0") for o in Outcome]


def test_findings_lead_to_these_verdicts(checks: list[tuple[str, ...]]) -> None:
    assert {row[:3] for row in checks} >= {
        ("right", "right", "pass"),
        ("right", "wrong", "pass"),
        ("right", "wrong", "fail"),
        ("wrong", "right", "carried"),
        ("no value", "right", "carried"),
        ("wrong", "wrong", "fail"),
        ("no value", "no value", "to do"),
        ("no value", "no value", "error"),
        ("no value", "no value", "refused"),
    }


def test_each_finding_has_an_example(checks: list[tuple[str, ...]]) -> None:
    assert all(re.match(r"`d\w+`", row[3]) for row in checks)


def test_the_lectures_line_is_one_of_a_right_answer_that_rounds_differently() -> None:
    assert re.search(r"exact: False \| approximate: True +\| maxdiff: \d", comparison_line())


def test_the_example_is_json_of_the_present_format() -> None:
    fence, text = json_example().removesuffix("\n```").split("\n", 1)
    document = json.loads(text)
    assert fence == "```json"
    assert document["format"] == FORMAT_VERSION
    assert [g["verdict"] for g in document["gradients"]] == ["pass", "fail", "carried"]
    assert document["gradients"][1]["diagnosis"]
    assert document["score"] < document["max_score"] == 26


def test_the_page_explains_every_field_of_the_json(project: Path) -> None:
    page = (project / "docs/pages/reference/json.md").read_text(encoding="utf-8")
    document = json.loads(json_example().split("\n", 1)[1].removesuffix("\n```"))
    for field in {*document, *document["gradients"][0], *document["gradients"][1]["diagnosis"][0]}:
        assert f"`{field}`" in page, field
