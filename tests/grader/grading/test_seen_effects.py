"""Right lines whose text hides what they do: nobody else is blamed, and nobody is cleared."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.readers.exercise_text import right_answers
from corpus.readers.lecture_course import ATOMIC, EXERCISES
from grader.execution import ask
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.verdict import Outcome, Verdict
from grader.worker.results import Result, Trace, unpack_results
from tests.grader.conftest import Judge
from tests.helpers.verdicts import answer_cells

LECTURE = right_answers()["lecture"]
LAST = "dhprebn += 1.0 / n * (torch.ones_like(hprebn) * dbnmeani)"
UPSTREAM = "dprobs = (1.0 / probs) * dlogprobs"
BLAMED = {Outcome.FAIL, Outcome.ERROR, Outcome.REFUSED, Outcome.TODO}

SPELLINGS = {
    name: code.strip()
    for name, code in tomllib.loads(
        Path(__file__).with_name("spellings.toml").read_text(encoding="utf-8")
    ).items()
}


def written(spelling: str, sign: str = "") -> str:
    """The lecture's answer with the last line of dhprebn spelt in another way."""
    assert LECTURE.count(f"{LAST}\n") == 1
    added = f"({sign} 1.0 / n * (torch.ones_like(hprebn) * dbnmeani))"
    text = re.sub(r"\bR\b", added, SPELLINGS[spelling])
    return LECTURE.replace(LAST, text)


def handed_wrong(source: str) -> str:
    assert source.count(UPSTREAM) == 1
    return source.replace(UPSTREAM, "dprobs = 2.0 / probs * dlogprobs")


def blamed(verdicts: Mapping[str, Verdict]) -> list[str]:
    return [name for name, verdict in verdicts.items() if verdict.outcome in BLAMED]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_right_line_that_was_handed_something_wrong_is_carried(
    spelling: str, judge_text: Judge
) -> None:
    verdicts = judge_text(handed_wrong(written(spelling)))
    assert blamed(verdicts) == ["dprobs"]
    assert verdicts["dhprebn"].outcome is Outcome.CARRIED


@pytest.mark.parametrize("spelling", list(SPELLINGS)[::3])
def test_right_lines_pass_however_they_are_written(spelling: str, judge_text: Judge) -> None:
    verdicts = judge_text(written(spelling))
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}


@pytest.mark.parametrize("spelling", list(SPELLINGS)[1::3])
def test_a_wrong_line_is_blamed_however_it_is_written(spelling: str, judge_text: Judge) -> None:
    assert blamed(judge_text(written(spelling, sign="-"))) == ["dhprebn"]


@pytest.mark.parametrize(
    "ending",
    [
        "def total(x): return x\nacc = total(dhprebn); acc += rest",
        "parts = dict(x=dhprebn)\nparts['x'] += rest",
        "torch.Tensor.add_(dhprebn, rest)",
    ],
)
def test_in_notebook_3_a_right_line_beside_a_wrong_one_is_carried(
    ending: str, runner: Runner
) -> None:
    source = f"""\
# answer: ex3-scale
dbngain = (dhpreact * xhat).sum(0, keepdim=True)
dbnbias = dhpreact.sum(0, keepdim=True)
# answer: ex3-xhat
dxhat = -dhpreact * bngain
# answer: ex3-variance
dvar = -0.5 * (var + 1e-5) ** -1.5 * (dxhat * (hprebn - mu)).sum(0, keepdim=True)
# answer: ex3-mean
dmu = -((var + 1e-5) ** -0.5) * dxhat.sum(0, keepdim=True)
# answer: ex3-batchnorm
dhprebn = dxhat * (var + 1e-5) ** -0.5
rest = dvar * 2 * (hprebn - mu) / (n - 1) + dmu / n
{ending}
"""
    exercise = next(exercise for exercise in EXERCISES if exercise.prefix == "ex3")
    cells = answer_cells(source)
    verdicts = {verdict.name: verdict for verdict in grade_exercise(exercise, cells, runner)[0]}
    assert blamed(verdicts) == ["dxhat"]
    assert verdicts["dhprebn"].outcome is Outcome.CARRIED


EVERYTHING = {g: frozenset(ATOMIC.gradients) for g in ATOMIC.gradients}
FORGED = {
    "nothing": Trace(),
    "all lent": Trace(lent=EVERYTHING),
    "all siblings": Trace(siblings=EVERYTHING),
    "all spoilt": Trace(
        spoilt=EVERYTHING,
        spoiling=frozenset((number, g) for number in range(90) for g in ATOMIC.gradients),
    ),
    "all unshown": Trace(
        EVERYTHING,
        EVERYTHING,
        unshown=frozenset((number, g) for number in range(-1, 90) for g in ATOMIC.gradients),
    ),
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("dW2 = h.T @ dlogits", "dW2 = h.T @ -dlogits"),
        ("dW2 = h.T @ dlogits", "dW2 = torch.zeros_like(W2)"),
        ("dW2 = h.T @ dlogits", "dW2 = W2.grad"),
        (
            "dlogit_maxes = (-dnorm_logits).sum(1, keepdim=True)",
            "dlogit_maxes = dnorm_logits.sum(1, keepdim=True)",
        ),
    ],
    ids=["wrong", "zeros", "refused", "zero"],
)
def test_a_forged_trace_clears_nobody(
    forged: str,
    line: str,
    wrong: str,
    judge_text: Judge,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forge(blob: memoryview, count: int) -> list[Result]:
        results = unpack_results(blob, count)
        return [replace(one, trace=FORGED[forged]) if one.trace else one for one in results]

    assert LECTURE.count(line) == 1
    monkeypatch.setattr(ask, "unpack_results", forge)
    assert judge_text(LECTURE.replace(line, wrong))[line.partition(" ")[0]].outcome in BLAMED


LARGE = {
    "aliases": "x0 = dh\n" + "\n".join(f"x{n + 1} = x{n}.T" for n in range(1900)),
    "unknown calls": "\n".join(f"same(x{n}, x)" for n in range(1500)),
    "calls": "def same(x): return x\nx0 = dh\n"
    + "\n".join(f"x{n + 1} = same(x{n})" for n in range(1900)),
    "in place": "\n".join(f"x{n} = dlogits" for n in range(950)) + "\ndlogits *= 1" * 950,
    "loop": "for _ in range(2):\n" + "\n".join(f"  x{n} = x{n + 1}" for n in range(1900)),
    "branches": "".join(f"{' ' * n}if n:\n" for n in range(90)) + f"{' ' * 90}x = 1\n" * 900,
}
"""Nearly as much as is read."""

WITHIN = """
import resource, sys, time
from dataclasses import replace
from pathlib import Path
from grader.answer.parse import AnswerCell
from grader.execution import ask
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from corpus.readers.lecture_course import ATOMIC
def outcome(source):
    verdicts, _ = grade_exercise(ATOMIC, [AnswerCell("ex1-linear2", source)], runner)
    return next(verdict.outcome.value for verdict in verdicts if verdict.name == "dh")
with Runner() as runner:
    outcome("dh = dlogits @ W2.T")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**29,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 120,) * 2)
    print(*[outcome(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_largest_answer_that_is_read_leaves_the_judge_its_memory(tmp_path: Path) -> None:
    for name, body in LARGE.items():
        (tmp_path / name).write_text(f"dh = dlogits @ W2.T\n{body}\n", encoding="utf-8")
    command = [sys.executable, "-c", WITHIN, *(str(tmp_path / name) for name in LARGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # dlogits is still to do, and dh right by itself.
    assert done.stdout.split() == ["carried"] * len(LARGE)
