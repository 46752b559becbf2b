"""PyTorch as answers find it: nothing differentiates, float32 means float64 where asked."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import pytest
import torch

from corpus.readers.places import PROJECT
from grader.worker.engine import ENGINE_ENTRIES, double_precision
from tests.helpers.confined import run_outside


def test_every_entry_of_the_engine_exists_in_this_torch() -> None:
    """An entry that was renamed would be left open without a word."""
    assert len(ENGINE_ENTRIES) == len(set(ENGINE_ENTRIES))
    missing = [
        (module, name)
        for module, name in ENGINE_ENTRIES
        if not hasattr(importlib.import_module(module), name)
    ]
    assert not missing


TRIED = """
import gc, json, os, sys, threading, torch
from grader.worker.engine import switch_off_engine
if sys.argv[1] == "off":
    switch_off_engine()
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
"""Tries expressions with the engine on or off for good: in a thread, then without."""

WAYS = (
    "torch.autograd.grad((y := x.clone().requires_grad_()).square().sum(), y)[0]",
    "x.clone().requires_grad_().square().sum().backward() or 1",
    "(x.clone().requires_grad_() * 2).grad_fn is not None",
    "(x.clone().requires_grad_() * 2).grad_fn(torch.ones(2))[0]",
    "torch.func.grad(lambda t: (t**2).sum())(x)",
    "torch.func.vjp(lambda t: t**2, x)[1](x)[0]",
    "torch.func.jvp(lambda t: t**2, (x,), (x,))[1]",
    "torch.autograd.functional.jacobian(lambda t: (t**2).sum(), x)",
    "(f := torch.autograd.forward_ad).enter_dual_level()"
    " + f.unpack_dual(f.make_dual(x, x)**2).tangent",
    "callable(torch.autograd.Variable._execution_engine.run_backward)",
    "torch.ops.aten.tanh_backward(x, x)",
    "torch._C._jit_get_operation('aten::tanh_backward')[0](x, x)",
    "torch.ops.aten.threshold_backward(x.to_sparse(), x.to_sparse(), 0).to_dense()",
    "torch._log_softmax_backward_data(x, x, 0, torch.float32)",
    "torch._decomp.decompositions.tanh_backward(x, x)",
    "torch._decomp.decomposition_table[torch.ops.aten.tanh_backward.default](x, x)",
    "torch._C._jit_differentiate(torch._C.parse_ir('graph(%x : Tensor):\\n  return (%x)')) and 1",
    "torch._C.CompilationUnit().define('def f(x):\\n  return x\\n') or 1",
    "torch._C._dispatch_library('IMPL', 'aten', '') and 1",
    "__import__('sympy') and 1",
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


TRACES = ("sum(type(t).__name__ == '_DispatchModule' for t in gc.get_objects())",)
"""Finds what overrides the operators, which may not be found once it does."""


def tried(engine: str, expressions: Sequence[str]) -> dict[str, bool]:
    """For each expression, whether it gave anything but zero with the engine "on" or "off"."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TRIED, engine],
        input=json.dumps(expressions),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def works() -> Mapping[str, bool]:
    return tried("off", [*WAYS, *TRACES, *RIGHT])


@pytest.mark.slow
def test_with_the_engine_on_every_way_works() -> None:
    """Or that one fails with it off would say nothing."""
    found = tried("on", WAYS)
    assert [way for way in WAYS if not found[way]] == []


@pytest.mark.slow
@pytest.mark.parametrize("way", [*WAYS, *TRACES])
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


SPARSE = (
    "torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [3.0, 4.0, 5.0], (2, 3)).coalesce()",
    "torch.eye(3).to_sparse_csr()",
    "torch.sparse.sum(torch.eye(3).to_sparse(), 0)",
)


def test_sparse_tensors_work_as_in_the_notebook() -> None:
    code = "import warnings, torch\nwarnings.simplefilter('ignore')\n{}\nresult = [{}]"
    off = f"import sys; sys.path.insert(0, {str(PROJECT)!r})\n"
    off += "from grader.worker.engine import switch_off_engine; switch_off_engine()"
    values = ", ".join(f"{expression}.to_dense().tolist()" for expression in SPARSE)
    assert run_outside(code.format(off, values)) == run_outside(code.format("", values))


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
