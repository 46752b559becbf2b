"""`%%backward`: says of the gradients in a notebook's cell whether they are right, and why not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from IPython import get_ipython
from IPython.display import display
from torch import Tensor

from grader.explanation.cells import read_cells
from grader.explanation.explain import Explanation, explain_subject
from grader.explanation.forward import Forward
from grader.notebook.running_notebook import followed
from grader.program.compare import compare
from grader.program.forward_program import weighed
from grader.reports import wording
from grader.user_error import UserError

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
    history = followed(shell)
    sources = [run.cell.source or "" for run in history.runs]
    before = [one for one in sources if not one.lstrip().startswith(f"%%{MAGIC}")]
    if shell.run_cell(cell).error_before_exec:
        return  # it is not Python, as the shell has said
    try:
        explanation, remarks = explain_cell(before, cell, shell.user_ns, line.strip() or "loss")
    except UserError as error:
        print(error)
        return
    for one in explanation.verdicts:
        print(f"{wording.SIGNS[one.outcome]} {wording.word(one.outcome):<8}{one.comparison.line}")
    for remark in remarks:
        print(remark)
    display(explanation)  # type: ignore[no-untyped-call]


def explain_cell(
    before: list[str], cell: str, namespace: dict[str, Any], result: str
) -> tuple[Explanation, list[str]]:
    """The explanation of a cell's gradients, and remarks on what of the cells was not read.

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
    return replace(explanation, report=replace(explanation.report, verdicts=verdicts)), remarks


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
