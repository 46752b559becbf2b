"""What an exception in a student's part of the loop means, in a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.notebook.training.deep_trial import N_HIDDEN2, WINDOWS
from grader.notebook.training.trial import BLOCK_SIZE, N_HIDDEN

WIDTH = 10 * BLOCK_SIZE
"""Numbers of a window in front of `W1`: a row of `C` has ten."""

MEANINGS: Mapping[str, str] = {
    r"^loop: (can't multiply sequence|zip\(\) argument)": (
        "`update` is not handed the seven gradients: `backward` returns two things,"
        " `loss, gradients = backward(...)`, the second of which is all of them."
    ),
    r"^loop: (not enough|too many) values to unpack \(expected ([3-9]|1)\b": (
        "`backward` returns two things, `loss, gradients = backward(...)`, the second of which is"
        " all seven gradients."
    ),
    r"^loop: (my_)?update\(\) takes": (
        "`update` takes three things: all parameters, all gradients, the learning rate. A star"
        " hands their tensors over one by one."
    ),
    r"^loop: .*takes .*positional arguments? but 9 were given": (
        "The loop is handed `backward`, and trains with that: call no other."
    ),
    "^loop: 'tuple' object has no attribute": (
        "`backward` returns two things: `loss, gradients = backward(...)`."
    ),
    "^loop: object of type 'NoneType' has no len": (
        "`append` changes the list, and returns nothing: there is nothing to assign."
    ),
    r"(\w+)\(\) received an invalid combination of arguments - got \(keepdim=bool": (
        r"`keepdim` goes with an axis: `\1(0, keepdim=True)`."
    ),
    r"\b(add|sub)_?\(\) takes [12] positional": r"`\1` takes its factor by name, `alpha=...`.",
    r"\b(addc\w+?)_?\(\) takes [23] positional": r"`\1` takes its factor by name, `value=...`.",
    "^deep_backward: .*(must match the size|broadcast|is invalid for input|cannot be multip)": (
        f"Here the batch has {WINDOWS} examples. `W3`, from `h` to `h2`, is {N_HIDDEN} by"
        f" {N_HIDDEN2}; `W2`, from `h2` to the logits, is {N_HIDDEN2} by 27."
    ),
    "only one element tensors can be converted|only 0-dim.* can be converted": (
        "`math` is for single numbers: a tensor has its own `.sqrt()` and `.log()`."
    ),
    "'type' object does not support the context manager": (
        "It is called, with brackets: `with torch.no_grad():`."
    ),
    r"^loop: (.*used as indices must be|randn?\(\): argument 'size')": (
        "The numbers of rows are whole numbers: `torch.randint` draws them."
    ),
    "^loop: .*'Run' and 'int'": "`learning_rate` wants the number of the step, `run.step`.",
    "^loop: .*must be an iterable, not Run": "The seven tensors of a run are `run.parameters`.",
    "^mean_loss: Expected floating point type for target": (
        "`F.cross_entropy` wants the logits, a row a window, and the indices `Y`."
    ),
    "^mean_loss: Expected input batch_size": (
        "Each window is a row of the logits, and a number of `Y`."
    ),
    "^mean_loss: .*used as indices must be": (
        "The arguments of `logits_with` are `parameters, mean, variance, X`, in this order."
    ),
    "^loop: .*must be (Tensor|Number).*, not function": (
        "`learning_rate` is a function of the step: `update` wants the number that it returns."
    ),
    "^loop: .*must be Tensor, not (list|tuple)": (
        "`update` is handed all gradients as one of several: `loss, gradients = backward(...)`,"
        " without a star."
    ),
    "^update: .*(must match the size|broadcast shape)": (
        "The shapes do not fit. Each parameter goes with its own gradient, as it is: one `zip` goes"
        " through both."
    ),
    "^loop: .*is out of bounds for dimension 0 with size": (
        "The rows are counted from 0 to `len(X) - 1`; `randint` leaves its upper limit out."
    ),
    r"shape '\[.*\]' is invalid for input of size": (
        "X has another number of rows here: read it off the argument, as in `len(X)`."
    ),
    rf"mat1 and mat2 shapes cannot be multiplied \(\d+x{BLOCK_SIZE} and ": (
        "`X` holds indices: the rows of `C` that they name, `C[X]`, go into `W1`."
    ),
    "^adam: .*shapes cannot be multiplied": (
        "`@` is the matrix product; `*` and `**2` take each number by itself."
    ),
    rf"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and ({WIDTH})x\d+\)": (
        r"The inner sizes are \1 and \2, and have to be equal: a window's rows of `C` stand side by"
        " side, in one row."
    ),
    r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)": (
        r"The inner sizes are \1 and \2, and have to be equal."
    ),
    r"^\w+: tensor\(": "A dictionary finds numbers, not tensors: `.item()` makes a number of one.",
    r"predict\(\) takes 1 positional argument": (
        "`predict` takes the window as it is, a list of indices."
    ),
    "probability tensor contains": (
        "These are no probabilities yet: `F.softmax` makes them of logits."
    ),
    r"'NoneType' and|and 'NoneType'": (
        "One side is None. Nobody asks autograd here, so a `.grad` is None; the gradients are"
        " arguments."
    ),
    "does not support item assignment": (
        "The entries of a tuple cannot be replaced. Go through the tensors, and change each in"
        " place."
    ),
    "values to unpack": (
        "`for a, b in x, y` takes x apart, then y; `zip(x, y)` goes through both side by side."
    ),
    "can't multiply sequence": (
        "That is several tensors in a tuple or a list: go through them one by one."
    ),
    "'(?:function|builtin_function_or_method)' (?:and|object)|(?:and|unary -:) 'function'": (
        "One of these is a function: call it, to have its value."
    ),
    "property 'step'": "`run.step` counts by itself: it is the length of `run.losses`.",
    "'float' object is not iterable|type 'float' has no len": (
        "`run.losses` is a list: `append` adds a number to it."
    ),
    r"randint\(\)(: argument 'size'| received an invalid combination)": (
        "It wants numbers as limits, such as `len(X)`, then a shape, such as `(32,)`."
    ),
    "iteration over a 0-d tensor": (
        "That is a single number. `backward` returns the loss first, then the gradients."
    ),
    r"after \* must be an iterable, not NoneType": (
        "`update` returns nothing: it changes the tensors themselves."
    ),
    "not implemented for 'Long'": (
        "These are whole numbers, where logits belong: are the arguments in the right order?"
    ),
    "data type 'str'|dimensions 'str'": (
        "The window holds characters; it is a list of their indices."
    ),
    "infer dtype of NoneType": "The window is None: `append` changes a list, and returns nothing.",
}
"""What a part with an exception's message is like, and what that means in a training loop."""


def meaning(part: str, message: str) -> str:
    """What an exception with this message means in a part of the loop, as a sentence, or ""."""
    for pattern, sentence in MEANINGS.items():
        if found := re.search(pattern, f"{part}: {message}"):
            return found.expand(sentence)
    return ""
