from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from corpus.readers.lecture_course import COURSE
from grader.reports import html, wording
from grader.reports.result import Ungraded
from grader.verdict import Report

Golden = Callable[[str, str], None]

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """What a browser would find: elements, ids, links, and whether everything is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def values(self, name: str) -> list[str]:
        return [value or "" for key, value in self.attributes if key == name]


@pytest.fixture
def page(mixed: Report, solved: Report, ungraded: Ungraded) -> str:
    return html.render([mixed, solved, ungraded], [COURSE] * 3)


def test_looks_as_kept(mixed: Report, golden: Golden) -> None:
    text = html.render([mixed], [COURSE])
    # the style sheet is looked at in a browser, not here
    golden("mixed.html", re.sub(r"<style>.*?</style>", "<style></style>", text, flags=re.DOTALL))


def test_is_well_formed(page: str) -> None:
    assert Page(page).open == []


def test_what_students_wrote_is_text(page: str) -> None:
    tags = set(Page(page).tags)
    assert not tags & {"script", "b", "img", "iframe"}
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b&gt;&amp;amp; what now?&lt;/b&gt;" in page
    assert "{{ 7 * 7 }}" in page
    assert all(character == "\n" or character.isprintable() for character in page)


def test_needs_nothing_from_elsewhere(page: str) -> None:
    found = Page(page)
    assert not {"script", "link", "img"} & set(found.tags)
    assert all(link.startswith("#") for link in found.values("href"))
    namespace = "http://www.w3.org/2000/svg"  # the name of SVG, which nothing loads
    assert "http" not in page.replace("http-equiv", "").replace(namespace, "")
    assert "@import" not in page


def test_links_lead_somewhere(page: str) -> None:
    found = Page(page)
    ids = found.values("id")
    assert len(ids) == len(set(ids))
    assert {link.removeprefix("#") for link in found.values("href")} <= set(ids)


def test_is_the_same_each_time(mixed: Report) -> None:
    assert html.render([mixed], [COURSE]) == html.render([mixed], [COURSE])


def test_shows_the_board_of_each_exercise(mixed: Report) -> None:
    text = html.render([mixed], [COURSE])
    assert text.count('class="graph wide"') == 1
    for verdict in mixed.verdicts:
        assert f"<title>{verdict.name}: {wording.word(verdict.outcome)}</title>" in text
    two = html.render([Report("02_fused_cross_entropy", ())], [COURSE])
    assert two.count('class="graph"') == 2
    assert two.count("Arrows show how gradients flow back from the loss.") == 1


def test_goes_without_a_board_where_the_exercise_is_unknown(mixed: Report) -> None:
    assert "<svg" not in html.render([Report("99_unheard_of", mixed.verdicts)], [COURSE])
