"""The parts of pages that are made from the code, by the name that stands in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from docs.building.attacks import attack_table, suspicion_table
from docs.building.diagnoses import catalogue
from docs.building.example_class import as_typed
from docs.building.explained import bugs_table, example, failing_test, gradcheck_says
from docs.building.included import included
from docs.building.limits import limits_table, sizes_table, system_calls
from docs.building.markdown import folded
from docs.building.verdicts import (
    checks_table,
    comparison_line,
    json_example,
    reasons_table,
    verdict_table,
)
from grader.classroom.gradebook.rubric import example_rubric
from grader.classroom.run.line import FILE_KEYS
from grader.program.course import built_in_course

if TYPE_CHECKING:
    # Installed for the site alone.
    from sphinx.application import Sphinx

PARTS: Mapping[str, Callable[[], str]] = {
    "attacks": attack_table,
    "attention": lambda: example("attention", "attention", "attention_backward"),
    "batchnorm": lambda: example("batchnorm", "batchnorm", "batchnorm_backward"),
    "bugs": bugs_table,
    "calls": system_calls,
    "checks": checks_table,
    "comparison": comparison_line,
    "class": as_typed,
    "diagnoses": catalogue,
    "failing": failing_test,
    "gradcheck": gradcheck_says,
    "json": json_example,
    "reasons": reasons_table,
    "limits": limits_table,
    "owner": lambda: ", ".join(f"`{key}`" for key in FILE_KEYS),
    "rubric": lambda: folded("What it prints", f"```toml\n{example_rubric(built_in_course())}```"),
    "sizes": sizes_table,
    "swiglu": lambda: example("swiglu", "swiglu", "SwiGLU"),
    "suspicions": suspicion_table,
    "verdicts": verdict_table,
}

_PLACE = re.compile(r"\{\{ (?P<name>[a-z]+)(?:: (?P<what>[^}]+))? \}\}")


def fill(markdown: str, page: str) -> str:
    """The page with each `{{ name }}` made, and each `{{ include: FILE }}` included.

    Raises:
        ValueError: nothing has that name.
    """

    def made(match: re.Match[str]) -> str:
        if match["name"] == "include" and match["what"]:
            return included(match["what"], page)
        if match["name"] not in PARTS or match["what"]:
            raise ValueError(f"{page}: nothing is called {match[0]}.")
        return PARTS[match["name"]]()

    return _PLACE.sub(made, markdown)


def fill_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Fill a page that Sphinx has read; a notebook has no such places."""
    if not page.startswith("notebooks/"):
        source[0] = fill(source[0], f"{page}.md")
