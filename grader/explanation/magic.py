"""`%%backward` and `explain()`: is a hand-written gradient right, and if not, why?"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, overload

from IPython import get_ipython
from IPython.display import display
from torch import Tensor

from grader.answer.cell_source import parsed
from grader.answer.parse import AnswerCell, parse_answer
from grader.explanation.cells import read_cells
from grader.explanation.explain import Explanation, explain_functions, explain_subject
from grader.explanation.forward import Forward, Inputs
from grader.notebook.board_card import forms_of
from grader.notebook.lesson import show
from grader.notebook.running_notebook import followed
from grader.pictures.front_end import is_live
from grader.program.compare import compare
from grader.program.forward_program import weighed
from grader.program.references import SEED
from grader.reports import wording
from grader.reports.board import draw_board
from grader.user_error import BadInput, UserError

MAGIC = "backward"


def load_ipython_extension(shell: Any) -> None:
    """Add `%%backward` to an IPython shell, and note the cells that it runs from now on."""
    followed(shell)
    shell.register_magic_function(backward, "cell", MAGIC)


def backward(line: str, cell: str) -> None:
    """Run a cell as it stands, then say of each gradient in it what there is to say.

    %%backward          the forward pass ends in `loss`
    %%backward out      it ends in `out`; if that is no scalar, `dout` is what arrives
    """
    shell = get_ipython()
    before = _plain_cells(shell)
    if shell.run_cell(cell).error_before_exec:
        return  # it is not Python, as the shell has said
    _show(before, cell, shell.user_ns, line.strip() or "loss")


@overload
def explain() -> None: ...


@overload
def explain(
    forward: Callable[..., Any],
    backward: Any,
    *,
    sizes: Mapping[str, int] | None = None,
    inputs: Inputs | None = None,
    seed: int = SEED,
) -> Explanation: ...


def explain(
    forward: Callable[..., Any] | None = None,
    backward: Any = None,
    *,
    sizes: Mapping[str, int] | None = None,
    inputs: Inputs | None = None,
    seed: int = SEED,
) -> Explanation | None:
    """Say of each gradient in a backward pass whether it is right, and why not.

    In a notebook, `explain()` without functions shows what `%%backward` shows, for the cell with
    gradients that ran last. The forward pass is read from the cells before it, and ends in `loss`.

    Both functions run here, in this process, on float64 tensors of several sizes.

    Args:
        forward: straight-line code, a step `name = expression` in each line, its inputs annotated
            with their shapes: `x: Annotated[Tensor, "n, d"]`.
        backward: a function that asks by name for inputs, steps, sizes and `d<name>` of what the
            forward pass returns, and assigns or returns gradients; or a
            `torch.autograd.Function`; or a callable without Python source, such as a kernel.
        sizes: sizes to be fixed, such as `{"d": 7}`.
        inputs: draws inputs that the annotations cannot describe; it asks by name for `generator`
            and for sizes, and gives a dictionary of tensors.
        seed: of everything that is drawn.

    Raises:
        ValueError: one of them cannot be used; the message is a sentence with the line.
    """
    if forward is not None and backward is not None:
        return explain_functions(forward, backward, sizes=sizes, inputs=inputs, seed=seed)
    shell = get_ipython()
    if shell is None or forward is not None or backward is not None:
        raise BadInput(
            "explain(forward, backward) takes two functions. In a notebook, explain() takes the"
            " cell with gradients that ran last."
        )
    sources = _plain_cells(shell)
    places = [n for n, source in enumerate(sources) if _has_gradients(source, shell.user_ns)]
    if not places:
        print("No cell that ran assigns a gradient, `dX = ...`, of a tensor X of this notebook.")
        return None
    _show(sources[: places[-1]], _without_calls(sources[places[-1]]), shell.user_ns, "loss")
    return None


def _plain_cells(shell: Any) -> list[str]:
    """The cells that ran; what stands below a `%%backward` ran as a cell of its own, too."""
    sources = [run.cell.source or "" for run in followed(shell).runs]
    return [one for one in sources if not one.lstrip().startswith(f"%%{MAGIC}")]


def _has_gradients(source: str, namespace: Mapping[str, Any]) -> bool:
    written = parse_answer([AnswerCell("", source)]).written.values()
    names = {name for some in written for name in some if name.startswith("d")}
    return any(isinstance(namespace.get(name[1:]), Tensor) for name in names)


def _without_calls(source: str) -> str:
    """A cell without its own calls of `explain()`, which would begin all over again."""
    tree = parsed(source)
    calls = [
        one
        for one in (tree.body if tree else [])
        if isinstance(one, ast.Expr) and ast.unparse(one.value) == "explain()"
    ]
    lines = source.split("\n")
    for call in calls:
        lines[call.lineno - 1] = ""
    return "\n".join(lines)


def _show(before: list[str], cell: str, namespace: dict[str, Any], result: str) -> None:
    """Show the lecture's lines, what is wrong, and the board."""
    try:
        explanation, forward, remarks = explain_cell(before, cell, namespace, result)
    except UserError as error:
        print(error)
        return
    if is_live():  # elsewhere the explanation is shown as a text, which has these numbers
        for one in explanation.verdicts:
            says = f"{wording.SIGNS[one.outcome]} {wording.word(one.outcome)}"
            print(f"{says:<10}{one.comparison.line}")
    for remark in remarks:
        print(remark)
    display(explanation)  # type: ignore[no-untyped-call]
    verdicts = {one.name: one for one in explanation.verdicts}
    show(forms_of(draw_board(forward.program, verdicts), verdicts))


def explain_cell(
    before: list[str], cell: str, namespace: dict[str, Any], result: str
) -> tuple[Explanation, Forward, list[str]]:
    """Explain a cell's gradients; also the forward pass, and remarks on what was not read of it.

    The values that it compares are the notebook's; the verdicts come from hidden instances.
    """
    forward, subject, live, remarks = read_cells(before, cell, namespace, result)
    explanation = explain_subject(forward, subject)
    right = _gradients(forward, live, namespace)
    verdicts = tuple(
        replace(one, comparison=compare(one.name, namespace.get(one.name), right[one.name[1:]]))
        if one.name[1:] in right
        else one
        for one in explanation.verdicts
    )
    report = replace(explanation.report, verdicts=verdicts)
    return replace(explanation, report=report), forward, remarks


def _gradients(
    forward: Forward, live: dict[str, Tensor], namespace: dict[str, Any]
) -> dict[str, Tensor]:
    """Autograd's gradients at the notebook's own values; none if nothing arrives at its result."""
    program, inputs = forward.program, dict(live)
    (result,) = forward.returned
    if program.run(live)[result].dim():
        arriving = namespace.get(f"d{result}")
        if not isinstance(arriving, Tensor):
            return {}
        program, inputs[f"d{result}"] = weighed(program, {result: f"d{result}"}), arriving
    return program.gradients(inputs)
