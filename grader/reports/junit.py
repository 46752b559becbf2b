"""Results as JUnit XML, for whatever runs in continuous integration."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from grader.printable import printable
from grader.reports import wording
from grader.reports.result import Graded, Result, Ungraded
from grader.verdict import Outcome, Verdict

ELEMENTS = {
    Outcome.CARRIED: "failure",
    Outcome.FAIL: "failure",
    Outcome.REFUSED: "failure",
    Outcome.ERROR: "error",
    Outcome.TODO: "skipped",
}
"""`carried` is a failure although it earns its points: the suite is green exactly when the
command's exit code is 0, and until the upstream is mended the gradient has a wrong value. Its
`type` tells it apart."""


def render(results: Sequence[Result]) -> str:
    """A testsuite a notebook, a testcase a gradient; flags stand in the suite's `system-out`.

    A file that could not be graded is a suite with one testcase in error. Times are left out, so
    that the same answers give the same file.
    """
    suites = [
        _suite(result) if isinstance(result, Graded) else _ungraded(result) for result in results
    ]
    root = ET.Element("testsuites", {"name": "grader", **_totals(suites)})
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _suite(result: Graded) -> ET.Element:
    report = result.report
    suite = ET.Element("testsuite", name=report.notebook, file=printable(str(result.path)))
    for verdict in report.verdicts:
        case = ET.SubElement(suite, "testcase", classname=report.notebook, name=verdict.name)
        if verdict.place is not None:
            case.set("line", str(verdict.place.line))
        if element := ELEMENTS.get(verdict.outcome):
            child = ET.SubElement(case, element, message=_message(verdict))
            if element != "skipped":  # the common schema gives it no type
                child.set("type", str(verdict.outcome))
                child.text = _details(verdict, result)
        elif verdict.note:
            ET.SubElement(case, "system-out").text = printable(verdict.note)
    _count(suite)
    if report.flags:
        lines = [f"{flag.kind}: {flag.message}" for flag in report.flags]
        ET.SubElement(suite, "system-out").text = "\n".join(map(printable, lines))
    return suite


def _ungraded(result: Ungraded) -> ET.Element:
    path = printable(str(result.path))
    suite = ET.Element("testsuite", name=path, file=path)
    case = ET.SubElement(suite, "testcase", classname="grader", name="can be graded")
    ET.SubElement(case, "error", message=printable(result.sentence), type="ungraded")
    _count(suite)
    return suite


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for attribute, element in (("failures", "failure"), ("errors", "error")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{element}"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))


def _totals(suites: Sequence[ET.Element]) -> dict[str, str]:
    names = ("tests", "failures", "errors", "skipped")
    return {name: str(sum(int(suite.get(name, "0")) for suite in suites)) for name in names}


def _message(verdict: Verdict) -> str:
    said = printable(wording.reason(verdict))
    return said or f"{verdict.name}: {wording.word(verdict.outcome)}"


def _details(verdict: Verdict, result: Graded) -> str:
    comparison = verdict.comparison
    lines = [
        f"{wording.where(verdict.place)}: {result.line_at(verdict.place)}".strip(": "),
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
