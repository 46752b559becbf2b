"""Every kind of mistake has a hint, said of a gradient, that does not write the answer down."""

import itertools

from corpus.readers.lecture_course import ATOMIC
from grader.diagnosis.kinds import Kind, hint
from grader.diagnosis.mistakes import table


def test_every_kind_has_a_hint() -> None:
    for kind in Kind:
        said = hint(kind, "dcounts")
        assert said.endswith((".", "?"))
        assert "{" not in said
        assert "dcounts =" not in said
        assert len(said) <= 120
        # The guide's pages are Markdown.
        assert not set("*_") & set("".join(said.split("`")[::2]))


def test_a_hint_names_the_tensor() -> None:
    assert "paths from `counts` to the loss" in hint(Kind.MISSING_BRANCH, "dcounts")


LONGEST = max(ATOMIC.gradients, key=len)
BELONGING = ("", f"`{LONGEST}`", f"`{LONGEST[1:]} - {LONGEST[1:]}`")


def test_no_hint_is_too_long_whatever_it_names() -> None:
    for kind, belongs in itertools.product(Kind, BELONGING):
        said = hint(kind, LONGEST, belongs)
        assert len(said) <= 120
        assert said.endswith(f"{belongs} is needed here." if belongs else (".", "?"))


def test_no_hint_is_too_long_in_a_course_with_long_names() -> None:
    for kind in Kind:
        name = "normalised_hidden_states_of_the_second_layer" * 3
        for belongs in ("", f"`{name}`", f"`{name} - {name}`"):
            said = hint(kind, f"d{name}", belongs)
            assert len(said) <= 120
            assert said.count("`") % 2 == 0


def test_what_belongs_is_told_behind_the_nudge() -> None:
    for kind in sorted({rule.kind for rule in table() if rule.tells == "name"}):
        for gradient, belongs in itertools.pairwise(ATOMIC.gradients[::-1]):
            assert hint(kind, gradient, f"`{belongs}`").startswith(hint(kind, gradient))
