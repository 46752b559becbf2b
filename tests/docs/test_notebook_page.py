import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

pytest.importorskip("math_core", reason="comes with the extra docs: `make docs`")

from docs.building.notebook_page import Rendered, render
from docs.building.toc import Heading

pytestmark = pytest.mark.tools

BADGE = "[![Open in Colab](https://example.org/badge.svg)](https://example.org/open)"
PICTURE = new_output(
    "display_data", data={"image/png": "iVBORw0KGgo=", "text/plain": "A bell-shaped curve."}
)


@pytest.fixture(scope="module")
def page() -> Rendered:
    answer = new_code_cell("# answer: ex1-softmax\ndprobs = ...", id="ex1-softmax")
    answer.metadata["nbgrader"] = {"solution": True}
    return render(
        new_notebook(
            cells=[
                new_markdown_cell(f"# A title\n\n{BADGE}\n\n# Part 1\n\n## The same\n\n$n - 1$"),
                new_markdown_cell("## The same"),
                new_code_cell("print(1)", outputs=[new_output("stream", text="1\n"), PICTURE]),
                answer,
            ]
        )
    )


@pytest.fixture(scope="module")
def soup(page: Rendered) -> BeautifulSoup:
    return BeautifulSoup(page.html, "html.parser")


def test_the_first_heading_is_the_title_and_stands_above_all_others(page: Rendered) -> None:
    assert page.title == "A title"
    assert page.headings == (
        Heading(2, "part-1", "Part 1"),
        Heading(3, "the-same", "The same"),
        Heading(3, "the-same-2", "The same"),
    )


def test_headings_have_the_anchors_that_the_contents_lead_to(
    page: Rendered, soup: BeautifulSoup
) -> None:
    anchors = [element["id"] for element in soup.find_all(["h2", "h3"])]
    assert anchors == [heading.anchor for heading in page.headings]


def test_nothing_is_loaded_from_elsewhere(soup: BeautifulSoup) -> None:
    assert [image["src"][:5] for image in soup.find_all("img")] == ["data:"]
    assert soup.find("script") is None
    button = soup.find("a", href="https://example.org/open")
    assert button is not None
    assert button.get_text() == "Open in Colab"


def test_a_picture_is_described(soup: BeautifulSoup) -> None:
    (image,) = soup.find_all("img")
    assert image["alt"] == "A bell-shaped curve."


def test_code_can_be_copied_and_answers_are_marked(soup: BeautifulSoup) -> None:
    assert [e.get_text().strip()[:8] for e in soup.select("div.highlight > pre > code")] == [
        "print(1)",
        "# answer",
    ]
    (answer,) = soup.select(".answer")
    assert answer["id"] == "cell-ex1-softmax"


def test_formulas_are_set(soup: BeautifulSoup) -> None:
    assert soup.find("math") is not None
