"""The student's copy of a notebook: the solutions taken out, or a student's answers put in."""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

import nbformat
from nbformat import NotebookNode

from grader.answer.cell_source import parsed
from grader.answer.statements import stored_names, walk_names
from grader.authoring.source import (
    SOLUTION,
    SourceError,
    all_checked,
    assigned_gradients,
    role_of,
    solution_regions,
)

_TO_DO = re.compile(r"^\s*(\w+) = \.\.\.  # your turn$", re.MULTILINE)
_ANSWER = re.compile(r"^# answer: (\S+)[ \t]*$", re.MULTILINE)
_TELLING = 8
"""Characters of a right-hand side, spaces left out, from which on it counts as a solution: a name
alone never does."""


def make_blank(notebook: NotebookNode, public: Iterable[str] = ()) -> NotebookNode:
    """The student's copy: `dX = ...  # your turn` for each gradient that a solution assigns.

    Raises SourceError where the copy would still tell a solution: a line of one in a text, a
    hint or another cell. What `public` texts say, such as the forward pass, may be told.
    """
    blank = copy.deepcopy(notebook)
    gradients = all_checked(notebook.cells)
    for cell in blank.cells:
        if cell.cell_type == "code":
            cell.source = SOLUTION.sub("", with_placeholders(cell.source, gradients)).rstrip("\n")
            cell.outputs = []
            cell.execution_count = None
    texts = [(cell.source.strip().partition("\n")[0], cell.source) for cell in blank.cells]
    known = squeezed("\n".join(public))
    secrets = {secret: line for secret, line in _secrets(notebook).items() if secret not in known}
    if told := first_told(texts, secrets):
        opening, statement = told
        raise SourceError(
            f"the student's copy tells the solution `{statement}`, in the cell that begins "
            f"`{opening}`."
        )
    nbformat.validate(blank)
    return blank


def gradients_in(blank: str) -> tuple[str, ...]:
    """The gradients that a blank cell asks for, in order."""
    return tuple(_TO_DO.findall(blank))


def with_placeholders(source: str, gradients: Sequence[str]) -> str:
    """A cell with `dX = ...  # your turn` before each solution, for each gradient it assigns.

    In a cell that nobody grades, `# try:`, names that the rest of the cell needs count as well; a
    function in which that leaves no name gets `...  # your turn`.
    """
    is_tried = source.startswith("# try:")
    wanted = (*gradients, *_names_beside_solutions(source)) if is_tried else gradients

    def placeholders(solution: re.Match[str]) -> str:
        indent = solution["indent"]
        names = assigned_gradients(solution["lines"].splitlines(), wanted)
        lines = [f"{indent}{name} = ...  # your turn\n" for name in names]
        if is_tried and not lines and indent:
            lines = [f"{indent}...  # your turn\n"]
        return "".join([*lines, solution[0]])

    return SOLUTION.sub(placeholders, source)


def _names_beside_solutions(source: str) -> tuple[str, ...]:
    """The names that a cell reads outside of its solutions."""
    rest = SOLUTION.sub(lambda solution: f"{solution['indent']}pass\n", source)
    names = walk_names(ast.parse(rest))
    return tuple(name.id for name in names if isinstance(name.ctx, ast.Load))


def solution_statements(notebook: NotebookNode) -> set[str]:
    """Each statement of the notebook's solutions that gives a name its value."""
    return set(_secrets(notebook).values())


def first_told(
    texts: Iterable[tuple[str, str]], secrets: Mapping[str, str]
) -> tuple[str, str] | None:
    """Find the first of some texts that says a solution, spaces disregarded.

    Args:
        texts: each with the place where it stands.
        secrets: what gives a solution away, without spaces, with the statement that it is from.

    Returns:
        The place and the statement.
    """
    for place, text in texts:
        said = squeezed(text)
        for secret, statement in secrets.items():
            if secret in said:
                return place, statement
    return None


def squeezed(text: str) -> str:
    """A text without its white space."""
    return "".join(text.split())


def fill(blank: NotebookNode, answers: str) -> NotebookNode:
    """Put answers into a blank notebook: cells that each begin with `# answer: ex1-...`.

    A cell that `answers` leaves out keeps its `dX = ...`, unless `dX` is assigned in another:
    one cell may answer everything. Raises SourceError for a cell that the notebook lacks.
    """
    sources = split_answers(answers)
    filled = copy.deepcopy(blank)
    cells = {
        role.grade_id: cell
        for cell in filled.cells
        if (role := role_of(cell)) and role.kind == "answer"
    }
    if unknown := sorted(sources.keys() - cells.keys()):
        raise SourceError(f"there is no answer cell {unknown[0]}; there are {', '.join(cells)}.")
    # An answer with a syntax error is a sample too.
    written = stored_names(*filter(None, map(parsed, sources.values())))
    for grade_id, cell in cells.items():
        lines = cell.source.splitlines()
        kept = [line for line in lines if written.isdisjoint(gradients_in(line))]
        cell.source = sources.get(grade_id, "\n".join(kept))
    return filled


def split_answers(text: str) -> dict[str, str]:
    """The cells of an answer file, by grade_id; what stands before the first one does not count.

    Raises:
        SourceError: there is no cell, or one is given twice.
    """
    _, *parts = _ANSWER.split(text)
    if not parts:
        raise SourceError("the answers have no line like `# answer: ex1-softmax`.")
    cells: dict[str, str] = {}
    for grade_id, rest in zip(parts[::2], parts[1::2], strict=True):
        if grade_id in cells:
            raise SourceError(f"the answers give the cell {grade_id} twice.")
        cells[grade_id] = f"# answer: {grade_id}{rest}".rstrip()
    return cells


def _secrets(notebook: NotebookNode) -> dict[str, str]:
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return secrets_of(
        textwrap.dedent("\n".join(region)) for source in code for region in solution_regions(source)
    )


def secrets_of(solutions: Iterable[str]) -> dict[str, str]:
    """What would give a solution away, spaces left out, with the statement that it is from."""
    secrets: dict[str, str] = {}
    for text in solutions:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Assign | ast.AugAssign):
                statement = ast.get_source_segment(text, node) or ""
                value = squeezed(ast.get_source_segment(text, node.value) or "")
                secrets[squeezed(statement)] = statement
                if len(value) >= _TELLING and not value.isidentifier():
                    secrets[value] = statement
    return secrets
