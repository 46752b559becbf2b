"""`grader handback`: give each student their own page of the gradebook."""

from __future__ import annotations

from pathlib import Path

import click

from grader.commands.options import DIR, PathTo
from grader.commands.speech import complain, say_sentences
from grader.printable import counted, printable

_NEXT = {
    "canvas": "In Canvas: Gradebook, the menu of the assignment's column, Re-Upload Submissions "
    "(there once you have downloaded them). Canvas gives each page the name of the file that its "
    "student handed in: to read it, they rename it to end in .html.",
    "moodle": "In Moodle: the assignment, Submissions, Upload multiple feedback files in a zip (it "
    "is there where the assignment's feedback types have Feedback files).",
    "folder": "Give each student their own folder, never the one above it.",
}
_SEVERAL = "Each zip is for the assignment that its download came from."


@click.command()
@click.argument("gradebook", type=PathTo())
@click.option(
    "--for",
    "form",
    required=True,
    type=click.Choice(list(_NEXT)),
    help="A zip that Canvas or Moodle takes, or a folder for each student.",
)
@click.option(
    "--out",
    type=DIR,
    help="A new or empty folder. Without this, handback-canvas, say, in GRADEBOOK.",
)
@click.option("--replace", is_flag=True, help="Replace what an earlier call has written to DIR.")
def handback(gradebook: Path, form: str, out: Path | None, replace: bool) -> None:
    """Hand back what GRADEBOOK says: each student gets their own page, and nothing of others.

    The pages are those of GRADEBOOK/report/students, as `grader grade` wrote them. DIR also gets
    handback.csv, a list of who gets which page. Nothing is uploaded or sent.

    The exit code is 0, or 2 if no page could be handed back, and a sentence says why.
    """
    from grader.classroom.handback.recipients import read_recipients, refuse_stale
    from grader.classroom.handback.write import PLATFORMS, Form, hand_back
    from grader.classroom.run.out_folder import UnfitFolder, claimed, convention_of

    wanted = Form(form)
    convention = convention_of(gradebook)
    if wanted in PLATFORMS and (needed := PLATFORMS[wanted][0]) != convention:
        raise UnfitFolder(
            f"{printable(str(gradebook))} was not made from a {needed}, but from: "
            f"{printable(convention)}. The platform knows its own names only: see --for folder."
        )
    where = out or gradebook / f"handback-{form}"
    with claimed(gradebook):
        refuse_stale(gradebook)
        people, notices = read_recipients(gradebook)
        for notice in notices:
            complain(notice)
        given = hand_back(people, wanted, where, replace=replace, tell=complain)
    students = len({each.recipient.student.id for each in given})
    files = sorted({each.file for each in given})
    into = where / files[0] if len(files) == 1 else where
    say_sentences(f"{students:,} of {counted(len(people), 'student')}: {printable(str(into))}.\n")
    say_sentences(f"{_NEXT[form]}\n")
    if len(files) > 1 and wanted in PLATFORMS:
        say_sentences(f"{_SEVERAL}\n")
