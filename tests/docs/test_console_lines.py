"""What the README and the guide tell readers to type, and what they say comes back."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from docs.building.samples import reports
from grader.authoring.course import read_repository
from grader.cli import command as grader_command

PROJECT = Path(__file__).resolve().parents[2]
TEXTS = [PROJECT / "README.md", *sorted((PROJECT / "docs/pages").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```console\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def typed(program: str) -> list[tuple[str, list[str]]]:
    """The lines that begin with a program, as words, each with the file it stands in."""
    return [
        (path.relative_to(PROJECT).as_posix(), words[1:])
        for path in TEXTS
        for words in _lines(path.read_text(encoding="utf-8"))
        if words and words[0].removeprefix(".venv/bin/") == program
    ]


def _lines(text: str) -> Iterator[list[str]]:
    for block in BLOCK.finditer(text):
        for line in block[2].splitlines():
            if line.lstrip().startswith("$ "):
                words = shlex.split(line.lstrip()[2:], comments=True)
                # Variables come first, and after `&&` another command.
                while words and re.match(r"[A-Z_]+=", words[0]):
                    del words[0]
                yield words[: words.index("&&")] if "&&" in words else words


@pytest.mark.parametrize(("text", "words"), typed("grader"))
def test_every_command_of_the_grader_is_there_with_its_options(text: str, words: list[str]) -> None:
    command: click.Command = grader_command
    context = click.Context(command)
    while isinstance(command, click.Group):
        name, *words = words
        found = command.get_command(context, name)
        assert found is not None, f"{text}: there is no command {name}"
        command = found
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known, text


@pytest.mark.parametrize(("text", "words"), typed("make"))
def test_every_make_target_is_there(text: str, words: list[str]) -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert {word for word in words if "=" not in word} <= targets, text


@pytest.mark.parametrize(("text", "words"), typed("pip"))
def test_pip_is_told_where_the_package_is(text: str, words: list[str]) -> None:
    own = [word for word in words if word.startswith("backprop-ninja")]
    address = re.escape(f" @ git+{read_repository()}")
    assert own, text
    assert all(re.fullmatch(rf"[a-z-]+(\[[a-z,]+\])?{address}", word) for word in own), text


def test_the_guide_names_commands_at_all() -> None:
    assert len(typed("grader")) > 10
    assert len(typed("pip")) > 2
    assert len(typed("make")) > 5


@pytest.mark.slow
def test_the_readme_shows_what_a_student_is_told() -> None:
    readme = " ".join((PROJECT / "README.md").read_text(encoding="utf-8").split())
    report = reports()["one_fault"]
    (wrong,) = (verdict for verdict in report.verdicts if verdict.diagnosis)
    for said in (wrong.diagnosis[0].message, wrong.diagnosis[0].hint):
        assert " ".join(said.split()) in readme
    assert f"{report.score} of {report.max_score} points" in readme


def test_the_readme_has_the_first_minutes_only() -> None:
    assert len((PROJECT / "README.md").read_text(encoding="utf-8").splitlines()) <= 140
