"""A mistake is paid for once: also by lines that count on what arrives fitting together."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import pytest

from corpus.readers.encore import COURSE
from corpus.readers.exercise_text import read_cells
from corpus.readers.lecture_course import EXERCISES
from corpus.readers.places import ANSWERS
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.program.exercises import load_exercises
from grader.reports import wording
from grader.verdict import Outcome, Verdict
from tests.helpers.verdicts import answer_cells

EXERCISE = {each.prefix: each for each in (*EXERCISES, *load_exercises(COURSE))}
RIGHT = {"ex1": "ex1/right/lecture", "ex3": "ex3/right/derivation"}
RIGHT |= {"ex4": "ex4/right/notebook", "ex5f": "encore/ex5f/right/row_sums"}


@dataclass(frozen=True)
class Line:
    """A gradient's line that is right because of what else is true, and a piece to spoil."""

    exercise: str
    gradient: str
    text: str
    piece: str
    spoilt: str


LABELS_ALONE = Line(
    "ex1",
    "dprobs",
    "dprobs = torch.zeros_like(probs)\n"
    "dprobs[range(n), Yb] = dlogprobs[range(n), Yb] / probs[range(n), Yb]",
    "/ probs",
    "* probs",
)
OF_THE_OUTPUT = Line(
    "ex5f",
    "dS",
    "dS = P * (dP - (dO * (P @ V)).sum(2, keepdim=True))",
    "dP - (dO",
    "dP + (dO",
)
FROM_TWO = Line(
    "ex3",
    "dhprebn",
    "dhprebn = (dxhat - dxhat.mean(0) - xhat * bngain * dbngain / (n - 1)) / (var + 1e-5).sqrt()",
    "(n - 1)",
    "n",
)
BY_THE_GAIN = Line(
    "ex4",
    "dhprebn",
    "dhprebn = bngain * bnvar_inv / n * (n * dhpreact - dbnbias - n / (n - 1) * bnraw * dbngain)",
    "n / (n - 1) *",
    "",
)
ZERO = Line(
    "ex1",
    "dlogit_maxes",
    "dlogit_maxes = (-dnorm_logits).sum(1, keepdim=True)",
    "(-dnorm_logits)",
    "dnorm_logits",
)

ABOVE = [
    (LABELS_ALONE, "dlogprobs *= -1"),
    (LABELS_ALONE, "dlogprobs = dlogprobs * n"),
    (LABELS_ALONE, "dlogprobs = torch.ones_like(dlogprobs)"),
    (OF_THE_OUTPUT, "dP = 2 * dP"),
    (OF_THE_OUTPUT, "dP = dP @ P.mT"),
    (FROM_TWO, "dxhat = -dxhat"),
    (FROM_TWO, "dbngain = dbngain / n"),
    (BY_THE_GAIN, "dbngain = dbngain.sum()"),
    (BY_THE_GAIN, "dbnbias = -dbnbias"),
]


def verdicts_of(line: Line, text: str, mistake: str, runner: Runner) -> dict[str, Verdict]:
    """Of a right answer with this text for the line's, and with a mistake above."""
    above = mistake.split()[0]
    source = (ANSWERS / f"{RIGHT[line.exercise]}.py").read_text(encoding="utf-8")
    edited = []
    for name, cell in read_cells(source):
        own = [*map(ast.unparse, ast.parse(cell).body)]
        begins = [statement.partition("=")[0].partition("[")[0].strip(" +-*/") for statement in own]
        if line.gradient in begins:
            place = begins.index(line.gradient)
            own[place] = text
            own = [s for n, s in enumerate(own) if n == place or begins[n] != line.gradient]
        if above in begins:
            last = max(n for n, begin in enumerate(begins) if begin == above)
            own.insert(last + 1, mistake)
        edited.append(f"# answer: {name}\n" + "\n".join(own))
    cells = answer_cells("\n".join(edited))
    verdicts, _ = grade_exercise(EXERCISE[line.exercise], cells, runner)
    return {verdict.name: verdict for verdict in verdicts}


def blamed(verdicts: dict[str, Verdict]) -> set[str]:
    outcomes = (Outcome.FAIL, Outcome.ERROR, Outcome.TODO)
    return {name for name, verdict in verdicts.items() if verdict.outcome in outcomes}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "mistake"), ABOVE, ids=lambda value: getattr(value, "text", value)
)
def test_a_right_line_below_a_mistake_is_carried(line: Line, mistake: str, runner: Runner) -> None:
    verdicts = verdicts_of(line, line.text, mistake, runner)
    above = mistake.split()[0]
    assert blamed(verdicts) == {above}
    assert verdicts[line.gradient].outcome is Outcome.CARRIED
    assert above in wording.note(verdicts[line.gradient])


@pytest.mark.parametrize(
    ("line", "mistake"),
    [*ABOVE, (ZERO, "dnorm_logits = 2 * dnorm_logits")],
    ids=lambda value: getattr(value, "text", value),
)
def test_a_wrong_line_below_a_mistake_is_paid_for(line: Line, mistake: str, runner: Runner) -> None:
    """What is zero in the end cannot show a mistake: of that its own statements decide, as ever."""
    assert line.piece in line.text
    text = line.text.replace(line.piece, line.spoilt)
    assert blamed(verdicts_of(line, text, mistake, runner)) == {line.gradient, mistake.split()[0]}


FROM_BELOW = [
    ("demb = dembcat.view(n, block_size, n_embd)", "dembcat = demb.view(embcat.shape)"),
    ("dprobs = (1.0 / probs) * dlogprobs", "dlogprobs = probs * dprobs"),
    ("dhpreact = (1.0 - h**2) * dh", "dh = dhpreact / (1 - h**2)"),
    ("dbnraw = bngain * dhpreact", "dhpreact = dbnraw / bngain"),
]


@pytest.mark.parametrize(("below", "line"), FROM_BELOW)
def test_a_gradient_that_is_made_from_one_is_not_given_to_it(
    below: str, line: str, runner: Runner
) -> None:
    """It would give it away: the line undoes what the one below does."""
    name, under = line.split()[0], below.split()[0]
    source = (ANSWERS / "ex1/right/lecture.py").read_text(encoding="utf-8")
    own = [text for text in source.splitlines() if text.startswith((f"{name} ", f"{name}["))]
    assert own
    assert below in source
    for text in own[1:]:
        source = source.replace(f"{text}\n", "")
    source = source.replace(f"{below}\n", "").replace(f"{own[0]}\n", f"{line}\n")
    verdicts, _ = grade_exercise(EXERCISE["ex1"], answer_cells(source), runner)
    outcomes = {verdict.name: verdict.outcome for verdict in verdicts}
    assert outcomes[under] is Outcome.TODO
    assert outcomes[name] in (Outcome.FAIL, Outcome.ERROR)
