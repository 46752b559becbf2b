"""The words of code that no hand-written gradient needs, by kind of flag."""

from __future__ import annotations

import re
from collections.abc import Mapping

ASKING = frozenset(
    {"backward", "autograd", "retain_grad", "register_hook", "register_post_accumulate_grad_hook"}
    | {"enable_grad", "grad_mode", "grad_and_value", "vjp", "jvp", "jacrev", "functorch"}
    | {"jacfwd", "hessian", "linearize", "_functorch", "forward_ad", "make_dual", "run_backward"}
    | {"_execution_engine", "_C", "ops", "aten"}
)
"""Attributes by which PyTorch is asked to differentiate. `torch.ops` and `torch._C` hold the aten
backward operators, which no hand-written backward pass needs."""

ANSWERS = frozenset({"grad", "_grad", "grad_fn", "next_functions"})
"""Attributes that hold what autograd has answered; reading them is no more than a comparison."""

ENGINE_MODULES = re.compile(
    r"torch\.(autograd|func(?!\.vmap$)|_C|ops|nn\.grad|_functorch|_decomp|fx|utils\.checkpoint)\b"
    r"|functorch\b"
)
"""Modules with derivatives in them."""

BACKWARD_OPERATOR = re.compile(r"_backward(_|$)|backward_data")
"""Names of the aten operators that make up autograd's own backward pass."""

HARMLESS_MODULES = frozenset(
    {"torch", "numpy", "math", "itertools", "functools", "operator", "collections", "dataclasses"}
    | {"typing", "statistics", "random", "string", "copy", "warnings", "fractions", "decimal"}
    | {"matplotlib", "IPython", "tqdm", "pprint", "textwrap", "enum", "abc", "numbers", "einops"}
    | {"makemore_data", "__future__", "contextlib", "types", "time", "timeit", "datetime", "json"}
    | {"logging", "platform", "unittest", "doctest", "seaborn", "re"}
)
"""What a right answer may have a use for; of anything else a human should see the import."""

REACHED_THROUGH_OTHERS = frozenset(
    {"os", "sys", "gc", "inspect", "ctypes", "subprocess", "threading", "builtins", "importlib"}
    | {"library", "jit", "_dynamo", "_inductor", "_decomp", "_refs", "_prims", "_functorch"}
    | {"_subclasses", "compile", "export", "multiprocessing", "hub", "package"}
)
"""Modules that stand in others, as `torch.os` does, and need no import."""

NAMES: Mapping[str, str] = {
    **dict.fromkeys(("exec", "eval", "compile", "__import__", "import_module"), "exec"),
    **{"open": "open", "breakpoint": "dunder"},
}
"""Names that no hand-written gradient has a use for, with the kind of flag they get."""

FILES = ("open", "fromfile", "tofile", "memmap", "loadtxt", "savetxt", "from_file")

ATTRIBUTES: Mapping[str, str] = {
    **dict.fromkeys(("exec", "eval", "__import__", "import_module"), "exec"),
    **dict.fromkeys(FILES, "open"),
    **dict.fromkeys(("gi_frame", "cr_frame", "tb_frame", "f_back", "f_globals"), "dunder"),
}
"""The same for attributes of anything."""

OF_MODULES: Mapping[str, str] = {
    **dict.fromkeys(REACHED_THROUGH_OTHERS, "module"),
    **dict.fromkeys(
        {"set_default_dtype", "set_default_device", "set_default_tensor_type"}
        | {"set_flush_denormal", "use_deterministic_algorithms"},
        "global-setting",
    ),
    **{"load": "open", "save": "open"},
}
"""The same for attributes of modules, as in `torch.load`."""

NAMES_AS_VALUES = frozenset(
    {"getattr", "setattr", "delattr", "attrgetter", "methodcaller", "__getattribute__"}
    | {"import_module", "__import__"}
)
"""Functions that take a name as a string."""

LOOKS_AROUND = frozenset({"globals", "locals", "vars"})

INNOCENT_DUNDERS = frozenset({"__name__", "__doc__", "__version__", "__init__", "__slots__"})
"""Double underscores that a right answer may spell out."""

SENTENCES: Mapping[str, str] = {
    "autograd": "PyTorch's autograd is switched off here; write the gradient by hand.",
    "module": "no gradient needs this module.",
    "dunder": "no gradient needs Python's inner workings.",
    "exec": "code in a string shows neither reader nor grader what it does.",
    "computed-name": "an attribute is looked up under a name that is computed.",
    "namespace": "names are looked up in a dictionary rather than written.",
    "open": "no gradient needs a file.",
    "patch": "this changes a module or a class of somebody else's.",
    "class": "a class with operators of its own, or one made from a class of PyTorch's.",
    "complex": "complex numbers can stand in for a derivative.",
    "global-setting": "this changes how everything after it computes.",
    "table": "values are written down, where a formula computes them.",
    "numerical": "one step was evaluated at neighbouring points, as in numerical differentiation.",
    "work": "far more is computed than an answer needs.",
    "derivative": "a library's derivative, or a matrix that carries one along.",
}

OF_VALUES = frozenset({"namespace", "class", "table"})
"""Kinds that mean nothing where no gradient is made by the statement: notes, checks, pictures."""
