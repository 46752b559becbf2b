"""`grader grade`: turn a class's notebooks into a gradebook."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from grader.classroom.class_settings import REMEMBERED, SETTINGS, read_settings, write_settings
from grader.classroom.gradebook.codes import Attempts
from grader.classroom.gradebook.platform_form import Scale
from grader.classroom.gradebook.rubric import example_rubric as example_rubric_of
from grader.classroom.intake.class_folder import ClassFolder
from grader.classroom.notices import Note
from grader.classroom.run.class_run import Run, Stop, Tally
from grader.classroom.run.display import Show, as_clock, bar_on, lines_to
from grader.classroom.run.grade_task import grade_task, local_pool
from grader.classroom.run.local_pool import usable_cores
from grader.classroom.run.pool import Pool
from grader.classroom.run.results import EARLIER, RESULTS, Results
from grader.classroom.run.settings import SEED_BITS, Settings, installed_versions, secret_seed
from grader.commands import exit_codes
from grader.commands.class_options import (
    adjustments_of,
    class_options,
    platform_form_of,
    read_due_rubric,
)
from grader.commands.course import class_course_option, instructors_course
from grader.commands.extras import require
from grader.commands.options import (
    AS_TYPED,
    DIR,
    PathTo,
    limits,
    report_option,
    said_by,
    timeout_option,
)
from grader.commands.speech import complain, has_colour, say, say_sentences
from grader.execution import sandbox
from grader.printable import counted, listed, printable
from grader.program.course import Course
from grader.user_error import reason

if TYPE_CHECKING:
    from grader.classroom.gradebook.write import Written

MOST_NAMED = 5
"""The most files that a sentence names, since there may be thousands."""


@dataclass(frozen=True, slots=True)
class Order:
    """The instructor's order: the options, by their names."""

    folder: Path
    out: Path
    roster: Path | None
    roster_columns: Mapping[str, str] | None
    yes: bool
    due: datetime | None
    file_times: bool
    due_notebooks: str | None
    attempts: str
    adjustments: Path | None
    rubric: Path | None
    scale: Scale
    canvas_column: tuple[str, ...]
    jobs: int | None
    scheduler: str | None
    seed: int | None
    timeout: float | None
    sandbox: str
    junitxml: Path | None
    quiet: bool
    course: str | None


def _recall(context: click.Context, _: click.Parameter, out: Path | None) -> Path | None:
    """Use the options with which the gradebook was made, unless others are given."""
    if out is not None:
        context.default_map = read_settings(out)
    return out


def _options(context: click.Context) -> Iterator[tuple[str, Any, bool]]:
    """The options to keep, and whether each comes from the previous run."""
    typed = context.meta.get(AS_TYPED, {})
    for name in REMEMBERED:
        source = context.get_parameter_source(name)
        value = typed.get(name, context.params[name])
        if source in (None, ParameterSource.DEFAULT) or not value:
            continue
        if isinstance(value, Path) or (name == "course" and Path(value).exists()):
            value = str(Path(value).absolute())
        value = list(value) if isinstance(value, tuple) else value
        yield name, value, source is ParameterSource.DEFAULT_MAP


def _as_before(context: click.Context, out: Path) -> Iterator[str]:
    """The line that names the options of the previous run."""
    said = []
    for name, value, before in _options(context):
        if before:
            option = f"--{name.replace('_', '-')}"
            each = value if isinstance(value, list) else [] if value is True else [value]
            texts = [printable(Path(v).name if Path(v).is_absolute() else v) for v in each]
            said.append(" ".join([option, *texts]))
    if said:
        yield f"As before ({printable(str(out / SETTINGS))}): {', '.join(said)}.\n"


def _address(text: str) -> str:
    if re.fullmatch(r"(\w+://)?[^\s/]+:\d{1,5}", text):
        return text
    raise ValueError(
        f"{printable(text)!r} is not an address of a scheduler: each prints its own, such as "
        "tcp://10.0.0.1:8786."
    )


@click.command()
@click.argument("folder", required=False, metavar="FOLDER", type=PathTo())
@click.option(
    "--out",
    type=DIR,
    is_eager=True,
    callback=_recall,
    help="Where the gradebook goes: a new folder, or that of an earlier run to go on with. Its "
    f"{SETTINGS} keeps the options about the class, for the next run to use them again.",
)
@class_options
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Processes that grade at the same time (as many as there are cores).",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    callback=said_by(_address),
    help="Grade on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786, not here.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**SEED_BITS - 1),
    metavar="N",
    help="Seed of the hidden values (drawn anew for each DIR and kept there): the same seed gives "
    "the same results.",
)
@timeout_option
@click.option(
    "--sandbox",
    type=click.Choice(["bwrap", "none"]),
    default="bwrap",
    show_default=True,
    help="What keeps students' code from this machine. With none it can read and write all that "
    "you can.",
)
@class_course_option
@report_option("--junitxml", "Also write JUnit XML, a suite for each student.")
@click.option("--quiet", is_flag=True, help="Say only what is wrong.")
@click.pass_context
def grade(context: click.Context, /, example_rubric: bool, **asked: Any) -> int:
    """Grade what a class handed in: FOLDER becomes a gradebook in DIR.

    FOLDER is what Canvas, Moodle, Gradescope, Brightspace, Sakai, Blackboard or ILIAS let you
    download (unpacked), nbgrader's submitted/, GitHub Classroom's clones, a folder for each
    student, or just notebooks. Nothing in it is changed.

    Every result is kept as soon as it is known. Stop it whenever you like (Ctrl-C, a power cut):
    the same command goes on where it stopped. Give it again when files were added or changed, too:
    only those are graded.

    The exit code is 0 once every file has its row, whatever the grades; 2 if the class, or no file
    of it, could be graded, and a sentence says why; 130 after Ctrl-C.
    """
    if example_rubric:
        say(example_rubric_of(instructors_course(asked["course"])))
        return exit_codes.PASSED
    for parameter in context.command.params:
        if parameter.name in ("folder", "out") and asked[parameter.name] is None:
            raise click.MissingParameter(ctx=context, param=parameter)
    try:
        return _grade(Order(**asked), context)
    except OSError as error:
        where = printable(str(error.filename or asked["out"]))
        complain(
            f"{where}: {reason(error)}. What is graded so far is kept: "
            "mend that, and give the same command again."
        )
    return exit_codes.UNREADABLE


def _grade(order: Order, context: click.Context) -> int:
    require("grade", "grader grade")
    if order.scheduler is not None:
        require("dask", "grader grade --scheduler")
    from grader.classroom.gradebook.fitting import refuse_early
    from grader.classroom.intake.class_reader import read_class
    from grader.classroom.run import out_folder

    if not order.quiet:
        say_sentences("".join(_as_before(context, order.out)))
    course = instructors_course(order.course, order.folder)
    points = read_due_rubric(order.rubric, order.due_notebooks, course, order.due)
    out_folder.refuse_misplaced(order.folder, order.out)
    out_folder.refuse_foreign(order.out)
    if order.scheduler is None:  # a Dask worker says so itself
        sandbox.require(sandbox.Sandbox(order.sandbox))
    class_folder = read_class(
        order.folder,
        course,
        order.roster,
        order.due,
        order.roster_columns or {},
        file_times=order.file_times,
    )

    def tell(sentence: str) -> None:
        if not (order.quiet and isinstance(sentence, Note)):
            complain(sentence)

    for notice in class_folder.notices:
        tell(notice)
    if class_folder.doubt and not _goes_on(class_folder.doubt, order.yes):
        return exit_codes.UNREADABLE
    form = platform_form_of(order.scale, order.canvas_column, course, class_folder.roster)
    adjustments = adjustments_of(order.out, order.adjustments, course, class_folder.students)
    refuse_early(adjustments, points, class_folder.handed_in, order.out / RESULTS)
    with out_folder.claimed(order.out):
        given = {name for name in ("seed", "timeout") if getattr(order, name) is not None}
        with Results(order.out / RESULTS, change=True) as results:
            settings = results.begin(_fresh(order, course), given, class_folder.convention)
            files = {item.id: item for item in class_folder.handed_in}
            results.refuse_strangers(files)
            write_settings(order.out, {name: value for name, value, _ in _options(context)})
            run = Run(class_folder, settings, results, grade_task)
            began = time.monotonic()
            with _until_told(run) as told, _display(order.quiet) as show, suppress(Stop):
                run.grade_all(lambda: make_pool(order, settings), show)
            if told:
                results.export()
                complain(
                    f"Stopped: {run.tally.done:,} of {run.tally.total:,} files are done, and kept. "
                    "The same command goes on from there."
                )
                return 128 + told[0]
            seconds = time.monotonic() - began
            left = results.keep(files)
            results.export()
            if left:
                complain(
                    "Graded before and no longer in the folder: "
                    f"{listed(map(printable, left), most=MOST_NAMED)}. What is gone counts no "
                    f"more; {EARLIER} keeps its results."
                )
        try:
            with _writing(order.quiet):
                # Imported only now, because Polars is not needed earlier.
                from grader.classroom.gradebook.make_book import make_book
                from grader.classroom.gradebook.write import render

                attempts = Attempts(order.attempts)
                results_of_all = order.out / RESULTS
                book = make_book(class_folder, results_of_all, points, attempts, adjustments, form)
                written = render(book, order.out, order.junitxml)
        except KeyboardInterrupt:
            complain(
                "Stopped before all tables and pages were written. All results are kept: the same "
                "command writes the rest."
            )
            raise
        for said in written.notices:
            tell(said)
        if written.changed:
            complain(written.changed)
    if not order.quiet:
        say_sentences(_summary(settings, class_folder, run.tally, written, seconds))
    if run.tally.unreadable < run.tally.total:
        if order.quiet and written.unreadable:
            complain(_not_graded(written))
        return exit_codes.PASSED
    complain(f"No file could be graded. {run.tally.reason}")
    return exit_codes.UNREADABLE


def _goes_on(doubt: str, yes: bool) -> bool:
    """Ask the instructor whether to grade with a class list that may be the wrong one."""
    complain(doubt)
    if yes:
        return True
    if sys.stdin.isatty() and sys.stderr.isatty():
        return click.confirm("Go on all the same?", err=True)
    complain("Nothing was graded. If the class list is right, give --yes.")
    return False


def _fresh(order: Order, course: Course) -> Settings:
    """The settings of a new gradebook."""
    return Settings(
        seed=order.seed if order.seed is not None else secret_seed(),
        limits=limits(order.timeout),
        sandbox=order.sandbox,
        versions=installed_versions(),
        course=course,
    )


def make_pool(order: Order, settings: Settings) -> Pool:
    """Make the processes that grade, on a Dask cluster or on this machine."""
    if order.scheduler is not None:
        from grader.classroom.run.dask_pool import DaskPool

        return DaskPool(order.scheduler)
    return local_pool(settings, order.jobs or usable_cores())


@contextmanager
def _until_told(run: Run) -> Iterator[list[int]]:
    """Let a signal end a run between two lines, and a second one at once.

    The list collects the signals.
    """
    told: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        told.append(number)
        run.stop()
        if len(told) > 1:
            raise KeyboardInterrupt

    with exit_codes.on_end_signals(stop):
        yield told


def _display(quiet: bool) -> AbstractContextManager[Show]:
    if quiet:
        return nullcontext(lambda tally: None)
    if not sys.stdout.isatty():
        return nullcontext(lines_to(lambda line: say(line + "\n")))
    from rich.console import Console

    return bar_on(Console(no_color=not has_colour()))


def _writing(quiet: bool) -> AbstractContextManager[object]:
    """Show a word on the terminal while the pages of a large class are written."""
    if quiet or not sys.stdout.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(no_color=not has_colour()).status("writing the gradebook")


def _not_graded(written: Written) -> str:
    names = listed(map(printable, written.unreadable), most=MOST_NAMED)
    return f"Could not be graded: {names}. The report says why."


def _summary(
    settings: Settings, class_folder: ClassFolder, tally: Tally, written: Written, seconds: float
) -> str:
    present = {item.student for item in class_folder.handed_in}
    files, students = counted(tally.total, "file"), counted(len(present), "student")
    lines = [f"{files} of {students}.", ", ".join(f"{what}: {n}" for what, n in written.figures)]
    if written.unreadable:
        lines.append(_not_graded(written))
    if written.lost:
        names = listed(map(printable, written.lost), most=3)
        lines.append(f"Work that earned nothing: {names}. The report says why.")
    if tally.kept:
        lines.append(f"{counted(tally.kept, 'file')} had been done by an earlier run.")
    if tally.fresh:
        rate = f", {tally.fresh / seconds:.1f} a second" if tally.fresh > 1 else ""
        lines.append(f"{counted(tally.fresh, 'file')} done in {as_clock(seconds)}{rate}.")
    if settings.sandbox == "none":
        lines.append("Students' code ran without a sandbox.")
    lines.append(f"The gradebook: {printable(str(written.index))}, and grades.csv beside report/.")
    return "\n".join(lines) + "\n"
