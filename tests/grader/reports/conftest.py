"""The results that all renderers are tried on, and the files they are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.answer.parse import AnswerCell, parse_answer
from grader.answer.quote import quote
from grader.reports.result import Ungraded
from grader.verdict import Check, Comparison, Diagnosis, Flag, Outcome, Place, Report, Verdict
from tests.helpers.reasons import said

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="Write what the renderers give now into tests/grader/reports/golden.",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare with a golden file; `pytest tests/grader/reports --update-golden` writes them."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        # a default, since pytest knows the option only where this folder is named
        if request.config.getoption("--update-golden", default=False):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8")

    return compare


def verdict(
    name: str,
    outcome: Outcome,
    maxdiff: float | None = None,
    note: str = "",
    line: int | None = None,
    shape: tuple[int, ...] | None = (32, 27),
    expected_shape: tuple[int, ...] = (32, 27),
    diagnosis: tuple[Diagnosis, ...] = (),
) -> Verdict:
    right = {
        Outcome.PASS: (Check.RIGHT, Check.RIGHT),
        Outcome.CARRIED: (Check.WRONG, Check.RIGHT),
        Outcome.FAIL: (Check.WRONG, Check.WRONG),
    }.get(outcome, (Check.NOT_RUN, Check.NOT_RUN))
    seen = maxdiff is not None
    comparison = Comparison(
        name=name[1:],
        exact=maxdiff == 0 if seen else None,
        approximate=maxdiff is not None and maxdiff < 1e-6 if seen else None,
        maxdiff=maxdiff,
        shape=shape if seen else None,
        expected_shape=expected_shape,
    )
    place = None if line is None else Place("ex1-softmax", line)
    code = quote(place, CELLS, parse_answer(CELLS).last_lines)
    return Verdict(name, outcome, comparison, *right, said(note), place, diagnosis, code=code)


CELLS = (
    AnswerCell(
        "ex1-softmax",
        "# answer: ex1-softmax\n"
        "dlogprobs = torch.zeros_like(logprobs)\n"
        "dlogprobs[range(n), Yb] = -1 / n\n"
        "dprobs = dlogprobs / probs\n"
        "dcounts_sum_inv = (counts * dprobs).sum(1)\n"
        "dcounts = counts_sum_inv * dprobs  # <b>&amp; what now?</b>\n"
        "dnorm_logits = counts * dcounts\n"
        "dlogits = logits.grad",
    ),
)


@pytest.fixture
def mixed() -> Report:
    """A notebook with every outcome, and texts that would do harm if they were not made safe."""
    verdicts = (
        verdict("dlogprobs", Outcome.PASS, 0.0, line=3),
        verdict("dprobs", Outcome.PASS, 4.66e-10, line=4),
        verdict(
            "dcounts_sum_inv",
            Outcome.FAIL,
            12.25,
            "dcounts_sum_inv has shape (32,), but counts_sum_inv has shape (32, 1). Is "
            "keepdim=True missing?",
            line=5,
            shape=(32,),
            expected_shape=(32, 1),
            diagnosis=(
                Diagnosis(
                    "lost-keepdim",
                    "The 32 values are right; the axis that was summed is gone.",
                    "What does sum need to keep an axis of size 1?",
                ),
            ),
        ),
        verdict("dcounts_sum", Outcome.TODO, shape=None, expected_shape=(32, 1)),
        verdict(
            "dcounts",
            Outcome.FAIL,
            6.4e-3,
            line=6,
            diagnosis=(
                Diagnosis(
                    "missing-branch",
                    "`dcounts` has the contribution through `probs`, not the one through"
                    " `counts_sum`.",
                    "",
                ),
                Diagnosis(
                    "overwritten-branch", "`dcounts` is assigned twice.", "Look at `=` and `+=`."
                ),
                Diagnosis("sign", "A third guess, which no student is told.", "Nor this."),
            ),
        ),
        verdict(
            "dnorm_logits",
            Outcome.CARRIED,
            6.4e-3,
            "This line is right, but an incoming gradient is not: see dcounts.",
            line=7,
        ),
        verdict(
            "dlogit_maxes",
            Outcome.PASS,
            5.6e-9,
            "Zeros are right here.",
            line=7,
            shape=(32, 1),
            expected_shape=(32, 1),
        ),
        verdict(
            "dlogits",
            Outcome.REFUSED,
            note="`logits.grad` is autograd's answer, and here it is yours that counts.",
            line=8,
        ),
        verdict(
            "dh",
            Outcome.ERROR,
            note="ValueError: \x1b[32mpass\x1b[0m </p><script>alert(1)</script> ]]> \ud83d \u202e"
            "\x00\ufffe\n{{ 7 * 7 }}",
            line=40,
            expected_shape=(32, 64),
        ),
        verdict("demb", Outcome.ERROR, math.inf, "demb holds inf.", expected_shape=(32, 3, 10)),
    )
    flags = (
        Flag("autograd", "`logits.grad` asks autograd.", Place("ex1-softmax", 8)),
        Flag("duplicate-answer", "The answer cell <ex1-tanh> is there twice.", None),
    )
    return Report("01_atomic_backprop", verdicts, flags, Path("week 1/<b>ada\x1b[31m.ipynb"))


@pytest.fixture
def solved() -> Report:
    """A notebook in which everything passes."""
    names = ("dlogprobs", "dprobs", "dcounts_sum_inv")
    verdicts = tuple(verdict(name, Outcome.PASS, 0.0, line=3) for name in names)
    return Report("01_atomic_backprop", verdicts, path=Path("solved.ipynb"))


@pytest.fixture
def blank() -> Report:
    """A notebook in which nothing has been written."""
    names = ("dlogprobs", "dprobs", "dcounts_sum_inv")
    verdicts = tuple(verdict(name, Outcome.TODO) for name in names)
    return Report("01_atomic_backprop", verdicts, path=Path("blank.ipynb"))


@pytest.fixture
def ungraded() -> Ungraded:
    """A file that is not a notebook."""
    return Ungraded(Path("no\udcff.ipynb"), "There is no file no\udcff.ipynb & <nothing> else.")
