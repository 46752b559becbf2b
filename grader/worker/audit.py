"""The audit: Python operations that a child refuses, as Python itself reports them (PEP 578)."""

from __future__ import annotations

import sys

DENIED = frozenset(
    {"ctypes.dlopen", "ctypes.dlsym", "ctypes.dlsym/handle", "ctypes.call_function"}
    | {"ctypes.cdata", "ctypes.cdata/buffer", "ctypes.addressof", "ctypes.string_at"}
    | {"ctypes.wstring_at", "ctypes.PyObj_FromPtr", "ctypes.get_errno", "ctypes.set_errno"}
    | {"gc.get_objects", "gc.get_referrers", "gc.get_referents"}
    | {"code.__new__", "sys.addaudithook", "sys.settrace", "sys.setprofile"}
)
"""Foreign functions and memory, walks over other people's objects, code made by hand.

With the first an answer could call PyTorch's derivatives in C++, past all that is switched off.
"""

CODE_ATTRIBUTE = "__code__"


def refuse_for_good() -> None:
    """Let what no gradient needs raise PermissionError, in this process and until it ends.

    A hook cannot be removed, and this one is in no object that Python could find: it reads no
    global name, and its function is kept by the interpreter alone.
    """
    denied, attribute = DENIED, CODE_ATTRIBUTE

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in denied:
            raise PermissionError(f"answers have no use for {event}")
        if event == "object.__setattr__" and arguments[1] == attribute:
            raise PermissionError("answers have no use for another function's code")

    sys.addaudithook(hook)
