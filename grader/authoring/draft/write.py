"""The folder of a new course, from one file of forward functions."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from pathlib import Path

import jinja2

from grader.authoring.draft.exercise import make_draft
from grader.authoring.draft.forward_file import read_forward_file
from grader.program.exercises import Exercise, run_file
from grader.program.parse import parse_program
from grader.user_error import UserError

SIZES = (32, 10, 6, 12, 16, 20, 24, 28)
"""What the student sees, by order of first mention: none is a size of a hidden instance."""

FORWARD = "forward.py"

WIDTH = 98
"""Characters of a text's line, behind `# `."""

_AS_IT_IS = ("#", "|", "- ", "```", "{{ ")
"""How a paragraph begins whose lines are not filled anew."""


def write_course(file: Path, folder: Path, first_id: str | None = None) -> list[Path]:
    """Write a course into a folder: what it asks for, hints, and a notebook for each function.

    The exercises are called after `first_id`, from which they count on, or after their functions.

    Returns:
        The files written.

    Raises:
        UserError: the file has no forward function that can be used, the folder is not empty, or
            no exercise can have this id.
    """
    if not file.is_file():
        raise UserError(f"There is no file {file}.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is there already: name another with --out. Nothing was written.")
    texts = course_texts(file, first_id)
    try:
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{error.filename} cannot be written: {error.strerror}.") from error
    return [folder / name for name in texts]


def course_texts(file: Path, first_id: str | None = None) -> dict[str, str]:
    """The files of the course that a file of forward functions becomes, by their names."""
    forward, functions = read_forward_file(file)
    path = file.with_name(FORWARD)
    tree, scope = ast.parse(forward), run_file(path, forward)
    drafts = []
    for number, name in enumerate(functions, start=1):
        sizes = dict(zip(parse_program(scope[name]).size_names, SIZES, strict=False))
        prefix = _id_of(name, number, first_id)
        exercise = Exercise(prefix, f"{number:02}_{name}", scope[name], (), sizes)
        drafts.append(make_draft(exercise, tree, forward))
    shown = {"title": file.stem.replace("_", " ").strip().capitalize(), "drafts": drafts}
    notebook = _template("notebook.py.jinja")
    return {
        "course.toml": _template("course.toml.jinja").render(shown),
        FORWARD: forward,
        "hints.toml": _template("hints.toml.jinja").render(shown),
        **{
            f"source/{draft.exercise.notebook}.py": notebook.render(draft=draft, number=number)
            for number, draft in enumerate(drafts, start=1)
        },
    }


def _id_of(function: str, number: int, first_id: str | None) -> str:
    if first_id is None:
        return f"{''.join(re.findall('[A-Za-z]', function))[:20] or 'ex'}{number}"
    match = re.fullmatch(r"([A-Za-z]{1,20})(\d{1,8})", first_id)
    if match is None:
        raise UserError(f"No exercise can be called {first_id}: take letters and a number, as n1.")
    return f"{match[1]}{int(match[2]) + number - 1}"


def _template(name: str) -> jinja2.Template:
    """A template whose marks are not those of a notebook's source, `{{ hints: dx }}`."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="<#",
        comment_end_string="#>",
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
    )
    environment.filters |= {
        "code": "`{}`".format,
        "comment": as_comment,
        "lines": one_line,
        "toml": as_toml,
    }
    return environment.get_template(name)


def as_comment(markdown: str) -> str:
    """Markdown as the comments of a source's text cell, its paragraphs filled."""
    paragraphs = re.split(r"\n\s*\n", markdown.strip())
    texts = [text if text.startswith(_AS_IT_IS) else _filled(text) for text in paragraphs]
    lines = "\n\n".join(texts).splitlines()
    return "\n".join(f"# {line}".rstrip() for line in lines)


def as_toml(text: str) -> str:
    """A text as TOML writes it: as it is, unless there are quotes in it that would end it."""
    if "'''" in text or text.endswith("'"):
        return json.dumps(text, ensure_ascii=False)
    return f"'''{_filled(text)}'''"


def one_line(code: str) -> str:
    """A statement of several lines on one, for a text."""
    return " ".join(code.split())


def _filled(text: str) -> str:
    return textwrap.fill(one_line(text), WIDTH, break_long_words=False, break_on_hyphens=False)
