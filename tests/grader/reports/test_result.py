from __future__ import annotations

import re
from pathlib import Path

import pytest

from corpus.readers.encore import COURSE as ENCORE
from grader.answer.parse import AnswerCell
from grader.program.compare import nothing_to_compare
from grader.program.exercises import exercises_of
from grader.reports import wording
from grader.reports.result import complete, say_where
from grader.reports.wording import ROWS
from grader.submission.read import Submission
from grader.verdict import Check, Flag, Outcome, Reason, Report, Verdict, because
from tests.helpers.reasons import said

YOURS = "If you wrote it, move it into one. Otherwise another name is needed here."
UNDEFINED = "This line raised NameError: name 'tools' is not defined."
ALONE = because("unbound")


def reasons(sentence: str, *guesses: Reason) -> tuple[Reason, ...]:
    """Those of an exception on a name that nothing has bound, or of any other sentence."""
    found = re.search("name '(.*)' is not defined", sentence)
    if not found:
        return said(sentence)
    did = sentence.removeprefix("This line ")
    return because("raised", did=did, unbound=found[1]), *guesses


def test_what_was_read_beside_the_answers_is_added() -> None:
    first, second = (Flag(kind, "A sentence.", None) for kind in ("missing-answer", "denied"))
    others = (AnswerCell("cell 2", "def helper(d): return d"),)
    submission = Submission(Path("a.ipynb"), "01_atomic_backprop", (), (first,), others)
    nothing = nothing_to_compare("dh", None, (1,), "")
    note = "This line raised NameError: name 'helper' is not defined."
    verdict = Verdict("dh", Outcome.ERROR, nothing, Check.NOT_RUN, Check.NOT_RUN, reasons(note))
    report = complete(submission, Report("01_atomic_backprop", (verdict,), (second,)))
    (found,) = report.verdicts
    assert wording.note(found) == (
        f"{note} Only answer cells count, but helper is in cell 2. {YOURS}"
    )
    assert report.flags == (first, second)


def note(
    source: str,
    told: str = "",
    outcome: Outcome = Outcome.FAIL,
    answer: str = "dC = ...",
    guesses: tuple[Reason, ...] = (),
) -> str:
    nothing = nothing_to_compare("dC", None, (1,), "")
    verdict = Verdict("dC", outcome, nothing, Check.NOT_RUN, Check.NOT_RUN, reasons(told, *guesses))
    others = [AnswerCell("cell 3", "x = 1"), AnswerCell("cell 5", source)]
    (found,) = say_where([verdict], [AnswerCell("ex1-a", answer)], others)
    return wording.note(found)


@pytest.mark.parametrize(
    "source",
    [
        *("import tools", "import numpy as tools", "from numpy import tools"),
        *("def tools(x): return x", "class tools: pass", "tools = 1", "if 1:\n    tools = 1"),
        "%matplotlib inline\nimport tools",
    ],
)
def test_the_cell_that_defines_a_missing_name_is_named(source: str) -> None:
    assert note(source, UNDEFINED, Outcome.ERROR) == (
        f"{UNDEFINED} Only answer cells count, but tools is in cell 5. {YOURS}"
    )


@pytest.mark.parametrize(
    "source", ["dC = 1", "dC += 1", "dC[0] = 1", "dC.add_(1)", "for i in x:\n    dC[i] += 1"]
)
@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.TODO, Outcome.ERROR])
def test_a_gradient_that_is_finished_elsewhere_is_found(source: str, outcome: Outcome) -> None:
    assert note(source, outcome=outcome) == (
        "Only answer cells count, but dC is in cell 5. Move it into one."
    )


@pytest.mark.parametrize("source", ["print(dC)", "print(tools)", "dC2 = 1", "this is not Python"])
@pytest.mark.parametrize("said", ["", UNDEFINED])
def test_what_is_not_there_is_not_named(source: str, said: str) -> None:
    assert note(source, said) == said


@pytest.mark.parametrize("outcome", [Outcome.PASS, Outcome.CARRIED])
def test_where_nothing_is_lost_nothing_is_said(outcome: Outcome) -> None:
    assert note("dC = 1", "", outcome) == ""


@pytest.mark.parametrize("answer", ["dC = tools = 1", "dC[0] = 1\ntools = 2", "dC = (1\ntools = 2"])
@pytest.mark.parametrize("said", ["It is wrong.", UNDEFINED])
def test_of_what_an_answer_assigns_no_other_cell_is_named(answer: str, said: str) -> None:
    assert note("dC = tools = 1", said, answer=answer) == said


@pytest.mark.parametrize(
    ("gradient", "name", "said"),
    [
        ("dQ", "q", "`q` belongs to ex5. Here it is `Q`."),
        ("dK", "dq", "`dq` belongs to ex5. Here it is `dQ`."),
        # What is being written is not an answer to what it could be made of.
        ("dV", "dv", "`dv` belongs to ex5, and ex5f does not have it."),
        ("dP", "pattern", "`pattern` belongs to ex5, and ex5f does not have it."),
        ("dproducts", "K", "`K` belongs to ex5f. Here it is `k`."),
        ("dQ", "dS", f"Only answer cells count, but dS is in cell 2. {YOURS}"),
        ("dQ", "tools", ROWS["unbound"]),
    ],
)
def test_a_name_of_another_exercise_is_not_the_students_to_move(
    gradient: str, name: str, said: str
) -> None:
    line = f"This line raised NameError: name '{name}' is not defined."
    nothing = nothing_to_compare(gradient, None, (1,), "")
    found = Verdict(
        gradient, Outcome.ERROR, nothing, Check.NOT_RUN, Check.NOT_RUN, reasons(line, ALONE)
    )
    others = [AnswerCell("cell 2", "pattern = q = dS = 1")]
    exercises = exercises_of(ENCORE, "05_attention")
    (verdict,) = say_where([found], [], others, exercises)
    assert wording.note(verdict) == f"{line} {said}"


def test_a_guess_is_none_where_the_name_is_found() -> None:
    guess = because("meant", meant="`torch.tools`")
    assert note("tools = 1", UNDEFINED, guesses=(guess,)) == (
        f"{UNDEFINED} Only answer cells count, but tools is in cell 5. {YOURS}"
    )
