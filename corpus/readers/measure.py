"""What the grader says of the corpus: who is blamed, and what the first diagnosis names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus.readers.exercise_text import read_cells
from corpus.readers.lecture_course import EXERCISES
from corpus.readers.one_fault import LabelledFault
from grader.answer.parse import AnswerCell
from grader.diagnosis.kinds import Kind
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.program.exercises import Exercise
from grader.verdict import Outcome
from grader.worker.terms import Limits

BY_PREFIX = {exercise.prefix: exercise for exercise in EXERCISES}
LIMITS = Limits(statement_seconds=5.0, total_seconds=40.0)
BLAMED = {Outcome.FAIL, Outcome.ERROR}


@dataclass(frozen=True, slots=True)
class Judged:
    """One gradient's verdict: its outcome, the kinds of its diagnoses, the first one's message.

    `misshapen` says that there is a value, of another shape than the tensor's.
    """

    name: str
    outcome: Outcome
    misshapen: bool = False
    said: tuple[str, ...] = ()
    message: str = ""


class Result(StrEnum):
    """How the first diagnosis of a fault's gradient fares."""

    RIGHT = "right"
    SILENT = "silent"
    VAGUE = "vague"
    """The result has a wrong shape, as was said; but that is not what the mistake is called."""
    WRONG = "wrong"
    NOT_ASKED = "not asked"
    """No name is wanted, of a nameless fault or an answer that raised, and none was given."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One fault, and what the grader made of the answer it is in."""

    fault: LabelledFault
    verdicts: tuple[Judged, ...]

    @property
    def own(self) -> Judged:
        """The verdict on the gradient that carries the fault."""
        return next(v for v in self.verdicts if v.name == self.fault.gradient)

    @property
    def blamed(self) -> list[str]:
        return [v.name for v in self.verdicts if v.outcome in BLAMED]

    @property
    def blamed_alone(self) -> bool:
        """True if the faulty gradient is blamed, and all others earn their points."""
        others = {v.outcome for v in self.verdicts if v.name != self.fault.gradient}
        return self.own.outcome in BLAMED and others <= {Outcome.PASS, Outcome.CARRIED}

    @property
    def raised(self) -> bool:
        return self.own.outcome is Outcome.ERROR

    @property
    def said(self) -> str:
        """The kind of the first diagnosis, or an empty text."""
        return self.own.said[0] if self.own.said else ""

    @property
    def result(self) -> Result:
        """Right, silent or wrong; see `corpus.readers.labels` for what is true of a fault."""
        label = self.fault.label
        if self.said in label.kinds:
            return Result.RIGHT
        if self.said == Kind.WRONG_SHAPE and self.own.misshapen:
            return Result.VAGUE if self.counts else Result.NOT_ASKED
        if self.said:
            return Result.WRONG
        return Result.SILENT if self.counts else Result.NOT_ASKED

    @property
    def counts(self) -> bool:
        """True where a name is asked for: the share of right first diagnoses is that of these."""
        return self.fault.label.named


def judge_one(prefix: str, source: str, runner: Runner) -> tuple[Judged, ...]:
    """The verdicts on one answer to the course."""
    return judge_answer(BY_PREFIX[prefix], source, runner)


def judge_answer(exercise: Exercise, source: str, runner: Runner) -> tuple[Judged, ...]:
    """The verdicts on one answer to an exercise."""
    cells = [AnswerCell(grade_id, text) for grade_id, text in read_cells(source)]
    verdicts, flags = grade_exercise(exercise, cells, runner)
    broken = [flag.message for flag in flags if flag.kind == "diagnosis-failed"]
    if broken:
        raise RuntimeError(broken[0])
    return tuple(
        Judged(
            verdict.name,
            verdict.outcome,
            verdict.comparison.shape not in (None, verdict.comparison.expected_shape),
            tuple(str(diagnosis.kind) for diagnosis in verdict.diagnosis),
            verdict.diagnosis[0].message if verdict.diagnosis else "",
        )
        for verdict in verdicts
    )


# --- shares


@dataclass(frozen=True, slots=True)
class Shares:
    """The measured sentence: counts, and the three shares of it."""

    faults: int
    alone: int
    asked: int
    right: int
    said: int
    wrong: int

    @property
    def blamed_alone(self) -> float:
        """The share of faults whose gradient is the only one blamed."""
        return self.alone / self.faults

    @property
    def named(self) -> float:
        """The share of faults with a name whose first diagnosis names them."""
        return self.right / self.asked

    @property
    def misnamed(self) -> float:
        """The share of all faults with a wrong first diagnosis."""
        return self.wrong / self.faults


def shares(measured: Sequence[Measured]) -> Shares:
    """Count."""
    return Shares(
        faults=len(measured),
        alone=sum(m.blamed_alone for m in measured),
        asked=sum(m.counts for m in measured),
        right=sum(m.counts and m.result is Result.RIGHT for m in measured),
        said=sum(bool(m.said) for m in measured),
        wrong=sum(m.result is Result.WRONG for m in measured),
    )


# --- tables


def case_lines(measured: Sequence[Measured]) -> Iterator[str]:
    """Every fault that is not blamed alone, misnamed or unnamed: key, label, what was said."""
    for title, chosen in (
        ("not blamed alone", [m for m in measured if not m.blamed_alone]),
        ("wrong", [m for m in measured if m.result is Result.WRONG]),
        ("vague", [m for m in measured if m.result is Result.VAGUE]),
        ("silent", [m for m in measured if m.result is Result.SILENT]),
    ):
        yield f"== {title}: {len(chosen)}"
        for m in sorted(chosen, key=lambda m: (m.fault.name, m.fault.key)):
            kinds = " or ".join(sorted(m.fault.label.kinds)) or "nothing"
            yield f"{m.fault.key}"
            yield (
                f"    blamed {', '.join(m.blamed) or 'none'} ({m.own.outcome}); true: {kinds};"
                f" said: {', '.join(m.own.said) or 'nothing'} {m.own.message}".rstrip()
            )
