import json
from pathlib import Path

import pytest

from docs.building.json_example import json_example
from grader.verdict import FORMAT_VERSION

pytestmark = pytest.mark.slow  # eight submissions are graded


def test_the_example_is_json_of_the_present_format() -> None:
    fence, text = json_example().removesuffix("\n```").split("\n", 1)
    document = json.loads(text)
    assert fence == "```json"
    assert document["format"] == FORMAT_VERSION
    assert [g["verdict"] for g in document["gradients"]] == ["pass", "fail", "carried"]
    assert document["gradients"][1]["diagnosis"]
    assert document["score"] < document["max_score"] == 26


def test_the_page_explains_every_field(project: Path) -> None:
    page = (project / "docs/pages/reference/json.md").read_text(encoding="utf-8")
    document = json.loads(json_example().split("\n", 1)[1].removesuffix("\n```"))
    for field in {*document, *document["gradients"][0], *document["gradients"][1]["diagnosis"][0]}:
        assert f"`{field}`" in page, field
