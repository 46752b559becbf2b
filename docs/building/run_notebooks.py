"""The blank notebooks, run once, so that their pages show pictures and figures."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import nbformat

from grader.authoring.build import execute
from grader.authoring.course import write_notebook
from grader.authoring.source import SourceError


@click.command(help=__doc__)
@click.argument("blank", type=click.Path(path_type=Path, exists=True))
@click.argument("out", type=click.Path(path_type=Path))
def main(blank: Path, out: Path) -> None:
    """Run a blank notebook and write it with its outputs."""
    try:
        write_notebook(execute(nbformat.read(blank, as_version=4)), out)
    except SourceError as error:
        sys.exit(f"{blank}: {error}")


if __name__ == "__main__":
    main()
