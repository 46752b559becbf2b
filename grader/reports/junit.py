"""Results as JUnit XML, for continuous integration."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO
from xml.etree import ElementTree as ET

from grader.printable import printable
from grader.reports import wording
from grader.reports.result import Result, Ungraded
from grader.verdict import Outcome, Verdict

ELEMENTS = {
    Outcome.CARRIED: "failure",
    Outcome.FAIL: "failure",
    Outcome.REFUSED: "failure",
    Outcome.ERROR: "error",
    Outcome.TODO: "skipped",
}
"""`carried` is a failure although it earns its points. The suite is green exactly when the
command's exit code is 0, and the gradient has a wrong value until the line above is mended. The
`type` of the failure tells it apart."""


COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}
"""The elements that say how a testcase ended, each with the suite's attribute that counts them."""


def render(results: Sequence[Result]) -> str:
    """Write a testsuite for each notebook, a testcase for each gradient, and flags as `system-out`.

    A file that could not be graded is a suite with one testcase in error. Times are left out, so
    that the same answers give the same file.
    """
    file = io.BytesIO()
    with suites_in(file, io.BytesIO()) as add:
        for result in results:
            add(_suite(result))
    return file.getvalue().decode()


@contextmanager
def suites_in(file: BinaryIO, waiting: BinaryIO) -> Iterator[Callable[[ET.Element], None]]:
    """Write suites one by one, so that a large class needs little memory.

    The file begins with the counts of all its suites. Until these are known, the suites wait in
    another file.
    """
    totals = Counter(dict.fromkeys(("tests", *COUNTED.values()), 0))

    def add(one: ET.Element) -> None:
        totals.update({name: int(one.get(name, "0")) for name in totals})
        ET.indent(one, level=1)
        waiting.write(f"  {ET.tostring(one, 'unicode')}\n".encode())

    yield add
    counts = "".join(f' {name}="{number}"' for name, number in totals.items())
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="grader"{counts}>\n'
    file.write(head.encode())
    waiting.seek(0)
    shutil.copyfileobj(waiting, file)
    file.write(b"</testsuites>\n")


def suite(
    name: str, cases: Iterable[ET.Element], said: Iterable[str] = (), file: str = ""
) -> ET.Element:
    """A suite with the counts of its testcases. The lines in `said` become its output."""
    made = ET.Element("testsuite", {"name": printable(name)})
    if file:
        made.set("file", printable(file))
    made.extend(cases)
    made.set("tests", str(len(made)))
    for element, attribute in COUNTED.items():
        made.set(attribute, str(len(made.findall(f"testcase/{element}"))))
    if text := "\n".join(map(printable, said)):
        ET.SubElement(made, "system-out").text = text
    return made


def case(
    classname: str, name: str, element: str, message: str, type_: str = "ungraded"
) -> ET.Element:
    """A testcase; `element` says how it ended, and is "" if it passed."""
    made = ET.Element("testcase", classname=printable(classname), name=printable(name))
    if element:
        child = ET.SubElement(made, element, message=printable(message))
        if element != "skipped":  # the common schema gives it no type
            child.set("type", type_)
    return made


def verdict_case(notebook: str, verdict: Verdict) -> ET.Element:
    """The testcase for a gradient."""
    element = ELEMENTS.get(verdict.outcome, "")
    message = wording.in_short(verdict) or f"{verdict.name}: {wording.word(verdict.outcome)}"
    made = case(notebook, verdict.name, element, message, str(verdict.outcome))
    if verdict.place is not None:
        made.set("line", str(verdict.place.line))
    if element and element != "skipped":
        made[0].text = _details(verdict)
    elif not element and (note := wording.note(verdict)):
        ET.SubElement(made, "system-out").text = printable(note)
    return made


def _suite(report: Result) -> ET.Element:
    path = str(report.path)
    if isinstance(report, Ungraded):
        return suite(path, [case("grader", "can be graded", "error", report.sentence)], file=path)
    cases = [verdict_case(report.notebook, verdict) for verdict in report.verdicts]
    said = [f"{flag.kind}: {flag.message}" for flag in report.flags]
    return suite(report.notebook, cases, said, path)


def _details(verdict: Verdict) -> str:
    comparison = verdict.comparison
    lines = [
        f"{wording.where(verdict.place)}: {verdict.code}".strip(": "),
        f"exact: {wording.truth(comparison.exact)}, "
        f"approximate: {wording.truth(comparison.approximate)}, "
        f"maxdiff: {wording.difference(comparison.maxdiff)}, "
        f"shape: {wording.shape(comparison.shape)}, "
        f"expected: {wording.shape(comparison.expected_shape)}",
    ]
    for diagnosis in verdict.diagnosis:
        lines.append(f"{diagnosis.kind}: {diagnosis.message}")
        lines.append(f"Hint: {diagnosis.hint}" if diagnosis.hint else "")
    return "\n".join(printable(line) for line in lines if line)
