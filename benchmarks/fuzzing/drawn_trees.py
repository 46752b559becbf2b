"""Notebooks drawn by hypothesis: of the format or not, with anything at all in them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from benchmarks.fuzzing.damaged_code import NAMES, NUMBERS, OPERATORS
from tests.exercise_text import GRADIENTS

METHODS = ("T", "sum(0)", "sum(1, keepdim=True)", "view(-1)", "clone()", "float()", "grad", "shape")
FUNCTIONS = ("matmul", "where", "full", "outer", "einsum", "index_select", "zeros", "broadcast_to")

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
PREFIXES = ("ex1", "ex1", "ex1", "ex2", "ex3", "ex4", "ex9", "", "é")
GRADE_IDS = (
    st.builds(
        "{}-{}".format,
        st.sampled_from(PREFIXES),
        st.sampled_from(("loss", "softmax", "max", "tanh", "linear2", "embedding", "x", "")),
    )
    | ANYTHING
)
SOURCES = st.one_of(
    st.text(max_size=80),
    st.lists(st.text(max_size=20), max_size=4),
    st.builds(
        "# answer: ex1-{}\n{}".format, st.sampled_from(("loss", "tanh")), st.text(max_size=40)
    ),
    st.sampled_from(("dlogprobs = 1", "dhpreact = dh", "dh = dW2 = db2 = ...", "loss.backward()")),
    ANYTHING,
)
NBGRADER = st.fixed_dictionaries(
    {}, optional={"grade_id": GRADE_IDS, "solution": st.just(True) | ANYTHING, "points": ANYTHING}
)
CELLS = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(("code", "code", "markdown", "raw")) | ANYTHING,
        "metadata": st.fixed_dictionaries({}, optional={"nbgrader": NBGRADER | ANYTHING})
        | ANYTHING,
        "source": SOURCES,
        "outputs": ANYTHING,
        "id": ANYTHING,
    },
)
NOTEBOOKS = st.fixed_dictionaries(
    {"nbformat": st.just(4) | ANYTHING},
    optional={
        "cells": st.lists(CELLS | ANYTHING, max_size=8) | ANYTHING,
        "metadata": ANYTHING,
        "nbformat_minor": ANYTHING,
    },
)

EXPRESSIONS = st.recursive(
    st.sampled_from((*NAMES, *NUMBERS)),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(OPERATORS), inner),
        st.builds("{}.{}".format, inner, st.sampled_from(METHODS)),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("torch.{}({}, {})".format, st.sampled_from(FUNCTIONS), inner, inner),
        st.builds("[{} for {} in {}]".format, inner, st.sampled_from(NAMES), inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("(lambda {}: {})({})".format, st.sampled_from(NAMES), inner, inner),
    ),
    max_leaves=8,
)
STATEMENTS = st.builds(
    "{} {} {}".format,
    st.sampled_from((*GRADIENTS, *GRADIENTS, *NAMES)),
    st.sampled_from(("=", "=", "=", "+=", "@=", ": int =")),
    EXPRESSIONS,
)
ANSWERS = st.builds(
    lambda cell, lines: {
        "cell_type": "code",
        "metadata": {"nbgrader": {"grade_id": f"ex1-{cell}", "solution": True}},
        "source": "\n".join([f"# answer: ex1-{cell}", *lines]),
    },
    st.sampled_from(("loss", "softmax", "max", "tanh", "linear2", "embedding")),
    st.lists(STATEMENTS, min_size=1, max_size=8),
)
ANSWERED = st.fixed_dictionaries(
    {
        "nbformat": st.just(4),
        "cells": st.builds(
            lambda answers, others: [*answers, *others],
            st.lists(ANSWERS, min_size=1, max_size=5),
            st.lists(CELLS, max_size=3),
        ),
    }
)
"""Notebooks whose answers are code that can be parsed, though nothing else can be said for it."""


def drawn(number: int, chance: int) -> list[bytes]:
    """So many notebooks as JSON; the same ones for the same seed `chance`."""
    found: list[bytes] = []

    @seed(chance)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(ANSWERED, NOTEBOOKS, ANYTHING))
    def draw(notebook: Any) -> None:
        found.append(json.dumps(notebook).encode())

    draw()
    # It draws fewer where it takes some for the same: the first ones again make up for those.
    return [found[at % len(found)] for at in range(number)]
