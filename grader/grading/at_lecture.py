"""Right lines that raise on the lecture's batch alone: who is to blame."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from torch import Tensor

from grader.execution.evidence import GradientEvidence
from grader.grading.reasons import carried, of_other_dtype
from grader.program.references import References
from grader.verdict import Check, Outcome, Verdict

OF_DTYPES = re.compile(r"dtype|scalar type|Double|Float")
"""In the words of an exception of PyTorch's: two tensors are not of the same dtype."""


def judge_at_lecture(
    evidence: Sequence[GradientEvidence], verdicts: Sequence[Verdict], references: References
) -> Iterator[Verdict]:
    """Have only the first line pay where several raise on the lecture's batch.

    Hidden instances are float64, the lecture's is float32. Some operations mix the two, some raise:
    then the gradient to blame is the one that brought float64 in.
    """
    items = {item.name: item for item in evidence}
    stuck = {
        verdict.name
        for verdict in verdicts
        if verdict.outcome is Outcome.ERROR
        and verdict.global_check is Check.RIGHT
        and items[verdict.name].lecture.raised is not None
    }
    at_fault = {v.name for v in verdicts if v.outcome in (Outcome.FAIL, Outcome.ERROR)}
    dtype = references.lecture.dtype
    values = ((item.name, item.lecture.tensor) for item in evidence if stuck)
    wide = {
        name
        for name, value in values
        if isinstance(value, Tensor) and value.is_floating_point() and value.dtype is not dtype
    }

    def causes(name: str) -> set[str]:
        """The gradients that it reads and that keep it from being what it should be."""
        item, raised = items[name], items[name].lecture.raised
        read = {f"d{tensor}" for tensor in item.reads | item.channels} - {name}
        mixes = name in stuck and raised is not None and OF_DTYPES.search(raised.message)
        return read & (at_fault | wide if name in wide or mixes else at_fault)

    def origins(name: str) -> set[str]:
        """Those with which it began; itself, if with no other."""
        seen, pending, first = {name}, [name], set[str]()
        while pending:
            one = pending.pop()
            before = causes(one) if one in stuck | wide else set()
            pending += before - seen
            seen |= before
            if not before:
                first.add(one)
        return first

    began = set[str]()
    judged = []
    for verdict in verdicts:
        if verdict.name in stuck and verdict.local_check is Check.RIGHT:
            first = origins(verdict.name) - {verdict.name}
            began |= first
            if first:
                note = carried(sorted(first), missing=False)
                verdict = replace(verdict, outcome=Outcome.CARRIED, note=note)
        judged.append(verdict)
    for verdict in judged:
        value = items[verdict.name].lecture.tensor
        if verdict.name in began & wide and verdict.outcome is Outcome.PASS and value is not None:
            why = (of_other_dtype(verdict.name, value.dtype, dtype),)
            verdict = replace(verdict, outcome=Outcome.FAIL, note="", diagnosis=why)
        yield verdict
