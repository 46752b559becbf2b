"""Blue and orange mean forward and backward everywhere."""

import colorsys
import re
from itertools import product
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex, to_rgb

from grader.pictures import figures
from grader.pictures.figures import sheet
from grader.pictures.front_end import BRIGHTER

PROJECT = Path(__file__).parents[1]
ROOMS = ("grader", "notebooks", "docs/pages", "docs/examples")

OWN = {sheet.FORWARD, sheet.BACKWARD}
LIGHT, DARK = ("#FFFFFF",), ("#111111", "#1F1F1F", "#383838")
"""The grounds of pages; the last is Colab's."""

HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
NAMED = re.compile(r"""["'](C\d|tab:\w+|\w*(?:blue|orange|navy))["']""")
GROUNDS = ("--page", "--card")
VERDICTS = ("--pass", "--carried", "--fail", "--todo", "--error", "--refused")


def means_a_way(colour: object) -> bool:
    """True if a reader would call this colour blue or orange."""
    red, green, blue = to_rgb(colour)  # type: ignore[arg-type]
    hue = 360 * colorsys.rgb_to_hls(red, green, blue)[0]
    is_grey = max(red, green, blue) - min(red, green, blue) < 0.09
    return not is_grey and (185 < hue < 245 or 15 < hue < 45)


def texts(suffix: str) -> list[Path]:
    found = [path for room in ROOMS for path in (PROJECT / room).rglob(f"*{suffix}")]
    assert len(found) > 5
    return found


def contrast(one: str, other: str) -> float:
    """Source: WCAG 2.2, "contrast ratio"."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_two_ways_are_blue_and_orange() -> None:
    assert all(map(means_a_way, OWN))


@pytest.mark.parametrize("name", ["FORWARD", "BACKWARD", "GREEN", "PINK", "PURPLE", "INK", "GREY"])
def test_a_figure_can_be_read_on_a_light_page_and_brightened_on_a_dark_one(name: str) -> None:
    colour = getattr(sheet, name)
    red, green, blue = (min(1, BRIGHTER * part) for part in to_rgb(colour))
    brighter = to_hex((red, green, blue))
    assert all(contrast(colour, ground) >= 4.5 for ground in LIGHT)
    assert all(contrast(brighter, ground) >= 4.5 for ground in DARK)
    # where nothing brightens it, as in a notebook that was saved
    assert contrast(colour, DARK[0]) >= 4.15


def test_no_python_names_a_blue_or_an_orange_of_its_own() -> None:
    for path in texts(".py"):
        text = path.read_text("utf-8")
        found = {colour.upper() for colour in HEX.findall(text) if means_a_way(colour)}
        assert found <= (OWN if path.name == "sheet.py" else set()), path
        assert not NAMED.findall(text), path


def test_no_name_of_the_sheet_but_two_is_blue_or_orange() -> None:
    colours = {name: value for name, value in vars(sheet).items() if HEX.fullmatch(str(value))}
    assert {name for name in colours if means_a_way(colours[name])} == {"FORWARD", "BACKWARD"}


def test_heat_maps_are_neither() -> None:
    for path in (PROJECT / "grader").rglob("*.py"):
        for name in re.findall(r'cmap="(\w+)"', path.read_text("utf-8")):
            colours = mpl.colormaps[name](range(256))
            assert not any(means_a_way(colour[:3]) for colour in colours), (path, name)


def test_what_a_notebook_plots_itself_is_neither() -> None:
    with plt.rc_context():
        figures.use_course_style()
        cycle = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    assert len(set(map(to_hex, cycle))) == len(cycle) == 4
    assert not any(map(means_a_way, cycle))


def test_style_sheets_have_them_under_their_names_only() -> None:
    for path in texts(".css"):
        text = re.sub(r"--(forward|backward|idle|lit): #\w+;", "", path.read_text("utf-8"))
        assert not [colour for colour in HEX.findall(text) if means_a_way(colour)], path


@pytest.mark.parametrize("sheet_of", ["reports/palette.css", "notebook/card.css"])
def test_a_verdict_can_be_read_on_each_ground(sheet_of: str) -> None:
    text = (PROJECT / "grader" / sheet_of).read_text("utf-8")
    looks = re.findall(r"--page: .*?\n.*?--refused: .*?;", text)
    assert len(looks) == 2  # light and dark
    for look in looks:
        colours = dict(re.findall(r"(--\w+): (#\w+);", look))
        for verdict, ground in product(VERDICTS, GROUNDS):
            assert contrast(colours[verdict], colours[ground]) >= 4.5, (verdict, ground)


def test_cards_reports_and_the_site_have_the_same_verdicts() -> None:
    report, card, site = (
        (PROJECT / path).read_text("utf-8")
        for path in (
            "grader/reports/palette.css",
            "grader/notebook/card.css",
            "docs/pages/assets/site.css",
        )
    )
    for name in ("pass", "carried", "fail", "error", "refused"):
        light, dark = re.findall(rf"--{name}: (#\w+);", report)
        assert re.findall(rf"--{name}: (#\w+);", card) == [light, dark]
        assert re.findall(rf"\.verdict\.{name} {{ background: (#\w+);", site) == [light]
