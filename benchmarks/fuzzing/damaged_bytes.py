"""Damage to a file's bytes, as by a broken transfer or an editor that knows no encodings."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

ODD = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b"\xed\xa0\x80", b"\xc3(", b"\\ud800"),
    *(b"NaN", b"1e999", b"9" * 5000, b"[" * 3000, b'{"a":' * 2000, b"\x1b[2J", b"<<<<<<< HEAD\n"),
)
"""What upsets parsers: null bytes, marks of other encodings, half characters, numbers, depth."""

Damage = Callable[[bytes, bytes, random.Random], bytes]


def _flip(data: bytes, other: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 2, 8, 64))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut_off(data: bytes, other: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def _cut_out(data: bytes, other: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    return data[:start] + data[start + chance.choice((1, 10, 100, 1000)) :]


def _put_in(data: bytes, other: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    odd = chance.choice((*ODD, chance.randbytes(chance.choice((1, 4, 100)))))
    return data[:at] + odd + data[at:]


def _repeat(data: bytes, other: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    part = data[start : start + chance.choice((10, 100, 1000))]
    return data[:start] + part * chance.choice((2, 10)) + data[start:]


def _splice(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """The beginning of one notebook and the end of another."""
    return data[: chance.randrange(len(data))] + other[chance.randrange(len(other)) :]


def _other_encoding(data: bytes, other: bytes, chance: random.Random) -> bytes:
    encoding = chance.choice(("utf-16", "utf-8-sig", "utf-32", "utf-7", "cp500"))
    return data.decode("utf-8").encode(encoding, "replace")


def _noise(data: bytes, other: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice((0, 1, 1000, 100_000)))


DAMAGES: Mapping[str, Damage] = {
    "flipped bits": _flip,
    "cut off": _cut_off,
    "cut out": _cut_out,
    "put in": _put_in,
    "repeated": _repeat,
    "spliced": _splice,
    "other encoding": _other_encoding,
    "noise": _noise,
}


def damage(data: bytes, other: bytes, chance: random.Random) -> tuple[str, bytes]:
    """One kind of damage to the bytes, sometimes twice; with its name."""
    name = chance.choice(list(DAMAGES))
    changed = DAMAGES[name](data, other, chance)
    if changed and name != "other encoding" and chance.random() < 0.2:
        changed = DAMAGES[name](changed, other, chance) if name != "noise" else changed
    return name, changed
