"""JupyterLab as a student meets it: menus, cells, what stands below them."""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Route,
    TimeoutError,
    expect,
)

from tests.browser.server import Server
from tests.helpers.chromium import photograph

# In milliseconds, for a machine that is busy with something else: nothing here tests speed.
PATIENCE = 180_000
SETTLED = 30_000
PATIENCE_WITH_A_NOTEBOOK = 600_000
expect.set_options(timeout=PATIENCE)

KERNEL = "Python 3 (ipykernel)"

WIDE, NARROW = (1280, 1000), (420, 1000)
LOOKS = {
    "light": ("JupyterLab Light", WIDE),
    "narrow": ("JupyterLab Light", NARROW),
    "dark": ("JupyterLab Dark", WIDE),
}
"""The theme, and the size of the window in pixels."""

COLAB_BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
GREY_BADGE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="117" height="20">'
    '<rect width="117" height="20" rx="3" fill="#888"/></svg>'
)

MENU_LABELS = ".lm-MenuBar-itemLabel, .lm-Menu-itemLabel"  # entries with a submenu have no role
TROUBLES = '[data-mime-type$="jupyter.error"], [data-mime-type$="jupyter.stderr"]'
ALL_HAVE_RUN_OR_ONE_FAILED = """troubles =>
    document.querySelector(troubles) ||
    [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt:not(.jp-Placeholder-prompt)")]
        .every(prompt => /\\d/.test(prompt.textContent))
"""
# Code, tables, boards and, where it is narrow, formulas may be scrolled; prose, pictures and cards
# may not.
CUT_OFF = """() => {
    const prose = ".jp-MarkdownOutput :is(p, li, summary, h1, h2, h3)";
    const printed = ".jp-OutputArea-output pre";
    const texts = [...document.querySelectorAll(`${prose}, ${printed}`)].filter(text =>
        text.scrollWidth > text.clientWidth + 1 &&
        (innerWidth > 1000 || !text.querySelector("mjx-container")));
    const drawn = ".jp-OutputArea-output img:not(.bpn-card img)";
    const pictures = [...document.querySelectorAll(drawn)].filter(picture =>
        picture.clientWidth > picture.parentElement.clientWidth + 1);
    const cards = [...document.querySelectorAll(".bpn-card")].filter(card =>
        card.scrollWidth > card.clientWidth + 1 ||
        card.clientWidth > card.parentElement.clientWidth + 1);
    return [...texts, ...pictures, ...cards].map(
        element => (element.textContent || "a picture").slice(0, 60));
}"""

WITHOUT_UNSEEN_COPIES = "mjx-assistive-mml { display: none !important; }"
"""MathJax lays a copy of each formula, for screen readers, unseen on it. In some fonts the copy is
wider, and would count as cut off."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One code cell of an open notebook."""

    box: Locator

    @property
    def source(self) -> str:
        return "\n".join(self._lines.all_text_contents())

    @property
    def output(self) -> Locator:
        return self.box.locator(".jp-Cell-outputArea")

    @property
    def picture(self) -> bytes:
        """The one picture below the cell."""
        image = self.output.locator("img")
        expect(image).to_have_attribute("src", re.compile("^data:image/png;base64,"))
        return base64.b64decode((image.get_attribute("src") or "").partition(",")[2])

    @property
    def board(self) -> str:
        """The board below the cell in words, as a screen reader says it."""
        return self.output.get_by_role("img").get_attribute("alt") or ""

    def type(self, source: str) -> None:
        """Put these lines in the place of those in the cell."""
        self._editor.click()
        self.box.page.keyboard.press("ControlOrMeta+a")
        self._insert(source)

    def run(self) -> None:
        """Press Shift and Enter; wait until the cell has its new number."""
        prompt = self.box.locator(".jp-InputPrompt")
        before = prompt.text_content() or ""
        self._editor.click()
        self.box.page.keyboard.press("Shift+Enter")
        expect(prompt).not_to_have_text(before)
        expect(prompt).to_have_text(re.compile(r"^\[\d+\]:$"))
        troubles = self.output.locator(TROUBLES).all_text_contents()
        assert not troubles, "\n".join(troubles)

    def split(self, above: int) -> None:
        """Split the cell below its first lines, as many as `above`."""
        self._editor.click()
        keyboard = self.box.page.keyboard
        keyboard.press("ControlOrMeta+Home")
        for _ in range(above):
            keyboard.press("ArrowDown")
        keyboard.press("Control+Shift+Minus")
        expect(self._lines).to_have_count(above)

    def insert_below(self, source: str) -> Cell:
        """Make a new cell below this one and type into it."""
        self._editor.click()
        for key in ("Escape", "b", "Enter"):
            self.box.page.keyboard.press(key)
        new = Cell(self.box.locator("xpath=following-sibling::*").first)
        expect(new.box).to_have_class(re.compile("jp-mod-selected"))
        new._insert(source)
        return new

    def photograph(self, path: Path) -> None:
        """Take a picture of the window, with the cell in its middle, for somebody to look at."""
        self.box.evaluate("cell => cell.scrollIntoView({block: 'center'})")
        photograph(self.box.page, path)

    @property
    def _editor(self) -> Locator:
        return self.box.locator(".cm-content")

    @property
    def _lines(self) -> Locator:
        return self._editor.locator(".cm-line")

    def _insert(self, source: str) -> None:
        lines = source.rstrip().split("\n")
        self.box.page.keyboard.insert_text("\n".join(lines))
        expect(self._lines).to_have_text(lines)


@dataclass(frozen=True, slots=True)
class Notebook:
    """An open notebook with its kernel."""

    page: Page
    name: str
    console_errors: list[str] = field(default_factory=list)

    def cell(self, beginning: str, index: int = 0) -> Cell:
        """The cell whose first line begins so; the index tells several apart."""
        beginning_of_line = re.compile(f"^{re.escape(beginning)}")
        line = self.page.locator(".cm-line:first-child", has_text=beginning_of_line)
        return Cell(self.page.locator(".jp-CodeCell", has=line).nth(index))

    def answer(self, grade_id: str) -> Cell:
        return self.cell(f"# answer: {grade_id}")

    def check(self, grade_id: str) -> Cell:
        return self.cell(f"# check: {grade_id}")

    @property
    def checks(self) -> list[str]:
        """What the check cells check, from the top down."""
        lines = self.page.locator(".cm-line", has_text=re.compile("^# check: ")).all_text_contents()
        return [line.removeprefix("# check: ") for line in lines]

    def run_all(self) -> None:
        """Choose "Run All Cells"; wait for the last one, or for trouble."""
        self.choose("Run", "Run All Cells")
        self.page.wait_for_function(
            ALL_HAVE_RUN_OR_ONE_FAILED, arg=TROUBLES, timeout=PATIENCE_WITH_A_NOTEBOOK
        )

    def write(self, answers: Mapping[str, str]) -> None:
        """Type answers into their cells, running each."""
        for grade_id, source in answers.items():
            self.answer(grade_id).type(source)
            self.answer(grade_id).run()

    def verdicts(self, grade_id: str) -> dict[str, str]:
        """What stands below a check cell: a verdict for each gradient that it names."""
        check = self.check(grade_id)
        parts = check.output.locator(".bpn-part:has(.bpn-name)")
        for gradient in re.findall(r'"(\w+)"', check.source):
            expect(
                parts.locator("code", has_text=re.compile(f"^{gradient}$")).first
            ).to_be_visible()
        return {
            name: (part.locator(".bpn-verdict").text_content() or "")[2:]
            for part in parts.all()
            for name in part.locator(".bpn-name code").all_text_contents()
        }

    def run_check(self, grade_id: str) -> dict[str, str]:
        self.check(grade_id).run()
        return self.verdicts(grade_id)

    @property
    def troubles(self) -> list[str]:
        """Exceptions, and what was written to stderr, wherever in the notebook."""
        return self.page.locator(TROUBLES).all_text_contents()

    @property
    def cut_off(self) -> list[str]:
        """The beginnings of what is wider than its cell, once the page has settled.

        JupyterLab follows another size of the window in several steps, late on a busy machine.
        """
        with suppress(TimeoutError):
            nothing = f"() => ({CUT_OFF})().length === 0"
            self.page.wait_for_function(nothing, timeout=SETTLED, polling=500)
        return list(self.page.evaluate(CUT_OFF))

    def choose(self, *path: str) -> None:
        """Click through a menu."""
        for entry in path:
            label = re.compile(f"^{re.escape(entry)}$")
            self.page.locator(MENU_LABELS, has_text=label).click()

    def take_on(self, look: str) -> None:
        """Change the theme, and the window's size."""
        theme, (width, height) = LOOKS[look]
        self.page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})  # the menu needs room
        self.choose("Settings", "Theme", theme)
        self.page.locator(f'body[data-jp-theme-name="{theme}"]').wait_for(state="attached")
        self.page.set_viewport_size({"width": width, "height": height})


@dataclass(frozen=True, slots=True)
class Lab:
    """A browser with the server whose pages it shows."""

    browser: Browser
    server: Server
    pictures: Path

    @contextmanager
    def open(self, name: str) -> Iterator[Notebook]:
        """Open a notebook; in the end, no error may stand on the browser's console."""
        context = self.browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})
        context.set_default_timeout(PATIENCE)
        context.route(lambda url: not url.startswith(self.server.url), _stand_in)
        page = context.new_page()
        notebook = Notebook(page, name)
        page.on("console", lambda message: _note(message, notebook.console_errors))
        page.on("pageerror", lambda error: notebook.console_errors.append(str(error)))
        try:
            # A workspace of its own: JupyterLab remembers what was open in one, and folded.
            workspace = secrets.token_hex(8)
            where = f"lab/workspaces/{workspace}/tree/{name}.ipynb?token={self.server.token}"
            page.goto(f"{self.server.url}{where}")
            page.get_by_text(f"{KERNEL} | Idle").wait_for()
            page.add_style_tag(content=WITHOUT_UNSEEN_COPIES)
            # Fold the list of files once it is there: before that, a key press would be lost.
            files = page.locator("#filebrowser")
            files.wait_for()
            page.keyboard.press("ControlOrMeta+b")
            expect(files).to_be_hidden()
            yield notebook
        except BaseException:
            photograph(page, self.pictures / f"{name}-failed.png")
            raise
        finally:
            self._shut_down_kernels(page)
            context.close()
        assert not notebook.console_errors, "\n".join(notebook.console_errors)

    def _shut_down_kernels(self, page: Page) -> None:
        headers = {"Authorization": f"token {self.server.token}"}
        sessions = f"{self.server.url}api/sessions"
        for session in page.request.get(sessions, headers=headers).json():
            page.request.delete(f"{sessions}/{session['id']}", headers=headers)


def _note(message: ConsoleMessage, errors: list[str]) -> None:
    if message.type == "error":
        errors.append(f"{message.text} ({message.location['url']})")


def _stand_in(route: Route) -> None:
    """Answer for every other machine: with a badge, or not at all, which is an error."""
    if route.request.url == COLAB_BADGE:
        route.fulfill(content_type="image/svg+xml", body=GREY_BADGE)
    else:
        route.abort()
