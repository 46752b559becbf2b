import pytest

from grader.comparison import Comparison
from grader.strict_mode import NotEveryGradientPasses, insist, is_strict
from grader.verdict import Check, Outcome, Verdict


def verdict(name: str, outcome: Outcome) -> Verdict:
    comparison = Comparison(name, None, None, None, None, None)
    return Verdict(name, outcome, comparison, Check.RIGHT, Check.RIGHT)


@pytest.mark.parametrize(
    ("value", "strict"), [(None, False), ("", False), ("0", False), ("1", True), ("true", True)]
)
def test_what_turns_it_on(monkeypatch: pytest.MonkeyPatch, value: str | None, strict: bool) -> None:
    monkeypatch.delenv("GRADER_STRICT", raising=False)
    if value is not None:
        monkeypatch.setenv("GRADER_STRICT", value)
    assert is_strict() is strict


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.PASS])
def test_whatever_does_not_pass_is_named(outcome: Outcome) -> None:
    right, other = verdict("dh", Outcome.PASS), verdict("dW2", outcome)
    with pytest.raises(NotEveryGradientPasses, match=r"^Not every .* passes: dW2 \([a-z ]+\)\.$"):
        insist([right, other])


def test_what_passes_is_let_pass() -> None:
    insist([verdict("dh", Outcome.PASS)])


def test_a_notebook_shows_the_sentence_alone() -> None:
    assert NotEveryGradientPasses("Not yet.")._render_traceback_() == ["Not yet."]
