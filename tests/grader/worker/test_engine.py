"""PyTorch as answers find it: nothing differentiates, float32 means float64 where asked."""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.worker.engine import ENGINE_ENTRIES, double_precision, engine_switched_off


def by_backward(x: Tensor) -> Tensor | None:
    with torch.enable_grad():
        leaf = x.clone().requires_grad_()
        (leaf**2).sum().backward()  # type: ignore[no-untyped-call]
    return leaf.grad


def by_grad(x: Tensor) -> Tensor:
    with torch.enable_grad():
        leaf = x.clone().requires_grad_()
        return torch.autograd.grad((leaf**2).sum(), leaf)[0]


def by_func(x: Tensor) -> Tensor:
    return torch.func.grad(lambda t: (t**2).sum())(x)  # type: ignore[no-any-return]


def by_vjp(x: Tensor) -> Tensor:
    pull: Any = torch.func.vjp(lambda t: t**2, x)[1]
    return pull(torch.ones_like(x))[0]  # type: ignore[no-any-return]


def by_jvp(x: Tensor) -> Tensor:
    return torch.func.jvp(lambda t: t**2, (x,), (torch.ones_like(x),))[1]  # type: ignore[no-any-return]


def by_jacobian(x: Tensor) -> Tensor:
    functional: Any = torch.autograd.functional
    return functional.jacobian(lambda t: (t**2).sum(), x)  # type: ignore[no-any-return]


def by_dual_numbers(x: Tensor) -> Tensor | None:
    forward_mode: Any = torch.autograd.forward_ad
    with forward_mode.dual_level():
        dual = forward_mode.make_dual(x, torch.ones_like(x))
        return forward_mode.unpack_dual(dual**2).tangent  # type: ignore[no-any-return]


WAYS = (by_backward, by_grad, by_func, by_vjp, by_jvp, by_jacobian, by_dual_numbers)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # PyTorch's own, in jvp
@pytest.mark.parametrize("way", WAYS)
def test_no_way_to_differentiate_is_left(way: Callable[[Tensor], Tensor | None]) -> None:
    x = torch.tensor([1.0, 2.0])
    expected = 2 * x
    before = way(x)
    assert before is not None
    assert torch.equal(before, expected)
    with engine_switched_off():
        try:
            found = way(x)
        except RuntimeError:
            found = None
        # Some functions give zeros where nothing was recorded.
        assert found is None or not found.any()
    after = way(x)
    assert after is not None
    assert torch.equal(after, expected)


def test_a_students_own_graph_records_nothing() -> None:
    with engine_switched_off(), torch.enable_grad():
        x = torch.ones(3, requires_grad=True)
        assert (x * 2).grad_fn is None


def test_every_entry_of_the_engine_exists_in_this_torch() -> None:
    """An entry that was renamed would be left open without a word."""
    assert len(ENGINE_ENTRIES) == len(set(ENGINE_ENTRIES))
    missing = [
        (module, name)
        for module, name in ENGINE_ENTRIES
        if not hasattr(importlib.import_module(module), name)
    ]
    assert not missing


FOR_GOOD = """
import gc, json, os, sys, threading, torch
from grader.worker.engine import engine_switched_off, switch_off_engine
switch_off_engine()
switch_off_engine()
with engine_switched_off():
    pass
x = torch.tensor([1.0, 2.0])

def attempt(way, found):
    try:
        value = eval(way)
        found.append(bool(torch.as_tensor(value).any()))
    except (RuntimeError, AttributeError, ImportError, TypeError, SystemError):
        found.append(False)

for way in json.load(sys.stdin):
    if os.fork() == 0:
        found = []
        thread = threading.Thread(target=attempt, args=(way, found))
        thread.start()
        thread.join()
        attempt(way, found)
        print(json.dumps([way, any(found)]), flush=True)
        os._exit(0)
    os.wait()
"""
"""Tries ways to differentiate where the engine is off for good: in a thread, then without."""

WAYS_FOR_GOOD = (
    "torch.autograd.grad((y := x.clone().requires_grad_()).square().sum(), y)[0]",
    "x.clone().requires_grad_().square().sum().backward() or 1",
    "(x.clone().requires_grad_() * 2).grad_fn(torch.ones(2))",
    "torch.func.grad(lambda t: (t**2).sum())(x)",
    "torch.func.jvp(lambda t: t**2, (x,), (x,))[1]",
    "torch.autograd.Variable._execution_engine.run_backward",
    "torch.ops.aten.tanh_backward(x, x)",
    "torch._C._jit_get_operation('aten::tanh_backward')[0](x, x)",
    "torch.ops.aten.tanh_backward(x.to_sparse(), x.to_sparse()).to_dense()",
    "torch._log_softmax_backward_data(x, x, 0, torch.float32)",
    "torch._decomp.decompositions.tanh_backward(x, x)",
    "torch._decomp.decomposition_table[torch.ops.aten.tanh_backward.default](x, x)",
    "torch._C._jit_differentiate(torch._C.parse_ir('graph(%x : Tensor): return (%x)')) and 1",
    "torch._C.CompilationUnit().define('def f(x):\\n return x') or 1",
    "torch._C._dispatch_library('IMPL', 'aten', '') and 1",
    "__import__('sympy') and 1",
    "sum(type(t).__name__ == '_DispatchModule' for t in gc.get_objects())",
    "sum(type(d) is dict and type(d.get('_jit_differentiate')).__name__ =="
    " 'builtin_function_or_method' for d in gc.get_objects())",
    "sum(type(d) is dict and 'run_backward' in d for d in gc.get_objects())",
)


RIGHT = (
    *("x.square().sum()", "torch.einsum('i,i->', x, x)", "len(repr(x))", "x.softmax(0)"),
    "torch.nn.functional.one_hot(torch.arange(2))",
    "torch.testing.assert_close(x, x + 0) is None",
    "torch.optim.SGD([torch.nn.Parameter(x)], lr=0.1).step() is None",
)


@pytest.fixture(scope="module")
def works() -> Mapping[str, bool]:
    """For each expression, whether it gave anything but zero with the engine off for good."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FOR_GOOD],
        input=json.dumps([*WAYS_FOR_GOOD, *RIGHT]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.parametrize("way", WAYS_FOR_GOOD)
def test_switched_off_for_good_no_way_is_left_in_any_thread(
    way: str, works: Mapping[str, bool]
) -> None:
    assert works[way] is False


@pytest.mark.parametrize("right", RIGHT)
def test_switched_off_for_good_everything_else_works(right: str, works: Mapping[str, bool]) -> None:
    assert works[right] is True


@pytest.fixture
def _double() -> Iterator[None]:
    with double_precision():
        yield


SINGLE = (
    "torch.zeros(2)",
    "torch.tensor(1.0)",
    "torch.zeros(2, dtype=torch.float32)",
    "torch.zeros(2, dtype=torch.float)",
    "torch.arange(3).float()",
    "torch.arange(3).to(torch.float32)",
    "torch.arange(3).double().float()",
    "torch.FloatTensor([1.0])",
    "torch.eye(2) @ torch.ones(2, 2)",
    "torch.nn.functional.one_hot(torch.arange(3)).float()",
)


@pytest.mark.usefixtures("_double")
@pytest.mark.parametrize("expression", SINGLE)
def test_what_says_float32_gives_float64(expression: str) -> None:
    assert eval(expression).dtype is torch.float64


@pytest.mark.parametrize("expression", SINGLE)
def test_afterwards_everything_is_as_it_was(expression: str) -> None:
    with double_precision():
        pass
    assert eval(expression).dtype is torch.float32
    assert "float" not in vars(torch.Tensor)


@pytest.mark.usefixtures("_double")
def test_a_copy_by_double_stays_a_copy_and_float_stays_the_tensor() -> None:
    x = torch.zeros(3)
    copied, same = x.double(), x.float()
    copied += 1
    assert not x.any()
    same += 1
    assert x.all()


def test_an_exception_restores_everything() -> None:
    with pytest.raises(ZeroDivisionError), double_precision():
        _ = 1 / 0
    assert torch.zeros(1).dtype is torch.float32
