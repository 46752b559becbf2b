"""Damage to the answers: code that nobody meant to write, much of which runs."""

from __future__ import annotations

import io
import random
import tokenize
from collections.abc import Callable, Mapping

from corpus.readers.exercise_text import FORWARD, GRADIENTS

NAMES = (
    *GRADIENTS,
    *sorted({line.split(" = ")[0] for line in FORWARD.splitlines()}),
    *("torch", "F", "n", "Xb", "Yb", "None", "print", "range", "len", "dict", "list", "self"),
)
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "<", "==", "is", "and", ",", ":=")
NUMBERS = ("0", "1", "-1", "2", "1e308", "float('nan')", "1j", "10**9", "0.0", "True")

LINES = (
    *("{g} = None", "{g} = {g}.T", "{g} = [{g}]", "{g} = {g} @ {h}", "del {g}", "{g} += {h}"),
    *(
        "{g} = {g}.numpy()",
        "{g} = {g}.to(torch.float16)",
        "{g} = {g}.to_sparse()",
        "{g}.resize_(3)",
    ),
    *(
        "{g} = torch.full_like({g}, float('inf'))",
        "{g} = {g}.expand(5, *{g}.shape)",
        "{g}[...] = 0",
    ),
    *("{g} = torch.empty(0)", "{g} = {g}.to('meta')", "{g} = torch.nested.nested_tensor([{g}])"),
    *("raise {g}", "raise SystemExit", "raise KeyboardInterrupt", "assert False", "return {g}"),
    *(
        "import os; os._exit(3)",
        "1 / 0",
        "exit()",
        "print('x' * 10**6)",
        "def f(): return f()\nf()",
    ),
    *("class {g}: pass", "lambda: {g}", "async def f(): await {g}", "yield {g}", "await {g}"),
    *("%timeit {g}", "!ls", "{g}?", "global {g}", "nonlocal {g}", "from {g} import *", "@{g}"),
    *("{g} = eval('{h}')", "exec('{g} = {h}')", "globals().clear()", "locals()['{g}'] = {h}"),
    *("{g} = torch.zeros(10**9)", "{g} = '{h}'", "{g}: int = {h}", "match {g}:\n case _: pass"),
    *("try:\n    {g}\nfinally:\n    {h}", "with {g}: pass", "{g} = {h} = {g}", "*{g}, = {h}"),
    *("import gc; gc.collect()", "import threading; threading.Thread(target=print).start()"),
    *("torch.set_default_dtype(torch.float64)", "torch.manual_seed(0)", "torch.set_num_threads(8)"),
    *("torch = None", "F = torch", "n = 0", "n = 'n'", "Xb = Xb * 0", "logits.zero_()", "h += 1"),
    *("{g} = object.__new__(torch.Tensor)", "{g} = type('T', (torch.Tensor,), {{}})({g})"),
    *("import signal; signal.alarm(1)", "while {g} is None: pass", "for {g} in {h}: pass"),
)

Damage = Callable[[str, str, random.Random], str]


def _tokens(source: str, other: str, chance: random.Random) -> str:
    """Tokens gone, doubled, exchanged or replaced."""
    try:
        found = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, IndentationError):
        return _lines(source, other, chance)
    lines = source.splitlines(keepends=True)
    words = [token for token in found if token.string.strip() and token.start[0] == token.end[0]]
    code = [token for token in words if token.type != tokenize.COMMENT]
    chosen = chance.sample(code, min(len(code), chance.choice((1, 1, 2, 5))))
    for token in sorted(chosen, key=lambda token: token.start, reverse=True):
        line = lines[token.start[0] - 1]
        new = _instead(token, chance)
        lines[token.start[0] - 1] = line[: token.start[1]] + new + line[token.end[1] :]
    return "".join(lines)


def _instead(token: tokenize.TokenInfo, chance: random.Random) -> str:
    if chance.random() < 0.15:
        return chance.choice(("", f"{token.string} {token.string}", "(", ")", "\n", "\t", "🦆"))
    match token.type:
        case tokenize.NAME:
            return chance.choice(NAMES)
        case tokenize.NUMBER:
            return chance.choice(NUMBERS)
        case tokenize.OP:
            return chance.choice(OPERATORS)
    return token.string


def _lines(source: str, other: str, chance: random.Random) -> str:
    """Lines gone, doubled, exchanged, indented, or of somebody else's answer."""
    first, *lines = source.splitlines()
    for _ in range(chance.choice((1, 1, 3))):
        at = chance.randrange(len(lines) + 1)
        match chance.randrange(5):
            case 0 if lines:
                del lines[at % len(lines)]
            case 1 if lines:
                lines.insert(at, lines[at % len(lines)])
            case 2:
                chance.shuffle(lines)
            case 3 if lines:
                lines[at % len(lines)] = "    " + lines[at % len(lines)]
            case _:
                lines.insert(at, chance.choice(other.splitlines()))
    return "\n".join([first, *lines])


def _odd_line(source: str, other: str, chance: random.Random) -> str:
    """A line that no answer has."""
    first, *lines = source.splitlines()
    for _ in range(chance.choice((1, 1, 2))):
        line = chance.choice(LINES).format(g=chance.choice(GRADIENTS), h=chance.choice(NAMES))
        lines.insert(chance.randrange(len(lines) + 1), line)
    return "\n".join([first, *lines])


def _characters(source: str, other: str, chance: random.Random) -> str:
    first, _, rest = source.partition("\n")
    for _ in range(chance.choice((1, 3, 20))):
        at = chance.randrange(len(rest) + 1)
        new = chance.choice(
            (chr(chance.randrange(32, 127)), chance.choice("\x00\r\t\x0b\u2028éλ٣𝐱"))
        )
        rest = rest[:at] + new + rest[at + chance.randrange(2) :]
    return f"{first}\n{rest}"


DAMAGES: Mapping[str, Damage] = {
    "tokens": _tokens,
    "lines": _lines,
    "odd lines": _odd_line,
    "characters": _characters,
}


def damage(source: str, other: str, chance: random.Random) -> tuple[str, str]:
    """One kind of damage to the source of an answer cell, whose first line stays; with its name."""
    name = chance.choice(list(DAMAGES))
    return name, DAMAGES[name](source, other, chance)
