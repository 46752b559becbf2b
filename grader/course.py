"""The maintainer's command that makes the notebooks of the course from their sources."""

from __future__ import annotations

import copy
import os
import re
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

import click
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from grader.blank import fill, make_blank
from grader.blank_cells import blank_cells, blank_cells_file
from grader.source import HINTS_A_GRADIENT, Hints, SourceError, read_source
from grader.state_folder import VARIABLE as STATE_VARIABLE
from makemore_data import load_names

SOURCES = Path("notebooks/source")
BLANKS = Path("notebooks")
SOLUTIONS = Path("notebooks/solutions")
CELLS = SOURCES / "cells"
"""Cells that stand in several notebooks, each of which has to open alone."""
HINTS = Path("grader/hints")
BLANK_CELLS = Path("grader/blank_cells.json")

LECTURE_NAMES = 32_033
CELL_TIMEOUT = 600
"""Seconds that one cell of a solution may take."""
DATA_DEPENDENT = "data-dependent"
"""The tag of a cell whose output depends on which names the notebook found."""

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")

_SHARED_CELL = re.compile(r"(?m)^# \{\{ cell: (?P<name>\w+) \}\}$")

_WHERE_NAMES_ARE = re.compile(r"(?<=\s)/\S*/(?=names\.txt\b)")


def build(names: Sequence[str] = ()) -> None:
    """Write the student's copy and the executed solution of the named sources, or of all."""
    # A solution shows losses and shapes; readers of the course should see the lecture's.
    if len(load_names()) != LECTURE_NAMES:
        raise SourceError(
            f"The committed solutions are run on the lecture's {LECTURE_NAMES:,} names. "
            "Set MAKEMORE_NAMES to the file, or build where it can be downloaded."
        )
    for source in _sources(names):
        notebook = read_notebook(source)
        blank, solution = make_blank(notebook), execute(notebook)
        _write(blank, BLANKS / f"{source.stem}.ipynb")
        _write(solution, SOLUTIONS / f"{source.stem}.ipynb")
    BLANK_CELLS.write_text(_blank_cells(), encoding="utf-8")
    click.echo(f"wrote {BLANK_CELLS}")


def verify() -> list[str]:
    """Where the committed notebooks are not what their sources make, outputs aside: sentences."""
    complaints: list[str] = []
    for source in _sources(()):
        notebook = read_notebook(source)
        blank, solution = (folder / f"{source.stem}.ipynb" for folder in (BLANKS, SOLUTIONS))
        complaints += _differences(blank, make_blank(notebook), source)
        complaints += _differences(solution, notebook, source)
        complaints += _unfit_outputs(blank, solution)
    if not BLANK_CELLS.is_file() or BLANK_CELLS.read_text("utf-8") != _blank_cells():
        complaints.append(f"{BLANK_CELLS} is out of date: its blanks are not those of {SOURCES}.")
    return complaints


def fill_in(blank: Path, answers: Sequence[Path], out: Path) -> None:
    """Write submissions: copies of the blank notebook with the answers of each file in it."""
    notebook = nbformat.read(blank, as_version=4)
    for path in answers:
        try:
            filled = fill(notebook, path.read_text(encoding="utf-8"))
        except SourceError as error:
            raise SourceError(f"{path}: {error}") from error
        _write(filled, out / f"{path.stem}.ipynb")


def mark(out: Path) -> None:
    """Copy the solutions for nbval on other names: outputs that depend on them are not compared."""
    for path in sorted(SOLUTIONS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if DATA_DEPENDENT in cell.metadata.get("tags", []):
                cell.metadata.tags.append("nbval-ignore-output")
        _write(notebook, out / path.name)


def read_notebook(source: Path) -> NotebookNode:
    """The notebook, with solutions and not yet run, of one source file of this course."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = _with_shared_cells(source.read_text(encoding="utf-8"), source)
    return read_source(text, source.stem, project["urls"]["Repository"], load_hints(HINTS))


def _with_shared_cells(text: str, source: Path) -> str:
    """A source with the cells put in that several notebooks have."""

    def cell(directive: re.Match[str]) -> str:
        path = CELLS / f"{directive['name']}.py"
        if not path.is_file():
            raise SourceError(f"{source}: {directive[0]} asks for {path}, which is not there.")
        return path.read_text(encoding="utf-8").rstrip()

    return _SHARED_CELL.sub(cell, text)


def load_hints(folder: Path) -> Hints:
    """The hints of every exercise: `folder`/ex1.toml holds `[dprobs]` with `hints = [...]`."""
    hints: dict[str, dict[str, Sequence[str]]] = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
            hints[path.stem] = {gradient: table["hints"] for gradient, table in tables.items()}
        except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
            raise SourceError(
                f"{path} cannot be read ({error}): it holds tables like `[dprobs]`, "
                f"each with `hints = [...]`, {HINTS_A_GRADIENT} strings."
            ) from error
    return hints


def execute(notebook: NotebookNode) -> NotebookNode:
    """Run a notebook in an empty folder; its outputs then name nothing of this machine."""
    executed = copy.deepcopy(notebook)
    # Notebooks draw inline, whatever backend this process was told to use.
    environment = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
    if environment.get("MAKEMORE_NAMES", "bundled") != "bundled":
        environment["MAKEMORE_NAMES"] = str(Path(environment["MAKEMORE_NAMES"]).absolute())
    with tempfile.TemporaryDirectory() as folder:
        # Nor do they show how far the builder has come with the course.
        environment[STATE_VARIABLE] = str(Path(folder, "state"))
        client = NotebookClient(
            executed,
            timeout=CELL_TIMEOUT,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            raise SourceError(f"A cell of the solution raises:\n{error}") from error
    executed.metadata = notebook.metadata  # the kernel has added its own version
    for cell in executed.cells:
        for output in cell.get("outputs", []):
            _clean(output, cell["id"])
    return executed


def _clean(output: NotebookNode, place: str) -> None:
    if output.get("name") == "stderr":
        raise SourceError(
            f"The cell {place} writes to stderr, which nbgrader scores as zero: {output.text}"
        )
    texts = output.get("data", output)
    for key, value in texts.items():
        if key.startswith("text") and isinstance(value, str):
            # Where the maintainer keeps the names is nobody's business.
            text = _ADDRESS.sub("0x...", _WHERE_NAMES_ARE.sub("", value))
            for folder in (Path.cwd(), Path.home(), Path(sys.prefix)):
                if f"{folder}{os.sep}" in text:
                    raise SourceError(f"The cell {place} shows a folder of this machine: {text}")
            texts[key] = text


def _blank_cells() -> str:
    """The file of what `grader reset` puts back."""
    blanks = {source.stem: make_blank(read_notebook(source)) for source in _sources(())}
    return blank_cells_file(
        {
            name: blank_cells([cell.source for cell in blank.cells if cell.cell_type == "code"])
            for name, blank in blanks.items()
        }
    )


def _sources(names: Sequence[str]) -> list[Path]:
    sources = sorted(SOURCES.glob("*.py"))
    if not sources:
        raise SourceError(f"There is no {SOURCES}/*.py here: run this from the project's folder.")
    if unknown := sorted(set(names) - {source.stem for source in sources}):
        known = ", ".join(source.stem for source in sources)
        raise SourceError(f"There is no notebook {unknown[0]}; there are {known}.")
    return [source for source in sources if not names or source.stem in names]


def _differences(path: Path, expected: NotebookNode, source: Path) -> list[str]:
    """At most one sentence: where the notebook at `path` first differs from `expected`."""
    if not path.is_file():
        return [f"{path} is missing; {source} makes it."]
    found = nbformat.read(path, as_version=4)
    cells = zip(map(_compared, found.cells), map(_compared, expected.cells), strict=False)
    for number, (have, want) in enumerate(cells, start=1):
        if have != want:
            what = next(key for key in want if have[key] != want[key])
            opening = str(want["source"]).strip().partition("\n")[0]
            return [
                f"{path} is out of date: the {what} of its cell {number} (`{opening}`) "
                f"is not that of {source}."
            ]
    if len(found.cells) != len(expected.cells):
        return [
            f"{path} is out of date: it has {len(found.cells)} cells, "
            f"{source} makes {len(expected.cells)}."
        ]
    if found.metadata != expected.metadata:
        return [f"{path} is out of date: its metadata are not those that {source} makes."]
    return []


def _compared(cell: NotebookNode) -> dict[str, object]:
    return {
        "type": cell.cell_type,
        "source": cell.source,
        "metadata": cell.metadata,
        "id": cell.get("id"),
    }


def _unfit_outputs(blank: Path, solution: Path) -> list[str]:
    complaints = []
    if blank.is_file():
        cells = nbformat.read(blank, as_version=4).cells
        if any(cell.get("outputs") or cell.get("execution_count") for cell in cells):
            complaints.append(f"{blank} has been run: the student's copy has no outputs.")
    if solution.is_file():
        code = [c for c in nbformat.read(solution, as_version=4).cells if c.cell_type == "code"]
        if not all(cell.execution_count for cell in code):
            complaints.append(f"{solution} has cells that were not run.")
        if any(output.output_type == "error" for cell in code for output in cell.outputs):
            complaints.append(f"{solution} has a cell that raised.")
    return complaints


def _write(notebook: NotebookNode, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook, version=4) + "\n", encoding="utf-8")
    click.echo(f"wrote {path}")


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


def main() -> None:
    """Run the command; a SourceError becomes its sentence and the exit status 1."""
    try:
        command(prog_name="python -m grader.course")
    except SourceError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
