from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser

from grader.reports import github
from grader.reports.result import Ungraded
from grader.verdict import Outcome, Report

Golden = Callable[[str, str], None]


def test_looks_as_kept(mixed: Report, solved: Report, ungraded: Ungraded, golden: Golden) -> None:
    golden("mixed.md", github.summary([mixed, solved, ungraded]))


def test_a_blank_notebook_is_a_list(blank: Report) -> None:
    text = github.summary([blank])
    assert "To do: <code>dlogprobs</code>, <code>dprobs</code>" in text
    assert "<table>" not in text


def test_whatever_does_not_pass_is_named(mixed: Report) -> None:
    text = github.summary([mixed])
    for verdict in mixed.verdicts:
        is_named = f"<code>{verdict.name}</code>" in text
        assert is_named is (verdict.outcome is not Outcome.PASS), verdict.name


def test_what_students_wrote_is_no_element(mixed: Report, ungraded: Ungraded) -> None:
    seen: set[str] = set()

    class Elements(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            seen.add(tag)

    Elements().feed(github.summary([mixed, ungraded]))
    assert seen == {"table", "tr", "td", "code", "br", "p"}


def test_the_points_are_those_of_all_notebooks(mixed: Report, solved: Report) -> None:
    complete, report = github.points([mixed, solved]).splitlines()
    earned = mixed.score + 3
    assert complete == f"::notice title=Autograding complete::Points {earned}/13"
    record = json.loads(report.removeprefix("::notice title=Autograding report::"))
    assert record == {"totalPoints": earned, "maxPoints": 13}


def test_without_all_notebooks_there_are_no_points(solved: Report, ungraded: Ungraded) -> None:
    assert github.points([solved, ungraded]) == ""
