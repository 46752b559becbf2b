"""The loops at the start of the race of notebook 4."""

from __future__ import annotations

import importlib.util
from functools import partial

from makemore_data.loops import autograd_loop, manual_loop
from makemore_data.training import Backward, Loop

SOLVED = "makemore_data.solved"
"""The loops that contain the answers of notebook 4; a student release is without them."""


def contestants(name: str, backward: Backward) -> tuple[dict[str, Loop], list[str]]:
    """Every loop that can take part here, autograd's first, with `backward` in the one of `name`.

    Compiling two of them may take a minute. The second value has a sentence for each reason why
    somebody does not take part.

    Args:
        name: what to call the loop with `backward` in it.
        backward: from a minibatch and the parameters to the loss and the gradients, see `train`.
    """
    by_hand = partial(manual_loop, backward=backward)
    if importlib.util.find_spec(SOLVED) is None:
        return {"autograd": autograd_loop, name: by_hand}, [
            "The lecture's loop, the tuned one and the compiled ones are not in this copy of the "
            "course, for they contain the answers: the race is autograd's loop against yours."
        ]
    from makemore_data.solved.compiled import STEPS_A_CALL, NoCompiler, compile_loop
    from makemore_data.solved.lecture import lecture_backward
    from makemore_data.solved.tuned import tuned_loop

    loops: dict[str, Loop] = {
        "autograd": autograd_loop,
        "by hand, as in the lecture": partial(manual_loop, backward=lecture_backward),
        name: by_hand,
        "tuned": tuned_loop,
    }
    try:
        loops["tuned and compiled"] = compile_loop()
        loops[f"the same, {STEPS_A_CALL} steps a call"] = compile_loop(STEPS_A_CALL)
    except NoCompiler as trouble:
        return loops, [str(trouble)]
    return loops, []
