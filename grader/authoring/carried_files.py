"""What a notebook carries of its course: the files, with what its own exercises need."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Mapping

from grader.answer.statements import walk_names
from grader.program.course import FILE as COURSE_FILE
from grader.program.course import HINTS_FILE, Course, Hints, read_toml


def carried_files(course: Course, notebook: str, hints: Hints) -> dict[str, str]:
    """The texts of a course's files, by their names, cut down to one notebook's exercises."""
    own = course.outlines(notebook)
    values = read_toml(course.folder / COURSE_FILE)
    values["exercise"] = [each for each in values["exercise"] if each["notebook"] == notebook]
    functions = {
        name: without_others(text, [each.function for each in own if each.file == name])
        for name, text in course.sources
        if name in {each.file for each in own}
    }
    asked = {each.prefix: hints[each.prefix] for each in own if each.prefix in hints}
    return {COURSE_FILE: _as_toml(values), **functions, HINTS_FILE: _as_toml(asked)}


def without_others(text: str, wanted: Collection[str]) -> str:
    """A Python file without the functions that neither are wanted nor named by what is.

    The comments above a function go with it.
    """
    body, lines = ast.parse(text).body, text.split("\n")
    others = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    kept = [node for node in body if node not in others.values()]
    kept += [others.pop(name) for name in wanted]
    for node in kept:  # which grows meanwhile
        names = {name.id for name in walk_names(node)}
        kept += [others.pop(name) for name in names & others.keys()]
    ends = [node.end_lineno or 0 for node in body]
    parts = zip(body, [0, *ends], ends, strict=False)
    return "".join(f"{line}\n" for node, a, b in parts if node in kept for line in lines[a:b])


def _as_toml(table: Mapping[str, object]) -> str:
    return "".join(f"{json.dumps(key)} = {toml_value(value)}\n" for key, value in table.items())


def toml_value(value: object) -> str:
    """A value on one line: TOML's texts, numbers and lists are JSON's."""
    if isinstance(value, dict):
        items = (f"{json.dumps(key)} = {toml_value(each)}" for key, each in value.items())
        return f"{{ {', '.join(items)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
