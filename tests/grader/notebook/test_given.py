"""What answer cells were given, whatever they have made of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.notebook.given import Given
from grader.notebook.history import History

ANSWER = "# answer: ex2-dlogits\n"


class Shell:
    """As much of an IPython shell as is followed: its cells are functions of its names."""

    def __init__(self) -> None:
        self.history_manager = SimpleNamespace(input_hist_raw=[])
        self.events = self
        self.user_ns: dict[str, Any] = {}
        self.callbacks: list[Any] = []
        self.history, self.given = History(), Given()
        self.history.follow(self)
        self.given.follow(self, self.history)

    def register(self, event: str, callback: Any) -> None:
        self.callbacks += [callback] * (event == "pre_run_cell")

    def run(self, source: str) -> None:
        for callback in self.callbacks:
            callback(SimpleNamespace(raw_cell=source))
        exec(source, self.user_ns)

    def first_logit(self) -> float | None:
        """The first number of `logits` as the answers were given it."""
        self.run("check = 1")
        found = self.given.tensors(["logits", "Yb"], self.user_ns).get("logits")
        return None if found is None else found[0].item()


@pytest.fixture
def shell() -> Shell:
    shell = Shell()
    shell.run("import torch\nlogits = torch.ones(3)")
    return shell


@pytest.mark.parametrize(
    "change",
    [
        "logits -= 5",
        "logits = logits - 5",
        "logits[0] = 7",
        "logits.exp_()",
        "a = logits\na -= 5",
        "logits.view(-1)[0] = 2",
        "logits.data -= 5",
    ],
)
def test_what_an_answer_changes_is_given_as_it_was(shell: Shell, change: str) -> None:
    for _ in range(3):
        shell.run(ANSWER + change)
        assert shell.first_logit() == 1
    shell.run(f"{ANSWER}a = logits + 1  # another answer, which changes nothing")
    assert shell.first_logit() == 1
    assert shell.user_ns["logits"][0] != 1


@pytest.mark.parametrize("change", ["logits = torch.full((3,), 4.0)", "logits += 3"])
def test_what_another_cell_changes_is_given_anew(shell: Shell, change: str) -> None:
    shell.run(f"{ANSWER}logits += 0")
    shell.run(change)
    assert shell.first_logit() is None
    shell.run(f"{ANSWER}logits *= 2")
    assert shell.first_logit() == 4
    assert shell.user_ns["logits"][0] == 8


def test_a_change_before_an_answer_that_does_not_name_it_counts(shell: Shell) -> None:
    shell.run(f"{ANSWER}logits -= 5")
    shell.run("logits += 10")
    shell.run(f"{ANSWER}a = 1")
    assert shell.first_logit() == 6


@pytest.mark.parametrize("change", ["logits -= 5", "logits = logits - 5", "a = logits\na -= 5"])
def test_the_cell_that_changed_a_tensor_is_remembered(shell: Shell, change: str) -> None:
    def changed_by(*sources: str) -> str | None:
        for source in (*sources, "check = 1"):
            shell.run(source)
        return shell.given.changes(shell.user_ns).get("logits")

    reading = f"{ANSWER}a = logits + 1"
    assert changed_by(reading) is None
    assert changed_by(ANSWER + change) == ANSWER + change
    assert changed_by(reading) == ANSWER + change
    assert changed_by("logits = torch.ones(3)") is None
    assert changed_by(reading) is None


@pytest.mark.parametrize("source", ["logits = 1", "del logits", "logits = 'a'"])
def test_only_tensors_are_given(shell: Shell, source: str) -> None:
    shell.run(f"{ANSWER}logits -= 5")
    shell.run(source)
    assert shell.first_logit() is None
    shell.run(f"{ANSWER}logits = 2")
    assert shell.first_logit() is None


def test_a_cell_that_is_not_python_is_no_matter(shell: Shell) -> None:
    with pytest.raises(SyntaxError):
        shell.run(f"{ANSWER}logits -= (")
    assert shell.first_logit() is None


def test_tensors_of_inference_mode_count_as_unchanged(shell: Shell) -> None:
    with torch.inference_mode():
        shell.user_ns["logits"] = torch.ones(3)
    shell.run(f"{ANSWER}a = logits + 1")
    assert shell.first_logit() == 1
