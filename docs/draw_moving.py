"""Draws the pictures that move: for the notebooks, and for the site's first page."""

import re
from collections.abc import Iterator
from pathlib import Path

from docs.moving.circuit import batchnorm_in_stages
from docs.moving.gradient import COLUMNS_ON_A_TELEPHONE, draw_gradient, gradient_runs_back
from grader.pictures.figures import moving

HERE = Path(__file__).parent


def moving_pictures() -> Iterator[tuple[Path, str]]:
    """The files of all pictures that move, with their texts."""
    yield moving.HERE / "gradient_runs_back.html", gradient_runs_back()
    yield moving.HERE / "batchnorm_in_stages.html", batchnorm_in_stages()
    for shape, columns in (("", None), ("-narrow", COLUMNS_ON_A_TELEPHONE)):
        svg = draw_gradient(columns)
        yield HERE / f"gradient{shape}.svg", svg
        # Here every gradient is lit: a browser may not tell a picture inside a page that its
        # reader asks for less motion.
        still = re.sub(r"animation[\w-]*:[^;\"}]*;?", "", svg)
        yield HERE / f"gradient-still{shape}.svg", still


def main() -> None:
    """Write every file."""
    for path, text in moving_pictures():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
