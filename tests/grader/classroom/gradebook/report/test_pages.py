"""The pages as a browser finds them; how they look is for `tests/browser`."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.adjustments import read_adjustments
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.report import pages
from grader.classroom.gradebook.report.pages import page_name, policy
from grader.classroom.gradebook.rubric import Rubric, parse_rubric
from grader.classroom.gradebook.write import render
from grader.classroom.intake.class_folder import Student
from tests.helpers.lines import (
    BATCHNORM,
    Document,
    class_of,
    graded,
    gradient,
    journal,
    unreadable,
)
from tests.helpers.made_class import make_class

VOID = {"meta", "br", "input"}
SVG = {"rect", "circle", "path", "line"}
ELEMENTS = frozenset(
    re.findall(
        r"\w+",
        "a article bdi body br button canvas circle code dd details div dl dt figcaption figure"
        " footer form g h1 h2 h3 head header html input label legend li line main meta nav noscript"
        " optgroup option output p path pre rect script section select small span strong style"
        " summary svg table tbody td text th thead title tr ul",
    )
)
"""What pages are made of: anything else came from a student."""

SAFE = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[0-9a-f]{16})?\.html")


class Page(HTMLParser):
    """Elements, attributes and texts; fails where an element is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(key, value or "") for key, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SVG
        self.tags.append(tag)
        self.attributes += [(key, value or "") for key, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]

    @property
    def text(self) -> str:
        return "".join("".join(texts) for texts in self.texts.values())


ONE_EACH = Rubric()
"""A point for each gradient of the course."""


def write(
    tmp_path: Path, lines: list[Document], students: list[Student], rubric: Rubric = ONE_EACH
) -> Path:
    results = journal(tmp_path / "results.sqlite", lines)
    render(make_book(class_of(lines, students), results, rubric), tmp_path / "out")
    return tmp_path / "out" / "report"


def student(report: Path, name: str) -> str:
    return (report / "students" / f"{name}.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of 30 with everybody in it who tries something."""
    folder = tmp_path_factory.mktemp("class")
    made = make_class(30, seed=3)
    render(make_book(made.folder, made.write(folder / "r.sqlite"), Rubric()), folder)
    return folder / "report"


@pytest.mark.slow
def test_every_page_is_whole_and_needs_nothing(report: Path) -> None:
    paths = [report / "index.html", report / "lecture.html", *(report / "students").iterdir()]
    assert len(paths) == 32
    for path in paths:
        text = path.read_text(encoding="utf-8")
        page = Page(text)
        assert set(page.tags) <= ELEMENTS
        assert "style" not in dict(page.attributes)  # the policy would refuse it
        assert not [key for key, _ in page.attributes if key.startswith("on")]
        assert not {"src", "srcset", "action", "data"} & {key for key, _ in page.attributes}
        links = page.values("href")
        ids = page.values("id")
        assert len(ids) == len(set(ids))
        inside = {link[1:] for link in links if link.startswith("#")}
        assert inside <= set(ids)
        outside = [link for link in links if not link.startswith("#")]
        assert all((path.parent / link).is_file() for link in outside)
        if path.parent.name == "students":
            assert outside == []
            assert "script" not in page.tags


def test_the_policy_allows_the_pages_own_texts_and_no_others(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    (said,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    style, script = (
        re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL) for tag in ("style", "script")
    )
    assert len(style) == len(script) == 1
    assert said.replace("&#39;", "'") == policy(style[0], script[0])
    assert said.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in said


def test_the_class_page_links_everybody(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    rows = json.loads(block)["rows"]
    files = {path.stem for path in (report / "students").iterdir()}
    assert {row[2] for row in rows} == files
    assert len(rows) == 30
    assert not set(block) & set("<>&")


def test_no_page_knows_the_seed(report: Path) -> None:
    for path in report.rglob("*.html"):
        assert "424242424242" not in path.read_text(encoding="utf-8")


ANY = st.text(alphabet=st.characters(codec=None))
MARKUP = st.sampled_from(
    ["<script>", "</script>", "</style>", "<!--", "]]>", '"onload="x', "`<b>`", "{{ 7 }}", "&lt;"]
)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(ANY | MARKUP, min_size=1).map("".join))
def test_any_text_stays_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    flags = [
        {"kind": kind, "line": 1, "message": text, "cell": text}
        for kind in ("autograd", "duplicate-answer", text)
    ]
    diagnosis = [{"kind": text, "message": text, "hint": text}]
    line = graded("a", f"ada{text}", "ff", flags=flags)
    line["gradients"] = [
        gradient("dlogits", "e", note=text, code=text, cell=text),
        gradient("dz", "f", diagnosis=diagnosis, code=text),
    ]
    other = {**line, "id": "o", "student": "other"}  # what two share may be projected
    lines = [line, other, unreadable(f"b/{text}", f"ada{text}", text or "-")]
    report = write(tmp_path_factory.mktemp("page"), lines, [Student(f"ada{text}", text, text)])
    path = next(p for p in (report / "students").iterdir() if p.name != "other.html")
    for page in (path, report / "index.html", report / "lecture.html"):
        found = Page(page.read_text(encoding="utf-8"))
        assert set(found.tags) <= ELEMENTS
        assert found.tags.count("script") == (2 if page.name == "index.html" else 0)
        assert not [key for key, _ in found.attributes if key.startswith("on")]
        assert all(c == "\n" or c.isprintable() for c in found.text.replace("\t", ""))


FLAGS = [
    {"kind": "autograd", "line": 3, "message": "Autograd was asked.", "cell": "ex2-fused"},
    {"kind": "duplicate-answer", "line": 1, "message": "Twice there.", "cell": "ex2-fused"},
    {"kind": "dunder", "line": 3, "message": "Looks inside Python.", "cell": "ex2-fused"},
]


def test_a_student_sees_what_is_the_students_own(tmp_path: Path) -> None:
    lines = [
        graded("week 1/Bob Secret/a.ipynb", "ada", "pf", flags=FLAGS),
        graded("b", "bob", "pp"),
        unreadable("c/broken.ipynb", "ada", "It is `no` JSON."),
    ]
    lines[0]["gradients"][1] = gradient(
        "dz",
        "f",
        code="dz = z > 0",
        diagnosis=[
            {"kind": "sign", "message": "`dz` has the wrong sign.", "hint": "A minus?"},
            {"kind": "sum", "message": "A sum is missing.", "hint": ""},
            {"kind": "third", "message": "A third guess.", "hint": ""},
        ],
    )
    report = write(tmp_path, lines, [Student("ada", "Ada L."), Student("bob", "Bob Secret")])
    text = student(report, "ada")
    for there in (
        *("<title>Ada L.</title>", "1 of 2 points", "<pre>dz = z &gt; 0</pre>"),
        *("<code>dz</code> has the wrong sign.", "<summary>Hint</summary>A minus?"),
        *("Or: A sum is missing.", "Twice there."),
        *("broken.ipynb", "It is <code>no</code> JSON.", 'data-name="maxdiff">0.25</td>'),
        *("<svg", "grader 0.1.0"),
    ):
        assert there in text, there
    secret = ("Bob Secret", "bob", "Looks inside Python", "dunder", "Autograd was asked", "987654")
    for absent in (*secret, "A third guess"):
        assert absent not in text, absent
    index = (report / "index.html").read_text(encoding="utf-8")
    assert "Looks inside Python." in index
    assert "987654321" not in index


def test_older_late_and_missing_files_are_said(tmp_path: Path) -> None:
    moment = "2026-11-05T20:20:00+00:00"
    lines = [
        graded("a.ipynb", "ada", "pp"),
        graded("b.ipynb", "ada", "pf", attempt=1, late=True, submitted=moment),
        graded("c", "bob", "pppppp", BATCHNORM),
    ]
    report = write(tmp_path, lines, [], parse_rubric("late = 0.5\n[ex2]\ndlogits = 3", COURSE))
    ada = student(report, "ada")
    assert "b.ipynb, handed in 05 Nov 2026, 20:20 UTC" in ada
    assert "This notebook came in late: it keeps 50 % of its points." in ada
    assert "1.5 of 4 points" in ada
    assert 'data-name="points">3 of 3</td>' in ada
    assert re.search(r"not counted</h2>\s*<ul[^>]*>\s*<li>a.ipynb: 4 points", ada)
    assert "Counted is b.ipynb, the latest by the time it was handed in: 1.5 points." in ada
    assert "Nothing was handed in for this notebook." in ada
    assert "Nothing was handed in for this notebook." in student(report, "bob")


def test_where_nothing_was_graded_there_are_no_points(tmp_path: Path) -> None:
    lines = [graded("a", "ada", "pp"), unreadable("zip", "eve", "It is a zip archive.")]
    report = write(tmp_path, lines, [Student("zoe")])
    for who in ("eve", "zoe"):
        assert '<p class="score"><strong>nothing graded</strong></p>' in student(report, who)
        assert "0 of 2" not in student(report, who)
    assert "Nothing was handed in for this notebook." in student(report, "zoe")
    assert "see the other files below" in student(report, "eve")
    index = (report / "index.html").read_text(encoding="utf-8")
    assert "1 file graded, sandbox" in index


def test_the_board_shows_the_verdicts(tmp_path: Path) -> None:
    text = student(write(tmp_path, [graded("a", "ada", "pfctre", BATCHNORM)], []), "ada")
    for outcome in ("pass", "fail", "carried", "todo", "refused", "error"):
        assert text.count(f'<g class="{outcome}" ') == 1
    assert "<title>dbnbias: fail</title>" in text


def test_the_class_page_says_what_most_miss(tmp_path: Path) -> None:
    sign = [{"kind": "sign", "message": "Wrong sign of `dz`.", "hint": ""}]
    lines = [graded(f"{n}", f"s{n}", "pf") for n in range(3)] + [graded("x", "x", "pp")]
    for line in lines[:2]:
        line["gradients"][1]["diagnosis"] = sign
    lines.append(unreadable("y", "y"))
    lines[0]["run"] = {**lines[0]["run"], "sandbox": "none"}
    page = Page((write(tmp_path, lines, [Student("z")]) / "index.html").read_text("utf-8"))
    text = " ".join(page.text.split())
    assert "1 of the files were graded without a sandbox" in text
    assert {"75 %", "0 %"} <= {cell.strip() for cell in page.texts["td"]}
    assert "Wrong sign of" in text
    assert "Left out: 2 students of whom nothing could be graded." in text
    assert 'value="1">dz' in (tmp_path / "out/report/index.html").read_text("utf-8")


def test_what_nobody_has_wrong_is_folded_away(tmp_path: Path) -> None:
    def shown(name: str, outcomes: str) -> tuple[list[str], list[str]]:
        """The gradients in the tables of what is often wrong, and of what is not."""
        (tmp_path / name).mkdir()
        page = (
            write(tmp_path / name, [graded("a", "ada", outcomes)], []) / "index.html"
        ).read_text(encoding="utf-8")
        section = page[page.index("<h2>Most often wrong</h2>") : page.index("</section>\n</div>")]
        first, _, rest = section.partition("<details>")
        return re.findall("<code>(.*?)</code>", first), re.findall("<code>(.*?)</code>", rest)

    assert shown("one", "tf") == (["dz"], ["dlogits"])
    assert shown("none", "tp") == ([], ["dlogits", "dz"])
    assert shown("both", "ff") == (["dlogits", "dz"], [])


def test_an_empty_class_has_a_page(tmp_path: Path) -> None:
    text = (write(tmp_path, [], []) / "index.html").read_text(encoding="utf-8")
    assert "Students" in Page(text).text


def test_the_script_can_read_every_colour() -> None:
    colours = re.findall(r"--c-\w+: ([^;]*);", str(pages.asset("class.css")))
    assert len(colours) == 2 * 7
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)


@example("con")
@example("Nul!")
@given(st.text(alphabet=st.characters(codec=None)))
def test_is_safe_everywhere(student: str) -> None:
    name = page_name(student)
    assert SAFE.fullmatch(name)
    assert len(name) < 80
    assert not re.match(r"(con|prn|aux|nul|com\d|lpt\d)\.", name)


@pytest.mark.parametrize("other", ["Ada", "ada ", "ADA", "ada.", "a/da", "ada.html", "\u202eada"])
def test_nobody_takes_anothers_page(other: str) -> None:
    assert page_name("ada") == "ada.html"
    assert page_name(other).lower() != "ada.html"
    assert page_name(page_name(other).removesuffix(".html")) != page_name(other)


def test_what_the_instructor_decided_stands_on_the_pages(tmp_path: Path) -> None:
    lines = [graded("a.ipynb", "ada", "pp"), graded("b.ipynb", "bob", "pp")]
    folder = class_of(lines, [Student(who) for who in ("ada", "bob", "cyd", "dan")])
    (tmp_path / "adjustments.csv").write_text(
        "id,notebook,gradient,points,excused,comment\n"
        "ada,02,dz,0.5,,<b>half</b> of it\nbob,02,,,yes,\ncyd,02,,1.5,,oral exam\ncyd,,,,,see me\n"
    )
    adjustments = read_adjustments(tmp_path / "adjustments.csv", COURSE, folder.students)
    results = journal(tmp_path / "results.sqlite", lines)
    index = render(
        make_book(folder, results, Rubric(), adjustments=adjustments), tmp_path / "out"
    ).index
    ada, bob, cyd, dan = (student(index.parent, who) for who in ("ada", "bob", "cyd", "dan"))
    assert "1.5 of 2 points" in ada
    assert 'data-name="points">0.5 of 1</td>' in ada
    assert "Your instructor changed this:" in ada
    assert "“&lt;b&gt;half&lt;/b&gt; of it”" in ada
    assert "<strong>excused</strong>" in bob
    assert "oral exam" in cyd
    assert "Your instructor says:" in cyd
    assert "Nothing was handed in" not in cyd
    assert "Nothing was handed in" in dan
    assert "Your instructor" not in dan
    text = index.read_text(encoding="utf-8")
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert json.loads(block)["once"]["adjusted"] == {"0": "2", "1": "0", "2": "2"}
    assert "Adjusted by the instructor (* in the table): ada, bob and cyd" in text
    assert "<dt>excused</dt><dd>1</dd>" in text
    left = "1 student of whom nothing could be graded, and 1 student excused."
    assert f"Left out: {left}" in text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dunder", "metadata-dropped"])
def test_of_very_many_flagged_students_some_are_only_counted(tmp_path: Path, kind: str) -> None:
    flag = {"kind": kind, "message": "Looks inside Python.", "line": 1, "cell": "ex2-fused"}
    lines = [
        graded(f"{n:04}.ipynb", f"s{n:04}", "pf" if n else "pp", flags=[flag]) for n in range(1_320)
    ]
    text = (write(tmp_path, lines, []) / "index.html").read_text("utf-8")
    assert text.count("Looks inside Python.") == 300
    assert "And 1,020 students more" in text
    assert ("choose “flagged” in the table below" in text) == (kind == "dunder")
    assert "1,319</text>" in text


def test_what_is_to_be_looked_at_is_the_same_everywhere(tmp_path: Path) -> None:
    said = {"message": "m", "line": 1, "cell": "ex2-fused"}
    flags = [{"kind": kind, **said} for kind in ("dunder", "metadata-dropped", "unheard-of")]
    lines = [
        graded("a", "ada", "pp", flags=flags),
        graded("b", "bob", "pf", flags=flags[1:2]),
        graded("c", "cyd", "pf"),
    ]
    report = write(tmp_path, lines, [])
    text = (report / "index.html").read_text("utf-8")
    assert "<dt>to be looked at</dt><dd>1</dd>" in text
    with (report.parent / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["flags"], row["flag kinds"]) for row in rows] == [
        ("2", "dunder:1 unheard-of:1"),
        *[("0", "")] * 2,
    ]
    assert "metadata-dropped" in text


def test_the_number_of_the_highest_bar_is_not_cut_at_the_rim(tmp_path: Path) -> None:
    lines = [graded(f"{n}.ipynb", f"s{n}", "pp") for n in range(3)]
    text = (write(tmp_path, lines, []) / "index.html").read_text("utf-8")
    assert '<text x="440.0" y="12" text-anchor="end">3</text>' in text
