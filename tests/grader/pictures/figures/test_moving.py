"""The moving pictures: what moves, what stands still, what is said."""

import re
from xml.etree import ElementTree

import pytest

from corpus.readers.lecture_course import ATOMIC
from corpus.readers.places import PROJECT
from docs.draw_moving import moving_pictures
from docs.moving.gradient import draw_gradient
from grader.pictures.figures.moving import MovingPicture, batchnorm_in_stages, gradient_runs_back
from grader.program.parse import parse_program

PICTURES = (gradient_runs_back(), batchnorm_in_stages())
PROGRAM = parse_program(ATOMIC.forward)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("columns", [None, 2])
def test_every_version_shows_every_gradient(columns: int | None) -> None:
    root = ElementTree.fromstring(draw_gradient(columns))
    assert {text.text for text in root.iter(f"{SVG}text")} == {"loss", *ATOMIC.gradients}
    assert root.get("aria-label") == PICTURES[0].alt


def test_gradients_light_up_from_the_loss_down() -> None:
    svg = draw_gradient(None)
    lit = re.findall(r'--at:([\d.]+)s"><rect[^>]*/><text[^>]*>(\w+)<', svg)
    seconds = {name: float(at) for at, name in lit}
    assert seconds["loss"] == 0 == min(seconds.values())
    for reader in PROGRAM.steps[:-1]:
        for name in {f"d{read}" for read in reader.reads} & {*seconds}:
            if f"d{reader.name}" in seconds:
                assert seconds[f"d{reader.name}"] < seconds[name]


@pytest.mark.parametrize("picture", PICTURES, ids=["gradient", "stages"])
def test_a_picture_moves_only_for_those_who_like_it_and_can_be_paused(
    picture: MovingPicture,
) -> None:
    html = picture._repr_html_()
    still, *_ = html.split("@media (prefers-reduced-motion: no-preference)")
    assert "animation:" not in still
    assert ":has([type=checkbox]:checked) svg * { animation-play-state: paused; }" in html
    assert '<label><input type="checkbox"> Pause</label>' in html
    assert f'aria-label="{picture.alt}"' in html
    assert "script" not in html
    assert len(html) < 100_000


def test_each_stage_brings_back_the_arrows_that_leave_its_node() -> None:
    html = PICTURES[1]._repr_html_()
    # three examples are drawn: x to x-hat, mu, variance; mu to x-hat and variance
    assert [html.count(f'class="back s{stage}"') for stage in range(1, 5)] == [3, 3, 4, 9]
    assert html.count('class="forth s0"') == 19
    assert html.count('type="radio"') == html.count("<p class=") == 5


def test_the_files_are_what_is_drawn() -> None:
    """`python -m docs.draw_moving` writes them."""
    first_page = (PROJECT / "docs/pages/index.md").read_text("utf-8")
    for path, text in moving_pictures():
        assert path.read_text("utf-8") == text, path.name
        assert path.suffix == ".html" or path.name in first_page
