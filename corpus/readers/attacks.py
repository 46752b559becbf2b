"""The attack corpus: answers that try to earn what they did not write, or to do harm."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from corpus.readers.places import ATTACKS
from makemore_data.course import forward

FIELDS = {"must not", "flag", "naive", "earns", "uses", "needs", "peer"}


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: a file `<family>/<name>.py` whose docstring says what is expected.

    Its first sentence says what it tries, then a line each, `must not: ...` what it is not to
    achieve. `flag: a b` are kinds of flags, one of which a human sees. `naive: dX dY` are the
    gradients it gets right in `naive_grader`, which defends itself against nothing: proof
    that there is something to defend against; `naive: none` and a reason where there are none.
    `earns: dX` are points it may have. `uses: forward` puts the forward pass before it as a
    function, `uses: places` the paths and ports it aims at. `needs: sandbox` marks what nothing
    but the operating system can stop. `peer:` names the graders that gave way to it.
    """

    family: str
    name: str
    source: str
    tries: str
    must_not: str
    flags: frozenset[str]
    naive: tuple[str, ...]
    earns: frozenset[str]
    uses: frozenset[str]
    needs_sandbox: bool
    is_slow: bool
    peers: frozenset[str]

    @property
    def key(self) -> str:
        return f"{self.family}/{self.name}"

    def text(self, places: str = "") -> str:
        """The answer cell: what the attack uses, then the attack."""
        parts = [forward_function()] if "forward" in self.uses else []
        return "\n".join([*parts, *([places] if "places" in self.uses else []), self.source])


def read_attack(path: Path) -> Attack:
    """Read one file of the corpus.

    Raises:
        ValueError: its docstring does not say what is expected.
    """
    source = path.read_text(encoding="utf-8")
    tries, *rest = (ast.get_docstring(ast.parse(source)) or "").split("\n\n", 1)
    fields: dict[str, str] = {}
    for line in "".join(rest).splitlines():
        name, colon, value = line.partition(":")
        if not colon or name not in FIELDS:
            raise ValueError(f"{path}: not a field: {line!r}")
        fields[name] = value.strip()
    if not tries or not {"must not", "flag", "naive"} <= fields.keys():
        raise ValueError(f"{path}: the docstring says too little")
    naive = fields["naive"].split()
    needs = set(fields.get("needs", "").split())
    return Attack(
        path.parent.name,
        path.stem,
        source,
        tries,
        fields["must not"],
        frozenset(fields["flag"].split()),
        () if naive[0].rstrip(",") == "none" else tuple(naive),
        frozenset(fields.get("earns", "").split()),
        frozenset(fields.get("uses", "").split()),
        "sandbox" in needs,
        "patience" in needs,
        frozenset(fields.get("peer", "").replace(",", " ").split()),
    )


@cache
def corpus() -> tuple[Attack, ...]:
    """Every attack, family by family."""
    return tuple(read_attack(path) for path in sorted(ATTACKS.glob("*/*.py")))


@cache
def forward_function() -> str:
    """The forward pass of notebook 1 as a function that an answer may hold."""
    (function,) = ast.parse(inspect.getsource(forward.atomic)).body
    assert isinstance(function, ast.FunctionDef)
    function.name = "forward"
    function.returns = None
    function.body = function.body[1:]
    for argument in function.args.args:
        argument.annotation = None
    return ast.unparse(function)
