"""An instructor's look at a class of 300, some of whom would rather run something."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from corpus.readers.places import PROJECT
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import render
from tests.browser.lab import PATIENCE
from tests.helpers.chromium import photograph
from tests.helpers.made_class import make_class

pytestmark = pytest.mark.browser

STUDENTS = 300


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    made = make_class(STUDENTS)
    return render(make_book(made.folder, made.write(folder / "r.jsonl"), Rubric()), folder).index


@contextmanager
def opened(browser: Browser, path: Path, width: int, scheme: str) -> Iterator[Page]:
    """A page on which nothing may be said on the console, and nothing asked of anybody."""
    dark = scheme == "dark"
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: troubles.append(dialog.message))
    page.on(
        "request",
        lambda request: None if request.url.startswith("file:") else troubles.append(request.url),
    )
    page.goto(path.as_uri())
    yield page
    assert "PWNED" not in page.title()
    assert troubles == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_every_page_fits(browser: Browser, report: Path, width: int, scheme: str) -> None:
    pictures = PROJECT / "build" / "browser"
    pictures.mkdir(parents=True, exist_ok=True)
    students = sorted((report.parent / "students").iterdir())
    hostile = [path for path in students if path.name.count(".") == 2]
    assert len(hostile) > 5
    lecture = report.with_name("lecture.html")
    for name, path in (
        *(("class", report), ("lecture", lecture)),
        *(("student", students[40]), ("hostile", hostile[2])),
    ):
        with opened(browser, path, width, scheme) as page:
            assert page.evaluate("document.documentElement.scrollWidth") == width
            photograph(page, pictures / f"{name}-{width}-{scheme}.png")


def test_find_sort_and_open_a_student(browser: Browser, report: Path) -> None:
    with opened(browser, report, 1200, "light") as page:
        count, rows = page.locator("#count"), page.locator("#table tbody tr:not(.gap)")
        expect(count).to_have_text(f"{STUDENTS} students")
        assert 10 < rows.count() < 60  # the others are made when they come into view

        page.get_by_role("button", name="points").click()
        worst = rows.first.locator("td.c-total").inner_text()
        page.get_by_role("button", name="points").press("Enter")
        assert page.locator("[aria-sort=descending]").inner_text().startswith("points")
        best = rows.first.locator("td.c-total").inner_text()
        assert worst == "–"
        assert best == "47 / 47"

        what = page.locator("select[name=what]")
        expect(what).to_be_disabled()
        page.locator("select[name=gradient]").select_option(label="dC")
        some = int(count.inner_text().split()[0])
        assert 0 < some < STUDENTS
        numbers = []
        for which in ("wrong", "todo"):
            what.select_option(value=which)
            numbers.append(int(count.inner_text().split()[0]))
        assert sum(numbers) == some
        mistake = what.locator("option").nth(3)
        what.select_option(label=mistake.inner_text())
        assert mistake.inner_text().endswith(f"({count.inner_text().split()[0]})")
        page.get_by_role("button", name="all students").click()
        page.get_by_placeholder("name or id").fill("ZOE")  # as typed by somebody in a hurry
        expect(count).to_contain_text(f"of {STUDENTS}")
        expect(rows.first).to_contain_text("Zoë")

        page.locator("[data-gradient]").first.click()
        expect(page.get_by_placeholder("name or id")).to_have_value("")
        expect(count).to_contain_text(f"of {STUDENTS}")
        rows.first.get_by_role("link").click()
        expect(page.locator("header.page")).to_contain_text("points")


def test_a_gradient_leads_to_its_mistakes_and_a_mistake_to_its_students(
    browser: Browser, report: Path
) -> None:
    with opened(browser, report, 1200, "light") as page:
        last = page.locator(".missed a").nth(8)
        last.focus()
        page.keyboard.press("Enter")
        unfolded = page.locator(f"{last.get_attribute('href')}")
        expect(unfolded).to_have_attribute("open", "")
        button = unfolded.locator("[data-what]").first
        students = button.locator("xpath=ancestor::li").locator("p .share").first.inner_text()
        button.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#count")).to_have_text(f"{students.split()[0]} of {STUDENTS} students")


def test_the_page_to_project_is_walked_by_keyboard(browser: Browser, report: Path) -> None:
    with opened(browser, report.with_name("lecture.html"), 1200, "dark") as page:
        sections = page.locator("section")
        assert sections.count() == 3
        for number, section in enumerate(sections.all(), 1):
            box = section.bounding_box()
            assert box is not None
            assert box["height"] >= 900  # a screen for each
            expect(section.locator("[aria-current=true]")).to_have_text(str(number))
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(sections.nth(1).locator("h1")).to_be_in_viewport()
        expect(sections.nth(0).locator("h1")).not_to_be_in_viewport()
        size = "parseFloat(getComputedStyle(document.querySelector('pre')).fontSize)"
        assert page.evaluate(size) >= 1200 / 50


def test_all_rows_can_be_reached_with_the_keyboard(browser: Browser, report: Path) -> None:
    with opened(browser, report, 1200, "light") as page:
        focused = "document.activeElement.closest('tr')?.getAttribute('aria-rowindex')"
        page.locator("#table tbody a").first.focus()
        seen = [page.evaluate(focused)]
        for _ in range(59):
            page.keyboard.press("Tab")
            page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            seen.append(page.evaluate(focused))
        assert seen == [str(row) for row in range(2, 62)]


def test_the_heat_map_says_what_it_shows(browser: Browser, report: Path) -> None:
    with opened(browser, report, 1200, "dark") as page:
        said = page.locator("#said")
        page.locator("#map").focus()
        page.keyboard.press("ArrowDown")
        expect(said).to_contain_text("47 points: dlogprobs in 01_atomic_backprop: ✓ pass")
        page.keyboard.press("ArrowRight")
        expect(said).to_contain_text("dprobs in")
        page.keyboard.press("Enter")
        expect(page.locator("header.page")).to_contain_text("47 of 47 points")


def test_printed_it_has_every_student(browser: Browser, report: Path) -> None:
    with opened(browser, report, 1200, "light") as page:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("#table tbody tr:not(.gap)").count() == STUDENTS
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("#table tbody tr:not(.gap)").count() < 60


def note(asked: list[str]) -> Callable[[Request], None]:
    return lambda request: asked.append(request.url)


def test_what_slips_through_does_not_run(browser: Browser, report: Path, tmp_path: Path) -> None:
    """Even if a text were not escaped: the policy refuses what is not the page's own."""
    attacks = (
        "<script>document.title = 'PWNED'</script>"
        "<img src=x onerror=\"document.title = 'PWNED'\">"
        '<style>body { display: none }</style><link rel=stylesheet href="https://x.example/">'
        '<form action="https://x.example/"><button id=go>x</button></form>'
    )
    for path in (report, next((report.parent / "students").iterdir())):
        broken = tmp_path / path.name
        text = path.read_text(encoding="utf-8")
        broken.write_text(text.replace("<h1>", f"{attacks}<h1>", 1), encoding="utf-8")
        page = browser.new_page()
        asked: list[str] = []
        page.on("requestfinished", note(asked))
        page.goto(broken.as_uri())
        assert page.locator("#go").count() == 1
        page.locator("#go").evaluate("button => button.click()")
        page.wait_for_timeout(200)
        assert "PWNED" not in page.title()
        assert page.locator("h1").first.is_visible()
        assert asked == [broken.as_uri()]
        page.close()
