import pytest
from bs4 import BeautifulSoup

pytest.importorskip("math_core", reason="comes with the extra docs: `make docs`")

from docs.building.mathematics import UnreadableFormula, set_formulas

pytestmark = pytest.mark.tools


def rendered(html: str) -> BeautifulSoup:
    soup = BeautifulSoup(html, "html.parser")
    set_formulas(soup)
    return soup


def test_formulas_in_a_line_and_on_their_own() -> None:
    soup = rendered(r"<p>Let $x^2$ be, then $$\frac{1}{n}$$ is.</p>")
    inline, block = soup.find_all("math")
    assert block["display"] == "block"
    assert inline.msup is not None
    assert block.mfrac is not None
    assert "$" not in soup.get_text()


def test_a_smaller_sign_in_a_formula_is_no_element() -> None:
    (formula,) = rendered("<p>$i &lt; n$</p>").find_all("math")
    assert formula.get_text() == "i<n"


@pytest.mark.parametrize("html", ["<code>$HOME$</code>", "<pre>$ make lab $</pre>"])
def test_code_stays_as_it_is(html: str) -> None:
    assert str(rendered(html)) == html


@pytest.mark.parametrize("html", ["<p>5 $ each</p>", r"<p>$\nosuchcommand$</p>"])
def test_what_cannot_be_set_is_an_error(html: str) -> None:
    with pytest.raises(UnreadableFormula):
        rendered(html)
