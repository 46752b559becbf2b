"""Say of a hand-written backward pass whether it is right, and why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from grader.explanation.explanation import Explanation
from grader.explanation.forward import Forward, Inputs
from grader.explanation.judge import explain_subject
from grader.explanation.magic import explain_latest_cells
from grader.explanation.subject import subject_of
from grader.program.references import SEED
from grader.reports import wording
from grader.user_error import BadInput
from grader.verdict import Outcome


def explain(
    forward: Callable[..., Any] | None = None,
    backward: Any = None,
    *,
    sizes: Mapping[str, int] | None = None,
    inputs: Inputs | None = None,
    seed: int = SEED,
) -> Explanation:
    """Say of each gradient in a backward pass whether it is right, and why not.

    Without arguments, in a notebook, it says so of the cell that assigned gradients last, as
    `%%backward` does; the forward pass is in the cells before, and ends in `loss`.

    Both run here, in this process, on float64 tensors of several sizes.

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
    if forward is None and backward is None:
        return explain_latest_cells()
    if forward is None or backward is None:
        raise BadInput("explain takes a forward pass and its backward pass, or neither of the two.")
    read = Forward.of(forward, sizes or {}, inputs)
    return explain_subject(read, subject_of(backward, read), seed)


def assert_gradients(
    forward: Callable[..., Any],
    backward: Any,
    *,
    sizes: Mapping[str, int] | None = None,
    inputs: Inputs | None = None,
    seed: int = SEED,
) -> None:
    """Raise an `AssertionError` that says why, unless every gradient is right; see `explain`."""
    __tracebackhide__ = True  # pytest then shows the caller's line, not this one
    explanation = explain(forward, backward, sizes=sizes, inputs=inputs, seed=seed)
    if not explanation.ok:
        verdicts = explanation.verdicts
        wrong = wording.wrong(verdicts) or [v for v in verdicts if v.outcome is not Outcome.PASS]
        # pytest's summary shows the first line alone
        first = ", ".join(
            f"{one.name}: {one.outcome}{f' in {wording.where(one.place)}' if one.place else ''}"
            for one in wrong
        )
        raise AssertionError(f"{first}\n\n{explanation}")
