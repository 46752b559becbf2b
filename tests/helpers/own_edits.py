"""The edits of a few statements, from their text and the names that an edit may use."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from grader.answer.own_code import OwnStatement, own_statements
from grader.answer.parse import Answer, AnswerCell, parse_answer
from grader.answer.sites import Site, sites
from grader.diagnosis.edit import Edit, Scope
from grader.diagnosis.every_edit import every_edit

SCOPE = Scope(
    "dhpreact",
    {"n": 32, "vocab_size": 27},
    {
        **{"FORWARD": ("h", "W2", "hpreact", "logits", "C", "bnvar"), "NEAR": ("h", "hpreact")},
        **{"UPSTREAM": ("dh", "dlogits"), "ARRIVING": ("dh",), "OWN": ("tmp",)},
        **{"INDEX": ("Xb", "Yb"), "SCALAR": ("smoothing",), "SIZE": ("n", "vocab_size")},
        **{
            "ALONE": ("h",),
            "NOSIGMOID": ("h",),
            "NORELU": ("h",),
            "RECTIFIED": ("h",),
            "SLOPE": (),
            "TENSOR": ("hpreact",),
            "AXIS": "012",
        },
        **{"BATCH": ("n",), "CLASSES": ("vocab_size",)},
        **{"MADE": ("hpreact", "h", "logits")},
        **{"ITSELF": ("dhpreact",)},
    },
    {"bndiff": ("bnvar - C",)},
    reassigned=frozenset({"dhpreact", "dh", "dx", "tmp"}),
)
"""What an edit of the gradient of a tanh may use, with more names than that needs."""


def own_of(
    source: str, keep: Sequence[int] | None = None
) -> tuple[Answer, frozenset[int], list[OwnStatement]]:
    """An answer of one cell, the numbers that are kept (else all), its statements."""
    answer = parse_answer([AnswerCell("ex0-cell", source)])
    assert not answer.broken
    kept = answer.live if keep is None else frozenset(keep)
    return answer, kept, own_statements(answer, kept)


def sites_of(source: str, keep: Sequence[int] | None = None) -> list[Site]:
    """All expressions that may be edited, in the order of the statements."""
    answer, kept, statements = own_of(source, keep)
    return [site for own in statements for site in sites(own, answer, kept)]


def site_of(source: str, text: str) -> Site:
    """The one expression that reads so."""
    (site,) = [site for site in sites_of(source) if site.own.source(site.node) == text]
    return site


def all_edits(source: str, keep: Sequence[int] | None = None, scope: Scope = SCOPE) -> list[Edit]:
    """Every edit, likeliest first."""
    answer, kept, statements = own_of(source, keep)
    return [*itertools.chain.from_iterable(every_edit(statements[::-1], answer, kept, scope))]


def as_read(text: str) -> str:
    """A statement as Python reads it: without needless brackets, sums of numbers worked out."""
    try:
        return ast.unparse(_WorkedOut().visit(ast.parse(text.lstrip())))
    except SyntaxError:
        return text


class _WorkedOut(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return self._worked_out(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return self._worked_out(node)

    def _worked_out(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        parts = [vars(node)[field] for field in node._fields if field != "op"]
        if not all(isinstance(part, ast.Constant) for part in parts):
            return node
        try:
            return ast.Constant(eval(ast.unparse(node), {}))
        except ArithmeticError:
            return node
