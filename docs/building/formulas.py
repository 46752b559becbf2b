"""Formulas turned from LaTeX into MathML while the site is built.

Browsers set MathML themselves: no script, no font, nothing to fetch.
"""

from __future__ import annotations

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

_CONVERTER = LatexToMathML()


def visit(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    _write(translator, node, "formula", display=False)


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, which scrolls by itself where it is wide."""
    _write(translator, node, "formula-block", display=True)


def _write(translator: HTML5Translator, node: nodes.Element, frame: str, *, display: bool) -> None:
    formula = node.astext()
    try:
        mathml = _CONVERTER.convert_with_local_state(formula, displaystyle=display)
    except LatexError as error:
        # With -W it ends the build.
        complaint = f"This formula cannot be set: {formula} ({error})."
        logging.getLogger(__name__).warning(complaint, location=node)
        raise nodes.SkipNode from error
    # A span, since it may stand in a paragraph.
    translator.body.append(f'<span class="{frame}">{mathml}</span>')
    raise nodes.SkipNode
