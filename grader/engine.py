"""PyTorch as student code finds it: without autograd, at double precision where asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn
from unittest import mock

import torch
import torch.autograd.forward_ad
import torch.func
from torch import Tensor

ENGINE_ENTRIES = (
    ("torch.autograd", "_engine_run_backward"),
    ("torch.autograd.graph", "_engine_run_backward"),
    ("torch.autograd.forward_ad", "enter_dual_level"),
    ("torch._functorch.eager_transforms", "_grad_increment_nesting"),
    ("torch._functorch.eager_transforms", "_jvp_increment_nesting"),
    ("torch._C._functorch", "_grad_increment_nesting"),
    ("torch._C._functorch", "_jvp_increment_nesting"),
)
"""Where reverse mode, forward mode and `torch.func` enter the engine: module and function."""


def _refusal() -> Callable[..., NoReturn]:
    """A function that stands in for an entry; one each, since torch.compile registers them."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("autograd is switched off while answers are checked")

    return refuse


@contextmanager
def engine_switched_off() -> Iterator[None]:
    """Run code for which PyTorch records no graph and differentiates nothing.

    Operations go straight to their kernels, below the layer that records them, whatever
    `torch.enable_grad` and `requires_grad` say.
    """
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        stack.enter_context(torch._C._AutoDispatchBelowAutograd())
        for module, function in ENGINE_ENTRIES:
            if hasattr(sys.modules.get(module), function):
                stack.enter_context(mock.patch.object(sys.modules[module], function, _refusal()))
        yield


@contextmanager
def double_precision() -> Iterator[None]:
    """Run float32 code as if it had been written for float64.

    A right answer says `.float()`, `torch.float32` or `torch.zeros(n)` because the notebook's
    tensors are float32. On a float64 instance these must mean float64, or right answers would
    fail for their dtype.
    """
    own_double = torch.Tensor.double

    def double_copy(tensor: Tensor) -> Tensor:
        # Of a float32 tensor, `.double()` is a copy that shares no memory; it must stay one.
        return own_double(tensor).clone()

    double: dict[Any, dict[str, Any]] = {
        torch: {
            "float": torch.float64,
            "float32": torch.float64,
            "FloatTensor": torch.DoubleTensor,
        },
        torch.Tensor: {"float": own_double, "double": double_copy},
    }
    default = torch.get_default_dtype()
    with ExitStack() as stack:
        for owner, names in double.items():
            for name, replacement in names.items():
                stack.enter_context(mock.patch.object(owner, name, replacement))
        torch.set_default_dtype(torch.float64)
        stack.callback(torch.set_default_dtype, default)
        yield
