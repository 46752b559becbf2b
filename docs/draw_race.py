"""Draws the figure of the guide's page about training, from the table on that page."""

import re
from pathlib import Path

from grader.pictures.figures import race_chart
from grader.pictures.figures.sheet import Picture

PAGE = Path(__file__).parent / "pages" / "student" / "training.md"
FIGURE = Path(__file__).parent / "pages" / "assets" / "race.png"

_ROW = re.compile(r"^\| ([^|]+) \| ([\d,]+) \| [\d.]+ \| \d+% \|$", re.MULTILINE)


def draw() -> Picture:
    """The bars of the page's table."""
    rows = _ROW.findall(PAGE.read_text(encoding="utf-8"))
    return race_chart({name: float(rate.replace(",", "")) for name, rate in rows})


if __name__ == "__main__":
    FIGURE.write_bytes(draw().png())
