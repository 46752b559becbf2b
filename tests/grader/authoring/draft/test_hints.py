"""The three hints that a derivation gives."""

from __future__ import annotations

import pytest

from grader.authoring.backward.derive import Derived
from grader.authoring.draft.hints import make_hints, nearly_there, without_last_factor
from grader.program.forward_program import Step
from grader.program.parse import parse_program
from tests.grader.authoring.draft.forwards import rms_norm

STEPS = {step.name: step for step in parse_program(rms_norm).steps}
RULES = {"product": "multiply", "sum": "spread it", "power": "its slope"}
DX = Derived(
    ("dx = dxhat * inv + 2 * x * dms / d",),
    {"xhat": ("product",), "ms": ("sum", "power")},
)


def hints(derived: Derived | None, *readers: Step, secrets: tuple[str, ...] = ()) -> list[str]:
    telling = dict.fromkeys(secrets, "")
    return make_hints("x", readers, "loss", derived, RULES, telling)


def test_which_lines_read_it_what_they_pass_back_and_nearly_the_line() -> None:
    assert hints(DX, STEPS["xhat"], STEPS["ms"]) == [
        "Two lines read `x`: `xhat = x * inv` and `ms = (x**2).mean(1, keepdim=True)`. What they"
        " pass back is added up.",
        "`dxhat` arrives at `xhat = x * inv`. On the way back, multiply. `dms` arrives at"
        " `ms = (x**2).mean(1, keepdim=True)`. On the way back, spread it; then its slope.",
        "The line, without its last factor: `dx = dxhat * inv + 2 * x * dms / ...`",
    ]


def test_no_hint_gives_away_another_solution() -> None:
    *_, last = hints(DX, STEPS["xhat"], STEPS["ms"], secrets=("dxhat*inv",))
    assert last == "`dx` has the shape of `x`. So has every part that is added to it."


def test_what_cannot_be_derived_has_hints_all_the_same() -> None:
    first, *others = hints(None, STEPS["xhat"])
    assert first == "One line reads `x`: `xhat = x * inv`."
    assert len({*others}) == 2


@pytest.mark.parametrize(
    ("line", "gap"),
    [
        ("dy = dout", "dy = ..."),
        ("dy = -dout", "dy = -..."),
        ("dy = -dout.sum(0)", "dy = -dout.sum(...)"),
        ("dy = a * b - (c @ d.T).sum(0)", "dy = a * b - (c @ ...).sum(0)"),
        ("dy = torch.where(x > 0, du, 0)", "dy = torch.where(x > 0, du, ...)"),
        ("dy[range(n), i] = -1 / n", "dy[range(n), i] = -1 / ..."),
        ("dy.index_add_(0, i, du)", "dy.index_add_(0, i, ...)"),
    ],
)
def test_the_last_factor_is_left_out(line: str, gap: str) -> None:
    assert without_last_factor(line) == gap


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        (["dy = -dr"], "The line, without its last factor: `dy = -...`"),
        (
            ["dpred = dr"],
            "The right-hand side is one name alone: there is nothing to multiply or to add.",
        ),
        (["dx = dy.sum(0).T"], "The right-hand side ends in `.T`."),
        (["dmask = a == b"], ""),
        (
            ["dproduct = dscores / tau", "dq = dproduct @ k"],
            "The lines, each without its last factor: `dproduct = dscores / ...`;"
            " `dq = dproduct @ ...`",
        ),
    ],
)
def test_the_last_hint_leaves_something_and_names_what_is_new(lines: list[str], hint: str) -> None:
    assert nearly_there(lines) == hint
