"""The built site: links, nothing of the solutions, and a reader without a network."""

from __future__ import annotations

import html
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from playwright.sync_api import Browser, Page, expect

import grader
import makemore_data
from corpus.readers.places import PROJECT
from docs.building.links import find_broken, read_site
from grader.authoring.blank import solution_statements
from grader.authoring.course import find_sources, read_notebook
from tests.helpers.axe import Complaints, complaints

__all__ = ["complaints"]

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def site() -> Path:
    subprocess.run(["make", "docs"], cwd=PROJECT, check=True)
    return PROJECT / "build/site"


@pytest.fixture
def reader(browser: Browser) -> Iterator[Page]:
    """Somebody with the folder on a disk and no network."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith(("file:", "data:")) else troubles.append(request.url)
        ),
    )
    yield page
    assert [each for each in troubles if not each.startswith(("file:", "data:"))] == []
    context.close()


def test_every_link_leads_somewhere_and_no_page_needs_the_network(site: Path) -> None:
    pages = read_site(site)
    assert len(pages) >= 20
    assert list(find_broken(pages, site)) == []


def test_no_page_tells_an_answer(site: Path) -> None:
    said = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.html"))
    said += (site / "searchindex.js").read_text(encoding="utf-8")
    text = squeezed(html.unescape(re.sub(r"<[^>]+>", "", said)))
    for source in find_sources():
        solved = squeezed(source.read_text(encoding="utf-8"))
        for statement in map(squeezed, solution_statements(read_notebook(source))):
            assert statement in solved
            assert statement not in text, f"{source.name}: {statement}"


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("width", [1200, 390])
def test_no_page_is_wider_than_the_window(site: Path, reader: Page, width: int) -> None:
    reader.set_viewport_size({"width": width, "height": 900})
    for name in read_site(site):
        reader.goto((site / name).as_uri())
        assert reader.evaluate("document.documentElement.scrollWidth") <= width, name


BROKEN_OR_CUT = """() => {
  const found = [];
  for (const cell of document.querySelectorAll("article .table code .pre")) {
    for (const { index, 0: name } of cell.textContent.matchAll(/\\w+/g)) {
      const range = document.createRange();
      range.setStart(cell.firstChild, index);
      range.setEnd(cell.firstChild, index + name.length);
      if (new Set([...range.getClientRects()].map((line) => line.top)).size > 1) found.push(name);
    }
  }
  for (const block of document.querySelectorAll(".highlight-console pre"))
    if (block.scrollWidth > block.clientWidth && getComputedStyle(block).overflowX !== "auto")
      found.push(block.textContent);
  return found;
}"""


@pytest.mark.parametrize("width", [1200, 390])
def test_no_name_in_a_table_is_broken_and_no_console_is_cut(
    site: Path, reader: Page, width: int
) -> None:
    reader.set_viewport_size({"width": width, "height": 900})
    for name in read_site(site):
        reader.goto((site / name).as_uri())
        assert reader.evaluate(BROKEN_OR_CUT) == [], name


def test_the_search_finds_a_diagnosis_without_a_server(site: Path, reader: Page) -> None:
    reader.goto((site / "index.html").as_uri())
    reader.keyboard.press("Control+k")
    reader.keyboard.type("not-accumulated")
    reader.keyboard.press("Enter")
    first = reader.locator("#search-results a").first
    expect(first).to_contain_text("catalogue of diagnoses")


def test_formulas_are_mathematics_to_the_browser(site: Path, reader: Page) -> None:
    reader.goto((site / "notebooks/03_fused_batchnorm.html").as_uri())
    heights = "[...document.querySelectorAll('mfrac')].map(e => e.getBoundingClientRect().height)"
    # Those in folded hints have none.
    assert sum(height > 9 for height in reader.evaluate(heights)) > 20


@pytest.mark.parametrize("package", [grader, makemore_data])
def test_every_public_name_is_in_the_reference(site: Path, package: ModuleType) -> None:
    anchors = read_site(site)[f"reference/{package.__name__}.html"].anchors
    documented = {anchor.rpartition(".")[2] for anchor in anchors}
    assert set(package.__all__) <= documented


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(
    site: Path, browser: Browser, complaints: Complaints, scheme: str
) -> None:
    context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light")
    page, found = context.new_page(), {}
    for name in read_site(site):
        page.goto((site / name).as_uri())
        found[name] = complaints(page)
    context.close()
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_boards_are_as_dark_as_their_page(site: Path, reader: Page, scheme: str) -> None:
    reader.add_init_script(f"localStorage.setItem('mode', '{scheme}')")
    reader.goto((site / "notebooks/01_atomic_backprop.html").as_uri())
    ground = "getComputedStyle(document.querySelector('.bpn-card')).backgroundColor"
    red = int(re.findall(r"\d+", reader.evaluate(ground))[0])
    assert red < 64 if scheme == "dark" else red > 192


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_the_tab_key_comes_to_is_framed(site: Path, reader: Page, scheme: str) -> None:
    reader.add_init_script(f"localStorage.setItem('mode', '{scheme}')")
    reader.goto((site / "instructor/other-systems.html").as_uri())
    reader.add_style_tag(content="* { transition: none !important; }")
    stops = []
    framed = """() => {
      const element = document.activeElement, style = getComputedStyle(element);
      return element === document.body ? null : [
        element.textContent.trim(), style.outlineStyle === "solid" || style.boxShadow !== "none"
      ];
    }"""
    for _ in range(200):
        reader.keyboard.press("Tab")
        if (stop := reader.evaluate(framed)) is None:
            break
        stops.append(stop)
    assert len(stops) > 40
    assert [name for name, is_framed in stops if not is_framed] == []
