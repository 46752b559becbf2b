"""Formulas of a page, as Sphinx writes them."""

import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

pytest.importorskip("math_core", reason="comes with the extra docs: `make docs`")

from corpus.readers.places import PROJECT

pytestmark = pytest.mark.tools


def built(folder: Path, text: str) -> tuple[BeautifulSoup, subprocess.CompletedProcess[str]]:
    (folder / "index.md").write_text(f"# Title\n\n{text}\n", encoding="utf-8")
    (folder / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(PROJECT)!r})\n"
        "from docs.building.formulas import visit, visit_block\n"
        'extensions = ["myst_parser"]\nmyst_enable_extensions = ["dollarmath"]\n'
        'html_math_renderer = "mathml"\n'
        "def setup(app):\n"
        '    app.add_html_math_renderer("mathml", (visit, None), (visit_block, None))\n',
        encoding="utf-8",
    )
    words = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "-b",
        "html",
        str(folder),
        str(folder / "out"),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    page = folder / "out/index.html"
    html = page.read_text(encoding="utf-8") if page.is_file() else ""
    return BeautifulSoup(html, "html.parser"), done


def test_formulas_in_a_line_and_on_their_own_need_no_script(tmp_path: Path) -> None:
    soup, done = built(tmp_path, "Let $x^2$ be, $i < n$.\n\n$$\\frac{1}{n}$$\n\n`$HOME$`")
    assert done.returncode == 0, done.stderr
    inline, smaller, block = soup.find_all("math")
    assert block["display"] == "block"
    assert inline.msup is not None
    assert smaller.get_text() == "i<n"
    assert block.mfrac is not None
    assert "$HOME$" in soup.get_text()
    assert not [s for s in soup.find_all("script", src=True) if "mathjax" in str(s["src"]).lower()]


def test_what_cannot_be_set_ends_the_build(tmp_path: Path) -> None:
    _, done = built(tmp_path, "$\\nosuchcommand$")
    assert done.returncode != 0
    assert "This formula cannot be set: \\nosuchcommand" in done.stderr
