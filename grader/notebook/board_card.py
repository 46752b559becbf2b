"""What `board()` shows: the graph with its verdicts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from grader.reports import wording
from grader.reports.board import as_picture, in_groups, in_words, is_wide, mark_board, title
from grader.reports.templates import make_environment
from grader.verdict import Verdict


def in_forms(drawn: str, verdicts: Mapping[str, Verdict], worth: int = 1) -> dict[str, str]:
    """The board as a part of a page, dark where the page says that it is dark, and in words.

    Args:
        drawn: the board without verdicts, from `draw_board`.
        verdicts: those on its gradients, by name.
        worth: the points that each gradient is worth.
    """
    outcomes = {name: verdict.outcome for name, verdict in verdicts.items()}
    board = mark_board(drawn, outcomes, worth)
    words = in_words(outcomes, worth)
    template = make_environment(Path(__file__).parent).get_template("board_card.html.jinja")
    html = template.render(
        title=title(outcomes, worth),
        counts=wording.counts(list(verdicts.values())),
        # A front end that does not trust a notebook shows pictures, but no SVG among the HTML.
        picture=b64encode(as_picture(board).encode()).decode(),
        is_wide=is_wide(board),
        groups=in_groups(outcomes, "bpn-") if is_wide(board) else "",
        words=words,
    )
    return {"text/html": html, "text/plain": words}
