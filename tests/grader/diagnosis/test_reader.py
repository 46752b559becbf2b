"""What is said of lines that readers wrote, and that were named wrongly at first, or not at all."""

from __future__ import annotations

import re
import tomllib

import pytest

from corpus.readers.exercise_text import read_cells
from corpus.readers.lecture_course import ATOMIC
from corpus.readers.measure import BLAMED, BY_PREFIX, judge_one
from corpus.readers.people import answer_with
from corpus.readers.places import MISTAKES
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.reports import wording
from grader.verdict import Outcome

LINES = tomllib.loads((MISTAKES / "readers.toml").read_text(encoding="utf-8"))["line"]


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.get('prefix', 'ex1')}")
def test_what_a_reader_wrote_is_named(line: dict[str, str], runner: Runner) -> None:
    if "source" in line:
        verdicts, _ = grade_exercise(ATOMIC, [AnswerCell("ex1-cell", line["source"])], runner)
        messages = [one.diagnosis[0].message for one in verdicts if one.diagnosis]
    else:
        source = answer_with(line["prefix"], line["gradient"], line["code"])
        judged = judge_one(line["prefix"], source, runner)
        messages = [one.message for one in judged if one.message]
    (message,) = messages
    assert message.startswith(line["said"])


@pytest.mark.parametrize(
    ("exercise", "gradient", "code"),
    [
        (
            *("ex1", "dbndiff"),
            "via_raw = torch.zeros_like(bndiff)\nfor i in range(n):\n"
            "    via_raw[i] = dbnraw * bnvar_inv\ndbndiff = via_raw + 2 * bndiff * dbndiff2",
        ),
        (
            *("ex3", "dxhat"),
            "rows = []\nfor i in range(n):\n    rows.append(dhpreact[i] * bngain[i])\n"
            "dxhat = torch.stack(rows)",
        ),
    ],
)
def test_a_loop_that_raises_on_the_way_is_the_reason(
    exercise: str, gradient: str, code: str, runner: Runner
) -> None:
    cells = [AnswerCell(*cell) for cell in read_cells(answer_with(exercise, gradient, code))]
    verdicts, _ = grade_exercise(BY_PREFIX[exercise], cells, runner)
    (found,) = (one for one in verdicts if one.name == gradient)
    assert found.outcome is Outcome.ERROR
    assert wording.note(found).startswith("This line raised ")
    assert "in range(n)" not in found.code
    assert ("via_raw[i]" in found.code) or ("rows.append" in found.code)


def test_a_right_value_behind_a_loop_that_raises_passes_and_says_so(runner: Runner) -> None:
    loop = "total = 0\nfor i in range(n + 1):\n    total = total - dbndiff[i]"
    source = answer_with("ex1", "dhprebn", f"{loop}\ndhprebn = dbndiff + total / n")
    cells = [AnswerCell(*cell) for cell in read_cells(source)]
    verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    (found,) = (one for one in verdicts if one.name == "dhprebn")
    assert found.outcome is Outcome.PASS
    assert [reason.code for reason in found.reasons] == ["on-the-way", "raised"]


def test_a_mask_is_no_number(runner: Runner) -> None:
    mask = "mask = Yb[:, None] == torch.arange(vocab_size)"
    code = f"{mask}\ndlogits = (F.softmax(logits, 1) - mask) / n"
    cells = [AnswerCell(*cell) for cell in read_cells(answer_with("ex2", "dlogits", code))]
    (found,), _ = grade_exercise(BY_PREFIX["ex2"], cells, runner)
    assert wording.note(found).endswith(
        "A mask holds True and False; `.float()` makes ones and zeros of it."
    )
    assert not found.diagnosis


@pytest.mark.parametrize(
    "code",
    [
        "dhprebn = bngain * xhat / n * (n * dhpreact - dbnbias - n / (n - 1) * xhat * dbngain)",
        "dhprebn = xhat * (dxhat - dxhat.mean(0) - xhat * (dxhat * xhat).mean(0))",
        "dhprebn = (var + 1e-5) ** -0.5 / n * (n * dxhat - dbnbias - n / (n - 1) * xhat * dbngain)",
        "n = n_hidden\ndhprebn = dxhat * (var + 1e-5) ** -0.5 + dmu / n + dvar / n",
    ],
)
def test_a_fused_formula_needs_none_of_what_arrives_in_steps(code: str, runner: Runner) -> None:
    judged = judge_one("ex3", answer_with("ex3", "dhprebn", code), runner)
    said = " ".join(one.message for one in judged)
    for untrue in ("belong to another", "is not used", "wrong order"):
        assert untrue not in said


def test_an_upstream_that_a_loop_overwrites_is_to_blame(runner: Runner) -> None:
    loop = "dC = torch.zeros_like(C)\nfor i in range(n):\n    dembcat = 0\n    dC[Xb[i]] += demb[i]"
    cells = [AnswerCell(*cell) for cell in read_cells(answer_with("ex1", "dC", loop))]
    verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    (dembcat,) = (one for one in verdicts if one.name == "dembcat")
    assert dembcat.code == "dembcat = 0"
    assert wording.note(dembcat) == "dembcat is an int, but a gradient is a tensor."


def test_a_line_by_which_another_gradient_is_right_is_not_to_blame(runner: Runner) -> None:
    source = "both = torch.cat([embcat, torch.ones(n, 1)], 1).T @ dhprebn\ndW1 = -both[:-1]"
    answer = re.sub(r"(?m)^db1 = .*$", "db1 = both[-1]", answer_with("ex1", "dW1", source))
    said = {one.name: one.message for one in judge_one("ex1", answer, runner)}
    assert said["dW1"] == "The minus in `-both[:-1]` should not be there."
    assert not said.get("db1")


def blamed(exercise: str, gradient: str, code: str, runner: Runner) -> dict[str, str]:
    """What is said of each gradient that is to blame, with `code` for one of them."""
    judged = judge_one(exercise, answer_with(exercise, gradient, code), runner)
    return {one.name: one.message for one in judged if one.outcome in BLAMED}


FUSED = "dhprebn = bngain * bnvar_inv / n * ({})"


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (
            FUSED.format("n * dhpreact - dbnbias - bnraw * dbngain"),
            "The part of `dhprebn` that comes through `bnvar` is 0.96875 ((n - 1)/n) times what it"
            " should be.",
        ),
        (
            "dhprebn = bngain * bnvar / n"
            " * (n * dhpreact - dbnbias - n / (n - 1) * bnraw * dbngain)",
            "`bnvar` is the wrong tensor here.",
        ),
    ],
)
def test_a_fused_line_below_another_wrong_line_that_it_reads(
    formula: str, message: str, runner: Runner
) -> None:
    wrong = "dbngain = (dh * bnraw).sum(0, keepdim=True)"
    answer = re.sub(r"(?m)^dhprebn = .*$", formula, answer_with("ex4", "dbngain", wrong))
    assert formula in answer
    said = {one.name: one.message for one in judge_one("ex4", answer, runner)}
    assert said["dbngain"] == "`dh` is not the incoming gradient here."
    assert said["dhprebn"] == message


@pytest.mark.parametrize(("share", "outcome"), [("n / (n - 1) * ", "carried"), ("", "fail")])
def test_what_arrives_as_a_value_is_what_the_others_are_made_from(
    share: str, outcome: str, runner: Runner
) -> None:
    wrong = "dbngain = (dhpreact * hprebn).sum(0, keepdim=True)"
    formula = (
        "dhprebn = bngain * (var + 1e-5) ** -0.5 / n"
        f" * (n * dhpreact - dbnbias - {share}xhat * dbngain)\n"
    )
    # It is the last statement.
    answer = answer_with("ex3", "dbngain", wrong).partition("dhprebn = ")[0] + formula
    judged = {one.name: one for one in judge_one("ex3", answer, runner)}
    assert judged["dbngain"].message == "`hprebn` is the wrong tensor here."
    assert judged["dhprebn"].outcome == outcome
    part = "The part of `dhprebn` that comes through `var`"
    said = f"{part} is 0.96875 ((n - 1)/n) times what it should be."
    assert judged["dhprebn"].message == ("" if share else said)


def test_a_size_that_stands_in_two_places_is_no_further_factor(runner: Runner) -> None:
    formula = (
        "dhprebn = bngain * (var + 1e-5) ** -0.5 / n_hidden"
        " * (n_hidden * dhpreact - dbnbias - n / (n - 1) * xhat * dbngain)"
    )
    assert blamed("ex3", "dhprebn", formula, runner) == {
        "dhprebn": "`n_hidden` is the wrong size here."
    }


def test_a_fused_formula_of_another_upstream_throughout(runner: Runner) -> None:
    formula = "n * dh - dh.sum(0) - n / (n - 1) * bnraw * (dh * bnraw).sum(0)"
    assert blamed("ex4", "dhprebn", FUSED.format(formula), runner) == {
        "dhprebn": "`dh` is not the incoming gradient here."
    }


UNPACKED = (
    "both = torch.cat([torch.ones(n, 1), embcat], 1).T @ dhprebn\ndb1, dW1 = both[0], both[1:]\n"
)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("db1 = dhpreact.sum(0)", "`dhpreact` is not the incoming gradient here."),
        ("db1 = dhprebn.sum(1)", "`1` is the wrong axis here."),
        ("db1 = both[-1]", "Without this line, `db1` would be right."),
        ("db1 = 0", "Without this line, `db1` would be right."),
        (
            "db1 = both[:1]",
            "The numbers are right. The shape is (1, 64), and `b1` has (64,).",
        ),
    ],
)
def test_a_line_below_one_that_had_unpacked_the_gradient(
    code: str, message: str, runner: Runner
) -> None:
    judged = judge_one("ex1", answer_with("ex1", "db1", UNPACKED + code), runner)
    assert [one.message for one in judged if one.outcome in BLAMED] == [message]


@pytest.mark.parametrize(
    ("gradient", "code", "term"),
    [
        ("dprobs", "dprobs = dlogprobs / probs + 1e-7", "1e-7"),
        ("dcounts", "dcounts = counts_sum_inv * dprobs + dcounts_sum - 1e-7", "1e-7"),
        ("dbnvar", "dbnvar = -0.5 * bnvar_inv**3 * dbnvar_inv + 1e-5", "1e-5"),
        ("dbndiff", "dbndiff = dbnraw * bnvar_inv + 1e-5 + 2 * bndiff * dbndiff2", "1e-5"),
    ],
)
def test_a_line_that_is_almost_right_is_to_blame_for_what_comes_of_it(
    gradient: str, code: str, term: str, runner: Runner
) -> None:
    assert blamed("ex1", gradient, code, runner) == {
        gradient: f"`{term}` should not be a term here."
    }


@pytest.mark.parametrize(
    ("gradient", "code", "changed"),
    [
        ("dcounts", "dprobs *= counts_sum_inv\ndcounts = dprobs + dcounts_sum", "dprobs"),
        (
            "dbndiff",
            "dbnraw *= bnvar_inv\ndbndiff = dbnraw + 2 * bndiff * dbndiff2",
            "dbnraw",
        ),
    ],
)
def test_a_gradient_that_becomes_a_term_of_another_in_place(
    gradient: str, code: str, changed: str, runner: Runner
) -> None:
    assert blamed("ex1", gradient, code, runner) == {
        changed: f"`{changed}` is right when it is assigned; this line changes it."
    }


def test_a_name_that_another_cell_has_for_its_gradient_is_not_for_a_part(runner: Runner) -> None:
    source = (
        "dbndiff1 = dbnraw * bnvar_inv\ndbndiff2 = 2 * bndiff * dbndiff2\n"
        "dbndiff = dbndiff1 + dbndiff2"
    )
    assert blamed("ex1", "dbndiff", source, runner) == {
        "dbndiff2": "`dbndiff2` is right when it is assigned; this line changes it."
    }


def test_the_line_that_raised_is_not_the_one_that_is_blamed(runner: Runner) -> None:
    source = (
        "q = F.one_hot(Yb, vocab_size)\nq *= 1 - smoothing\nq = q + smoothing / vocab_size\n"
        "dz = (F.softmax(z, 1) - q) / n"
    )
    cells = [AnswerCell(*cell) for cell in read_cells(answer_with("ex2s", "dz", source))]
    ((dz,), _) = grade_exercise(BY_PREFIX["ex2s"], cells, runner)
    assert wording.note(dz).startswith("Line 3 raised RuntimeError: ")
    assert dz.code.startswith("q = F.one_hot(")


@pytest.mark.parametrize("other", ["...", "dprobs"])
def test_a_line_that_is_almost_right_passes_beside_what_is_wrong_or_to_do(
    other: str, runner: Runner
) -> None:
    source = answer_with("ex1", "dprobs", "dprobs = dlogprobs / (probs + 1e-9)")
    source = re.sub(r"(?m)^dcounts_sum_inv = .*$", f"dcounts_sum_inv = {other}", source)
    cells = [AnswerCell(*cell) for cell in read_cells(source)]
    verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    (dprobs,) = (one for one in verdicts if one.name == "dprobs")
    assert (dprobs.outcome, dprobs.why) == (Outcome.PASS, "almost")


def test_a_line_that_is_almost_right_passes_with_a_note_where_nothing_comes_of_it(
    runner: Runner,
) -> None:
    source = answer_with("ex1", "db1", "db1 = dhprebn.sum(0) + 1e-6")
    cells = [AnswerCell(*cell) for cell in read_cells(source)]
    verdicts, _ = grade_exercise(ATOMIC, cells, runner)
    assert {one.outcome for one in verdicts} == {Outcome.PASS}
    assert [one.name for one in verdicts if one.why == "almost"] == ["db1"]


@pytest.mark.parametrize(
    ("gradient", "code"),
    [
        ("dbndiff2", "dbndiff2 = dbnvar.expand(n, -1)\ndbndiff2 /= n - 1"),
        ("dhpreact", "dhpreact = dh * (1 - h ^ 2)"),
        ("dlogprobs", "dlogprobs = -(torch.arange(vocab_size) == Yb[:, None]) / n"),
    ],
)
def test_an_exception_that_says_all_is_not_explained(
    gradient: str, code: str, runner: Runner
) -> None:
    judged = judge_one("ex1", answer_with("ex1", gradient, code), runner)
    assert not any(one.message for one in judged)
