"""Pictures that move, read from the files beside this one: `docs/draw_moving.py` draws them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grader.pictures.front_end import DARK_STYLE

HERE = Path(__file__).parent
_WORDS = re.compile(r'role="img" aria-label="([^"]*)"')


@dataclass(frozen=True, slots=True)
class MovingPicture:
    """A picture that moves, with its words.

    It can be paused, and stands still for a reader who asks for less motion. It is a part of a
    page, for a picture in a file hears nothing of the page's buttons.
    """

    html: str
    alt: str

    def __repr__(self) -> str:
        return f"<Moving picture: {self.alt}>"

    def _repr_html_(self) -> str:
        return f"{DARK_STYLE}{self.html}"


def gradient_runs_back() -> MovingPicture:
    """Notebook 1's network: a gradient runs from the loss back to every tensor."""
    return _read("gradient_runs_back")


def batchnorm_in_stages() -> MovingPicture:
    """One column of 32 numbers through batch normalisation and back, every arrow counted."""
    return _read("batchnorm_in_stages")


def _read(name: str) -> MovingPicture:
    html = (HERE / f"{name}.html").read_text(encoding="utf-8")
    (words, *_) = _WORDS.findall(html)
    return MovingPicture(html, words)
