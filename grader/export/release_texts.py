"""The project's own texts, cut down to what a class repository needs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.address import owner_and_name
from grader.source import colab_badge

EXTRAS = ("lab", "grade")
"""The extras of a class repository; the others are for those who change or serve the course."""

TABLES = (
    "build-system",
    "project",
    "project.optional-dependencies",
    "project.scripts",
    "project.urls",
    "tool.hatch.build.targets.wheel",
)

TEMPLATES = Path(__file__).parent / "student"

_EXTRA = re.compile(r"(?:^#[^\n]*\n)*^(?P<name>[\w-]+) = \[(?:[^\n]*\]\n|.*?^\]\n)", re.M | re.S)
_REPOSITORY = re.compile(r"(?m)^Repository = .*$")
_CONDA_NAMES = {"pytorch": "torch"}
_ALWAYS = {"python", "pip"}


def student_pyproject(text: str, repository: str) -> str:
    """The project's pyproject.toml without the extras and tools of those who change the course."""
    kept = []
    for name, table in _tables(text):
        if name == "project.optional-dependencies":
            extras = (found[0] for found in _EXTRA.finditer(table) if found["name"] in EXTRAS)
            kept.append(f"[{name}]\n" + "".join(extras))
        elif name == "project.urls":
            kept.append(f'[{name}]\nRepository = "{repository}"\n')
        elif name in TABLES:
            kept.append(_with_plain_readme(table))
    return "\n".join(table.strip() + "\n" for table in kept)


def _with_plain_readme(table: str) -> str:
    """The README as it is: links need no mending for PyPI, where a class repository never goes."""
    table = re.sub(r'"hatch-fancy-pypi-readme[^"]*",? ?', "", table)
    return re.sub(r'(?m)^dynamic = \["readme"\]$', 'readme = "README.md"', table)


def _tables(text: str) -> Iterable[tuple[str, str]]:
    """The names of the tables in a TOML text, and the tables themselves."""
    for piece in re.split(r"(?m)^(?=\[[^\n\[]+\]$)", text):
        if header := re.match(r"\[([^\n\[]+)\]\n", piece):
            # A comment at the end is about the next table.
            yield header[1], re.sub(r"\n(?:#[^\n]*\n)+\Z", "\n", piece)


def student_environment(text: str, pyproject: str) -> str:
    """The project's environment.yml with those packages alone that `student_pyproject` asks for."""
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(package for extra in extras for package in extra)]
    wanted = {_package(requirement) for requirement in asked} | _ALWAYS
    lines = [
        "# For conda and mamba: what `pip install -e '.[" + ",".join(EXTRAS) + "]'` brings, under",
        "# conda-forge's names.",
    ]
    begun = False
    for line in text.splitlines():
        begun = begun or not line.startswith("#")
        entry = re.fullmatch(r"\s+- (?P<package>[\w-]+)(?:[><=].*)?", line)
        below = line.startswith("dependencies:") or "dependencies:" in lines
        if begun and not (below and entry and _package(entry["package"]) not in wanted):
            lines.append(line)
    return "\n".join(_without_empty_headings(lines)) + "\n"


def _package(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    name = found[0].lower().replace("_", "-") if found else ""
    return _CONDA_NAMES.get(name, name)


def _without_empty_headings(lines: list[str]) -> list[str]:
    """A comment that announces packages goes where none of them is left."""
    return [
        line
        for line, following in zip(lines, [*lines[1:], ""], strict=True)
        if not (line.startswith("  #") and (not following or following.startswith("  #")))
    ]


def student_readme(repository: str, titles: Mapping[str, str]) -> str:
    """What greets a student in the class repository; `titles` of the notebooks by their names."""
    rows = [
        f"| [{title}](notebooks/{name}.ipynb) | {colab_badge(repository, name)} |"
        for name, title in titles.items()
    ]
    words = {
        "notebooks": "\n".join(rows),
        "repository": repository,
        "folder": owner_and_name(repository).partition("/")[2],
    }
    text = (TEMPLATES / "README.md").read_text(encoding="utf-8")
    return re.sub(r"\{\{ (\w+) \}\}", lambda word: words[word[1]], text)
