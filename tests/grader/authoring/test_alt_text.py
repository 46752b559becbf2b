"""The words of a notebook's pictures."""

import re

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from corpus.readers.places import PROJECT
from grader.authoring.alt_text import describe_pictures, undescribed


def notebook(below: NotebookNode, alt: str = "") -> NotebookNode:
    metadata = {"image/png": {"alt": alt, "width": 10}} if alt else {}
    data = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}
    picture = new_output("display_data", data=data, metadata=metadata)
    printed = new_output("stream", text="1\n")
    cell = new_code_cell("plt.show()", outputs=[printed, picture])
    made: NotebookNode = new_notebook(cells=[cell, below])
    return made


@pytest.mark.parametrize(
    ("below", "words"),
    [
        ("*A V\nwith $x$ below.*\n\nMore.", "A V with x below."),
        ("*Left,* `x` *falls.*", "Left, x falls."),
        ("*See [the paper](https://a.b/c) (2015).*", "See the paper (2015)."),
        ("**Now** *that* is not a caption.", None),
        ("*This* is none.", None),
    ],
)
def test_the_caption_stands_for_the_picture(below: str, words: str | None) -> None:
    described = describe_pictures(notebook(new_markdown_cell(below)))
    output = described.cells[0].outputs[1]
    assert output.metadata.get("image/png", {}).get("alt") == words
    assert undescribed(described) == ([] if words else ["plt.show()"])


def test_a_pictures_own_words_are_kept() -> None:
    described = describe_pictures(notebook(new_markdown_cell("*Other words.*"), "Its own."))
    assert described.cells[0].outputs[1].metadata["image/png"] == {"alt": "Its own.", "width": 10}


def test_code_below_is_no_caption() -> None:
    assert undescribed(describe_pictures(notebook(new_code_cell("*a, b = c*")))) == ["plt.show()"]


@pytest.mark.parametrize("name", [path.stem for path in PROJECT.glob("notebooks/*.ipynb")])
def test_every_picture_of_the_course_has_words(name: str) -> None:
    solution = nbformat.read(PROJECT / "notebooks/solutions" / f"{name}.ipynb", as_version=4)
    assert undescribed(solution) == []
    data = [o.get("data", {}) for cell in solution.cells for o in cell.get("outputs", ())]
    images = [
        image for each in data for image in re.findall("<img[^>]*>", each.get("text/html", ""))
    ]
    assert all(re.search('alt="[^"]', image) for image in images)
