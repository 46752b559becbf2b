"""The two checks and the verdict table on whole answers."""

import re
from collections import Counter
from pathlib import Path

import pytest

from corpus.readers.exercise_text import right_answers
from corpus.readers.lecture_course import ATOMIC, NOTEBOOKS
from grader.answer.parse import LONGEST_ANSWER, TOO_DEEP, TOO_LARGE, AnswerCell
from grader.diagnosis.kinds import Kind
from grader.execution.runner import Runner
from grader.grading.grade import MOST_OF_A_KIND, grade, grade_exercise
from grader.reports import wording
from grader.reports.wording import ROWS
from grader.verdict import LONGEST_SENTENCE, Check, Outcome, Place, Verdict
from tests.grader.conftest import Judge
from tests.helpers.verdicts import answer_cells

LECTURE = right_answers()["lecture"]
BLAMED = {Outcome.FAIL, Outcome.ERROR}
UNBOUND = "dW2 is not assigned."


def edited(*replacements: tuple[str, str]) -> str:
    """The lecture's answer with lines replaced."""
    source = LECTURE
    for line, replacement in replacements:
        assert source.count(f"{line}\n") == 1, line
        source = source.replace(f"{line}\n", f"{replacement}\n")
    return source


def blamed(verdicts: dict[str, Verdict]) -> list[str]:
    return [name for name, verdict in verdicts.items() if verdict.outcome in BLAMED]


# --- right answers pass, whatever their style


@pytest.mark.parametrize("style", right_answers())
def test_right_answers_pass(style: str, judge_text: Judge) -> None:
    verdicts = judge_text(right_answers()[style])
    assert list(verdicts) == list(ATOMIC.gradients)
    wrong = {name: v for name, v in verdicts.items() if v.outcome is not Outcome.PASS}
    assert not wrong
    assert all(verdict.comparison.approximate for verdict in verdicts.values())


def test_there_are_enough_styles() -> None:
    assert len(right_answers()) >= 30


@pytest.mark.slow
def test_right_answers_raise_no_flag(runner: Runner) -> None:
    for source in right_answers().values():
        assert grade(NOTEBOOKS["01_atomic_backprop"], answer_cells(source), runner).flags == ()


# --- the verdict table, row by row


def test_no_file_of_the_student_is_written_again(judge_text: Judge, tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("kept", encoding="utf-8")
    writes = f"open({str(kept)!r}, 'w').write('lost')"
    judge_text(f"# answer: ex1-a\ntorch.save(torch.ones(1), 'kept.pt')\n{writes}\n")
    assert kept.read_text(encoding="utf-8") == "kept"
    assert not Path("kept.pt").exists()


def test_a_blank_is_to_do_and_does_not_touch_the_others(judge_text: Judge) -> None:
    verdicts = judge_text(edited(("dW2 = h.T @ dlogits", "dW2 = ...  # your turn")))
    assert verdicts.pop("dW2").outcome is Outcome.TODO
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}


@pytest.mark.parametrize("blank", ["dprobs = ...", "dprobs = None", "pass"])
def test_what_a_missing_gradient_is_handed_to_is_carried(blank: str, judge_text: Judge) -> None:
    verdicts = judge_text(edited(("dprobs = (1.0 / probs) * dlogprobs", blank)))
    assert verdicts["dprobs"].outcome is Outcome.TODO
    assert verdicts["dcounts_sum_inv"].outcome is Outcome.CARRIED
    assert verdicts["dcounts_sum_inv"].points == 1
    assert wording.note(verdicts["dcounts_sum_inv"]) == (
        "This line is right, and waits for dprobs to be written."
    )
    assert verdicts["dlogprobs"].outcome is Outcome.PASS


def test_an_error_is_paid_for_once(judge_text: Judge) -> None:
    verdicts = judge_text(edited(("dh = dlogits @ W2.T", "dh = -dlogits @ W2.T")))
    assert verdicts["dh"].outcome is Outcome.FAIL
    assert (verdicts["dh"].global_check, verdicts["dh"].local_check) == (Check.WRONG, Check.WRONG)
    downstream = ["dhpreact", "dbngain", "dbnbias", "dhprebn", "dC"]
    assert {verdicts[name].outcome for name in downstream} == {Outcome.CARRIED}
    assert sum(verdict.points for verdict in verdicts.values()) == 25


def test_two_faults_are_both_blamed(judge_text: Judge) -> None:
    verdicts = judge_text(
        edited(
            ("dh = dlogits @ W2.T", "dh = -dlogits @ W2.T"),
            ("dbnraw = bngain * dhpreact", "dbnraw = dhpreact"),
        )
    )
    assert blamed(verdicts) == ["dh", "dbnraw"]


@pytest.mark.parametrize(("factor", "outcome"), [("n / (n - 1) * ", "carried"), ("", "fail")])
def test_a_gradient_that_is_read_for_its_shape_alone_hands_nothing_down(
    factor: str, outcome: str, judge_text: Judge
) -> None:
    """Below a mistake, a shortcut is right by itself as it is below none."""
    shortcut = (
        "dhprebn = torch.zeros_like(dbndiff)\n"
        "dhprebn += bngain * bnvar_inv / n * (n * dhpreact - dhpreact.sum(0)"
        f" - {factor}bnraw * (dhpreact * bnraw).sum(0))"
    )
    verdicts = judge_text(
        edited(
            ("dhpreact = (1.0 - h**2) * dh", "dhpreact = (1.0 - h) * dh"),
            ("dhprebn = dbndiff.clone()", shortcut),
            ("dhprebn += 1.0 / n * (torch.ones_like(hprebn) * dbnmeani)", ""),
        )
    )
    assert (verdicts["dhpreact"].outcome, verdicts["dhprebn"].outcome) == ("fail", outcome)


def test_a_shortcut_passes(judge_text: Judge) -> None:
    fused = "dlogits = F.softmax(logits, 1)\ndlogits[range(n), Yb] -= 1\ndlogits /= n"
    verdicts = judge_text(edited(("dlogits = dnorm_logits.clone()", fused), DROP_MAX))
    assert verdicts["dlogits"].outcome is Outcome.PASS


DROP_MAX = (
    "dlogits += F.one_hot(logits.max(1).indices, num_classes=logits.shape[1]) * dlogit_maxes",
    "",
)


@pytest.mark.parametrize(
    ("line", "replacement", "outcome", "note"),
    [
        (
            "dlogit_maxes = (-dnorm_logits).sum(1, keepdim=True)",
            "dlogit_maxes = torch.zeros_like(logit_maxes)",
            Outcome.PASS,
            "The gradient of `logit_maxes` is zero for every input of this network, so zeros are",
        ),
        (
            "db1 = dhprebn.sum(0)",
            "db1 = torch.zeros(n_hidden)",
            Outcome.PASS,
            "The gradient of `b1` is zero for every input of this network, so zeros are right",
        ),
        (
            *DROP_MAX,
            Outcome.PASS,
            "The value is right without the branch through `logit_maxes`, because the gradient of",
        ),
        (
            "dbnmeani = (-dbndiff).sum(0, keepdim=True)",
            "dbnmeani = -(dbnraw * bnvar_inv).sum(0, keepdim=True)",
            Outcome.PASS,
            "The value is right without the branch through `bndiff2`, because what comes back",
        ),
        (
            "dlogit_maxes = (-dnorm_logits).sum(1, keepdim=True)",
            "dlogit_maxes = dnorm_logits.sum(1, keepdim=True)",
            Outcome.FAIL,
            "The value matches only because the true gradient is zero here",
        ),
        (
            "db1 = dhprebn.sum(0)",
            "db1 = 2 * dhprebn.sum(0)",
            Outcome.FAIL,
            "The value matches only because the true gradient is zero here",
        ),
        (
            DROP_MAX[0],
            "dlogits += F.one_hot(logits.min(1).indices, num_classes=logits.shape[1])"
            " * dlogit_maxes",
            Outcome.FAIL,
            "The value matches only because the true gradient is zero here",
        ),
    ],
)
def test_what_is_zero_by_structure(
    line: str, replacement: str, outcome: Outcome, note: str, judge_text: Judge
) -> None:
    verdicts = judge_text(edited((line, replacement)))
    changed = [verdict for verdict in verdicts.values() if wording.note(verdict)]
    assert [(verdict.outcome, wording.note(verdict)[: len(note)]) for verdict in changed] == [
        (outcome, note)
    ]


@pytest.mark.parametrize(
    ("replacement", "sentence", "line"),
    [
        ("dh = dlogits @ W2", "This line raised RuntimeError: ", 2),
        ("dh = dlogits @ W3.T", "This line raised NameError: name 'W3' is not defined.", 2),
        ("dh = (dlogits @ W2.T) / 0 * 0", "`dh` has nothing but NaN in it.", 2),
        ("dh = [1, 2]", "dh is a list, but a gradient is a tensor.", 2),
        ("dh = 3.0", "dh is a float, but a gradient is a tensor.", 2),
        ("dh = (dlogits @ W2.T).long()", "`dh` has dtype int64, and `h` has float32.", 2),
        ("import sys\nsys.exit()\ndh = dlogits @ W2.T", None, 4),
        ("dh = 1 / 0", "This line raised ZeroDivisionError: division by zero.", 2),
        ("def f(d):\n    return d @ W3\ndh = f(dlogits)", "This line raised NameError", 3),
        ("dh = dlogits @ W2.T\ndh += torch.ones(5, 7, 9)", "This line raised RuntimeError", 3),
        ("raise KeyboardInterrupt\ndh = dlogits @ W2.T", None, 3),
    ],
)
def test_errors_name_the_students_line(
    replacement: str, sentence: str | None, line: int, judge_text: Judge
) -> None:
    verdicts = judge_text(edited(("dh = dlogits @ W2.T", replacement)))
    verdict = verdicts["dh"]
    if sentence is None:
        # The statement that raised made nothing; the gradient's own line ran all the same.
        assert verdict.outcome is Outcome.PASS
        return
    assert verdict.outcome is Outcome.ERROR
    said = [wording.note(verdict), *(one.message for one in verdict.diagnosis)]
    assert any(one.startswith(sentence) for one in said)
    assert verdict.place is not None
    assert (verdict.place.cell, verdict.place.line) == ("ex1-linear2", line)
    assert blamed(verdicts) == ["dh"]


def test_what_was_handed_infinite_numbers_on_the_lectures_batch_alone_is_not_to_blame(
    runner: Runner,
) -> None:
    """With this seed, one `h` of the lecture's batch is rounded to 1."""
    source = edited(("dhpreact = (1.0 - h**2) * dh", "dhpreact = dh / (1.0 - h**2)"))
    verdicts, _ = grade_exercise(ATOMIC, answer_cells(source), runner, 5)
    assert [v.name for v in verdicts if v.outcome in BLAMED] == ["dhpreact"]


def test_a_lost_axis_is_explained_at_the_lectures_sizes(judge_text: Judge) -> None:
    verdicts = judge_text(
        edited(
            (
                "dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)",
                "dcounts_sum_inv = (counts * dprobs).sum(1)",
            )
        )
    )
    verdict = verdicts["dcounts_sum_inv"]
    assert verdict.outcome is Outcome.FAIL
    (said,) = verdict.diagnosis
    assert said.message == (
        "The numbers are right. The shape is (32,), and `counts_sum_inv` has (32, 1)."
    )


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        ("dlogprobs[range(n), Yb] = -1.0 / n", "dlogprobs[range(n), Yb] = -1.0 / 32"),
        (
            "demb = dembcat.view(n, block_size, n_embd)",
            "demb = dembcat.view(32, 3, 10)",
        ),
    ],
)
def test_a_hard_coded_size_does_not_survive(line: str, replacement: str, judge_text: Judge) -> None:
    verdicts = judge_text(edited((line, replacement)))
    (name,) = blamed(verdicts)
    assert name == line.split("[")[0].split(" =")[0]
    assert [one.kind for one in verdicts[name].diagnosis] == [Kind.HARD_CODED_SIZE]


def test_shared_memory_is_blamed_where_it_is_made(judge_text: Judge) -> None:
    verdicts = judge_text(edited(("dhprebn = dbndiff.clone()", "dhprebn = dbndiff")))
    assert blamed(verdicts) == ["dbndiff"]
    (said,) = verdicts["dbndiff"].diagnosis
    assert said.message == (
        "`dbndiff` is right when it is assigned; line 5 of ex1-batchnorm-mean changes it through"
        " `dhprebn`, the same tensor."
    )
    place = verdicts["dbndiff"].place
    assert place is not None
    assert place.cell == "ex1-batchnorm-mean"


# --- a size that is written as it is in the notebook, several gradients in one line

MAXIMUM = "F.one_hot(logits.max(1).indices, num_classes=logits.shape[1]) * dlogit_maxes"
LINEAR = "dh = dlogits @ W2.T\ndW2 = h.T @ dlogits\ndb2 = dlogits.sum(0)"


def with_sizes(lines: str) -> str:
    first = "# answer: ex1-loss\n"
    assert LECTURE.count(first) == 1
    return LECTURE.replace(first, f"{first}{lines}\n")


@pytest.mark.parametrize("lines", ["n = 32", "n = 32\nn_embd = 10\nblock_size = Xb.shape[1]"])
def test_a_size_with_the_notebooks_value_costs_nothing(lines: str, judge_text: Judge) -> None:
    verdicts = judge_text(with_sizes(lines))
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}
    assert wording.note(verdicts["dlogprobs"]) == (
        "`n` has its value already. Line 2 of ex1-loss, which writes it as a number, was left out,"
        " because it would be wrong for a batch of another size."
    )
    assert wording.note(verdicts["dprobs"]) == ""


@pytest.mark.parametrize("lines", ["n = 31", "n = 31\nn = 32", "if True:\n    n = 32"])
def test_any_other_line_that_gives_a_size_a_value_stays(lines: str, judge_text: Judge) -> None:
    assert "dlogprobs" in blamed(judge_text(with_sizes(lines)))


def test_a_chained_assignment_is_two_names_for_one_tensor(judge_text: Judge) -> None:
    chained = (
        ("dnorm_logits = counts * dcounts", "dlogits = dnorm_logits = counts * dcounts"),
        ("dlogits = dnorm_logits.clone()", "# dlogits has its first branch"),
    )
    right = judge_text(
        edited(*chained, (f"dlogits += {MAXIMUM}", f"dlogits = dlogits + {MAXIMUM}"))
    )
    assert {verdict.outcome for verdict in right.values()} == {Outcome.PASS}
    verdicts = judge_text(edited(*chained))
    assert blamed(verdicts) == ["dnorm_logits"]
    assert verdicts["dnorm_logits"].code == f"dlogits += {MAXIMUM}"
    (said,) = verdicts["dnorm_logits"].diagnosis
    assert said.kind is Kind.ALIASED


@pytest.mark.parametrize(
    "line",
    [
        "dh, dW2, db2 = dlogits @ W2, h.T @ dlogits, dlogits.sum(0)",
        "[dh, dW2, db2] = [dlogits @ W2, h.T @ dlogits, dlogits.sum(0)]",
        "(dh, dW2), db2 = (dlogits @ W2, h.T @ dlogits), dlogits.sum(0)",
    ],
)
def test_of_several_gradients_in_one_line_only_that_which_raises_is_an_error(
    line: str, judge_text: Judge
) -> None:
    verdicts = judge_text(edited((LINEAR, line)))
    assert blamed(verdicts) == ["dh"]
    assert verdicts["dW2"].outcome is verdicts["db2"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    "body",
    [
        "dx = d @ W\n    dW = x.T @ d\n    return dx, dW, d.sum(0)",
        "return d @ W, x.T @ d, d.sum(0)",
    ],
)
def test_of_several_gradients_in_one_function_only_that_which_raises_is_an_error(
    body: str, judge_text: Judge
) -> None:
    lines = f"def linear(d, x, W):\n    {body}\ndh, dW2, db2 = linear(dlogits, h, W2)"
    verdicts = judge_text(edited((LINEAR, lines)))
    assert blamed(verdicts) == ["dh"]
    assert "Line 3 raised RuntimeError: " in wording.note(verdicts["dh"])
    assert verdicts["dW2"].outcome is verdicts["db2"].outcome is Outcome.CARRIED
    wrong = judge_text(edited((LINEAR, lines.replace("d.sum(0)", "d.sum(1)"))))
    assert blamed(wrong) == ["dh", "db2"]


def test_below_what_a_function_did_not_give_lines_are_carried(judge_text: Judge) -> None:
    body = "dh = dlogits @ W2.T\n    dW2 = h @ dlogits\n    return dh, dW2, dlogits.sum(0)"
    verdicts = judge_text(edited((LINEAR, f"def linear():\n    {body}\ndh, dW2, db2 = linear()")))
    assert blamed(verdicts) == ["dW2"]
    assert "see dW2" in wording.note(verdicts["dC"])


# --- whenever something is wrong, somebody is to blame

SECOND_BRANCH = "dcounts += torch.ones_like(counts) * dcounts_sum"
TWO_NAMES = "`dbndiff` is right when it is assigned; line "
SAME = "def same(x): return x\ndhprebn = same(dbndiff)"
DW2 = "dW2 = h.T @ dlogits"


def moved(line: str, below: str) -> str:
    """The lecture's answer with one line moved below another."""
    source = LECTURE.replace(f"{line}\n", "", 1)
    assert source.count(f"{below}\n") == 1
    return source.replace(f"{below}\n", f"{below}\n{line}\n")


@pytest.mark.parametrize(
    ("source", "name", "note"),
    [
        (
            moved(SECOND_BRANCH, below="dlogits = dnorm_logits.clone()"),
            "dnorm_logits",
            ROWS["at-the-wrong-time"],
        ),
        (
            moved(SECOND_BRANCH, below="dnorm_logits = counts * dcounts"),
            "dnorm_logits",
            ROWS["at-the-wrong-time"],
        ),
        (
            moved("dbndiff += 2 * bndiff * dbndiff2", below="dhprebn = dbndiff.clone()"),
            "dhprebn",
            ROWS["at-the-wrong-time"],
        ),
        (edited(("dhprebn = dbndiff.clone()", SAME)), "dbndiff", TWO_NAMES),
        (
            edited(
                ("dhprebn = dbndiff.clone()", "dhprebn = dbndiff\ndhprebn = dhprebn.view(n, -1)")
            ),
            "dbndiff",
            TWO_NAMES,
        ),
    ],
    ids=["far below", "swapped", "completed late", "hidden alias", "alias of an alias"],
)
def test_a_right_line_at_the_wrong_time_is_to_blame(
    source: str, name: str, note: str, judge_text: Judge
) -> None:
    verdicts = judge_text(source)
    assert blamed(verdicts) == [name]
    said = [wording.note(verdicts[name]), *(one.message for one in verdicts[name].diagnosis)]
    assert any(one.startswith(note) for one in said)
    others = [verdict for verdict in verdicts.values() if verdict.name != name]
    assert {verdict.outcome for verdict in others} <= {Outcome.PASS, Outcome.CARRIED}
    carried = {wording.note(v) for v in others if v.outcome is Outcome.CARRIED}
    assert carried <= {f"This line is right, but an incoming gradient is not: see {name}."}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("dh = -dlogits @ W2.T", "The minus in `-dlogits` should not be there."),
        ("dh = torch.zeros_like(h)", "`dh` is zero: no incoming gradient is passed on."),
        ("dh = dlogits @ W2.T + 1", "`1` should not be a term here."),
        (
            "dh = dlogits.cumsum(1) @ W2.T * h",
            "This is not the gradient of the loss with respect to h. Test one entry with"
            " `nudge`, and look for a line that reads `h` and was left out.",
        ),
    ],
)
def test_a_wrong_gradient_always_has_a_sentence(
    line: str, sentence: str, judge_text: Judge
) -> None:
    verdict = judge_text(edited(("dh = dlogits @ W2.T", line)))["dh"]
    assert [wording.note(verdict)] * bool(wording.note(verdict)) + [
        d.message for d in verdict.diagnosis[:1]
    ] == [sentence]


# --- values that are right on some sizes only, or for no reason


@pytest.mark.parametrize(
    ("line", "replacement", "name"),
    [
        ("        dC[ix] += demb[k, j]", "        dC[ix] += demb[k, j] if ix < 20 else 0", "dC"),
        ("        dC[ix] += demb[k, j]", "        dC[ix] += demb[k, j] if ix < 27 else 0", "dC"),
        (DW2, "dW2 = h[:32].T @ dlogits[:32]", "dW2"),
        (DW2, "dW2 = h[:, :64].T @ dlogits", "dW2"),
        (DW2, f"{DW2}\nif n != 32:\n    dW2 = dW2 * 2", "dW2"),
        (DW2, f"{DW2}\nif n == 32:\n    dW2 = dW2 * 2", "dW2"),
        (DW2, f"if n != 32:\n    {DW2}\nelse:\n    dW2 = torch.zeros_like(W2)", "dW2"),
    ],
)
def test_what_is_right_on_some_sizes_only_fails(
    line: str, replacement: str, name: str, judge_text: Judge
) -> None:
    verdicts = judge_text(edited((line, replacement)))
    assert blamed(verdicts) == [name]
    assert wording.note(verdicts[name]) or verdicts[name].diagnosis


def test_another_way_on_the_lectures_sizes_says_so(judge_text: Judge) -> None:
    wrong_there = "dlogits = (F.softmax(logits, 1) - F.one_hot(Yb, vocab_size)) / (n + (n == 32))"
    verdicts = judge_text(edited(("dlogits = dnorm_logits.clone()", wrong_there), DROP_MAX))
    assert verdicts["dlogits"].outcome is Outcome.FAIL
    assert verdicts["dlogits"].why == "only-on-other-sizes"


def test_what_a_mistake_rounds_away_in_float32_alone_is_carried(judge_text: Judge) -> None:
    # The sum of bndiff is zero but for rounding: times a hundred it is more than what is right.
    line = "dhpreact = (1.0 - h**2) * dh"
    verdicts = judge_text(edited((line, f"{line} + 100")))
    assert blamed(verdicts) == ["dhpreact"]
    assert verdicts["dC"].outcome is Outcome.CARRIED


def test_what_is_wrong_on_one_batch_is_not_rounded_away_by_zeros(judge_text: Judge) -> None:
    # The gradient of logit_maxes is zero, whatever its sign.
    maxes = "dlogit_maxes = (-dnorm_logits).sum(1, keepdim=True)"
    line = "dW2 = h.T @ dlogits"
    changes = (maxes, maxes.replace("-", "")), (line, f"{line} * (2 if n == 32 else 1)")
    assert blamed(judge_text(edited(*changes))) == ["dlogit_maxes", "dW2"]


@pytest.mark.parametrize(
    "block",
    [
        "with torch.no_grad():\n    dh = dlogits @ W2\n"
        "    dW2 = h.T @ dlogits\n    db2 = dlogits.sum(0)",
        "try:\n    dh = dlogits @ W2\n    dW2 = h.T @ dlogits\n    db2 = dlogits.sum(0)\n"
        "except RuntimeError:\n    print('?')",
        "dh, dW2, db2 = torch.zeros_like(h), torch.zeros_like(W2), torch.zeros_like(b2)\n"
        "for i in range(n):\n    dW2 += torch.outer(h[i], dlogits[i])\n"
        "    dh[i] = dlogits[i] @ W2\n    db2 += dlogits[i]",
        "with torch.no_grad():\n    dh = dlogits @ W2.T * 2\n"
        "    assert torch.allclose(dh, dlogits @ W2.T)\n"
        "    dW2 = h.T @ dlogits\n    db2 = dlogits.sum(0)",
    ],
    ids=["raises", "is caught", "loops", "asserts"],
)
def test_what_stops_a_block_is_paid_for_once(block: str, judge_text: Judge) -> None:
    lines = "dh = dlogits @ W2.T\ndW2 = h.T @ dlogits\ndb2 = dlogits.sum(0)"
    verdicts = judge_text(edited((lines, block)))
    assert blamed(verdicts) == ["dh"]
    said = "This line is right, but the code for dh in the same block keeps it from running."
    assert (wording.note(verdicts["dW2"]), wording.note(verdicts["db2"])) == (said, said)


def test_what_stops_a_block_is_not_whatever_is_wrong_in_it(judge_text: Judge) -> None:
    lines = "dh = dlogits @ W2.T\ndW2 = h.T @ dlogits\ndb2 = dlogits.sum(0)"
    block = (
        "with torch.no_grad():\n    dh = dlogits @ W2.T * 2\n    print(what_is_this)\n"
        "    dW2 = h.T @ dlogits\n    db2 = dlogits.sum(0)"
    )
    assert blamed(judge_text(edited((lines, block)))) == ["dh", "dW2", "db2"]


@pytest.mark.parametrize(("found", "outcome"), [("max", Outcome.PASS), ("min", Outcome.FAIL)])
def test_a_maximum_written_inline_is_routed_right_or_not(
    found: str, outcome: Outcome, judge_text: Judge
) -> None:
    inline = (
        f"dlogits = dnorm_logits + F.one_hot(logits.{found}(1).indices, vocab_size)"
        " * (-dnorm_logits.sum(1, keepdim=True))"
    )
    verdicts = judge_text(edited(("dlogits = dnorm_logits.clone()", inline), DROP_MAX))
    assert verdicts.pop("dlogits").outcome is outcome
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}


# --- statements beside a gradient's own


@pytest.mark.parametrize(
    ("replacement", "outcome", "sentence"),
    [
        (f"with torch.no_grad():\n    {DW2}\n    plt.imshow(dW2)", Outcome.PASS, ""),
        (f"with torch.no_grad():\n    {DW2}\n    assert not dW2.any()", Outcome.PASS, ""),
        (
            "with torch.no_grad():\n    dW2 = h.T @ -dlogits\n    plt.imshow(dW2)",
            Outcome.FAIL,
            "",
        ),
        (
            f"with torch.no_grad():\n    1 / 0\n    {DW2}",
            Outcome.ERROR,
            "This line raised ZeroDivisionError: division by zero.",
        ),
        (f"try:\n    {DW2[:5]} W3\nexcept NameError:\n    pass", Outcome.ERROR, UNBOUND),
        (f"if n < 0:\n    {DW2}", Outcome.ERROR, UNBOUND),
        (f"try:\n    1 / 0\n    {DW2}\nexcept ArithmeticError:\n    pass", Outcome.ERROR, UNBOUND),
        (f"{DW2}\ndel dW2", Outcome.PASS, ""),
        ("t = h.T\ndW2 = t @ dlogits\ndel t", Outcome.PASS, ""),
        ("from math import *\ndW2 = sqrt(1) * h.T @ dlogits", Outcome.PASS, ""),
        ("dW2 = math.sqrt(1) * h.T @ dlogits", Outcome.PASS, ""),
        (f"files = !ls\n{DW2}\nt = %timeit -o h.T @ dlogits\ntorch.sum?", Outcome.PASS, ""),
        (
            "class K:\n    @property\n    def __class__(self): raise ValueError\ndW2 = K()",
            Outcome.ERROR,
            "dW2 is an object that raises ValueError when it is looked at",
        ),
        (
            "dW2 = torch.nested.nested_tensor([h[0], h[1][:2]])",
            Outcome.ERROR,
            "dW2 is an object that raises",
        ),
    ],
)
def test_what_stands_beside_a_gradient_costs_at_most_that_one(
    replacement: str, outcome: Outcome, sentence: str, judge_text: Judge
) -> None:
    verdicts = judge_text(edited((DW2, replacement)))
    verdict = verdicts.pop("dW2")
    assert verdict.outcome is outcome
    assert wording.note(verdict).startswith(sentence)
    assert bool(wording.note(verdict)) is bool(sentence)
    assert {other.outcome for other in verdicts.values()} == {Outcome.PASS}


def test_a_star_import_belongs_to_every_gradient_that_may_need_it(judge_text: Judge) -> None:
    """The line's own check runs it too, or an earlier mistake would be paid for here again."""
    starred = ("dW2 = h.T @ dlogits", "from math import *\ndW2 = sqrt(1) * h.T @ dlogits")
    verdicts = judge_text(
        edited(("dlogits = dnorm_logits.clone()", "dlogits = 2 * dnorm_logits"), starred)
    )
    assert blamed(verdicts) == ["dlogits"]
    assert verdicts["dW2"].outcome is Outcome.CARRIED


@pytest.mark.parametrize(
    "comparison",
    [
        "torch.testing.assert_close(db1, b1.grad)",
        "def compare(name, mine, theirs): print(name)\ncompare('b1', db1, b1.grad)",
    ],
)
def test_comparing_with_autograd_costs_nothing_and_is_no_accusation(
    comparison: str, runner: Runner
) -> None:
    source = edited(("db1 = dhprebn.sum(0)", f"db1 = dhprebn.sum(0)\n{comparison}"))
    report = grade(NOTEBOOKS["01_atomic_backprop"], answer_cells(source), runner)
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.PASS}
    assert report.flags == ()


@pytest.mark.parametrize(
    ("lines", "outcome", "flagged"),
    [
        # Autograd is asked, and the value is right, wrong, or was to come from there.
        ("loss.backward()\ndb1 = dhprebn.sum(0)", Outcome.PASS, [1]),
        ("db1 = torch.tensor(dhprebn.sum(0).tolist(), requires_grad=True)", Outcome.PASS, [1]),
        ("db2 = torch.tensor(dlogits.sum(1).tolist(), requires_grad=True)", Outcome.FAIL, [1]),
        ("db2 = dlogits.sum(0)\ndb2 += b2.grad", Outcome.PASS, []),
        ("db2 = torch.zeros_like(b2)\nif b2.grad is not None: db2 = b2.grad", Outcome.FAIL, []),
        ("g = b2.grad\n\ndb2 = g.clone()", Outcome.REFUSED, [1]),
        ("loss.backward()\ndb2 = b2.grad", Outcome.REFUSED, [2, 1]),
        ("db2 = getattr(b2, 'gr' + 'ad').clone()", Outcome.ERROR, []),
        ("run = getattr(loss, 'back' + 'ward')\ndb2 = run()", Outcome.REFUSED, [2]),
    ],
)
def test_the_value_decides_and_autograd_is_flagged(
    lines: str, outcome: Outcome, flagged: list[int], runner: Runner
) -> None:
    name = "db1" if "db1" in lines else "db2"
    verdicts, flags = grade_exercise(ATOMIC, _with_lines(name, lines), runner, wary=True)
    found = {verdict.name: verdict.outcome for verdict in verdicts}
    assert found.pop(name) is outcome
    assert set(found.values()) == {Outcome.PASS}
    places = [flag.place.line for flag in flags if flag.place and flag.place.cell == "ex1-own"]
    assert list(dict.fromkeys(places)) == flagged


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("while True: pass", ["time-limit"]),
        ("import os; os._exit(3)", ["ended-process"]),
        ("large = bytearray(2**50)", ["memory-limit"]),
        ("open('/nowhere/notes')", ["denied"]),
        ("import os, gc; loss.backward()", []),
    ],
)
def test_who_wrote_a_line_is_told_how_it_ended_and_not_how_it_looks(
    line: str, kinds: list[str], runner: Runner
) -> None:
    cells = _with_lines("db2", f"db2 = dlogits.sum(0)\n{line}")
    report = grade(NOTEBOOKS["01_atomic_backprop"], cells, runner)
    assert report.passed
    assert [flag.kind for flag in report.flags] == kinds
    assert {flag.place for flag in report.flags} <= {Place("ex1-own", 2)}


def _with_lines(name: str, lines: str) -> list[AnswerCell]:
    """The lecture's answer; one gradient's line stands in a cell of its own, and is another."""
    source = edited((f"{name} = {'dhprebn' if name == 'db1' else 'dlogits'}.sum(0)", "pass"))
    return [*answer_cells(source), AnswerCell("ex1-own", lines)]


def test_a_check_that_raises_beside_a_right_value_costs_nothing(judge_text: Judge) -> None:
    together = (
        "def step():\n    global db2\n    db2 = dlogits.sum(0)\n    print(db2 - b2.grad)\nstep()"
    )
    verdicts = judge_text(edited(("db2 = dlogits.sum(0)", together)))
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}


@pytest.mark.parametrize("line", ["W2.requires_grad_(False)", "torch.set_grad_enabled(False)"])
def test_switching_autograd_off_is_harmless(line: str, runner: Runner) -> None:
    source = edited((DW2, f"{line}\n{DW2}"))
    report = grade(NOTEBOOKS["01_atomic_backprop"], answer_cells(source), runner)
    assert (report.score, report.flags) == (26, ())


@pytest.mark.parametrize(
    "nested",
    [
        "dW2 = h.T @ dlogits" + " + 0" * 600,
        "dW2 = (h.T @ dlogits)" + ".clone()" * 200,
        f"if n == 0:\n    {DW2}\n" + f"elif n == 1:\n    {DW2}\n" * 600 + f"else:\n    {DW2}",
    ],
    ids=["terms", "methods", "branches"],
)
def test_code_nested_too_deeply_costs_only_its_cell(nested: str, judge_text: Judge) -> None:
    verdicts = judge_text(edited((DW2, nested)))
    for name in ("dh", "dW2", "db2"):
        assert verdicts[name].outcome is Outcome.ERROR, name
        assert wording.note(verdicts[name]) == TOO_DEEP
    assert blamed(verdicts) == ["dh", "dW2", "db2"]


@pytest.mark.parametrize(
    ("lines", "spelling"),
    [
        ("dW2 = W2.grad", "`.grad`"),
        ("loss.backward()\ndW2 = W2.grad", "`.grad`"),
        (
            "from torch.autograd import grad as g\ndW2 = g(loss, W2)[0]",
            "`from torch.autograd import grad`",
        ),
        ('parts = {"W2": getattr(W2, "grad")}\ndW2 = parts["W2"]', '`getattr(..., "grad")`'),
    ],
)
def test_autograd_is_refused_with_its_line(lines: str, spelling: str, judge_text: Judge) -> None:
    verdicts = judge_text(edited((DW2, lines)))
    verdict = verdicts.pop("dW2")
    assert verdict.outcome is Outcome.REFUSED
    assert wording.note(verdict).startswith(spelling)
    assert verdict.points == 0
    assert {other.outcome for other in verdicts.values()} == {Outcome.PASS}


def test_a_syntax_error_costs_only_what_its_cell_would_assign(judge_text: Judge) -> None:
    verdicts = judge_text(edited(("dh = dlogits @ W2.T", "dh = (dlogits @ W2.T")))
    for name in ("dh", "dW2", "db2"):
        assert verdicts[name].outcome is Outcome.ERROR
        assert wording.note(verdicts[name]).startswith(
            "Python cannot read this cell: '(' was never closed"
        )
    assert verdicts["dhpreact"].outcome is Outcome.CARRIED
    assert verdicts["dlogits"].outcome is Outcome.PASS


def test_what_is_assigned_through_a_dictionary_of_names_is_checked_by_itself(
    judge_text: Judge,
) -> None:
    dynamic = ("dh = dlogits @ W2.T", 'globals()["dh"] = dlogits @ W2.T')
    verdicts = judge_text(edited(dynamic))
    assert {v.outcome for v in verdicts.values()} == {Outcome.PASS}
    assert {v.local_check for v in verdicts.values()} == {Check.RIGHT}
    wrong = judge_text(edited(dynamic, ("db2 = dlogits.sum(0)", "db2 = dlogits.mean(0)")))
    assert blamed(wrong) == ["db2"]


def test_no_cells_at_all_is_all_to_do(runner: Runner) -> None:
    report = grade(NOTEBOOKS["01_atomic_backprop"], [], runner)
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.TODO}
    assert (report.score, report.max_score) == (0, 26)


def test_the_same_answer_gets_the_same_verdicts_with_any_seed(runner: Runner) -> None:
    for seed in (1, 2, 3):
        verdicts, _ = grade_exercise(ATOMIC, answer_cells(LECTURE), runner, seed)
        assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}


def test_a_diagnosis_that_fails_costs_only_itself(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> tuple[()]:
        raise ArithmeticError("seven")

    monkeypatch.setattr("grader.grading.grade.find_reason", broken)
    source = edited(("dh = dlogits @ W2.T", "dh = -dlogits @ W2.T"))
    verdicts, flags = grade_exercise(ATOMIC, answer_cells(source), runner)
    assert blamed({verdict.name: verdict for verdict in verdicts}) == ["dh"]
    assert [flag.kind for flag in flags] == ["diagnosis-failed"]
    assert flags[0].message.startswith("Why dh is wrong could not be found out (Arithmetic")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't allocate memory: 9 bytes")])
def test_a_diagnosis_without_memory_is_called_no_mistake(
    error: Exception, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> tuple[()]:
        raise error

    monkeypatch.setattr("grader.grading.grade.find_reason", broken)
    _, flags = grade_exercise(ATOMIC, [AnswerCell("ex1-a", "dh = 1")], runner)
    assert {flag.message.partition(" is wrong ")[2] for flag in flags} == {
        "takes more memory to find out than its judge may use."
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    [
        "torch.zeros(2**20)",
        "torch.zeros(1).expand(2**20)",
        "torch.zeros(2**19, dtype=torch.complex128)",
        "torch.zeros(2**23)",
        "torch.zeros(1).expand(2**40)",
        "torch.nn.Parameter(torch.zeros(2**20), False)",
    ],
)
def test_large_values_cost_themselves_alone(value: str, judge_text: Judge) -> None:
    huge = ATOMIC.gradients[-10:]
    lines = [f"{name} = {value}" for name in huge]
    verdicts = judge_text(LECTURE + "\n" + "\n".join(lines))
    assert blamed(verdicts) == list(huge)
    assert all(
        wording.note(verdicts[name]) for name in huge if verdicts[name].outcome is Outcome.ERROR
    )
    others = {v.outcome for name, v in verdicts.items() if name not in huge}
    assert others == {Outcome.PASS}


def test_of_too_large_an_answer_every_gradient_is_an_error(runner: Runner) -> None:
    cells = answer_cells(LECTURE)
    cells.append(AnswerCell("ex1-more", "#" * LONGEST_ANSWER))
    for verdict in grade(NOTEBOOKS["01_atomic_backprop"], cells, runner).verdicts:
        assert (verdict.outcome, wording.note(verdict)) == (Outcome.ERROR, TOO_LARGE)


@pytest.mark.parametrize("number", [f"1{'0' * 400}", f"0x{'f' * 3000}", "1e999"])
def test_a_number_beyond_all_others_ends_no_diagnosis(number: str, runner: Runner) -> None:
    source = edited(("dh = dlogits @ W2.T", f"dh = dlogits @ W2 * {number}"))
    _, flags = grade_exercise(ATOMIC, answer_cells(source), runner)
    assert flags == []


def test_a_number_that_cannot_be_written_down_ends_no_diagnosis(runner: Runner) -> None:
    product = f"dh = (W2 @ dlogits).sum(0x{'f' * 5000})"
    cells = [AnswerCell("ex1-all", edited(("dh = dlogits @ W2.T", product)))]
    verdicts, flags = grade_exercise(ATOMIC, cells, runner)
    assert blamed({verdict.name: verdict for verdict in verdicts}) == ["dh"]
    assert flags == []


def test_no_flag_is_hidden_behind_a_thousand_others(runner: Runner) -> None:
    cells = [AnswerCell("ex1-all", "import os\n" * 500 + f"{'x' * 5000}_backward = eval('1')")]
    cells.append(
        AnswerCell("ex1-more", "".join(f"t.{'x' * 2000}{n}_backward\n" for n in range(30)))
    )
    flags = grade(NOTEBOOKS["01_atomic_backprop"], cells, runner, wary=True).flags
    kinds = Counter(flag.kind for flag in flags)
    assert kinds["module"] == MOST_OF_A_KIND + 1
    assert kinds["dunder"] == 1
    assert max(len(flag.message) for flag in flags) <= LONGEST_SENTENCE


# --- only what is proved is said


def said_of(gradient: str, source: str, judge: Judge) -> list[str]:
    """All that is said of a gradient, hints left out."""
    verdict = judge(source)[gradient]
    return [*filter(None, [wording.note(verdict)]), *(one.message for one in verdict.diagnosis)]


NO_NAME = "This line raised NameError: name '{}' is not defined. "


@pytest.mark.parametrize(
    ("line", "instead", "said"),
    [
        (
            "dhpreact = (1.0 - h**2) * dh",
            "dhpreact = (1.0 - h**2 * dh",
            "Python cannot read this cell: '(' was never closed.",
        ),
        (
            "dhpreact = (1.0 - h**2) * dh",
            "dhpreact = (1 - tanh(hpreact)**2) * dh",
            f"{NO_NAME.format('tanh')}Did you mean `torch.tanh`?",
        ),
        (
            "dprobs = (1.0 / probs) * dlogprobs",
            "dprobs = (1.0 / probs) * dlogprob",
            f"{NO_NAME.format('dlogprob')}Did you mean `dlogprobs`?",
        ),
        (
            "dprobs = (1.0 / probs) * dlogprobs",
            "dprobs = inv(probs) * dlogprobs",
            f"{NO_NAME.format('inv')}Only the exercise's own cells are run, so define it, or"
            " import it, in one of them.",
        ),
        (
            "db2 = dlogits.sum(0)",
            "db2 = dlogits.sum(0).numpy()",
            "db2 is an ndarray, but a gradient is a tensor. `torch.from_numpy` makes one of it.",
        ),
        (
            "db2 = dlogits.sum(0)",
            "db2 = Torch.sum(dlogits, 0)",
            f"{NO_NAME.format('Torch')}Did you mean `torch`?",
        ),
        (
            "db2 = dlogits.sum(0)",
            "db2 = dlogits.sum(0),",
            "db2 is a tuple, but a gradient is a tensor. Is there a comma, at the line's end or in"
            " a `return`?",
        ),
        (
            "db1 = dhprebn.sum(0)",
            "db1 = torch.zeros(64)",
            "64 is written in. Use `n_hidden` or `.shape`.",
        ),
    ],
)
def test_of_what_says_itself_nothing_else_is_said(
    line: str, instead: str, said: str, judge_text: Judge
) -> None:
    gradient = line.partition(" ")[0]
    assert said_of(gradient, edited((line, instead)), judge_text) == [said]


@pytest.mark.parametrize(
    ("line", "slip", "gradient"),
    [
        ("dlogprobs[range(n), Yb] = -1.0 / n", "dlogprob[range(n), Yb] = -1.0 / n", "dlogprobs"),
        (
            "dhprebn += 1.0 / n * (torch.ones_like(hprebn) * dbnmeani)",
            "dhprbn = dhprbn + dbnmeani / n",
            "dhprebn",
        ),
        ("        dC[ix] += demb[k, j]", "        dc.index_add_(0, ix, demb[k, j])", "dC"),
    ],
)
def test_a_slip_in_what_a_line_changes_is_its_gradients(
    line: str, slip: str, gradient: str, judge_text: Judge
) -> None:
    verdicts = judge_text(edited((line, slip)))
    wrong = re.split(r"\W", slip.strip())[0]
    assert verdicts[gradient].outcome is Outcome.ERROR
    assert wording.note(verdicts[gradient]) == f"{NO_NAME.format(wrong)}Did you mean `{gradient}`?"
    assert blamed(verdicts) == [gradient]


def test_a_slip_that_leaves_out_zeros_is_told_beside_the_right_value(judge_text: Judge) -> None:
    line, slip = DROP_MAX[0], "dlogit[range(n), logits.argmax(1)] += dlogit_maxes.squeeze(1)"
    verdict = judge_text(edited((line, slip)))["dlogits"]
    assert verdict.outcome is Outcome.PASS
    assert wording.note(verdict).startswith(
        "Line 5 of ex1-max changes a name that nothing defines before it"
    )
    assert "Did you mean `dlogits`?" in wording.note(verdict)


@pytest.mark.parametrize(
    "scratch",
    [
        "dnorm_logits_ += dnorm_logits",
        "dnorm_logit[0] = dnorm_logits",
        "dnorm_logits2 = dnorm_logits2 + 1",
        "dnorm_logits2.copy_(dnorm_logits)",
        "other[0] += 1",
    ],
)
@pytest.mark.parametrize("arrives", [Outcome.PASS, Outcome.CARRIED])
def test_beside_a_right_line_no_name_is_a_slip(
    scratch: str, arrives: Outcome, judge_text: Judge
) -> None:
    """Another cell of the notebook may have bound it."""
    before, wrong = "dnorm_logits = counts * dcounts", "dcounts = torch.ones_like(counts)\n"
    above = wrong if arrives is Outcome.CARRIED else ""
    verdicts = judge_text(edited((before, f"{above}{before}\n{scratch}")))
    assert verdicts["dnorm_logits"].outcome is arrives


@pytest.mark.parametrize(
    ("line", "instead", "right"),
    [
        ("dbnbias = dhpreact.sum(0, keepdim=True)", "dbnbias = dbngain", "dbngain"),
        (
            "dbnbias = dhpreact.sum(0, keepdim=True)",
            "dbnbias = dhpreact.sum(0, keepdim=True) + dbngain",
            "dbngain",
        ),
        ("db1 = dhprebn.sum(0)", "db1 = db2", "db2"),
    ],
)
def test_no_line_of_a_gradient_that_passes_is_blamed(
    line: str, instead: str, right: str, judge_text: Judge
) -> None:
    verdicts = judge_text(edited((line, instead)))
    verdict = verdicts[line.partition(" ")[0]]
    assert verdicts[right].outcome is Outcome.PASS
    assert verdict.outcome is Outcome.FAIL
    assert verdict.code == instead


@pytest.mark.parametrize(
    ("line", "instead", "name"),
    [
        ("dprobs = (1.0 / probs) * dlogprobs", "dprob = (1.0 / probs) * dlogprobs", "dprobs"),
        ("dC = torch.zeros_like(C)", "dc = torch.zeros_like(C)", "dC"),
        ("db2 = dlogits.sum(0)", "grad_b2 = dlogits.sum(0)", "db2"),
        ("db2 = dlogits.sum(0)", "dL_db2 = dlogits.sum(0)", "db2"),
        ("db2 = dlogits.sum(0)", "counts2 = dlogits.sum(0)", ""),
        ("db2 = dlogits.sum(0)", "probs = dlogits.sum(0)", ""),
    ],
)
def test_a_name_much_like_one_that_is_to_do_is_asked_for(
    line: str, instead: str, name: str, judge_text: Judge
) -> None:
    source = edited((line, instead), ("        dC[ix] += demb[k, j]", "        pass"))
    gradient, written = line.partition(" ")[0], instead.partition(" ")[0]
    verdict = judge_text(source)[gradient]
    assert verdict.outcome is Outcome.TODO
    assert wording.note(verdict).endswith(
        f"assigns `{written}`. Did you mean `{name}`?" if name else ""
    )
    assert bool(wording.note(verdict)) == bool(name)


@pytest.mark.parametrize(
    ("mark", "outcome"),
    [
        ("winners[logits.argmax(1)] = 1", Outcome.FAIL),
        ("winners[range(32), logits.argmax(1)] = 5", Outcome.ERROR),
        ("winners[range(n), logits.argmax(1)] = 1", Outcome.PASS),
    ],
)
def test_a_mask_that_raises_on_other_sizes_is_not_hidden_by_a_zero(
    mark: str, outcome: Outcome, judge_text: Judge
) -> None:
    mask = f"winners = torch.zeros_like(logits)\n{mark}\n"
    line = f"{mask}dlogits = dnorm_logits + winners * dlogit_maxes"
    verdicts = judge_text(edited((DROP_MAX[0], line)))
    assert verdicts.pop("dlogits").outcome is outcome
    assert blamed(verdicts) == []


def test_a_name_whose_line_raised_is_not_taken_for_another(judge_text: Judge) -> None:
    line = "db2 = dlogits.sum(0)"
    verdicts = judge_text(edited((line, f"w = 1 / 0\n{line}\ndb2 = db2 * w")))
    said = f"{NO_NAME.format('w')}No line that assigns it has run before."
    assert wording.note(verdicts["db2"]) == said


def test_a_function_that_returns_nothing_is_told_of(judge_text: Judge) -> None:
    line = "db2 = dlogits.sum(0)"
    nothing = judge_text(edited((line, "def f(d):\n    d.sum(0)\ndb2 = f(dlogits)")))["db2"]
    blank = judge_text(edited((line, "db2 = None")))["db2"]
    assert (nothing.outcome, blank.outcome) == (Outcome.TODO, Outcome.TODO)
    assert (
        wording.note(nothing)
        == "db2 is None, because the function that is called for it returns nothing."
    )
    assert wording.note(blank) == ""


def test_a_line_that_is_timed_is_the_answer(judge_text: Judge) -> None:
    line = "dprobs = (1.0 / probs) * dlogprobs"
    verdicts = judge_text(edited((line, f"%time {line}")))
    assert verdicts["dprobs"].outcome is Outcome.PASS
    wrong = judge_text(edited((line, f"%time {line.replace('1.0', '2.0')}")))["dprobs"]
    assert wrong.code == f"%time {line.replace('1.0', '2.0')}"
    assert wrong.piece is not None


@pytest.mark.parametrize(
    ("line", "instead", "gradient"),
    [
        (
            "dprobs = (1.0 / probs) * dlogprobs",
            "dlogprobs /= probs\ndprobs = dlogprobs",
            "dlogprobs",
        ),
        (
            "dnorm_logits = counts * dcounts",
            "dcounts *= counts\ndnorm_logits = dcounts.clone()",
            "dcounts",
        ),
    ],
)
def test_what_spoils_a_gradient_that_was_right_is_named(
    line: str, instead: str, gradient: str, judge_text: Judge
) -> None:
    verdict = judge_text(edited((line, instead)))[gradient]
    assert verdict.outcome is Outcome.FAIL
    (said,) = verdict.diagnosis
    assert (said.kind, said.message) == (
        Kind.ALIASED,
        f"`{gradient}` is right when it is assigned; this line changes it.",
    )
    assert verdict.code == instead.splitlines()[0]
