"""A course's notebooks: made from their sources, run, and compared with what they should be."""

from __future__ import annotations

import copy
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from grader.authoring.alt_text import describe_pictures, undescribed
from grader.authoring.blank import fill, make_blank
from grader.authoring.course import (
    OURS,
    SOLUTIONS,
    Layout,
    read_notebooks,
    write_notebook,
)
from grader.authoring.source import SourceError
from grader.printable import listed
from grader.program.course import SOLVED, built_in_course, read_solved
from grader.reports import wording
from grader.reports.course_boards import FILE as BOARDS
from grader.reports.course_boards import boards_file
from grader.submission.notebook_file import KEY
from grader.submission.read import fingerprint, submission_in
from grader.submission.which_course import VARIABLE as COURSE_VARIABLE
from grader.verdict import Outcome
from makemore_data import load_names

LECTURE_NAMES = 32_033

CELL_TIMEOUT = 600
"""Seconds that one cell of a solution may take."""

DATA_DEPENDENT = "data-dependent"
"""The tag of a cell whose output depends on which names the notebook found."""

_COMPARED = {"cell_type": "type", "source": "source", "metadata": "metadata", "id": "id"}
"""Of each cell, what its source decides, and the word for it."""

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_WHERE_NAMES_ARE = re.compile(r"(?<=\s)/\S*/(?=names\.txt\b)")


def build(names: Sequence[str] = (), layout: Layout = OURS) -> None:
    """Write the student's copy and the executed solution of the named sources, or of all.

    The course's boards are drawn, too.

    Raises:
        SourceError: a source cannot become a notebook, or its solution cannot be published.
    """
    notebooks = read_notebooks(names, layout=layout)
    # A solution shows losses and shapes; readers of our course should see the lecture's.
    asking = [name for name, notebook in notebooks.items() if _asks_for_names(notebook)]
    if layout is OURS and asking and len(load_names()) != LECTURE_NAMES:
        raise SourceError(
            f"The committed solutions of {listed(asking)} are run on the lecture's "
            f"{LECTURE_NAMES:,} names. Set MAKEMORE_NAMES to the file, or build where it can be "
            "downloaded."
        )
    for name, notebook in notebooks.items():
        _write_both(name, notebook, layout)
    others = read_solved(layout.folder / SOLVED) if names else {}
    for path, text in _files_beside(notebooks, layout, others).items():
        path.write_text(text, encoding="utf-8", newline="\n")


def _files_beside(
    notebooks: Mapping[str, NotebookNode], layout: Layout, others: Mapping[str, str]
) -> dict[Path, str]:
    """The texts of the files that a build puts into the course's folder.

    These are what tells the answers of each solved notebook from a student's, and the boards.
    `others` are the fingerprints of notebooks that are not built.
    """
    course = layout.course or built_in_course()
    solved = dict(others)
    for name, notebook in notebooks.items():
        submission = submission_in(nbformat.writes(notebook).encode(), Path(name), course)
        solved[name] = fingerprint(submission.cells)
    return {
        layout.folder / SOLVED: json.dumps(solved, indent=2) + "\n",
        layout.folder / BOARDS: boards_file(course),
    }


def _asks_for_names(notebook: NotebookNode) -> bool:
    return any(cell.cell_type == "code" and "load_names" in cell.source for cell in notebook.cells)


def _write_both(name: str, notebook: NotebookNode, layout: Layout) -> None:
    """Write the student's copy and the executed solution of one notebook.

    Raises:
        SourceError: the copy would tell a solution, or the solution cannot be published.
    """
    blank, solution = make_blank(notebook, layout.forward_texts()), execute(mark_solved(notebook))
    write_notebook(blank, layout.blanks / f"{name}.ipynb")
    write_notebook(solution, layout.solutions / f"{name}.ipynb")


def mark_solved(notebook: NotebookNode) -> NotebookNode:
    """The notebook with the mark by which `grader grade` knows a course's own solution."""
    marked = copy.deepcopy(notebook)
    marked.metadata[KEY] = {**marked.metadata.get(KEY, {}), "solved": True}
    return marked


def verify(layout: Layout = OURS) -> list[str]:
    """Say where the committed notebooks and boards are not what their sources make.

    Outputs do not count.
    """
    notebooks, public = read_notebooks(layout=layout), layout.forward_texts()
    blanks = {name: make_blank(notebook, public) for name, notebook in notebooks.items()}
    complaints: list[str] = []
    for name in notebooks:
        source = layout.sources / f"{name}.py"
        blank, solution = (at / f"{name}.ipynb" for at in (layout.blanks, layout.solutions))
        complaints.append(_difference(blank, blanks[name], source))
        complaints.append(_difference(solution, mark_solved(notebooks[name]), source))
        complaints += _unfit_outputs(blank, solution)
    for path, text in _files_beside(notebooks, layout, {}).items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            complaints.append(f"{path} is out of date.")
    return list(filter(None, complaints))


def execute(notebook: NotebookNode) -> NotebookNode:
    """Run a notebook in an empty folder, and clean its outputs of what names this machine.

    Raises:
        SourceError: a cell raises, writes to stderr or shows a folder of this machine.
    """
    executed = copy.deepcopy(notebook)
    # Notebooks draw inline, whatever backend this process was told to use.
    # Whatever course is meant elsewhere, a notebook has its own.
    unwanted = ("MPLBACKEND", COURSE_VARIABLE)
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    names = environment.get("MAKEMORE_NAMES", "").strip()
    if names not in ("", "bundled"):  # an empty variable counts as not set
        environment["MAKEMORE_NAMES"] = str(Path(names).absolute())
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            executed,
            timeout=CELL_TIMEOUT,
            kernel_name="python3",
            extra_arguments=["--Application.log_level=ERROR"],
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            outputs = ((each.source, o) for each in executed.cells for o in each.get("outputs", []))
            failed = [source for source, output in outputs if output["output_type"] == "error"]
            line = "".join(failed).strip().partition("\n")[0]
            what = ": ".join(filter(None, (error.ename, error.evalue)))
            raise SourceError(f"The cell that begins `{line}` raises {what}") from error
    executed.metadata = notebook.metadata  # the kernel has added its own version
    for cell in executed.cells:
        for output in cell.get("outputs", []):
            _clean(output, cell["id"])
    return describe_pictures(executed)


def mark(out: Path) -> None:
    """Copy the solutions so that nbval compares no output that depends on the list of names."""
    for path in sorted(SOLUTIONS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if DATA_DEPENDENT in cell.metadata.get("tags", []):
                cell.metadata.tags.append("nbval-ignore-output")
        write_notebook(notebook, out / path.name)


def fill_in(blank: Path, answers: Sequence[Path], out: Path) -> None:
    """Write a submission for each file of answers: a copy of the blank notebook with them in it.

    Raises:
        SourceError: a file has no answers, or one that the notebook does not ask for.
    """
    notebook = nbformat.read(blank, as_version=4)
    for path in answers:
        try:
            filled = fill(notebook, path.read_text(encoding="utf-8"))
        except SourceError as error:
            raise SourceError(f"{path}: {error}") from error
        write_notebook(filled, out / f"{path.stem}.ipynb")


def _clean(output: NotebookNode, place: str) -> None:
    if output.get("name") == "stderr":
        raise SourceError(
            f"The cell {place} writes to stderr, which nbgrader scores as zero: {output.text}"
        )
    texts = output.get("data", output)
    for key, value in texts.items():
        if key.startswith("text") and isinstance(value, str):
            # Readers need not know where the maintainer keeps the names.
            text = _ADDRESS.sub("0x...", _WHERE_NAMES_ARE.sub("", value))
            for folder in (Path.cwd(), Path.home(), Path(sys.prefix)):
                if f"{folder}{os.sep}" in text:
                    raise SourceError(f"The cell {place} shows a folder of this machine: {text}")
            texts[key] = text


def _difference(path: Path, expected: NotebookNode, source: Path) -> str:
    """Where the notebook at `path` first differs from what its source makes; "" if nowhere."""
    if not path.is_file():
        return f"{path} is missing; {source} makes it."
    found = nbformat.read(path, as_version=4)
    for number, (have, want) in enumerate(zip(found.cells, expected.cells, strict=False), start=1):
        for key, what in _COMPARED.items():
            if have.get(key) != want.get(key):
                opening = want.source.strip().partition("\n")[0]
                return (
                    f"{path} is out of date: the {what} of its cell {number} (`{opening}`) "
                    f"is not that of {source}."
                )
    if len(found.cells) != len(expected.cells):
        return (
            f"{path} is out of date: it has {len(found.cells)} cells, "
            f"{source} makes {len(expected.cells)}."
        )
    if found.metadata != expected.metadata:
        return f"{path} is out of date: its metadata are not those that {source} makes."
    return ""


def _unfit_outputs(blank: Path, solution: Path) -> Iterator[str]:
    if blank.is_file():
        cells = nbformat.read(blank, as_version=4).cells
        if any(cell.get("outputs") or cell.get("execution_count") for cell in cells):
            yield f"{blank} has been run: the student's copy has no outputs."
    if solution.is_file():
        solved = nbformat.read(solution, as_version=4)
        code = [cell for cell in solved.cells if cell.cell_type == "code"]
        if not all(cell.execution_count for cell in code):
            yield f"{solution} has cells that were not run."
        if any(output.output_type == "error" for cell in code for output in cell.outputs):
            yield f"{solution} has a cell that raised."
        for line in _failed_checks(code):
            yield f"{solution} does not pass its own check. It prints `{line}`."
        for line in undescribed(solved):
            yield (
                f"{solution} has a picture without words, below the cell that begins `{line}`: "
                "let the text below begin with a caption in italics."
            )


def _failed_checks(cells: Sequence[NotebookNode]) -> Iterator[str]:
    """The printed lines that end in a verdict, as those of a check do, and in no pass."""
    verdicts = tuple(f"| {wording.word(one)}" for one in Outcome if one is not Outcome.PASS)
    outputs = (output for cell in cells for output in cell.outputs)
    lines = (line for output in outputs for line in output.get("text", "").splitlines())
    return (line for line in lines if line.endswith(verdicts))
