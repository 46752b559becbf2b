"""Grading: the answer cells of a notebook become a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from grader.answer.parse import Answer, AnswerCell, cells_of, parse_answer
from grader.answer.quote import as_quoted, quote
from grader.answer.suspicion import AUTOGRAD, TABLE, find_suspicions
from grader.close_names import MEANT
from grader.diagnosis.diagnose import Reason, find_reason
from grader.diagnosis.kinds import Kind
from grader.execution.ask import Allowance
from grader.execution.evidence import GradientEvidence
from grader.execution.observe import observe
from grader.execution.runner import AnyRunner
from grader.grading.judge import judge
from grader.grading.reasons import (
    ALMOST,
    NOTHING,
    ON_ANOTHER_BATCH,
    WRITTEN_IN,
    lost_by_slips,
    mistyped,
    returns_nothing,
    said_of_sizes,
)
from grader.grading.wrong_value import wrong_value
from grader.program.exercises import Exercise
from grader.program.references import SEED, References, prepare
from grader.user_error import needs_memory
from grader.verdict import (
    EARNS_POINTS,
    HAPPENED,
    Flag,
    Outcome,
    Place,
    Report,
    Verdict,
    says_nothing_else,
)

MOST_OF_A_KIND, LONGEST_SENTENCE = 20, 1_000
"""Flags of a kind that a notebook gets, and characters of what is said of a gradient."""

EDIT_SECONDS = 40.0
"""How long the reasons of an answer may be looked for."""

THIS_LINE = "This line"
"""So begins what is said of where an exception was raised: the mistake may stand elsewhere."""

Judged = tuple[list[Verdict], list[Flag]]
"""What was found out about an exercise: its verdicts, and what a human should see."""


def grade(
    exercises: Sequence[Exercise],
    cells: Sequence[AnswerCell],
    runner: AnyRunner,
    seed: int = SEED,
    wary: bool = False,
) -> Report:
    """Judge every gradient of one notebook.

    Args:
        exercises: all that the notebook has, in the order of the course.
        cells: its answer cells, in the order in which they stand.
        runner: a warm worker.
        seed: of the instances.
        wary: whether the answers are strangers'; then what no gradient needs is flagged too.
    """
    return Regrader(runner, seed, wary).grade(exercises, cells)


def _some_of_each_kind(flags: Sequence[Flag]) -> Iterator[Flag]:
    """As many as a human reads: nobody should hide one behind a thousand others."""
    found = Counter[str]()
    for flag in flags:
        found[flag.kind] += 1
        if found[flag.kind] <= MOST_OF_A_KIND:
            yield replace(flag, message=flag.message[:LONGEST_SENTENCE])
        elif found[flag.kind] == MOST_OF_A_KIND + 1:
            yield Flag(flag.kind, "There are more of this kind.", None)


class Regrader:
    """Grades notebooks again and again, as `grade` does, and runs only what has changed.

    An exercise whose answer cells have the text of the last time keeps its verdicts, unless one
    is an error: what ended the worker, or took too long, need not do so again.
    """

    def __init__(self, runner: AnyRunner, seed: int = SEED, wary: bool = False) -> None:
        self._how = runner, seed, wary
        self._last: dict[Exercise, tuple[Sequence[AnswerCell], Judged]] = {}

    def grade(self, exercises: Sequence[Exercise], cells: Sequence[AnswerCell]) -> Report:
        """Judge every gradient of one notebook."""
        allowance = Allowance(self._how[0].limits.total_seconds)
        judged = [
            self.grade_exercise(each, cells_of(each.prefix, cells), allowance) for each in exercises
        ]
        verdicts = [verdict for found, _ in judged for verdict in found]
        flags = _some_of_each_kind([flag for _, found in judged for flag in found])
        return Report(exercises[0].notebook, tuple(verdicts), tuple(flags))

    def grade_exercise(
        self, exercise: Exercise, own: Sequence[AnswerCell], allowance: Allowance | None = None
    ) -> Judged:
        """Judge one exercise's gradients in its own answer cells."""
        last, judged = self._last.get(exercise, (None, ([], [])))
        if own != last or any(verdict.outcome is Outcome.ERROR for verdict in judged[0]):
            judged = grade_exercise(exercise, own, *self._how, allowance)
            self._last[exercise] = own, judged
        return judged


def grade_exercise(
    exercise: Exercise,
    cells: Sequence[AnswerCell],
    runner: AnyRunner,
    seed: int = SEED,
    wary: bool = False,
    allowance: Allowance | None = None,
) -> Judged:
    """Judge one exercise's gradients; the flags are what a human should see.

    `allowance` is the time that its notebook has left: that of one answer, if nothing is said.
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
    """Judge an exercise's gradients beside these references.

    Args:
        exercise: the gradients asked for, and the sizes of the lecture's instance.
        cells: the answer.
        shown: the same lines as their author wrote them, to be quoted.
        references: on the instances that the answer is run on.
        runner: runs the answer.
        wary: whether the answer is a stranger's; then whatever no gradient needs is flagged.
        may_differentiate: whether the answer may ask autograd.
        allowance: as `grade_exercise` has it.
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
        said = _said_of_names(evidence, judged, answer, exercise, names)
        said |= said_of_sizes(answer, evidence, judged)
        verdicts = [
            replace(
                verdict,
                code=quote(verdict.place, shown, answer.last_lines),
                max_points=exercise.points,
                note=said.get(verdict.name, verdict.note)[:LONGEST_SENTENCE],
                wrong=wrong_value(item, verdict, references) if wary else None,
            )
            for item, verdict in zip(evidence, judged, strict=True)
        ]
        pairs = list(zip(evidence, verdicts, strict=True))
        right = {item.name: item.keep for item, verdict in pairs if verdict.outcome in EARNS_POINTS}
        edits = allowance.part(EDIT_SECONDS)
        about = answer, exercise, references, runner, edits, right
        for index, (item, verdict) in enumerate(pairs):
            try:
                reason = find_reason(item, verdict, *about)
            # Whatever a student's code makes of the search for a reason, the verdicts stand.
            except Exception as error:
                why = _no_reason(verdict.name, error)
                flags.append(Flag("diagnosis-failed", why, verdict.place))
            else:
                if reason is not None:
                    verdicts[index] = explained(verdict, reason, shown, answer.last_lines)
        return verdicts, flags
    finally:
        runner.end_answer()


def _said_of_names(
    evidence: Sequence[GradientEvidence],
    judged: Sequence[Verdict],
    answer: Answer,
    exercise: Exercise,
    names: Set[str],
) -> dict[str, str]:
    """What can be said of gradients that a slip in a name, or a helper without `return`, loses."""
    lost = lost_by_slips(answer, judged, names)
    todo = [one.name for one in judged if one.outcome is Outcome.TODO and not one.note]
    if not todo:
        return lost
    nothing = [item.name for item in evidence if returns_nothing(item)]
    said = {
        **mistyped(answer, exercise.gradients, {*names, *exercise.sizes}),
        **{name: NOTHING.format(name) for name in nothing},
    }
    return {**lost, **{name: said[name] for name in todo if name in said}}


def _no_reason(name: str, error: Exception) -> str:
    if needs_memory(error):
        return f"Why {name} is wrong takes more memory to find out than its judge may use."
    return (
        f"Why {name} is wrong could not be found out ({type(error).__name__}: {error}). This is a"
        " mistake in the grader; please report it."
    )


def explained(
    verdict: Verdict, reason: Reason, cells: Sequence[AnswerCell], last_lines: Mapping[Place, int]
) -> Verdict:
    """The verdict with its diagnosis; what a diagnosis says better is said no longer.

    `cells` and `last_lines` as `quote` takes them.
    """
    says_less = ALMOST, says_nothing_else(verdict.name), f"{ON_ANOTHER_BATCH}. {WRITTEN_IN}"
    is_the_value = reason.diagnosis.kind in (Kind.NAN, Kind.WRONG_DTYPE)
    diagnosis, plain = reason.diagnosis, reason.diagnosis.message.replace("`", "")
    says_the_same = is_the_value and "raised" not in verdict.note
    if verdict.note.startswith(plain):  # the note may add which batch it speaks of
        message = diagnosis.message + verdict.note.removeprefix(plain)
        diagnosis, says_the_same = replace(diagnosis, message=message), True
    note = "" if verdict.note in says_less or says_the_same else MEANT.sub("", verdict.note)
    verdict = replace(verdict, diagnosis=(diagnosis,), note=note)
    if reason.place is None:
        return verdict
    if verdict.place is not None and verdict.place != reason.place:
        is_near = verdict.place.cell == reason.place.cell
        where = f"Line {verdict.place.line}" if is_near else f"A line of {verdict.place.cell}"
        note = where + note.removeprefix(THIS_LINE) if note.startswith(THIS_LINE) else note
    code, piece = quote(reason.place, cells, last_lines), as_quoted(reason.piece)
    start = -1
    for _ in range(reason.nth + 1):
        if (start := code.find(piece, start + 1)) < 0:
            break  # behind what is quoted of a long line
    span = (start, start + len(piece)) if piece and start >= 0 else None
    return replace(verdict, place=reason.place, code=code, piece=span, note=note)
