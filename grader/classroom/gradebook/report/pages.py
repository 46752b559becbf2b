"""The common parts of the report's pages: names, templates, style and security policy."""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Collection
from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from grader.classroom.gradebook.rubric import points_text
from grader.classroom.run.settings import Versions
from grader.printable import counted
from grader.program.course import number_of
from grader.reports.templates import make_environment

HERE = Path(__file__).parent
GENERATOR = '<meta name="generator" content="backprop-ninja gradebook">'
"""The mark by which our pages are recognised."""

_LOOKED_AT = 1_000
"""The number of bytes at the beginning of a page in which the mark has to be."""

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")
"""The names that Windows reserves for devices."""
_LONGEST_STEM = 40
_DIGITS = 16


def page_name(student: str) -> str:
    """The file name of a student's page, safe on every file system.

    A plain id is its own name. Any other name consists of the readable part of the id, a dot, and a
    part of its hash. A plain id contains no dot, so a student cannot choose an id whose page
    replaces another's, even on a system that takes "Ada" and "ada" for the same name.

    >>> page_name("ada-lovelace"), page_name("../Éva")
    ('ada-lovelace.html', 'eva.9a3aa73fb469c8f1.html')
    """
    if _PLAIN.fullmatch(student) and not _RESERVED.fullmatch(student):
        return f"{student}.html"
    letters = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:_LONGEST_STEM].strip("-") or "student"
    if _RESERVED.fullmatch(stem):
        stem = f"student-{stem}"  # a device's name is one whatever follows its dot
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{stem}.{digest}.html"


def is_ours(path: Path) -> bool:
    """True for a page of a gradebook's report."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(_LOOKED_AT)


@cache
def environment() -> jinja2.Environment:
    """The templates of the gradebook, followed by those of the reports on single notebooks."""
    made = make_environment(HERE)
    parts: Any = made.get_template("parts.html.jinja").module
    made.filters["points"] = points_text
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    made.globals |= {
        "counted": counted,
        "generator": Markup(GENERATOR),
        "number_of": number_of,
        "page_name": page_name,
        "versions_text": versions_text,
        # Most rows are the same for many students, and making each anew would take most time.
        "gradient_row": lru_cache(maxsize=10_000)(parts.gradient),
    }
    return made


def render(name: str, script: str = "", **values: object) -> str:
    """Write a page with the template and the style sheet of its name, and perhaps a script."""
    style_text = style("palette.css", "look.css", "board.css", f"{name}.css")
    script_text = asset(script) if script else ""
    safety = policy(style_text, script_text)
    page = environment().get_template(f"{name}.html.jinja")
    text = page.render(values, style=style_text, script=script_text, policy=safety)
    return text.strip() + "\n"


def versions_text(versions: Collection[Versions]) -> str:
    """The versions of the programs that graded, on one line."""
    programs = sorted(
        {f"{name} {version}" for each in versions for name, version in asdict(each).items()}
    )
    return f"Graded with {', '.join(programs)}." if programs else ""


def asset(*names: str) -> Markup:
    """Files of the package, which are put into a page as they are."""
    loader = environment().loader
    assert loader is not None
    return Markup("\n".join(loader.get_source(environment(), name)[0].strip() for name in names))


@cache
def style(*names: str) -> Markup:
    """Style sheets without needless spaces, because every student's page contains them."""
    text = re.sub(r"/\*.*?\*/", "", str(asset(*names)), flags=re.DOTALL)
    return Markup(re.sub(r"\s*([{};,])\s*", r"\1", text).replace(": ", ":").strip())


@cache
def policy(style_text: str, script: str) -> str:
    """A content security policy under which nothing runs or loads except these texts.

    If a student's text were to slip through unescaped, the browser would refuse to run it, because
    its hash is missing here. There is no `unsafe-inline`, not even for style attributes.
    """
    scripts = f" script-src {_hash(script)};" if script else ""
    return (
        f"default-src 'none'; style-src {_hash(style_text)};{scripts}"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
