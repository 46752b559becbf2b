"""PyTorch as student code finds it: without autograd, at double precision where asked."""

from __future__ import annotations

import gc
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType, SimpleNamespace
from typing import Any, NoReturn

import torch
import torch.autograd.forward_ad
import torch.func
from torch import Tensor
from torch.library import fallthrough_kernel

from grader.worker.results import REFUSED

ENGINE_ENTRIES = (
    ("torch.autograd", "_engine_run_backward"),
    ("torch.autograd.graph", "_engine_run_backward"),
    ("torch.autograd.forward_ad", "enter_dual_level"),
    ("torch._functorch.eager_transforms", "_grad_increment_nesting"),
    ("torch._functorch.eager_transforms", "_jvp_increment_nesting"),
    ("torch._C._functorch", "_grad_increment_nesting"),
    ("torch._C._functorch", "_jvp_increment_nesting"),
)
"""Where reverse mode, forward mode and `torch.func` enter the engine: module and function.

Nothing is recorded anyway; here it is said aloud, rather than answered with zeros.
"""

RECORDING_KEYS = ("Autograd", "AutogradNestedTensor")
"""The dispatcher's layers in which PyTorch's operators record a graph, or carry a tangent along."""

KERNEL_KEYS = ("CPU", "SparseCPU", "SparseCsrCPU", "MkldnnCPU", "QuantizedCPU", "NestedTensorCPU")
"""The layers in which operators compute, on the devices and layouts that a worker has."""

DERIVATIVE = re.compile(r"backward|_jvp|_vjp|jacobian|hessian|jacrev|jacfwd|gradcheck|linearize")
"""Names of operators and functions that know a derivative."""

DERIVING_MODULES = re.compile(
    r"torch\.(autograd(?!\.profiler)|func|_functorch|_decomp|_refs|_inductor|_lobpcg|_dynamo|jit)(\.|$)"
)
"""Modules with derivatives written in Python."""

NATIVE_ENTRIES = re.compile(
    r"_jit_(?!get_operation|get_all_schemas|get_schemas|resolve_packet|get_custom_class)"
    r"|_create_function_from|_create_graph_by|parse_ir|_?import_ir_module|_dispatch_library$"
    r"|_dispatch_tls_set|_construct_storage_from|_functionalization|_will_engine|set_autograd_comp"
)
"""Functions of `torch._C` that compile, differentiate, or change the dispatcher."""

NATIVE_CLASSES = ("CompilationUnit", "ScriptModule", "ScriptFunction", "Gradient", "Graph")
"""Classes of `torch._C` that hold compiled programs and their derivatives."""

OTHER_ENGINES = (
    *("sympy", "jax", "autograd", "tensorflow", "mxnet", "casadi", "numdifftools", "cffi"),
)
"""Packages that differentiate, or call foreign functions, if they happen to be installed."""


def switch_off_engine() -> None:
    """Leave this process without anything in it that differentiates: the warm worker, once.

    PyTorch's operators record no graph and carry no tangent in any thread, whatever
    `torch.enable_grad` and `requires_grad` say; its backward operators raise, and so do the
    derivatives written in Python. What is overridden stays in no Python object by which it could
    be brought back, whatever an answer finds through `gc`, `inspect` or frames.
    """
    import ctypes

    # Its first call loads how operators are taken apart, which is not possible afterwards.
    torch.vmap(torch.neg)(torch.zeros(1, 1))

    for library in _override_operators():
        # Freed, it would restore what it overrides; kept, it would be found. So it is leaked.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
    for module, function in ENGINE_ENTRIES:
        _forget([getattr(sys.modules[module], function)])
    base: Any = torch._C._ImperativeEngine
    # The class is built in and cannot be assigned to; its dictionary can.
    for namespace in gc.get_referents(base.__dict__):
        if isinstance(namespace, dict):
            namespace.pop("run_backward", None)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(base))
    _forget([entry for name, entry in vars(torch._C).items() if NATIVE_ENTRIES.match(name)])
    for name in NATIVE_CLASSES:
        _empty_class(getattr(torch._C, name))
    _disarm_functions()
    # What compiles is kept from answers, and changes no value.
    torch.compile = torch.jit.script = _uncompiled  # type: ignore[assignment]
    # Optimizers ask the compiler to leave them alone, nested tensors mark sizes for it, and
    # `assert_close` asks whether a tensor is spread over machines. Neither module can be imported
    # where nothing differentiates.
    asked = ("disable", "graph_break", "mark_dynamic", "maybe_mark_dynamic", "mark_static")
    compiler = SimpleNamespace(**dict.fromkeys(asked, _uncompiled))
    spread = SimpleNamespace(DTensor=type("DTensor", (), {}))
    stand_ins: Any = {"torch._dynamo": compiler, "torch.distributed.tensor": spread}
    sys.modules.update(stand_ins)
    torch.use_deterministic_algorithms = torch._C._set_deterministic_algorithms
    for module in OTHER_ENGINES:
        sys.modules[module] = None  # type: ignore[assignment]
    gc.collect()


def _uncompiled(function: Any = None, *_: object, **__: object) -> Any:
    """A function as it is; without one, what decorates it."""
    return _uncompiled if function is None else function


def _refuse(*_: object, **__: object) -> NoReturn:
    """Stands in for what differentiates."""
    raise RuntimeError(REFUSED)


def _override_operators() -> Iterable[Any]:
    """Make operators skip the recording layers and backward operators raise.

    Returns the libraries of overrides, which are in force as long as one of them lives. This
    works below any thread's or guard's settings, since those only choose between layers.
    """
    native: Any = torch._C
    libraries: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*Overriding a previously registered")
        for full in native._dispatch_get_all_op_names():
            namespace, _, operator = full.partition("::")
            if namespace not in libraries:
                libraries[namespace] = native._dispatch_library("IMPL", namespace, "")
            library = libraries[namespace]
            for key in RECORDING_KEYS:
                if native._dispatch_has_kernel_for_dispatch_key(full, key):
                    skips = _coalesce if full == "aten::_coalesce" else fallthrough_kernel
                    library.impl(operator, key, skips)
            if DERIVATIVE.search(operator):
                for key in (*KERNEL_KEYS, "FuncTorchBatched"):  # where `vmap` has its own rules
                    library.impl(operator, key, _refuse)
    return libraries.values()


def _coalesce(tensor: Tensor) -> Tensor:
    """Skip the recording layers by name: this kernel insists on that."""
    with torch._C._AutoDispatchBelowAutograd():
        coalesced: Tensor = torch.ops.aten._coalesce(tensor)
    return coalesced


def _forget(victims: list[Any]) -> None:
    """Put a refusal wherever an object is kept: modules, classes, closures, copies of modules.

    CPython keeps a copy of an extension module's first dictionary, from which an import after
    `del sys.modules[...]` would restore it; that copy is found as well.
    """
    wanted = {id(victim) for victim in victims}
    for holder in gc.get_referrers(*victims):
        if holder is victims:
            continue
        if isinstance(holder, dict):
            for key in [key for key, value in holder.items() if id(value) in wanted]:
                holder[key] = _refuse
        elif isinstance(holder, list):
            holder[:] = [_refuse if id(item) in wanted else item for item in holder]
        elif isinstance(holder, CellType):
            holder.cell_contents = _refuse


def _empty_class(owner: Any) -> None:
    """Leave a native class without methods, and without a way to make its objects."""
    for name in [name for name in vars(owner) if not name.startswith("__")]:
        delattr(owner, name)
    owner.__init__ = owner.__call__ = _refuse


def _disarm_functions() -> None:
    """Take the code out of PyTorch's derivatives in Python, whoever holds the functions."""
    for function in gc.get_objects():
        if (
            isinstance(function, FunctionType)
            and DERIVING_MODULES.match(function.__module__ or "")
            and DERIVATIVE.search(function.__qualname__)
        ):
            function.__code__ = _refusing_code(function.__code__.co_freevars)
            function.__kwdefaults__ = None
            function.__defaults__ = None


def _refusing_code(free: tuple[str, ...]) -> CodeType:
    """Code that raises; a function takes only code with as many free variables as it had."""
    names = [f"x{number}" for number in range(len(free))]
    source = (
        f"def outer({', '.join(names)}):\n"
        "    def refuse(*_, **__):\n"
        f"        [{', '.join(names)}]\n"
        f"        raise RuntimeError({REFUSED!r})\n"
        "    return refuse\n"
    )
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    refuse = namespace["outer"](*names)
    code: CodeType = refuse.__code__
    return code


@contextmanager
def one_thread() -> Iterator[None]:
    """Do with one thread what is too small for several: on a busy machine they would wait."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


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

    double: tuple[tuple[Any, str, Any], ...] = (
        (torch, "float", torch.float64),
        (torch, "float32", torch.float64),
        (torch, "FloatTensor", torch.DoubleTensor),
        (torch.Tensor, "float", own_double),
        (torch.Tensor, "double", double_copy),
    )
    default = torch.get_default_dtype()
    # Not by `mock`, which a child would have to copy 70 pages for.
    before = [(owner, name, vars(owner).get(name)) for owner, name, _ in double]
    try:
        for owner, name, replacement in double:
            setattr(owner, name, replacement)
        torch.set_default_dtype(torch.float64)
        yield
    finally:
        torch.set_default_dtype(default)
        for owner, name, value in before:
            if value is None:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
