"""No page of a class's report keeps anybody out: axe finds nothing serious, and keys are enough."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from corpus.readers.lecture_course import COURSE
from docs.building.samples import reports
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import render
from grader.reports import html
from tests.browser.test_class_report import opened
from tests.helpers.axe import Complaints, complaints
from tests.helpers.made_class import make_class

__all__ = ["complaints"]

pytestmark = pytest.mark.browser

FOCUSED = """() => {
  const element = document.activeElement, style = getComputedStyle(element);
  if (element === document.body) return null;
  const box = element.getBoundingClientRect();
  return {
    name: element.tagName + " " + element.textContent.trim().slice(0, 40),
    outlined: style.outlineStyle === "solid" && parseFloat(style.outlineWidth) >= 2,
    inView: box.bottom > 0 && box.top < innerHeight,
    top: box.top + scrollY,
  };
}"""

MOST_STOPS = 150


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    made = make_class(40, hostile=False)
    book = render(make_book(made.folder, made.write(folder / "r.jsonl"), Rubric()), folder)
    return book.index.parent


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("kind", ["index.html", "lecture.html", "students/*.html"])
def test_axe_finds_nothing_serious(
    browser: Browser, report: Path, complaints: Complaints, kind: str, width: int, scheme: str
) -> None:
    with opened(browser, next(report.glob(kind)), width, scheme) as page:
        assert complaints(page) == []


def test_axe_sees_a_field_without_a_label(
    browser: Browser, report: Path, complaints: Complaints
) -> None:
    with opened(browser, report / "index.html", 1200, "light") as page:
        page.evaluate("document.querySelector('#students').append(document.createElement('input'))")
        (complaint,) = complaints(page)
        assert complaint.startswith("critical: label: ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["index.html", "lecture.html", "students/*.html"])
def test_every_stop_of_the_tab_key_is_framed_and_in_view(
    browser: Browser, report: Path, kind: str, scheme: str
) -> None:
    with opened(browser, sorted(report.glob(kind))[1 if "*" in kind else 0], 1200, scheme) as page:
        stops = list(tab_stops(page))
        assert stops
        assert [stop["name"] for stop in stops if not (stop["outlined"] and stop["inView"])] == []


def tab_stops(page: Page) -> Iterator[dict[str, Any]]:
    """What Tab comes to, in turn, until it leaves the page."""
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None:
            return
        yield stop


def test_keys_lead_to_the_table_find_a_student_and_sort(browser: Browser, report: Path) -> None:
    with opened(browser, report / "index.html", 1200, "light") as page:
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="To the table of students")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_label("find")).to_be_focused()
        points = page.get_by_role("button", name="points")
        for _ in range(10):
            page.keyboard.press("Tab")
            if points.evaluate("element => element === document.activeElement"):
                break
        column = page.locator("th[data-sort=points]")
        for key, order in ("Enter", "ascending"), ("Space", "descending"):
            page.keyboard.press(key)
            expect(column).to_have_attribute("aria-sort", order)
            expect(points).to_be_focused()


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `grader check --html` about the sample submissions."""
    path = tmp_path_factory.mktemp("check") / "report.html"
    path.write_text(html.render(list(reports().values()), [COURSE] * len(reports())), "utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1200])
def test_arrows_are_explained_where_there_are_some(
    browser: Browser, checked: Path, width: int
) -> None:
    with opened(browser, checked, width, "light") as page:
        shown = page.locator(".graph").first.is_visible()
        assert shown == (width == 1200)
        assert page.get_by_text("Where arrows meet").first.is_visible() == shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_axe_finds_nothing_serious_on_the_page_of_a_check(
    browser: Browser, checked: Path, complaints: Complaints, width: int, scheme: str
) -> None:
    with opened(browser, checked, width, scheme) as page:
        assert complaints(page) == []
