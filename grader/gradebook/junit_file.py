"""`junit.xml`: the class for whatever reads test results, a testsuite a student."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from grader.gradebook.results_file import OUTCOMES, GradedFile
from grader.gradebook.student_page import GradedFiles
from grader.gradebook.table import Row, Status, Table
from grader.printable import printable
from grader.reports import wording
from grader.reports.junit import ELEMENTS
from grader.verdict import Verdict

_COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}

Case = tuple[str, str]
"""A testcase: the element that says how it failed ("" if it passed), and its text."""


class JunitFile:
    """A testcase for each gradient of each file that counts; times are left out.

    A notebook that is missing is skipped, one that cannot be read is in error: no student is
    without a testcase. Suites are written one by one, so that a large class needs little memory.
    """

    def __init__(self, file: TextIO, table: Table) -> None:
        self._file, self._table = file, table
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        file.write(f"<testsuites{_attributes(name='grader', **_totals(table))}>\n")

    def add(self, row: Row, graded: GradedFiles) -> None:
        """Write a student's suite; students come in the table's order."""
        self._file.write(_suite(row, self._table, graded))

    def close(self) -> None:
        self._file.write("</testsuites>\n")


def _totals(table: Table) -> dict[str, str]:
    """The counts of the whole file, which stand at its beginning, from the table alone."""
    counts: Counter[str] = Counter(dict.fromkeys(("tests", *_COUNTED.values()), 0))
    for row in table.rows:
        for cell in row.cells:
            letters = cell.counts.outcomes if cell.counts else ""
            counts["tests"] += len(letters) or 1
            for letter in letters:
                if element := ELEMENTS.get(OUTCOMES[letter]):
                    counts[_COUNTED[element]] += 1
            if not letters:
                counts[_COUNTED[_absent(cell.status)]] += 1
        broken = [file for file in row.elsewhere if file.error]
        counts["tests"] += len(broken)
        counts["errors"] += len(broken)
    return {name: str(number) for name, number in counts.items()}


def _absent(status: Status) -> str:
    return "error" if status is Status.UNREADABLE else "skipped"


def _suite(row: Row, table: Table, graded: GradedFiles) -> str:
    cases: list[Case] = []
    for column, cell in zip(table.columns, row.cells, strict=True):
        if cell.counts and cell.counts.outcomes:
            cases += _cases(graded[cell.counts.id])
        else:
            said = cell.unreadable[0].error if cell.unreadable else str(cell.status)
            cases.append(_ungraded(column.notebook, _absent(cell.status), said))
    cases += [_ungraded(file.file, "error", file.error) for file in row.elsewhere if file.error]
    counts = Counter(element for element, _ in cases)
    attributes = _attributes(
        name=row.student.id or "(no id)",
        tests=str(len(cases)),
        **{attribute: str(counts[element]) for element, attribute in _COUNTED.items()},
    )
    kinds = sorted(Counter(row.flags).items())
    flags = "\n".join(f"{printable(kind)}: {number}" for kind, number in kinds)
    noted = f"    <system-out>{escape(flags)}</system-out>\n" if flags else ""
    return f"  <testsuite{attributes}>\n{''.join(text for _, text in cases)}{noted}  </testsuite>\n"


def _ungraded(classname: str, element: str, said: str) -> Case:
    return _case(classname, "can be graded", element, said, "ungraded")


def _cases(file: GradedFile) -> Iterator[Case]:
    for verdict in file.report.verdicts:
        element = ELEMENTS.get(verdict.outcome)
        if element is None:
            yield "", _passed(file.report.notebook, verdict.name)
            continue
        message = wording.reason(verdict) or wording.word(verdict.outcome)
        details = "" if element == "skipped" else _details(verdict, file.code[verdict.name])
        yield _case(
            file.report.notebook, verdict.name, element, message, str(verdict.outcome), details
        )


@lru_cache(maxsize=1_000)
def _passed(classname: str, name: str) -> str:
    return f"    <testcase{_attributes(classname=classname, name=name)}/>\n"


def _case(
    classname: str, name: str, element: str, message: str, type_: str, details: str = ""
) -> Case:
    # the common schema gives `skipped` no type
    kind = {} if element == "skipped" else {"type": type_}
    child = f"{element}{_attributes(message=message, **kind)}"
    filled = f"<{child}>{escape(details)}</{element}>" if details else f"<{child}/>"
    opening = f"    <testcase{_attributes(classname=classname, name=name)}>"
    return element, f"{opening}\n      {filled}\n    </testcase>\n"


def _details(verdict: Verdict, code: str) -> str:
    lines = [f"{wording.where(verdict.place)}: {code}".strip(": ")]
    lines += [f"{one.kind}: {one.message}" for one in wording.diagnoses(verdict)]
    return "\n".join(printable(line) for line in lines if line)


def _attributes(**values: str) -> str:
    """Attributes as text; `printable` leaves no character that XML does not know."""
    return "".join(f" {name}={quoteattr(printable(value))}" for name, value in values.items())
