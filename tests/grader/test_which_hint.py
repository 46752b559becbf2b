"""Whose hints are meant."""

import pytest

from grader.hint_levels import read_levels
from grader.which_hint import NoSuchHint, which_hint

LEVELS = read_levels()


@pytest.mark.parametrize(
    ("gradient", "latest", "asked", "found"),
    [
        ("dcounts", None, None, ("ex1", "dcounts")),
        ("counts", None, None, ("ex1", "dcounts")),
        ("dcounts", "ex4", None, ("ex1", "dcounts")),
        ("dlogits", "ex1", None, ("ex1", "dlogits")),
        ("dlogits", "ex2", None, ("ex2", "dlogits")),
        ("dlogits", "ex2s", None, ("ex2", "dlogits")),  # the same notebook's
        ("logits", "ex4", None, ("ex4", "dlogits")),
        ("dlogits", "ex1", "ex4", ("ex4", "dlogits")),
        ("dz", "ex2", None, ("ex2s", "dz")),
        ("dlogits", None, "ex2", ("ex2", "dlogits")),
    ],
)
def test_the_exercise_the_student_is_at_comes_first(
    gradient: str, latest: str | None, asked: str | None, found: tuple[str, str]
) -> None:
    assert which_hint(gradient, LEVELS, latest, asked) == found


@pytest.mark.parametrize(
    ("gradient", "latest", "asked", "sentence"),
    [
        ("dlogits", None, None, 'call hint("dlogits", "ex1") or hint("dlogits", "ex2") or hint('),
        ("dlogits", "ex3", None, "Several exercises ask for dlogits"),
        ("dcuonts", None, None, "There is no hint for dcuonts; there is for dcounts"),
        ("xyzzy", "ex3", None, "there is for dbngain, dbnbias, dxhat, dvar, dmu, dhprebn."),
        ("dcounts", "ex1", "ex2", "There is no hint for dcounts in ex2; there is for dlogits."),
        ("dcounts", None, "ex9", "There is no exercise ex9; there are ex1, ex2, "),
    ],
)
def test_what_is_not_clear_is_a_sentence(
    gradient: str, latest: str | None, asked: str | None, sentence: str
) -> None:
    with pytest.raises(NoSuchHint) as trouble:
        which_hint(gradient, LEVELS, latest, asked)
    assert sentence in str(trouble.value)
