"""Names that no hand-written gradient has a use for, by what they are for."""

HARMLESS_MODULES = frozenset(
    {"torch", "numpy", "math", "itertools", "functools", "operator", "collections", "dataclasses"}
    | {"typing", "statistics", "random", "string", "copy", "warnings", "fractions", "decimal"}
    | {"matplotlib", "IPython", "tqdm", "pprint", "textwrap", "enum", "abc", "numbers", "einops"}
    | {"makemore_data", "__future__", "contextlib", "types"}
)
"""What a right answer may have a use for; of anything else a human should see the import."""

REACHED_THROUGH_OTHERS = frozenset(
    {"os", "sys", "gc", "inspect", "ctypes", "subprocess", "threading", "builtins", "importlib"}
    | {"library", "jit", "_dynamo", "_inductor", "_decomp", "_refs", "_prims", "_functorch"}
    | {"_subclasses", "compile", "export", "multiprocessing", "hub", "package"}
)
"""Modules that stand in others, as `torch.os` does, and need no import."""

RUNS_TEXT = frozenset({"exec", "eval", "compile", "__import__", "import_module"})
NAMES_AS_VALUES = frozenset(
    {"getattr", "setattr", "delattr", "attrgetter", "methodcaller", "__getattribute__"}
)
LOOKS_AROUND = frozenset({"globals", "locals", "vars"})
OPENS = frozenset({"open", "fromfile", "tofile", "memmap", "loadtxt", "savetxt", "from_file"})
OPENS_WITH_TORCH = frozenset({"load", "save"})
COMPLEX = frozenset(
    {"complex", "cfloat", "cdouble", "complex64", "complex128", "chalf", "complex32", "polar"}
    | {"view_as_complex", "imag", "csingle", "clongdouble"}
)
GLOBAL_SETTINGS = frozenset(
    {"set_default_dtype", "set_default_device", "set_default_tensor_type"}
    | {"set_flush_denormal", "use_deterministic_algorithms", "set_num_threads"}
)
INNOCENT_DUNDERS = frozenset({"__name__", "__doc__", "__version__", "__init__", "__len__"})
"""Double underscores that a right answer may spell out."""

ORDINARY_METHODS = frozenset(
    {"__init__", "__call__", "__repr__", "__str__", "__len__", "__iter__", "__getitem__"}
    | {"__post_init__", "__enter__", "__exit__", "__slots__"}
)
ORDINARY_BASES = frozenset({"object", "Module", "NamedTuple", "Enum", "ABC", "TypedDict", "dict"})

WORDS = frozenset().union(
    *(REACHED_THROUGH_OTHERS, RUNS_TEXT, NAMES_AS_VALUES, LOOKS_AROUND, OPENS, OPENS_WITH_TORCH),
    *(COMPLEX, GLOBAL_SETTINGS, {"open", "breakpoint", "type"}),
)
"""Every name that one of the rules of `grader.suspicion` is about."""
