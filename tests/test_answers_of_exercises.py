"""Every exercise after the first: right answers pass, the blank is to do, mistakes are blamed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from corpus.readers.exercise_text import read_cells
from corpus.readers.lecture_course import COURSE, EXERCISES, NOTEBOOKS
from corpus.readers.places import ANSWERS
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade
from grader.program.exercises import Exercise
from grader.submission.read import read_submission
from grader.verdict import Outcome, Verdict
from tests.helpers.verdicts import verdicts_of

BY_PREFIX: Mapping[str, Exercise] = {exercise.prefix: exercise for exercise in EXERCISES}
PREFIXES = ("ex2", "ex2s", "ex3")
BLAMED = {Outcome.FAIL, Outcome.ERROR}

Judge = Callable[[str, str], dict[str, Verdict]]


def right_answers(prefix: str) -> dict[str, str]:
    """Every right answer of an exercise by its style."""
    files = sorted((ANSWERS / prefix / "right").glob("*.py"))
    return {path.stem: path.read_text(encoding="utf-8") for path in files}


@pytest.fixture(scope="session")
def judge(warm_runner: Runner) -> Judge:
    """A text of answer cells to the verdicts of the exercise with a prefix, by gradient."""
    return lambda prefix, source: verdicts_of(BY_PREFIX[prefix], source, warm_runner)


@pytest.mark.parametrize(
    ("prefix", "style"), [(prefix, style) for prefix in PREFIXES for style in right_answers(prefix)]
)
def test_a_right_answer_passes(prefix: str, style: str, judge: Judge) -> None:
    verdicts = judge(prefix, right_answers(prefix)[style])
    assert tuple(verdicts) == BY_PREFIX[prefix].gradients
    assert {name: v for name, v in verdicts.items() if v.outcome is not Outcome.PASS} == {}
    assert all(verdict.comparison.approximate for verdict in verdicts.values())


@pytest.mark.parametrize("prefix", PREFIXES)
def test_there_are_styles_enough_each_with_a_sentence(prefix: str) -> None:
    openings = [source.splitlines()[0] for source in right_answers(prefix).values()]
    assert len(openings) >= 6
    assert len(set(openings)) == len(openings)
    assert all(line.startswith("# ") and line.endswith(".") for line in openings)
    for source in right_answers(prefix).values():
        assert all(grade_id.startswith(f"{prefix}-") for grade_id, _ in read_cells(source))


@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_blank_is_to_do(prefix: str, judge: Judge) -> None:
    exercise = BY_PREFIX[prefix]
    blanks = "\n".join(f"{name} = ...  # your turn" for name in exercise.gradients)
    verdicts = judge(prefix, f"# answer: {prefix}-blank\n{blanks}\n")
    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.TODO}


def test_two_exercises_of_a_notebook_are_graded_in_one_report(warm_runner: Runner) -> None:
    smoothed = read_cells(right_answers("ex2s")["one_expression"])
    cells = [AnswerCell(grade_id, text) for grade_id, text in smoothed]
    report = grade(NOTEBOOKS["02_fused_cross_entropy"], cells, warm_runner)
    outcomes = {verdict.name: verdict.outcome for verdict in report.verdicts}
    assert outcomes == {"dlogits": Outcome.TODO, "dz": Outcome.PASS}


@pytest.mark.parametrize("notebook", ["02_fused_cross_entropy", "03_fused_batchnorm"])
def test_the_notebooks_files_are_graded(notebook: str, project: Path, warm_runner: Runner) -> None:
    """The whole way from a file: a cell whose id is not understood would be left out silently."""
    for folder, outcome in (("notebooks", Outcome.TODO), ("notebooks/solutions", Outcome.PASS)):
        submission = read_submission(project / folder / f"{notebook}.ipynb", COURSE)
        report = grade(NOTEBOOKS[submission.notebook], submission.cells, warm_runner)
        assert report.notebook == notebook
        assert {verdict.outcome for verdict in report.verdicts} == {outcome}
        assert (*submission.flags, *report.flags) == ()


@dataclass(frozen=True, slots=True)
class Mistake:
    """A common mistake: the wrong expression for one gradient of an exercise."""

    name: str
    prefix: str
    gradient: str
    wrong: str


RIGHT: Mapping[str, Mapping[str, str]] = {
    "ex2": {"dlogits": "(F.softmax(logits, 1) - F.one_hot(Yb, num_classes=vocab_size)) / n"},
    "ex2s": {
        "dz": "(F.softmax(z, 1) - (1 - smoothing) * F.one_hot(Yb, num_classes=vocab_size)"
        " - smoothing / vocab_size) / n"
    },
    "ex3": {
        "dbngain": "(dhpreact * xhat).sum(0, keepdim=True)",
        "dbnbias": "dhpreact.sum(0, keepdim=True)",
        "dxhat": "bngain * dhpreact",
        "dvar": "-0.5 * (var + 1e-5) ** -1.5 * (dxhat * (hprebn - mu)).sum(0, keepdim=True)",
        "dmu": "-((var + 1e-5) ** -0.5) * dxhat.sum(0, keepdim=True)",
        "dhprebn": "bngain * (var + 1e-5) ** -0.5 / n * (n * dhpreact"
        " - dhpreact.sum(0, keepdim=True)"
        " - n / (n - 1) * xhat * (dhpreact * xhat).sum(0, keepdim=True))",
    },
}
THREE_PATHS = "dxhat * (var + 1e-5) ** -0.5 + dmu / n + dvar * 2 / (n - 1) * (hprebn - mu)"
"""The last gradient from the small answers before it, as many will write it first."""

SOFTMAX = "F.softmax(logits, 1)"
ONE_HOT = "F.one_hot(Yb, num_classes=vocab_size)"

MISTAKES = (
    # Notebook 2: number 30 of the collection in its forms, then what else goes wrong there.
    Mistake("no-minus-one", "ex2", "dlogits", f"{SOFTMAX} / n"),
    Mistake("wrong-axis", "ex2", "dlogits", f"(F.softmax(logits, 0) - {ONE_HOT}) / n"),
    Mistake("no-mean", "ex2", "dlogits", f"{SOFTMAX} - {ONE_HOT}"),
    Mistake("mean-over-characters", "ex2", "dlogits", f"({SOFTMAX} - {ONE_HOT}) / vocab_size"),
    Mistake("mean-over-all", "ex2", "dlogits", f"({SOFTMAX} - {ONE_HOT}) / logits.numel()"),
    Mistake("sign", "ex2", "dlogits", f"({ONE_HOT} - {SOFTMAX}) / n"),
    Mistake("mean-of-the-softmax-only", "ex2", "dlogits", f"{SOFTMAX} / n - {ONE_HOT}"),
    Mistake("logits-for-probabilities", "ex2", "dlogits", f"(logits - {ONE_HOT}) / n"),
    Mistake("log-softmax", "ex2", "dlogits", f"(F.log_softmax(logits, 1) - {ONE_HOT}) / n"),
    Mistake("counts-for-probabilities", "ex2", "dlogits", f"(logits.exp() - {ONE_HOT}) / n"),
    Mistake("labels-only", "ex2", "dlogits", f"({SOFTMAX} - 1) * {ONE_HOT} / n"),
    Mistake("minus-one-everywhere", "ex2", "dlogits", f"({SOFTMAX} - 1) / n"),
    Mistake("hard-coded-batch", "ex2", "dlogits", f"({SOFTMAX} - {ONE_HOT}) / 32"),
    Mistake("transposed", "ex2", "dlogits", f"(({SOFTMAX} - {ONE_HOT}) / n).T"),
    Mistake("row", "ex2", "dlogits", f"(({SOFTMAX} - {ONE_HOT}) / n)[0]"),
    Mistake(
        "not-smoothed",
        "ex2s",
        "dz",
        "(F.softmax(z, 1) - F.one_hot(Yb, num_classes=vocab_size)) / n",
    ),
    Mistake(
        "even-part-forgotten",
        "ex2s",
        "dz",
        "(F.softmax(z, 1) - (1 - smoothing) * F.one_hot(Yb, num_classes=vocab_size)) / n",
    ),
    Mistake(
        "label-keeps-all",
        "ex2s",
        "dz",
        "(F.softmax(z, 1) - F.one_hot(Yb, num_classes=vocab_size) - smoothing / vocab_size) / n",
    ),
    Mistake(
        "share-not-divided",
        "ex2s",
        "dz",
        "(F.softmax(z, 1) - (1 - smoothing) * F.one_hot(Yb, num_classes=vocab_size)"
        " - smoothing) / n",
    ),
    Mistake(
        "dealt-to-the-others-only",
        "ex2s",
        "dz",
        "(F.softmax(z, 1) - (1 - smoothing) * F.one_hot(Yb, num_classes=vocab_size)"
        " - smoothing / (vocab_size - 1) * (1 - F.one_hot(Yb, num_classes=vocab_size))) / n",
    ),
    Mistake(
        "share-written-out",
        "ex2s",
        "dz",
        "(F.softmax(z, 1) - 0.9 * F.one_hot(Yb, num_classes=vocab_size) - 0.1 / vocab_size) / n",
    ),
    Mistake("no-mean", "ex2s", "dz", f"n * {RIGHT['ex2s']['dz']}"),
    Mistake("other-logits", "ex2s", "dz", RIGHT["ex2s"]["dz"].replace("z, 1", "z, 0")),
    # Notebook 3: numbers 14 to 18, the slips of notebook 1 once more, and the statistics.
    Mistake("no-bessel", "ex3", "dhprebn", RIGHT["ex3"]["dhprebn"].replace("n / (n - 1) * ", "")),
    Mistake(
        "bessel-upside-down",
        "ex3",
        "dhprebn",
        RIGHT["ex3"]["dhprebn"].replace("n / (n - 1)", "(n - 1) / n"),
    ),
    Mistake(
        "no-xhat-term",
        "ex3",
        "dhprebn",
        "bngain * (var + 1e-5) ** -0.5 / n * (n * dhpreact - dhpreact.sum(0, keepdim=True))",
    ),
    Mistake("no-gain", "ex3", "dhprebn", RIGHT["ex3"]["dhprebn"].removeprefix("bngain * ")),
    Mistake(
        "no-mean-term",
        "ex3",
        "dhprebn",
        RIGHT["ex3"]["dhprebn"].replace(" - dhpreact.sum(0, keepdim=True)", ""),
    ),
    Mistake("mean-not-divided", "ex3", "dhprebn", THREE_PATHS.replace("dmu / n", "dmu")),
    Mistake("first-path-only", "ex3", "dhprebn", "dxhat * (var + 1e-5) ** -0.5"),
    Mistake("no-variance-path", "ex3", "dhprebn", "dxhat * (var + 1e-5) ** -0.5 + dmu / n"),
    Mistake("n-for-n-minus-1", "ex3", "dhprebn", THREE_PATHS.replace("(n - 1)", "n")),
    Mistake("no-2-of-the-square", "ex3", "dhprebn", THREE_PATHS.replace("dvar * 2", "dvar")),
    Mistake(
        "biased-variance",
        "ex3",
        "dhprebn",
        RIGHT["ex3"]["dhprebn"].replace("var + 1e-5", "hprebn.var(0, unbiased=False) + 1e-5"),
    ),
    Mistake("wrong-axis", "ex3", "dhprebn", RIGHT["ex3"]["dhprebn"].replace(".sum(0,", ".sum(1,")),
    Mistake(
        "mean-for-sum",
        "ex3",
        "dhprebn",
        RIGHT["ex3"]["dhprebn"].replace("dhpreact.sum(", "dhpreact.mean("),
    ),
    Mistake("no-eps", "ex3", "dhprebn", RIGHT["ex3"]["dhprebn"].replace(" + 1e-5", "")),
    Mistake("forward-value", "ex3", "dhprebn", RIGHT["ex3"]["dhprebn"].replace("dhpre", "hpre")),
    Mistake("no-sum", "ex3", "dbngain", "dhpreact * xhat"),
    Mistake("keepdim-lost", "ex3", "dbngain", "(dhpreact * xhat).sum(0)"),
    Mistake("not-normalised", "ex3", "dbngain", "(dhpreact * hprebn).sum(0, keepdim=True)"),
    Mistake("mean-for-sum", "ex3", "dbngain", "(dhpreact * xhat).mean(0, keepdim=True)"),
    Mistake("summed-first", "ex3", "dbngain", "dhpreact.sum(0, keepdim=True) * xhat.sum(0)"),
    Mistake("keepdim-lost", "ex3", "dbnbias", "dhpreact.sum(0)"),
    Mistake("mean-for-sum", "ex3", "dbnbias", "dhpreact.mean(0, keepdim=True)"),
    Mistake("wrong-axis", "ex3", "dbnbias", "dhpreact.sum(1, keepdim=True)"),
    Mistake("no-gain", "ex3", "dxhat", "dhpreact * 1"),
    Mistake("divided-by-the-gain", "ex3", "dxhat", "dhpreact / bngain"),
    Mistake("sign", "ex3", "dvar", RIGHT["ex3"]["dvar"].removeprefix("-")),
    Mistake("exponent", "ex3", "dvar", RIGHT["ex3"]["dvar"].replace("-1.5", "-0.5")),
    Mistake("no-half", "ex3", "dvar", RIGHT["ex3"]["dvar"].replace("-0.5 *", "-1 *")),
    Mistake("no-eps", "ex3", "dvar", RIGHT["ex3"]["dvar"].replace(" + 1e-5", "")),
    Mistake(
        "xhat-for-deviation", "ex3", "dvar", RIGHT["ex3"]["dvar"].replace("(hprebn - mu)", "xhat")
    ),
    Mistake("not-centred", "ex3", "dvar", RIGHT["ex3"]["dvar"].replace("(hprebn - mu)", "hprebn")),
    Mistake("upstream-skipped", "ex3", "dvar", RIGHT["ex3"]["dvar"].replace("dxhat", "dhpreact")),
    Mistake("sign", "ex3", "dmu", "(var + 1e-5) ** -0.5 * dxhat.sum(0, keepdim=True)"),
    Mistake("no-scale", "ex3", "dmu", "-dxhat.sum(0, keepdim=True)"),
    Mistake("mean-for-sum", "ex3", "dmu", RIGHT["ex3"]["dmu"].replace("sum(", "mean(")),
    Mistake("keepdim-lost", "ex3", "dmu", "(-dxhat * (var + 1e-5) ** -0.5).sum(0)"),
    Mistake(
        "vanishing-path-does-not-vanish",
        "ex3",
        "dmu",
        RIGHT["ex3"]["dmu"] + " - dvar * 2 / (n - 1) * hprebn.sum(0, keepdim=True)",
    ),
)


def answer_with(mistake: Mistake, **others: str) -> str:
    """The notebook's answer with one gradient's expression replaced."""
    expressions = {**RIGHT[mistake.prefix], **others, mistake.gradient: mistake.wrong}
    lines = [f"{name} = {expression}" for name, expression in expressions.items()]
    return "\n".join([f"# answer: {mistake.prefix}-all", *lines, ""])


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m.gradient}-{m.name}")
def test_a_mistake_is_blamed_on_its_gradient_alone(mistake: Mistake, judge: Judge) -> None:
    assert mistake.wrong != RIGHT[mistake.prefix][mistake.gradient]
    verdicts = judge(mistake.prefix, answer_with(mistake))
    blamed = [name for name, verdict in verdicts.items() if verdict.outcome in BLAMED]
    assert blamed == [mistake.gradient]
    others = {v.outcome for name, v in verdicts.items() if name != mistake.gradient}
    assert others <= {Outcome.PASS, Outcome.CARRIED}


@pytest.mark.parametrize(
    "mistake",
    [mistake for mistake in MISTAKES if mistake.gradient in {"dxhat", "dvar", "dmu"}],
    ids=lambda m: f"{m.gradient}-{m.name}",
)
def test_what_is_built_on_a_mistake_is_carried(mistake: Mistake, judge: Judge) -> None:
    """Built from the small answers, the last gradient inherits their mistakes, without blame."""
    verdicts = judge("ex3", answer_with(mistake, dhprebn=THREE_PATHS))
    blamed = [name for name, verdict in verdicts.items() if verdict.outcome in BLAMED]
    assert blamed == [mistake.gradient]
    # A lost axis of length 1 comes back by broadcasting.
    inherited = Outcome.PASS if mistake.name == "keepdim-lost" else Outcome.CARRIED
    assert verdicts["dhprebn"].outcome is inherited


def test_the_expressions_without_a_mistake_pass(judge: Judge) -> None:
    for prefix, expressions in RIGHT.items():
        gradient, expression = next(iter(expressions.items()))
        verdicts = judge(prefix, answer_with(Mistake("none", prefix, gradient, expression)))
        assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.PASS}
