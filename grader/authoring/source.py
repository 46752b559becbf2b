"""A notebook's source: the percent-format text that becomes a notebook with its answers in it."""

from __future__ import annotations

import ast
import hashlib
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import urlsplit

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from grader.answer.parse import prefix_of
from grader.answer.statements import walk_names
from grader.program.course import Hints
from grader.program.forward_program import Step
from grader.submission.answer_cells import GRADE_ID
from grader.user_error import UserError

BEGIN_SOLUTION = "### BEGIN SOLUTION"
END_SOLUTION = "### END SOLUTION"
SOLUTION = re.compile(
    rf"(?ms)^(?P<indent>[ \t]*){BEGIN_SOLUTION}[ \t]*\n(?P<lines>.*?)"
    rf"^[ \t]*{END_SOLUTION}[ \t]*(?:\n|\Z)"
)
"""A solution with the marks around it."""

HINTS_A_GRADIENT = 3

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""The metadata of every notebook: nothing of the machine that built it."""

_MARK = re.compile(rf"(?m)^[ \t]*({BEGIN_SOLUTION}|{END_SOLUTION})[ \t]*$")
_ROLE = re.compile(rf"# (answer|check|try): ({GRADE_ID.pattern})")
_NEARLY_ROLE = re.compile(r"#+\s*(answer|check)\b", re.IGNORECASE)
_FORM = "# @title "
"""A code cell that begins so is folded: its title is what one sees on Colab."""
_FIGURE = re.compile(r"figures\.(\w+)\([^\n]*\)")
"""A code cell that does nothing but draw a figure gets a title, and is folded too."""
_FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}
"""The metadata that folds a cell, in JupyterLab and on Colab."""
_HIDDEN = "hide-input"
"""The tag that folds it on the site."""
_DIRECTIVE = re.compile(r"\{\{ (\w+)(?:: (\w+))? \}\}")
"""`{{ colab }}`, with exactly one space on each side: LaTeX's own double braces have none."""


class SourceError(UserError):
    """A source that cannot become a notebook; the message is a sentence for its author."""


class NoHints(SourceError):
    """A source that shows hints which `hints.toml` lacks."""


@dataclass(frozen=True, slots=True)
class Role:
    """What a code cell is to the grader: an answer, its check, or a try that is not graded."""

    kind: str
    grade_id: str
    exercise: str


def read_source(
    text: str,
    name: str,
    repository: str,
    hints: Hints,
    badge: str = "",
    points: Mapping[str, int] = MappingProxyType({}),
    forward: Mapping[str, Sequence[Step]] = MappingProxyType({}),
) -> NotebookNode:
    """Make the notebook of one source: templates expanded, cells with metadata, nothing run yet.

    Args:
        text: the source.
        name: the notebook's ("01_atomic_backprop").
        repository: the project's address.
        hints: those of every exercise.
        badge: the Markdown that opens the notebook on Colab.
        points: what each gradient of an exercise is worth, 1 where that is not said.
        forward: the steps of each exercise, of which those that an answer is about are shown
            above it.

    Raises:
        SourceError: the notebook would be wrong: an answer without its END SOLUTION, an unknown or
            missing hint, one grade_id given twice, a check of an answer that is not there.
    """
    notebook: NotebookNode = jupytext.reads(text, fmt="py:percent")
    cells = [cell for cell in notebook.cells if cell.source.strip()]
    _refuse_disorder(cells, name)
    exercises = tuple(dict.fromkeys(role.exercise for role in map(role_of, cells) if role))
    cells = _with_forward_lines(cells, forward)

    def expand(directive: re.Match[str]) -> str:
        match directive.groups():
            case ("repository", None):
                return repository
            case ("colab", None):
                return badge
            case ("hints", str(gradient)):
                return _details(gradient, _hints_for(gradient, exercises, hints))
        raise SourceError(
            f"{name}: {directive[0]} is not known. A source may say {{{{ colab }}}}, "
            "{{ repository }} and {{ hints: dX }}, in Markdown."
        )

    seen: Counter[str] = Counter()
    for cell in cells:
        if figure := _FIGURE.fullmatch(cell.source.strip()):
            cell.source = f"{_FORM}Figure: {figure[1].replace('_', ' ')}\n{figure[0]}"
        cell.metadata = nbformat.from_dict(_metadata(cell, name, points))
        if cell.cell_type == "code":
            # An f-string may hold braces of its own, so that code knows this one word only.
            cell.source = cell.source.replace("{{ repository }}", repository).strip("\n")
        else:
            cell.source = _FOLD_AND_TEXT.sub(_GAP, _DIRECTIVE.sub(expand, cell.source))
        cell["id"] = _cell_id(cell, seen)
    notebook.update(cells=cells, metadata=nbformat.from_dict(METADATA), nbformat_minor=5)
    nbformat.validate(notebook)
    return notebook


def _with_forward_lines(
    cells: Sequence[NotebookNode], forward: Mapping[str, Sequence[Step]]
) -> list[NotebookNode]:
    """Put the lines that an answer is about right above it, below any hints that are open."""
    shown = list[NotebookNode]()
    for cell in cells:
        role = role_of(cell)
        if role and role.kind == "answer" and role.exercise in forward:
            steps = forward[role.exercise]
            tensors = {name[1:] for name in solved_gradients(cell.source, all_checked(cells))}
            read = [step.line for step in steps if not tensors.isdisjoint(step.reads)]
            lines = "\n".join(["From the forward pass:", "", "```python", *read, "```"])
            if shown and shown[-1].cell_type == "markdown":
                shown[-1].source += f"\n\n{lines}"
            else:
                shown.append(new_markdown_cell(lines))
        shown.append(cell)
    return shown


def role_of(cell: NotebookNode) -> Role | None:
    """The role that a code cell's first line gives it (`# answer: ex1-softmax`), if any."""
    if cell.cell_type != "code":
        return None
    match = _ROLE.fullmatch(cell.source.partition("\n")[0].rstrip())
    return Role(match[1], match[2], prefix_of(match[2])) if match else None


def sources_of(kind: str, cells: Sequence[NotebookNode], exercise: str = "") -> list[str]:
    """The texts of the cells of a kind ("answer", "check", "try"), of one exercise or of all."""
    return [
        cell.source
        for cell in cells
        if (role := role_of(cell)) and role.kind == kind and exercise in ("", role.exercise)
    ]


def all_checked(cells: Sequence[NotebookNode], exercise: str = "") -> tuple[str, ...]:
    """The gradients that check cells name, in their order, of one exercise or of all."""
    checks = sources_of("check", cells, exercise)
    return tuple(dict.fromkeys(name for check in checks for name in checked_gradients(check)))


def checked_gradients(source: str) -> tuple[str, ...]:
    """The gradients that a check cell's `check("dlogits", ...)` names, in its order."""
    return tuple(
        argument.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "check"
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    )


def solution_regions(source: str) -> list[tuple[str, ...]]:
    """The lines of each region between BEGIN and END SOLUTION. Raises SourceError if unbalanced."""
    is_inside = False
    for mark in _MARK.findall(source):
        if mark == BEGIN_SOLUTION and is_inside:
            raise SourceError(f"`{BEGIN_SOLUTION}` stands inside a solution")
        if mark == END_SOLUTION and not is_inside:
            raise SourceError(f"`{END_SOLUTION}` stands without a `{BEGIN_SOLUTION}` before it")
        is_inside = not is_inside
    if is_inside:
        raise SourceError(f"`{BEGIN_SOLUTION}` stands without an `{END_SOLUTION}` after it")
    return [tuple(solution["lines"].splitlines()) for solution in SOLUTION.finditer(source)]


def assigned_gradients(region: Sequence[str], gradients: Sequence[str]) -> list[str]:
    """Those of `gradients` that the lines of a solution assign, in order of first assignment."""
    tree = ast.parse(textwrap.dedent("\n".join(region)))
    stores = [
        (name.lineno, name.col_offset, name.id)
        for name in walk_names(tree)
        if isinstance(name.ctx, ast.Store) and name.id in gradients
    ]
    return list(dict.fromkeys(name for _, _, name in sorted(stores)))


def solved_gradients(source: str, gradients: Sequence[str]) -> set[str]:
    """Those of `gradients` that the solutions in a cell assign. Raises as `solution_regions`."""
    regions = solution_regions(source)
    return {name for region in regions for name in assigned_gradients(region, gradients)}


def colab_badge(repository: str, path: str) -> str:
    """The Markdown of the badge that opens the notebook at `path` of `repository` on Colab.

    `repository` may be the address of a folder in it, `.../tree/main/norms`: `path` is from there.
    """
    where, _, folder = urlsplit(repository).path.strip("/").partition("/tree/")
    place = f"{where}/blob/{folder or 'main'}/{path}.ipynb"
    address = f"https://colab.research.google.com/github/{place}"
    picture = "https://colab.research.google.com/assets/colab-badge.svg"
    return f"[![Open in Colab]({picture})]({address})"


def _refuse_disorder(cells: Sequence[NotebookNode], name: str) -> None:
    roles = list(_roles(cells, name))
    for (kind, grade_id), count in Counter((r.kind, r.grade_id) for r, _ in roles).items():
        if count > 1:
            raise SourceError(f"{name}: `# {kind}: {grade_id}` is given to {count} cells.")
    answers = {role.grade_id for role, _ in roles if role.kind == "answer"}
    checks = {role.grade_id for role, _ in roles if role.kind == "check"}
    if without := sorted(answers ^ checks):
        raise SourceError(f"{name}: {without[0]} lacks its answer cell or its check cell.")

    gradients = all_checked(cells)
    solved: set[str] = set()
    for role, source in roles:
        if role.kind == "answer":
            try:
                assigned = solved_gradients(source, gradients)
            except (SourceError, SyntaxError) as error:
                raise SourceError(f"{name}: in {role.grade_id}, {error}.") from error
            if not assigned:
                raise SourceError(
                    f"{name}: the answer {role.grade_id} has no solution that assigns a gradient "
                    f"which some check names; mark one with `{BEGIN_SOLUTION}`."
                )
            solved |= assigned
    told = "\n".join(cell.source for cell in cells if cell.cell_type != "code")
    checks_of = {
        gradient: role.grade_id
        for role, text in roles
        if role.kind == "check"
        for gradient in checked_gradients(text)
    }
    for gradient, check in checks_of.items():
        if gradient not in solved:
            raise SourceError(
                f"{name}: the check {check} names {gradient}, which no solution assigns."
            )
        if f"{{{{ hints: {gradient} }}}}" not in told:
            raise SourceError(f"{name}: no cell says {{{{ hints: {gradient} }}}}.")


def _roles(cells: Sequence[NotebookNode], name: str) -> Iterator[tuple[Role, str]]:
    for cell in cells:
        if cell.cell_type != "code":
            continue
        if role := role_of(cell):
            yield role, cell.source
        elif BEGIN_SOLUTION in cell.source or END_SOLUTION in cell.source:
            raise SourceError(
                f"{name}: a solution stands in a cell that does not begin with "
                "`# answer: ex1-...`, so that nobody would grade it. Where that is meant, begin it "
                "with `# try: ex1-...`."
            )
        elif _NEARLY_ROLE.match(first := cell.source.partition("\n")[0]):
            raise SourceError(
                f"{name}: `{first}` is nearly the first line of a graded cell. "
                "Write `# answer: ex1-softmax` or `# check: ex1-softmax`."
            )


def _hints_for(gradient: str, exercises: Sequence[str], hints: Hints) -> Sequence[str]:
    found = [
        hints[exercise][gradient] for exercise in exercises if gradient in hints.get(exercise, {})
    ]
    if not found:
        tables = " or ".join(f"[{exercise}]" for exercise in exercises)
        raise NoHints(f"{gradient} has no hints in {tables or 'any exercise'} of hints.toml.")
    if len(found[0]) != HINTS_A_GRADIENT or not all(hint.strip() for hint in found[0]):
        raise NoHints(f"{gradient} needs {HINTS_A_GRADIENT} hints, none of them empty.")
    return found[0]


_FOLD_AND_TEXT = re.compile(r"</details>\n\n(?!</details>|<p>)(?=\S)")
_GAP = "</details>\n\n<p></p>\n\n"
"""In JupyterLab what follows a fold would stick to it."""


def _details(gradient: str, hints: Sequence[str]) -> str:
    """The hints, each folded into the one before it: what is closed takes a line of the screen."""
    titles = f"Hint for <code>{gradient}</code>", "A second hint", "A third hint"
    folded = ""
    for title, hint in reversed([*zip(titles, hints, strict=True)]):
        # The blank lines inside make Jupyter render the hint's Markdown.
        text = "\n\n".join(filter(None, (hint.strip(), folded)))
        folded = f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"
    return folded


def _metadata(cell: NotebookNode, name: str, worth: Mapping[str, int]) -> dict[str, object]:
    metadata: dict[str, object] = {}
    if "tags" in cell.metadata:
        metadata["tags"] = cell.metadata["tags"]
    if cell.source.startswith(_FORM):
        metadata |= _FOLDED
        metadata["tags"] = [*cell.metadata.get("tags", []), _HIDDEN]
    role = role_of(cell)
    if role is None or role.kind == "try":
        return metadata
    nbgrader: dict[str, object] = {"schema_version": 3, "task": False}
    if role.kind == "answer":
        nbgrader |= {"grade_id": role.grade_id, "grade": False, "locked": False, "solution": True}
    else:
        points = len(checked_gradients(cell.source)) * worth.get(role.exercise, 1)
        if points == 0:
            raise SourceError(f"{name}: the check of {role.grade_id} names no gradient.")
        grade_id = f"{role.grade_id}-check"
        nbgrader |= {"grade_id": grade_id, "grade": True, "locked": True, "solution": False}
        nbgrader["points"] = points
    return metadata | {"nbgrader": nbgrader}


def _cell_id(cell: NotebookNode, seen: Counter[str]) -> str:
    """An id that depends on the cell alone: a build changes none, an edit only that of its cell."""
    if "nbgrader" in cell.metadata:
        return str(cell.metadata.nbgrader.grade_id)
    digest = hashlib.sha256(cell.source.encode()).hexdigest()[:12]
    seen[digest] += 1
    again = f"-{seen[digest]}" if seen[digest] > 1 else ""
    return f"{'text' if cell.cell_type == 'markdown' else 'code'}-{digest}{again}"
