"""What a blank notebook becomes before myst-nb reads it, and its page afterwards."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

pytest.importorskip("sphinx", reason="comes with the extra docs: `make docs`")

from docutils import nodes

from docs.building.notebooks import dress, nest

pytestmark = pytest.mark.tools

BADGE = "[![Open in Colab](https://example.org/badge.svg)](https://example.org/open)"
BELL = new_output(
    "display_data", data={"image/png": "iVBORw0KGgo=", "text/plain": "A bell-shaped curve."}
)


def test_a_badge_is_a_link_that_fetches_nothing() -> None:
    cell = new_markdown_cell(f"# A title\n\n{BADGE}")
    dress(cell)
    assert "badge.svg" not in cell.source
    assert "[Open in Colab](https://example.org/open)" in cell.source


def test_an_answer_is_marked() -> None:
    answer, other = new_code_cell("dprobs = ..."), new_code_cell("print(1)")
    answer.metadata["nbgrader"] = {"solution": True}
    dress(answer)
    dress(other)
    assert answer.metadata.tags == ["answer"]
    assert "tags" not in other.metadata


@pytest.mark.parametrize(
    ("own", "words"), [({}, "A bell-shaped curve."), ({"alt": "A bell."}, "A bell.")]
)
def test_a_picture_is_described(own: dict[str, str], words: str) -> None:
    cell = new_code_cell(outputs=[BELL.copy()])
    cell.outputs[0].metadata = type(cell.metadata)({"image/png": own})
    dress(cell)
    assert cell.metadata.mystnb == {"image": {"alt": words}}


def test_parts_stand_under_the_title() -> None:
    document = nodes.document(None, None)
    title, part, last = (nodes.section(ids=[name]) for name in ("title", "part", "last"))
    document.extend([title, part, last])
    nest(document)
    assert document.children == [title]
    assert title.children == [part, last]
