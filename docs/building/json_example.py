"""What `grader check --json` prints, shortened to a few gradients."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from docs.building.samples import reports
from grader.reports.as_json import report_as_json
from grader.verdict import Outcome

SUBMISSION = "one_fault"


def json_example() -> str:
    """The JSON of a sample submission: a gradient that passes, the wrong one, a carried one."""
    report = reports()[SUBMISSION]
    wanted = (Outcome.PASS, Outcome.FAIL, Outcome.CARRIED)
    shown = [next(v for v in report.verdicts if v.outcome is outcome) for outcome in wanted]
    document = report_as_json(report)
    document["gradients"] = report_as_json(replace(report, verdicts=tuple(shown)))["gradients"]
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # A shape is read in one look when it stands on one line.
    text = re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", text)
    return f"```json\n{text}\n```"
