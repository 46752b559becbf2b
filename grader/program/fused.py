"""The right formulas that students write in place of several steps."""

from __future__ import annotations

import base64
import tomllib
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PLAIN = Path(__file__).with_name("fused.toml")
SEALED = Path(__file__).with_name("fused.sealed")
"""What stands in a student release in place of the plain file."""


@cache
def fused_formulas(prefix: str) -> Mapping[str, tuple[str, ...]]:
    """Of one exercise, by tensor: right formulas of its gradient, most usual first."""
    text = PLAIN.read_bytes() if PLAIN.is_file() else unseal(SEALED.read_bytes())
    tables = tomllib.loads(text.decode("utf-8"))
    return {tensor: tuple(formulas) for tensor, formulas in tables.get(prefix, {}).items()}


def seal(text: bytes) -> bytes:
    """The same in a form that nobody reads by accident; it keeps no secret from who wants it."""
    return base64.encodebytes(zlib.compress(text))


def unseal(sealed: bytes) -> bytes:
    """What was sealed."""
    return zlib.decompress(base64.decodebytes(sealed))
