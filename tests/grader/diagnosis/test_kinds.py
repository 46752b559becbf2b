"""Every kind of mistake has a hint, said of a gradient, that does not write the answer down."""

import pytest

from grader.diagnosis.kinds import Kind, hint


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_hint(kind: Kind) -> None:
    said = hint(kind, "dcounts")
    assert said.endswith((".", "?"))
    assert "{" not in said
    assert "dcounts =" not in said
    assert len(said) <= 120
    # The guide's pages are Markdown.
    assert not set("*_") & set("".join(said.split("`")[::2]))


def test_a_hint_names_the_tensor() -> None:
    assert "way from `counts` to the loss" in hint(Kind.MISSING_BRANCH, "dcounts")
