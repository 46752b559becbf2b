"""Draws the guide's pictures of a gradebook: pages of the example class, light and dark."""

from pathlib import Path

import click
from playwright.sync_api import sync_playwright

from tests.helpers.chromium import FLAGS

HERE = Path(__file__).parent

PAGES = {"class": "index.html", "lecture": "lecture.html", "student": "students/chloe.html"}
"""What is drawn, each by the page of the report that it shows."""


@click.command(help=__doc__)
@click.argument("report", type=click.Path(path_type=Path, exists=True))
@click.option("--chromium", default="/usr/bin/chromium", help="The browser.")
def main(report: Path, chromium: str) -> None:
    """Draw each page of a report that `make docs` has left in build/docs/example."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for scheme in ("light", "dark"):
            dark = scheme == "dark"
            page = browser.new_page(
                viewport={"width": 1000, "height": 640}, color_scheme="dark" if dark else "light"
            )
            for name, path in PAGES.items():
                page.goto((report / path).resolve().as_uri())
                page.screenshot(path=HERE / f"{name}-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
