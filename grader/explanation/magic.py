"""`%%backward`: says of the gradients in a notebook's cell whether they are right, and why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from IPython import get_ipython
from IPython.display import display
from torch import Tensor

from grader.answer.parse import written_names
from grader.explanation.cells import ForwardCells, read_cells
from grader.explanation.explanation import CellExplanation
from grader.explanation.forward import Forward
from grader.explanation.judge import explain_subject
from grader.notebook.running_notebook import followed
from grader.program.compare import compare
from grader.program.forward_program import weighed
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
    before = _ran(shell)
    cell = f"# %%{MAGIC}\n{cell}"  # so that lines count as in the notebook
    if shell.run_cell(cell).error_before_exec:
        return  # it is not Python, as the shell has said
    try:
        explanation = explain_cell(before, cell, shell.user_ns, line.strip() or "loss")
    except UserError as error:
        print(error)
        return
    display(explanation)  # type: ignore[no-untyped-call]


def explain_latest_cells() -> CellExplanation:
    """The explanation of the cell that assigned gradients last, of a forward pass to `loss`."""
    shell = get_ipython()
    if shell is None:
        raise BadInput("Without arguments, explain() reads the cells of a running notebook.")
    namespace, sources = shell.user_ns, _ran(shell)
    tensors = {name for name, value in namespace.items() if isinstance(value, Tensor)}
    gradients = {f"d{name}" for name in tensors} & tensors
    for number in reversed(range(len(sources))):
        if not gradients.isdisjoint(written_names(sources[number])):
            return explain_cell(sources[:number], sources[number], namespace, "loss")
    raise BadInput("No cell that ran assigns a gradient, `dX = ...` for a tensor X.")


def explain_cell(
    before: Sequence[str], cell: str, namespace: Mapping[str, Any], result: str
) -> CellExplanation:
    """The explanation of a cell's gradients.

    The values that it compares are the notebook's; the verdicts come from hidden instances.
    """
    cells = ForwardCells(before, namespace, result)
    failed = BadInput(f"Nothing that computes {result} can be read.")
    for forward, subject in read_cells(cells, cell):
        try:
            explanation = explain_subject(forward, subject)
        except BadInput as error:
            failed = error
            continue
        right = _gradients(forward, cells.inputs, namespace)
        names = (one.name for one in explanation.verdicts if one.name[1:] in right)
        live = {name: compare(name, namespace.get(name), right[name[1:]]) for name in names}
        return CellExplanation(explanation.program, explanation.report, tuple(cells.remarks), live)
    raise failed


def _ran(shell: Any) -> list[str]:
    """The cells that have run; what `%%backward` runs counts without its first line."""
    sources = [run.cell.source or "" for run in followed(shell).runs]
    return [source for source in sources if not source.lstrip().startswith(f"%%{MAGIC}")]


def _gradients(
    forward: Forward, live: Mapping[str, Tensor], namespace: Mapping[str, Any]
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
