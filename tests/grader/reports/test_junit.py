from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

from grader.reports import junit
from grader.reports.result import Ungraded
from grader.verdict import Check, Comparison, Outcome, Report, Verdict
from tests.helpers.reasons import said

Golden = Callable[[str, str], None]


def test_looks_as_kept(mixed: Report, solved: Report, ungraded: Ungraded, golden: Golden) -> None:
    golden("mixed.xml", junit.render([mixed, solved, ungraded]))


def test_the_counts_are_those_of_the_testcases(mixed: Report, ungraded: Ungraded) -> None:
    root = ET.fromstring(junit.render([mixed, ungraded]))
    names = ("tests", "failures", "errors", "skipped")
    assert [root.get(name) for name in names] == ["11", "4", "3", "1"]
    suite = root.find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in names] == ["10", "4", "2", "1"]
    assert len(suite.findall("testcase")) == 10


def test_only_what_passes_is_green(mixed: Report) -> None:
    root = ET.fromstring(junit.render([mixed]))
    green = {
        case.get("name")
        for case in root.iter("testcase")
        if not any(case.find(name) is not None for name in ("failure", "error", "skipped"))
    }
    passed = {v.name for v in mixed.verdicts if v.outcome is Outcome.PASS}
    assert green == passed


def test_a_carried_gradient_is_a_failure_of_its_own_type(mixed: Report) -> None:
    root = ET.fromstring(junit.render([mixed]))
    failure = root.find(".//testcase[@name='dnorm_logits']/failure")
    assert failure is not None
    assert failure.get("type") == "carried"


def test_any_text_makes_readable_xml() -> None:
    """Every character there is, half surrogate pairs included, in every place a text can stand."""
    text = "".join(map(chr, [*range(0x3000), *range(0xD7F0, 0xE010), *range(0xFFF0, 0x10010)]))
    comparison = Comparison("h", None, None, None, None, None)
    verdict = Verdict("dh", Outcome.ERROR, comparison, Check.NOT_RUN, Check.NOT_RUN, said(text))
    report = Report("01_atomic_backprop", (verdict,), path=Path(text))
    root = ET.fromstring(junit.render([report, Ungraded(Path(text), text)]))
    error = root.find(".//error")
    assert error is not None
    assert "]]>" not in (error.get("message") or "")
    assert r"\x1b" in (error.get("message") or "")
