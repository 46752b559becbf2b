"""Grading: turn the answer cells of a notebook into a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from grader.answer.parse import AnswerCell, cells_of, parse_answer
from grader.answer.quote import as_quoted, quote
from grader.answer.suspicion import AUTOGRAD, TABLE, find_suspicions
from grader.diagnosis.diagnose import Cause, find_reason
from grader.diagnosis.kinds import Kind
from grader.execution.ask import Allowance
from grader.execution.observe import observe
from grader.execution.runner import AnyRunner
from grader.grading.judge import judge
from grader.grading.slips import lost_by_slips
from grader.grading.wrong_value import wrong_value
from grader.program.exercises import Exercise
from grader.program.references import SEED, References, prepare
from grader.user_error import needs_memory
from grader.verdict import (
    EARNS_POINTS,
    GUESSES,
    HAPPENED,
    LONGEST_SENTENCE,
    TO_MEND,
    Flag,
    Outcome,
    Place,
    Reason,
    Report,
    Verdict,
    because,
)

MOST_OF_A_KIND = 20
"""The most flags of each kind that a notebook gets."""

SAYS_LESS = (("almost",), ("not-the-gradient",), ("only-on-this-size", "written-in"))
"""The reasons that a diagnosis replaces, if there are no others."""

EDIT_SECONDS = 40.0
"""The seconds for which the diagnosis of an answer may search."""

Judged = tuple[list[Verdict], list[Flag]]
"""The result of judging an exercise: its verdicts, and the flags for a human."""


def grade(
    exercises: Sequence[Exercise],
    cells: Sequence[AnswerCell],
    runner: AnyRunner,
    seed: int = SEED,
    wary: bool = False,
) -> Report:
    """Judge every gradient of one notebook.

    Args:
        exercises: all exercises of the notebook, in the order of the course.
        cells: its answer cells, in their order.
        runner: a warm worker.
        seed: the seed of the instances.
        wary: whether strangers wrote the answers. If so, code that a gradient never needs is
            flagged too.
    """
    how = runner, seed, wary, Allowance(runner.limits.total_seconds)
    judged = [grade_exercise(each, cells_of(each.prefix, cells), *how) for each in exercises]
    verdicts = (verdict for found, _ in judged for verdict in found)
    flags = _some_of_each_kind([flag for _, found in judged for flag in found])
    return Report(exercises[0].notebook, tuple(verdicts), tuple(flags))


def _some_of_each_kind(flags: Sequence[Flag]) -> Iterator[Flag]:
    """Keep only as many flags as a human reads, so that nobody can hide one behind a thousand."""
    found = Counter[str]()
    for flag in flags:
        found[flag.kind] += 1
        if found[flag.kind] <= MOST_OF_A_KIND:
            yield replace(flag, message=flag.message[:LONGEST_SENTENCE])
        elif found[flag.kind] == MOST_OF_A_KIND + 1:
            yield Flag(flag.kind, "There are more of this kind.", None)


def grade_exercise(
    exercise: Exercise,
    cells: Sequence[AnswerCell],
    runner: AnyRunner,
    seed: int = SEED,
    wary: bool = False,
    allowance: Allowance | None = None,
) -> Judged:
    """Judge one exercise's gradients; the flags are for a human to look at.

    `allowance` is the time in seconds that the notebook has left. By default it is the time that
    one answer may take.
    """
    references = prepare(exercise, seed)
    return grade_answer(exercise, cells, cells, references, runner, wary, allowance=allowance)


def grade_answer(
    exercise: Exercise,
    cells: Sequence[AnswerCell],
    shown: Sequence[AnswerCell],
    references: References,
    runner: AnyRunner,
    wary: bool = False,
    may_differentiate: bool = False,
    allowance: Allowance | None = None,
) -> Judged:
    """Judge an exercise's gradients by these references.

    Args:
        exercise: the gradients that are asked for, and the sizes of the lecture's instance.
        cells: the answer.
        shown: the same lines as their author wrote them, for quoting.
        references: the references on the instances on which the answer is run.
        runner: runs the answer.
        wary: whether a stranger wrote the answer. If so, code that a gradient never needs is
            flagged.
        may_differentiate: whether the answer may call autograd.
        allowance: as in `grade_exercise`.
    """
    allowance = allowance or Allowance(runner.limits.total_seconds)
    try:
        answer = parse_answer(cells).without_sizes(exercise.sizes)
        suspicions = [] if may_differentiate else find_suspicions(answer)
        offences = [(one.statement, one.flag) for one in suspicions if one.kind in AUTOGRAD]
        asked = exercise.gradients, references, runner, offences, allowance
        evidence, making, incidents = observe(answer, *asked)
        judged = judge(evidence, references)
        failed = [verdict.name for verdict in judged if verdict.outcome is Outcome.FAIL]
        names = frozenset((*references.program.names, *references.program.gradient_names))
        if (meant := answer.with_slips(failed, names)) is not answer:
            answer = meant
            evidence, making, incidents = observe(answer, *asked)
            judged = judge(evidence, references)
        refused = {verdict.name for verdict in judged if verdict.outcome is Outcome.REFUSED}
        flags = [flag for item in evidence if item.name in refused for flag in item.offences]
        if wary:
            flags += [
                flag
                for kind, statement, flag in suspicions
                if kind != "grad" and (kind != TABLE or statement in making)
            ]
            flags += incidents
        else:
            flags += [flag for flag in incidents if flag.kind in HAPPENED]
        flags = list(dict.fromkeys(flags))
        lost = lost_by_slips(evidence, judged, answer, exercise, names)
        verdicts = [
            replace(
                verdict,
                code=quote(verdict.place, shown, answer.last_lines),
                max_points=exercise.points,
                reasons=lost.get(verdict.name, verdict.reasons),
                wrong=wrong_value(item, verdict, references) if wary else None,
            )
            for item, verdict in zip(evidence, judged, strict=True)
        ]
        pairs = list(zip(evidence, verdicts, strict=True))
        right = {item.name: item.keep for item, verdict in pairs if verdict.outcome in EARNS_POINTS}
        edits = allowance.part(EDIT_SECONDS)
        about = answer, exercise, references, runner, edits, right
        for index, (item, verdict) in enumerate(pairs):
            if verdict.diagnosis or verdict.outcome not in TO_MEND:
                continue
            try:
                cause = find_reason(item, verdict, *about)
            # Whatever a student's code does to the search for a reason, the verdicts stay.
            except Exception as error:
                why = _no_reason(verdict.name, error)
                flags.append(Flag("diagnosis-failed", why, verdict.place))
            else:
                if cause is not None:
                    verdicts[index] = explained(verdict, cause, shown, answer.last_lines)
        return verdicts, flags
    finally:
        runner.end_answer()


def _no_reason(name: str, error: Exception) -> str:
    if needs_memory(error):
        return f"Why {name} is wrong takes more memory to find out than its judge may use."
    return (
        f"Why {name} is wrong could not be found out ({type(error).__name__}: {error}). This is a"
        " mistake in the grader; please report it."
    )


def explained(
    verdict: Verdict, cause: Cause, cells: Sequence[AnswerCell], last_lines: Mapping[Place, int]
) -> Verdict:
    """Add the diagnosis to a verdict, and drop the reasons that it replaces.

    `cells` and `last_lines` are as in `quote`.
    """
    diagnosis, place, reasons = cause.diagnosis, cause.place, verdict.reasons
    codes = tuple(reason.code for reason in reasons)
    is_value = diagnosis.kind in (Kind.NAN, Kind.WRONG_DTYPE) and "raised" not in codes
    if is_value or codes in SAYS_LESS:
        reasons = ()
    elif verdict.why == "shape" and "shape" in diagnosis.tells:
        reasons = reasons[1:]  # the others may say about which batch it speaks
    reasons = tuple(reason for reason in reasons if reason.code not in GUESSES)
    verdict = replace(verdict, diagnosis=(diagnosis,), reasons=reasons)
    if place is None:
        return verdict
    if reasons and reasons[0].code == "raised" and verdict.place not in (None, place):
        # The line that raised is not the line with the mistake.
        raised = _raised_elsewhere(verdict, place)
        verdict = replace(verdict, reasons=(raised, *reasons[1:]))
    code, piece = quote(place, cells, last_lines), as_quoted(cause.piece)
    start = -1
    for _ in range(cause.nth + 1):
        if (start := code.find(piece, start + 1)) < 0:
            break  # behind what is quoted of a long line
    span = (start, start + len(piece)) if piece and start >= 0 else None
    return replace(verdict, place=place, code=code, piece=span)


def _raised_elsewhere(verdict: Verdict, mistake: Place) -> Reason:
    at, arguments = verdict.place, dict(verdict.reasons[0].arguments)
    if at is not None and at.cell == mistake.cell:
        return because("raised-in-line", line=str(at.line), **arguments)
    return because("raised-in-cell", cell=at.cell if at else "", **arguments)
