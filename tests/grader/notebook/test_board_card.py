import re
from base64 import b64decode

from corpus.readers.lecture_course import COURSE, FUSED_BATCHNORM
from grader.notebook.board_card import in_forms
from grader.reports.course_boards import read_boards
from grader.verdict import Check, Comparison, Outcome, Verdict


def card() -> str:
    """The board of notebook 3, with each outcome once."""
    nothing = Comparison("", None, None, None, None, None)
    outcomes = zip(FUSED_BATCHNORM.gradients, Outcome, strict=True)
    verdicts = {
        name: Verdict(name, outcome, nothing, Check.NOT_RUN, Check.NOT_RUN)
        for name, outcome in outcomes
    }
    return in_forms(read_boards(COURSE)[FUSED_BATCHNORM.prefix], verdicts)["text/html"]


def text(html: str) -> str:
    """What is read outside of the graph."""
    html = re.sub(r"(?s)<style>.*?</style>", "", html)
    return " ".join(re.sub("<[^>]+>", "", html).split())


def test_the_card_says_how_many_gradients_have_which_verdict() -> None:
    said = text(card())
    counts = "✓ 1 pass ↓ 1 carried ✗ 1 fail … 1 to do ! 1 error ⊘ 1 refused"
    assert said.startswith(f"2 of 6 points, 3 to mend {counts} Arrows")
    assert "Arrows show how gradients flow back from the loss." in said


def test_the_card_has_the_graph_as_a_picture_with_its_words() -> None:
    html, words = card(), "2 of 6 points, 3 to mend. pass: dbngain; carried: dbnbias; "
    found = re.search('<img src="data:image/svg\\+xml;base64,(.*)" alt="(.*)">', html)
    assert found is not None
    assert found[2].startswith(words)  # not so wide that it had to scroll
    svg = b64decode(found[1]).decode()
    assert f'role="img" aria-label="{words}' in svg
    for name in FUSED_BATCHNORM.gradients:
        assert svg.count(f">{name}</text>") == 1


def test_nothing_is_loaded_and_nothing_runs() -> None:
    html = card().replace('src="data:', "")
    assert re.search(r"<script|\bsrc=|\bon\w+=|url\(|@import", html) is None
