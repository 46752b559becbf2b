"""How much faster the data sets are built than by the lecture's nested loops."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from makemore_data import build_splits, build_vocabulary, load_names

REAL_NAMES = 32_033
REPEATS = 9
GOAL = 50


@dataclass(frozen=True, slots=True)
class Measurement:
    """Median seconds of either way to shuffle, split and cut the names, measured by turns."""

    loops: float
    vectorised: float

    @property
    def ratio(self) -> float:
        """How many times as fast the vectorised build is."""
        return self.loops / self.vectorised


def build_by_loops(names: Sequence[str], block_size: int = 3) -> list[tuple[Tensor, Tensor]]:
    """Shuffle, split and cut the names in the lecture's way."""
    stoi, _ = build_vocabulary()

    def build_dataset(words: Sequence[str]) -> tuple[Tensor, Tensor]:
        X, Y = [], []
        for word in words:
            context = [0] * block_size
            for character in word + ".":
                ix = stoi[character]
                X.append(context)
                Y.append(ix)
                context = context[1:] + [ix]  # noqa: RUF005  # this is what is measured
        return torch.tensor(X), torch.tensor(Y)

    words = list(names)
    random.Random(42).shuffle(words)
    n1 = int(0.8 * len(words))
    n2 = int(0.9 * len(words))
    return [build_dataset(words[:n1]), build_dataset(words[n1:n2]), build_dataset(words[n2:])]


def measure(names: Sequence[str], repeats: int = REPEATS) -> Measurement:
    """Time both ways by turns, so that a busy machine slows both down alike."""
    rounds = [
        (_seconds(lambda: build_by_loops(names)), _seconds(lambda: build_splits(names)))
        for _ in range(repeats)
    ]
    loops, vectorised = zip(*rounds, strict=True)
    return Measurement(statistics.median(loops), statistics.median(vectorised))


def _seconds(build: Callable[[], object]) -> float:
    start = time.perf_counter()
    build()
    return time.perf_counter() - start


def main() -> None:
    """Print the ratio, or why it cannot be measured."""
    names = load_names()
    if len(names) != REAL_NAMES:
        print("windows: not measured, since the goal is set for the lecture's 32,033 names.")
        return
    measurement = measure(names)
    print(
        f"windows: nested loops {measurement.loops * 1e3:.0f} ms, "
        f"vectorised {measurement.vectorised * 1e3:.1f} ms: "
        f"{measurement.ratio:.0f} times as fast (goal: {GOAL})."
    )


if __name__ == "__main__":
    main()
