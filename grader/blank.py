"""The student's copy of a notebook: its solutions taken out, or somebody's answers put in."""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Mapping, Sequence

import nbformat
from nbformat import NotebookNode

from grader.source import (
    BEGIN_SOLUTION,
    END_SOLUTION,
    SourceError,
    assigned_gradients,
    checked_gradients,
    role_of,
    solution_regions,
)

_TO_DO = re.compile(r"\s*(d\w+) = \.\.\.  # your turn")
_ANSWER = re.compile(r"^# answer: (\S+)[ \t]*$", re.MULTILINE)
_TELLING = 8
"""Characters of a right-hand side, spaces left out, from which on it counts as a solution."""


def make_blank(notebook: NotebookNode) -> NotebookNode:
    """The student's copy: `dX = ...  # your turn` for each gradient that a solution assigns.

    Raises SourceError where the copy would still tell a solution: a line of one in a text, a
    hint or another cell.
    """
    blank = copy.deepcopy(notebook)
    gradients = gradients_checked_in(notebook)
    for cell in blank.cells:
        if cell.cell_type == "code":
            cell.source = _without_solutions(with_placeholders(cell.source, gradients))
            cell.outputs = []
            cell.execution_count = None
    if told := _told_lines(notebook, blank):
        place, line = told[0]
        raise SourceError(f"the student's copy tells the solution `{line}`, in {place}.")
    nbformat.validate(blank)
    return blank


def gradients_checked_in(notebook: NotebookNode) -> list[str]:
    """The gradients that a notebook's check cells name, in their order."""
    checks = [
        cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and (role := role_of(cell.source)) and role.kind == "check"
    ]
    return [name for source in checks for name in checked_gradients(source)]


def with_placeholders(source: str, gradients: Sequence[str]) -> str:
    """A cell with `dX = ...  # your turn` before each solution, for each gradient it assigns."""
    lines: list[str] = []
    regions = iter(solution_regions(source))
    for line in source.splitlines():
        if line.strip() == BEGIN_SOLUTION:
            indent = line[: len(line) - len(line.lstrip())]
            names = assigned_gradients(next(regions), gradients)
            lines += [f"{indent}{name} = ...  # your turn" for name in names]
        lines.append(line)
    return "\n".join(lines)


def solution_statements(notebook: NotebookNode) -> set[str]:
    """Each statement of the notebook's solutions that gives a name its value."""
    return set(_secrets_in(notebook).values())


def fill(blank: NotebookNode, answers: str) -> NotebookNode:
    """A submission: the blank with `answers`, cells that each begin with `# answer: ex1-...`.

    A cell that `answers` leaves out keeps its `dX = ...`, unless `dX` is assigned in another:
    one cell may answer everything. Raises SourceError for a cell that the notebook lacks.
    """
    sources = split_answers(answers)
    filled = copy.deepcopy(blank)
    ids = [cell.metadata.nbgrader.grade_id for cell in filled.cells if _is_answer(cell)]
    if unknown := sorted(sources.keys() - set(ids)):
        raise SourceError(f"there is no answer cell {unknown[0]}; there are {', '.join(ids)}.")
    written = _stored_names(sources)
    for cell in filter(_is_answer, filled.cells):
        if (grade_id := cell.metadata.nbgrader.grade_id) in sources:
            cell.source = sources[grade_id]
        else:
            lines = cell.source.splitlines()
            cell.source = "\n".join(line for line in lines if not _placeholds(line, written))
    return filled


def split_answers(text: str) -> dict[str, str]:
    """The cells of an answer file, by grade_id; what precedes the first is the file's own."""
    starts = list(_ANSWER.finditer(text))
    if not starts:
        raise SourceError("the answers have no line like `# answer: ex1-softmax`.")
    ends = [match.start() for match in starts[1:]] + [len(text)]
    cells: dict[str, str] = {}
    for match, end in zip(starts, ends, strict=True):
        if match[1] in cells:
            raise SourceError(f"the answers give the cell {match[1]} twice.")
        cells[match[1]] = text[match.start() : end].rstrip()
    return cells


def _is_answer(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution", False))


def _without_solutions(source: str) -> str:
    kept: list[str] = []
    inside = False
    for line in source.splitlines():
        if line.strip() == BEGIN_SOLUTION:
            inside = True
        elif line.strip() == END_SOLUTION:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def _told_lines(notebook: NotebookNode, blank: NotebookNode) -> list[tuple[str, str]]:
    """Where the blank still says what a solution says: (place, line), spaces disregarded."""
    secrets = _secrets_in(notebook)
    texts = [(f"the cell that begins `{_opening(cell)}`", cell.source) for cell in blank.cells]
    return [
        (place, line)
        for place, text in texts
        for squeezed in ["".join(text.split())]
        for secret, line in secrets.items()
        if secret in squeezed
    ]


def _secrets_in(notebook: NotebookNode) -> Mapping[str, str]:
    """What would give a solution away, spaces left out, with the statement that it is from."""
    secrets: dict[str, str] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for region in solution_regions(cell.source):
                secrets |= _secrets(region)
    return secrets


def _secrets(region: Sequence[str]) -> Mapping[str, str]:
    """What would give a solution away, spaces left out: each statement and its right-hand side."""
    text = textwrap.dedent("\n".join(region))
    secrets: dict[str, str] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign | ast.AugAssign) and node.value is not None:
            said = ast.get_source_segment(text, node) or ""
            value = ast.get_source_segment(text, node.value) or ""
            secrets["".join(said.split())] = said
            if len(squeezed := "".join(value.split())) >= _TELLING:
                secrets[squeezed] = said
    return secrets


def _opening(cell: NotebookNode) -> str:
    return str(cell.source).strip().partition("\n")[0]


def _stored_names(sources: Mapping[str, str]) -> set[str]:
    names: set[str] = set()
    for source in sources.values():
        try:
            tree = ast.parse(source)
        except SyntaxError:  # an answer with a syntax error is a sample too
            continue
        names |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _is_store(n)}
    return names


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _placeholds(line: str, written: set[str]) -> bool:
    match = _TO_DO.fullmatch(line)
    return match is not None and match[1] in written
