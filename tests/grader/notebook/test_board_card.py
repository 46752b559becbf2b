import re
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path

from corpus.readers.lecture_course import COURSE, EXERCISES, FUSED_BATCHNORM, NOTEBOOKS
from grader.notebook.board_card import by_notebook, in_forms
from grader.verdict import Check, Comparison, Outcome, Verdict


def card(passed: Mapping[str, int]) -> str:
    """The board of notebook 3, with each outcome once."""
    nothing = Comparison("", None, None, None, None, None)
    outcomes = zip(FUSED_BATCHNORM.gradients, Outcome, strict=True)
    verdicts = {
        name: Verdict(name, outcome, nothing, Check.NOT_RUN, Check.NOT_RUN)
        for name, outcome in outcomes
    }
    return in_forms(FUSED_BATCHNORM, verdicts, passed, COURSE)["text/html"]


def text(html: str) -> str:
    """What is read outside of the graph."""
    html = re.sub(r"(?s)<style>.*?</style>", "", html)
    return " ".join(re.sub("<[^>]+>", "", html).split())


def test_the_card_says_how_many_gradients_have_which_verdict() -> None:
    said = text(card({}))
    counts = "✓ 1 pass ↓ 1 carried ✗ 1 fail … 1 to do ! 1 error ⊘ 1 refused"
    assert said.startswith(f"1 of 6 gradients pass {counts} Arrows")
    assert "Arrows show how gradients flow back from the loss." in said
    assert "Your notebooks" not in said


def test_the_card_has_the_graph_as_a_picture_with_its_words() -> None:
    html, words = card({}), "1 of 6 gradients pass. pass: dbngain; carried: dbnbias; "
    found = re.search('<img src="data:image/svg\\+xml;base64,(.*)" alt="(.*)">', html)
    assert found is not None
    assert found[2].startswith(words)  # not so wide that it had to scroll
    svg = b64decode(found[1]).decode()
    assert f'role="img" aria-label="{words}' in svg
    for name in FUSED_BATCHNORM.gradients:
        assert svg.count(f">{name}</text>") == 1


def test_nothing_is_loaded_and_nothing_runs() -> None:
    html = card({"ex1": 3}).replace('src="data:', "")
    assert re.search(r"<script|\bsrc=|\bon\w+=|url\(|@import", html) is None


def test_every_notebook_is_shown_with_its_count_where_another_is_known() -> None:
    beside = card({"ex1": 12, "ex3": 1})
    assert text(beside).endswith("this machine: Notebook 1 12 of 26 Notebook 3 1 of 6")
    assert '<progress value="12" max="26">' in beside
    assert card({"ex3": 1}) == card({})  # that is this notebook's own


def test_nbval_does_not_compare_what_depends_on_the_machine(project: Path) -> None:
    rules = (project / "notebooks/nbval_sanitize.cfg").read_text(encoding="utf-8")
    alone, beside = card({}), card({"ex1": 12})
    assert alone != beside
    for regex, replacement in re.findall("^regex: (.*)\nreplace: (.*)$", rules, re.MULTILINE):
        alone, beside = (re.sub(regex, replacement, html) for html in (alone, beside))
    assert alone == beside


def test_the_exercises_of_a_notebook_add_up() -> None:
    assert by_notebook({}, COURSE) == {}
    assert by_notebook({"ex2s": 1, "ex1": 3}, COURSE) == {
        "01_atomic_backprop": (3, 26),
        "02_fused_cross_entropy": (1, 2),
    }
    everything = {exercise.prefix: len(exercise.gradients) for exercise in EXERCISES}
    found = by_notebook(everything, COURSE)
    assert list(found) == list(NOTEBOOKS)
    assert all(passed == count for passed, count in found.values())


def test_gradients_that_an_older_course_had_are_not_counted() -> None:
    assert by_notebook({"ex1": 27, "ex9": 1, "ex3": 2}, COURSE) == {"03_fused_batchnorm": (2, 6)}
