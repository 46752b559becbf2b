"""What the grader says of the sample submissions: tables of its verdicts, and its JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace

from docs.building.attribute_docs import attribute_docs
from docs.building.markdown import table
from docs.building.samples import reports
from grader.reports.as_json import report_as_json
from grader.reports.wording import ROWS, SIGNS, note, word
from grader.verdict import EARNS_POINTS, Check, Outcome, Verdict

_WORDS = {Check.RIGHT: "right", Check.WRONG: "wrong", Check.NOT_RUN: "no value"}


def verdict_table() -> str:
    """A row for each verdict: its sign on the board, what it means, the points it earns."""
    meanings = attribute_docs(Outcome)
    rows = [
        [
            f'<span class="verdict {outcome}">{sign}</span>',
            f"`{word(outcome)}`",
            meanings[outcome.name],
            "1" if outcome in EARNS_POINTS else "0",
        ]
        for outcome, sign in SIGNS.items()
    ]
    return table(["", "verdict", "what it means", "points"], rows)


def comparison_line() -> str:
    """The lecture's line of a right gradient whose bits are not autograd's."""
    comparisons = (v.comparison for v in reports()["shortcuts"].verdicts)
    line = next(c.line for c in comparisons if c.approximate and not c.exact)
    return f"```text\n{line}\n```"


def checks_table() -> str:
    """Which verdicts come of which findings, with a gradient of the sample submissions for each."""
    verdicts = [verdict for report in reports().values() for verdict in report.verdicts]
    kinds = dict.fromkeys((v.global_check, v.local_check, v.outcome) for v in verdicts)
    order = list(Outcome)
    rows = [
        [
            _WORDS.get(whole, str(whole)),
            _WORDS.get(line, str(line)),
            word(outcome),
            _best_told(v for v in verdicts if (v.global_check, v.local_check, v.outcome) == kind),
        ]
        for kind in sorted(kinds, key=lambda kind: order.index(kind[2]))
        for whole, line, outcome in [kind]
    ]
    return table(["the whole answer", "the line alone", "verdict", "for instance"], rows)


def _best_told(verdicts: Iterable[Verdict]) -> str:
    """One gradient with what its student is told: the first with something to say."""
    all_ = list(verdicts)
    chosen = next((v for v in all_ if v.diagnosis or v.reasons), all_[0])
    said = chosen.diagnosis[0].message if chosen.diagnosis else note(chosen)
    return f"`{chosen.name}`: {said}" if said else f"`{chosen.name}`"


def reasons_table() -> str:
    """A row for each code of a reason: its sentence."""
    return table(["reason", "sentence"], [[f"`{code}`", said] for code, said in ROWS.items()])


def json_example() -> str:
    """The JSON of a sample submission: a gradient that passes, the wrong one, a carried one."""
    report = reports()["one_fault"]
    wanted = (Outcome.PASS, Outcome.FAIL, Outcome.CARRIED)
    shown = [next(v for v in report.verdicts if v.outcome is outcome) for outcome in wanted]
    document = report_as_json(report)
    document["gradients"] = report_as_json(replace(report, verdicts=tuple(shown)))["gradients"]
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # A shape is read in one look when it stands on one line.
    text = re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", text)
    return f"```json\n{text}\n```"
