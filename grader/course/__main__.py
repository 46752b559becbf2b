"""The maintainer's command that makes the notebooks of the course from their sources."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.address import NotAnAddress
from grader.course.build import build
from grader.course.fill import fill_in
from grader.course.mark import mark
from grader.course.nbgrader import write_course
from grader.course.otter import write_otter
from grader.course.repoint import repoint
from grader.course.verify import verify
from grader.source import SourceError


@click.group(help=__doc__)
def command() -> None: ...


@command.command("build", help=build.__doc__)
@click.argument("names", nargs=-1, metavar="[NOTEBOOK]...")
def _build(names: tuple[str, ...]) -> None:
    build(names)


@command.command(
    "verify", help="Fail where the committed notebooks are not what their sources make."
)
def _verify() -> None:
    if complaints := verify():
        raise SourceError("\n".join([*complaints, "Run `make notebooks`, look, commit."]))


@command.command("fill", help=fill_in.__doc__)
@click.argument("blank", type=click.Path(path_type=Path))
@click.argument("answers", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path))
def _fill(blank: Path, answers: tuple[Path, ...], out: Path) -> None:
    fill_in(blank, answers, out)


@command.command("mark", help=mark.__doc__)
@click.option("--out", required=True, type=click.Path(path_type=Path))
def _mark(out: Path) -> None:
    mark(out)


@command.command("nbgrader", help=write_course.__doc__)
@click.option("--out", required=True, type=click.Path(path_type=Path))
def _nbgrader(out: Path) -> None:
    write_course(out)


@command.command("otter", help=write_otter.__doc__)
@click.option("--out", required=True, type=click.Path(path_type=Path))
def _otter(out: Path) -> None:
    write_otter(out)


@command.command("repoint", help=repoint.__doc__)
@click.argument("repository", metavar="OWNER/NAME")
def _repoint(repository: str) -> None:
    repoint(repository)


def main() -> None:
    """Run the command; what it refuses becomes a sentence and the exit status 1."""
    try:
        command(prog_name="python -m grader.course")
    except (SourceError, NotAnAddress) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
