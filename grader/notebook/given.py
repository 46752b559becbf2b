"""What answer cells were given: the notebook's tensors before one of them changed any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from grader.answer.cell_source import hide_magics, parsed
from grader.answer.statements import walk_names
from grader.notebook.history import History


@dataclass(slots=True)
class Given:
    """Copies of the tensors that answer cells name, made before the first of these cells ran.

    An answer that writes into `logits` finds other numbers there when it runs again, and autograd
    would find them too. What any other cell does to a tensor is meant, and the copy made anew.
    """

    copies: dict[str, Tensor] = field(default_factory=dict)
    left: dict[str, tuple[object, int]] = field(default_factory=dict)
    """Each of these names as the last answer cell left it."""
    running: dict[str, tuple[object, int]] = field(default_factory=dict)
    """Each of them as the answer cell that runs now found it."""
    changed: dict[str, str] = field(default_factory=dict)
    """Each of them that an answer cell has changed since, with the latest such cell as it ran."""

    def follow(self, shell: Any, history: History) -> None:
        """Look at a shell's names before each cell that it runs from now on."""
        last_was_answer, source = False, ""

        def look(_info: object) -> None:
            nonlocal last_was_answer, source
            run = history.runs[-1]  # the history has noted it already
            if last_was_answer:
                self.after_answer(source, shell.user_ns)
            if last_was_answer := run.grade_id is not None:
                source = run.cell.source or ""
                self.before_answer(source, shell.user_ns)

        shell.events.register("pre_run_cell", look)

    def before_answer(self, source: str, namespace: Mapping[str, Any]) -> None:
        """Copy the tensors that a cell names, but those that answer cells alone have changed."""
        tree = parsed(hide_magics(source))
        named = {name.id for name in walk_names(tree)} if tree else set[str]()
        for name in named | self.copies.keys():
            value = namespace.get(name)
            if not self._is_as_left(name, value):
                self.copies.pop(name, None)
                self.changed.pop(name, None)
                if isinstance(value, Tensor):
                    self.copies[name] = value.detach().clone()
        self.running = {name: _state(namespace.get(name)) for name in self.copies}

    def after_answer(self, source: str, namespace: Mapping[str, Any]) -> None:
        """Remember how an answer cell left the tensors that were copied, and which it changed."""
        for name, (before, version) in self.running.items():
            value, now = _state(namespace.get(name))
            if value is not before or now != version:
                self.changed[name] = source
        self.left = {name: _state(namespace.get(name)) for name in self.copies}

    def tensors(self, names: Iterable[str], namespace: Mapping[str, Any]) -> dict[str, Tensor]:
        """The copies of those tensors that no cell but answer cells has changed since."""
        return {
            name: self.copies[name]
            for name in names
            if name in self.copies and self._is_as_left(name, namespace.get(name))
        }

    def changes(self, namespace: Mapping[str, Any]) -> dict[str, str]:
        """The names that an answer cell has changed and no other cell since, with that cell."""
        return {
            name: source
            for name, source in self.changed.items()
            if self._is_as_left(name, namespace.get(name))
        }

    def _is_as_left(self, name: str, value: object) -> bool:
        if name not in self.left:
            return False
        before, version = self.left[name]
        return before is value and version == _state(value)[1]


def _state(value: object) -> tuple[object, int]:
    """A value with PyTorch's count of how often it was written into."""
    if isinstance(value, Tensor) and not value.is_inference():
        return value, value._version
    return value, 0
