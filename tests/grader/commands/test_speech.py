"""How the commands speak to a terminal, and to what is none."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from grader.commands.speech import complain, say_sentences

SENTENCE = "This cannot be written: nobody in the class has the id 'a-long-id-with-hyphens'."


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")


@pytest.mark.parametrize("speak", [complain, lambda sentence: say_sentences(f"{sentence}\n")])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_sentence_is_broken_at_words_where_a_terminal_would_break_it_anywhere(
    speak: Callable[[str], None],
    is_terminal: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    speak(SENTENCE)
    said = "".join(capsys.readouterr())
    assert said.split() == SENTENCE.split()
    assert said.count("\n") == (3 if is_terminal else 1)
    assert not is_terminal or max(map(len, said.split("\n"))) <= 40
