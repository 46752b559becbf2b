"""Sentences with code between backticks, as HTML."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from grader.printable import printable


def marked(text: str) -> Markup:
    """The text on one line, made safe to show, `code` in an element of its own.

    >>> str(marked("`h` < 1"))
    '<code>h</code> &lt; 1'
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(printable(text)))))
