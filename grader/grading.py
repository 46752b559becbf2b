"""Grading: the answer cells of a notebook become a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from grader.answer import AnswerCell, parse_answer
from grader.collect import Collector
from grader.diagnose import Diagnostician
from grader.evidence import GradientEvidence
from grader.exercises import NOTEBOOKS, Exercise
from grader.hypotheses import HypothesisBook
from grader.imprecision import find_imprecision
from grader.instances import Instance, make_instance
from grader.judge import excusable, judge
from grader.program import parse_program
from grader.reasons import lecture_lengths, says_nothing_else
from grader.references import References, make_references
from grader.refusal import find_offences
from grader.run_plan import make_values
from grader.runner import Runner
from grader.suspicion import find_suspicions
from grader.verdict import Flag, Report, Verdict
from grader.worker.request import Values

SEED = 2147483647
"""Seed of the instances unless the caller has another: the lecture's own."""


@dataclass(frozen=True, slots=True, eq=False)
class Grounds:
    """What an exercise's answers are measured against, and the values they are run on."""

    references: References
    lecture: Instance
    values: Values
    lecture_gradients: dict[str, Tensor]
    diagnostician: Diagnostician


@cache
def prepare(exercise: Exercise, seed: int = SEED) -> Grounds:
    """Draw an exercise's instances and ask autograd for their gradients, once a process."""
    program = parse_program(exercise.forward)
    lecture = make_instance(program, exercise.sizes, seed, torch.float32)
    inputs = {name: lecture.values[name] for name in program.inputs}
    gradients, references = program.gradients(inputs), make_references(program, seed + 1)
    lengths = lecture_lengths(references.hidden[0], gradients)
    book = HypothesisBook(references, dict(exercise.sizes), exercise.fused)
    values = make_values(references, lecture, exercise.gradients)
    return Grounds(references, lecture, values, gradients, Diagnostician(book, lengths))


def grade(
    notebook: str,
    cells: Sequence[AnswerCell],
    runner: Runner,
    seed: int = SEED,
    wary: bool = False,
) -> Report:
    """Judge every gradient of one notebook.

    Args:
        notebook: a name in `NOTEBOOKS`.
        cells: its answer cells, in the order in which they stand.
        runner: a warm worker.
        seed: of the instances.
        wary: whether the answers are strangers'; then whatever no gradient needs is flagged.
    """
    verdicts: list[Verdict] = []
    flags: list[Flag] = []
    for exercise in NOTEBOOKS[notebook]:
        own = [cell for cell in cells if cell.grade_id.startswith(f"{exercise.prefix}-")]
        judged, noticed = grade_exercise(exercise, own, runner, seed, wary)
        verdicts += judged
        flags += noticed
    return Report(notebook, tuple(verdicts), tuple(flags))


def grade_exercise(
    exercise: Exercise,
    cells: Sequence[AnswerCell],
    runner: Runner,
    seed: int = SEED,
    wary: bool = False,
) -> tuple[list[Verdict], list[Flag]]:
    """Judge one exercise's gradients; the flags are what a human should see."""
    answer = parse_answer(cells)
    offences = find_offences(answer)
    grounds = prepare(exercise, seed)
    collector = Collector(answer, exercise.gradients, grounds.references, grounds.values, runner)
    evidence = collector.collect(offences)
    judged = judge(evidence, grounds.references, grounds.lecture_gradients)
    if doubtful := excusable(evidence, judged):
        evidence = collector.collect_beside(evidence, doubtful)
        judged = judge(evidence, grounds.references, grounds.lecture_gradients)
    flags = [offence.flag for offence in offences]
    if wary:
        flags += [*find_suspicions(answer), *collector.flags]
        flags += find_imprecision(evidence, grounds.references)
        flags = list(dict.fromkeys(flags))
    verdicts = []
    for item, verdict in zip(evidence, judged, strict=True):
        try:
            verdicts.append(explain(item, verdict, grounds.diagnostician))
        # Whatever a student's code makes of the search for a reason, the verdicts stand.
        except Exception as error:
            verdicts.append(verdict)
            flags.append(Flag("diagnosis-failed", _no_reason(verdict.name, error), verdict.place))
    return verdicts, flags


def _no_reason(name: str, error: Exception) -> str:
    return (
        f"Why {name} is wrong could not be found out ({type(error).__name__}: {error}). This is a"
        " mistake in the grader; please report it."
    )


def explain(item: GradientEvidence, verdict: Verdict, diagnostician: Diagnostician) -> Verdict:
    """The verdict with its diagnosis; what a diagnosis says better is said no longer."""
    diagnosis = diagnostician.diagnose(item, verdict)
    note = "" if diagnosis and verdict.note == says_nothing_else(item.name) else verdict.note
    return replace(verdict, diagnosis=diagnosis, note=note)
