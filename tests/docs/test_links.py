from pathlib import Path

import pytest
from click.testing import CliRunner

from docs.building.links import find_broken, main, read_site

OTHER = '<h2 id="there">There</h2>'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/other.html").write_text(OTHER, encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"")
    return tmp_path


def broken(site: Path, html: str) -> list[str]:
    (site / "in/page.html").write_text(html, encoding="utf-8")
    return list(find_broken(read_site(site), site))


@pytest.mark.parametrize(
    "html",
    [
        '<a href="other.html">',
        '<a href="other.html#there">',
        '<a href="#here"><p id="here">',
        '<a href="https://example.org/x#y">',
        '<img src="../picture.png">',
        '<img src="data:image/png;base64,AA==">',
        '<link rel="canonical" href="https://example.org/">',
    ],
)
def test_what_is_there_is_not_broken(site: Path, html: str) -> None:
    assert broken(site, html) == []


@pytest.mark.parametrize(
    ("html", "complaint"),
    [
        ('<a href="nowhere.html">', "in/page.html links to nowhere.html, which is not there."),
        ('<a href="other.html#gone">', "links to other.html#gone, which is not there."),
        ('<a href="#gone">', "links to #gone, which is not there."),
        ('<img src="picture.png">', "loads picture.png, which is not there."),
        ('<script src="https://example.org/x.js">', "and pages need no network."),
        ('<link rel="stylesheet" href="//example.org/x.css">', "and pages need no network."),
    ],
)
def test_what_is_not_there_is_complained_about(site: Path, html: str, complaint: str) -> None:
    (only,) = broken(site, html)
    assert complaint in only


def test_the_command_fails_where_a_link_is_broken(site: Path) -> None:
    assert CliRunner().invoke(main, [str(site)]).exit_code == 0
    broken(site, '<a href="#gone">')
    result = CliRunner().invoke(main, [str(site)])
    assert result.exit_code == 1
    assert "2 pages, 1 links, 1 broken" in result.output
