"""`grader export release`: the course without its answers, for a class repository."""

from __future__ import annotations

from pathlib import Path

import click

from grader.commands import exit_codes
from grader.commands.checkout import why_not_here
from grader.commands.speech import complain, say


@click.command()
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="An empty or new folder, an empty clone, or an earlier release, which is updated.",
)
@click.option(
    "--repository",
    metavar="OWNER/NAME",
    help="The class repository on GitHub, where badges and Colab cells are to lead.",
)
def release(out: Path, repository: str | None) -> int:
    """Write the course without its answers, ready to be pushed to a class repository.

    In it are the blank notebooks, the packages that check them, a README for students and a
    workflow; no solutions, no sources, no tests, nothing that makes the course. Run it in a clone
    of the course's repository.

    In a folder that holds an earlier release, files that you have changed since stay as they are.

    The exit code is 0 if the release is written, and 2 if something is in the way.
    """
    if trouble := why_not_here("grader export release"):
        complain(trouble)
        return exit_codes.UNREADABLE
    from grader.address import NotAnAddress, repository_address
    from grader.export.release import release_files
    from grader.export.release_folder import Occupied, write_release
    from grader.source import SourceError

    try:
        address = repository and repository_address(repository)
        written = write_release(release_files(address), out)
    except (NotAnAddress, Occupied, SourceError) as error:
        complain(str(error))
        return exit_codes.UNREADABLE
    say(f"{out}: {len(written.new)} files written, {len(written.removed)} removed.\n")
    for name in written.kept:
        say(f"{name} has been changed since the last release and stays as it is.\n")
    if address is None:
        say("Badges and Colab cells lead to the course's own repository: see --repository.\n")
    return exit_codes.PASSED
