"""Pictures that move, by a slider or by themselves, in a real JupyterLab."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab import LOOKS, Lab

pytestmark = pytest.mark.browser


def test_a_slider_moves_the_picture_above_it(lab: Lab) -> None:
    with lab.open("03_fused_batchnorm") as notebook:
        first = notebook.cell("")
        cell = first.insert_below("from grader import figures\n\nfigures.batch_noise()")
        cell.run()
        picture = cell.output.locator("img")
        expect(picture).to_have_attribute("alt", re.compile("random batches of 8;"))
        slider = cell.output.get_by_role("slider", name="batch size n")
        slider.press("ArrowRight")
        expect(picture).to_have_attribute("alt", re.compile("random batches of 16;"))
        moving = cell.insert_below("figures.gradient_runs_back()")
        moving.run()
        for look in LOOKS:
            notebook.take_on(look)
            assert notebook.cut_off == [], look
            cell.photograph(lab.pictures / f"slider-{look}.png")
            moving.photograph(lab.pictures / f"moving-{look}.png")
        assert notebook.troubles == []
