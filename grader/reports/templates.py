"""The HTML templates of reports, pages and cards: one environment for all of them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from grader.printable import printable, visible
from grader.reports import wording

if TYPE_CHECKING:
    import jinja2

HERE = Path(__file__).parent

_SMALL = re.compile(r"\b\d+(?:\.\d+)?e-\d+\b")
"""A number such as 1e-5, in which a browser would break a line."""

_SHAPE = re.compile(r"[(\[]\d+(, \d+)+[)\]]")


@cache
def make_environment(*folders: Path) -> jinja2.Environment:
    """Make the environment for templates in these folders, and after them in the reports' own.

    It is made once for the same folders. Everything that a template shows is escaped unless it is
    `Markup`, and a name that a template is not given is an error.
    """
    # Its import takes a while, so that only pages and cards should wait for it.
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, HERE]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"marked": marked, "printable": printable, "visible": visible}
    environment.globals["wording"] = wording
    return environment


def marked(text: str) -> Markup:
    """Put the text on one line, escaped, with `code` in an element of its own.

    A small number, or a shape in a sentence, is never broken over two lines.

    >>> str(marked("`h` < 1e-5"))
    '<code>h</code> &lt; <span class="number">1e-5</span>'
    """
    pieces = re.split(r"`([^`]+)`", str(escape(printable(text))))
    # Copied code should have the spaces that Python reads.
    pieces[::2] = [_SHAPE.sub(_unbroken, said) for said in pieces[::2]]
    pieces[1::2] = [f"<code>{code}</code>" for code in pieces[1::2]]
    return Markup(_SMALL.sub(r'<span class="number">\g<0></span>', "".join(pieces)))


def _unbroken(shape: re.Match[str]) -> str:
    return shape[0].replace(" ", "&nbsp;")
