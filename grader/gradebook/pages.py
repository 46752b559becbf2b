"""What all pages of the report have in common: their templates, style and security policy."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from grader import reports
from grader.marked import marked
from grader.printable import printable, visible
from grader.reports import wording

HERE = Path(__file__).parent
GENERATOR = '<meta name="generator" content="backprop-ninja gradebook">'
"""By which a page of ours is known."""


@cache
def environment() -> jinja2.Environment:
    """The templates of the gradebook, then those of the reports of single notebooks."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([HERE, *reports.__path__]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"marked": marked, "printable": printable, "visible": visible}
    made.globals |= {
        "generator": Markup(GENERATOR),
        "signs": wording.SIGNS,
        "word": wording.word,
        "where": wording.where,
        "note": wording.note,
        "diagnoses": wording.diagnoses,
        "truth": wording.truth,
        "difference": wording.difference,
        "shape": wording.shape,
    }
    return made


def asset(*names: str) -> Markup:
    """Files of the package, to be put into a page as they are."""
    loader = environment().loader
    assert loader is not None
    return Markup("\n".join(loader.get_source(environment(), name)[0].strip() for name in names))


def style(*names: str) -> Markup:
    """Style sheets without the spaces that only people need: every student's page has them."""
    text = re.sub(r"/\*.*?\*/", "", str(asset(*names)), flags=re.DOTALL)
    return Markup(re.sub(r"\s*([{};,])\s*", r"\1", text).replace(": ", ":").strip())


def policy(style_text: str, script: str = "") -> str:
    """A content security policy under which nothing runs or loads but these very texts.

    Were something of a student's to slip through unescaped, the browser would refuse to run it:
    its hash is not here, and there is no `unsafe-inline`, not even for style attributes.
    """
    scripts = f" script-src {_hash(script)};" if script else ""
    return (
        f"default-src 'none'; style-src {_hash(style_text)};{scripts}"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
