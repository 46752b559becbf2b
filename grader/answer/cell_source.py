"""A cell's source as Python reads it, without the lines that only IPython understands."""

# No torch: commands that only need to know which notebook a file is import this.

from __future__ import annotations

import ast
import re
import warnings

MAGIC_LINE = re.compile(
    r"(?m)^([ \t]*+)(?:(?:[%!?]|[\w,][\w, \t]*+=[ \t]*+[%!])(?:.*\\\n)*+.*"
    r"|[\w.\[\]]++\?{1,2}[ \t]*+)$"
)
"""IPython's own lines: `%magic`, `!shell`, `t = %timeit ...`, `torch.sum?`; `\\` continues them."""

FIRST_PROMPT = re.compile(r"(?:>>>|In \[\d+\]:)(?: |$)")
"""Python's or IPython's prompt, which IPython removes from pasted code."""

PROMPT = re.compile(rf"(?m)^(?:{FIRST_PROMPT.pattern}|(?:| +)\.\.\.:?(?: |$))")
"""The same, or the prompt of a line that continues a statement."""

INDENT = re.compile(r"\A\s*^([ \t]+)", re.MULTILINE)
"""The indentation of a cell's first line, which IPython removes from all lines."""

TIMED = re.compile(r"%time[ \t]++(.+)")
"""The magic that runs a statement as if it stood alone."""


def hide_magics(source: str) -> str:
    """Turn IPython's own lines into `pass`, line by line; of `%time`, the statement is kept.

    Pasted prompts, and an indentation of the whole cell, are removed. A cell that parses as it
    stands is left alone, because a continued expression may begin with `%`.
    """
    indent = INDENT.match(source)
    # IPython looks at the first two lines only, because a comment may stand above.
    is_prompted = any(map(FIRST_PROMPT.match, source.split("\n", 2)[:2]))
    if not (indent or is_prompted or MAGIC_LINE.search(source)) or parsed(source) is not None:
        return source
    if indent:
        source = re.sub(rf"(?m)^{indent[1]}", "", source)
    if is_prompted:
        source = PROMPT.sub("", source)
    return MAGIC_LINE.sub(_plain, source)


def _plain(line: re.Match[str]) -> str:
    timed = TIMED.fullmatch(line[0].strip().replace("\\\n", " "))
    is_code = timed is not None and parsed(timed[1]) is not None
    return f"{line[1]}{timed[1] if timed and is_code else 'pass'}" + "\n" * line[0].count("\n")


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of code as it stands, or None if Python cannot read it."""
    with warnings.catch_warnings():
        # A student's "\\d" is for the student's own Python to complain about.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
