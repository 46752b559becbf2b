"""The moving picture: what moves, what stands still, what is said."""

import re
from xml.etree import ElementTree

import pytest

from corpus.readers.lecture_course import ATOMIC
from corpus.readers.places import PROJECT
from docs.draw_board import MOVING, draw_moving
from grader.pictures.figures.motion import NARROW, STILL, draw_motion, gradient_runs_back
from grader.program.parse import parse_program

PICTURE = gradient_runs_back()
PROGRAM = parse_program(ATOMIC.forward)


@pytest.mark.parametrize("media", PICTURE.versions)
def test_every_version_shows_every_gradient(media: str) -> None:
    root = ElementTree.fromstring(PICTURE.versions[media])
    texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert texts == {"loss", *ATOMIC.gradients}
    assert root.get("aria-label") == PICTURE.alt


def test_gradients_light_up_from_the_loss_down() -> None:
    svg = draw_motion(PROGRAM, ATOMIC.gradients, None)
    lit = re.findall(r'--at:([\d.]+)s"><rect[^>]*/><text[^>]*>(\w+)<', svg)
    seconds = {name: float(at) for at, name in lit}
    assert seconds["loss"] == 0 == min(seconds.values())
    for reader in PROGRAM.steps[:-1]:
        for name in {f"d{read}" for read in reader.reads} & {*seconds}:
            if f"d{reader.name}" in seconds:
                assert seconds[f"d{reader.name}"] < seconds[name]


def test_who_asks_for_less_motion_gets_none() -> None:
    for media, svg in PICTURE.versions.items():
        assert bool(re.search(r"animation", svg)) is (STILL not in media), media
    assert "@media (prefers-reduced-motion: no-preference)" in PICTURE.versions[""]
    sources = re.findall(r'<source media="([^"]+)"', PICTURE._repr_html_())
    # The browser takes the first that fits.
    assert sources == [f"{STILL} and {NARROW}", STILL, NARROW]


def test_it_is_small_and_has_words() -> None:
    html = PICTURE._repr_html_()
    assert len(html) < 100_000
    assert f'alt="{PICTURE.alt}"' in html
    assert "script" not in html


@pytest.mark.parametrize("name", MOVING)
def test_the_files_of_the_first_page_are_these(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`python -m docs.draw_board` writes them."""
    folder = tmp_path_factory.mktemp("moving")
    draw_moving(folder)
    assert (folder / name).read_text("utf-8") == (PROJECT / "docs" / name).read_text("utf-8")
    assert name in (PROJECT / "docs/pages/index.md").read_text("utf-8")
