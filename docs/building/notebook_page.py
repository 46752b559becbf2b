"""A run notebook as the content of a page of the site."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any

from bs4 import BeautifulSoup, Tag
from nbconvert import HTMLExporter
from nbformat import NotebookNode

from docs.building.mathematics import set_formulas
from docs.building.toc import Heading
from grader.authoring.alt_text import describe_pictures

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A notebook's page: title, HTML and the headings below the title, in order."""

    title: str
    html: str
    headings: tuple[Heading, ...]


def render(notebook: NotebookNode) -> Rendered:
    """The page of a notebook with outputs.

    nbconvert writes the HTML that every Jupyter page is made of; here it gets the site's own
    classes, so that it looks, folds and copies like the pages beside it, and loads nothing.
    """
    exporter = HTMLExporter(
        template_name="basic", exclude_input_prompt=True, exclude_output_prompt=True
    )
    html, _ = exporter.from_notebook_node(_described(notebook))
    soup = BeautifulSoup(html, "html.parser")
    _mark_answers(soup, notebook)
    _let_code_be_copied(soup)
    _put_words_for_badges(soup)
    headings = _number_levels(soup)
    set_formulas(soup)
    title, *rest = headings
    return Rendered(title.text, f'<div class="notebook">{soup}</div>', tuple(rest))


def _described(notebook: NotebookNode) -> NotebookNode:
    """The notebook with words for each picture: its own, its caption, or else its text."""
    described = describe_pictures(copy.deepcopy(notebook))
    for cell in described.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/png" in data:
                of_image = output.metadata.setdefault("image/png", {})
                of_image.setdefault("alt", data.get("text/plain", "A picture."))
    return described


def _mark_answers(soup: BeautifulSoup, notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            element = soup.find(id=f"cell-id={cell.id}")
            assert isinstance(element, Tag)
            element["class"] = " ".join([*map(str, element.get_attribute_list("class")), "answer"])
    for element in soup.find_all(id=lambda id_: bool(id_) and str(id_).startswith("cell-id=")):
        element["id"] = str(element["id"]).replace("cell-id=", "cell-")


def _let_code_be_copied(soup: BeautifulSoup) -> None:
    """Put code where the theme's button for copying looks for it."""
    for block in soup.select("div.highlight > pre"):
        code = soup.new_tag("code")
        code.extend(list(block.children))
        block.append(code)


def _put_words_for_badges(soup: BeautifulSoup) -> None:
    """Let a badge that another server draws be a button with its text."""
    for image in soup.find_all("img", src=lambda source: str(source).startswith("http")):
        link = image.parent
        assert link is not None, "the picture stands in no link"
        image.replace_with(str(image["alt"]))
        link["class"] = "md-button"


def _number_levels(soup: BeautifulSoup) -> list[Heading]:
    """Give the headings anchors, with the first alone at the top level."""
    headings: list[Heading] = []
    taken: set[str] = set()
    for element in soup.find_all(_HEADINGS):
        for pilcrow in element.select("a.anchor-link"):
            pilcrow.decompose()
        text = element.get_text()
        if headings:
            element.name = f"h{min(int(element.name[1]) + 1, 6)}"
        anchor = _free(_slug(text), taken)
        element["id"] = anchor
        if headings:
            link: dict[str, Any] = {"class": "headerlink", "href": f"#{anchor}"}
            pilcrow = soup.new_tag("a", attrs={**link, "title": "Permanent link"})
            pilcrow.string = "¶"
            element.append(pilcrow)
        headings.append(Heading(int(element.name[1]), anchor, text))
    return headings


def _slug(text: str) -> str:
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def _free(anchor: str, taken: set[str]) -> str:
    """The anchor, with a number behind it where another heading has it already."""
    number, candidate = 1, anchor
    while candidate in taken:
        number += 1
        candidate = f"{anchor}-{number}"
    taken.add(candidate)
    return candidate
