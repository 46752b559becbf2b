from __future__ import annotations

import re

import pytest

from corpus.readers.lecture_course import COURSE
from grader.notebook.hint_text import as_text, heading, plain_mathematics
from grader.notebook.hints import Hint, read_levels

EVERY_HINT = [
    (exercise, gradient, text)
    for exercise, gradients in read_levels(COURSE).items()
    for gradient, texts in gradients.items()
    for text in texts
]


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"$\varepsilon / n$", "ε / n"),
        (r"$x^{-1}$ is $-x^{-2}$", "x⁻¹ is -x⁻²"),
        (r"$e^x$", "e^x"),
        (r"$\ln x$", "ln x"),
        (r"$a_{11}$", "a_11"),
        (r"$\tanh'(x) = 1 - \tanh^2(x)$", "tanh'(x) = 1 - tanh²(x)"),
        (r"$-\tfrac12$", "-1/2"),
        (r"$\frac1n$ or $\frac{n}{n-1}$", "1/n or n/(n-1)"),
        (r"$\frac1n\Bigl(n\,a\Bigr)$", "1/n (n a)"),
        (r"$\mathrm{d}\hat{x}_i\,(x_i - \mu)$", "dx̂_i (x_i - μ)"),
        (r"$p_i \sum_k q_k$", "p_i Σ_k q_k"),
        (r"$\sqrt{v + 1}$ and $\sqrt v$", "√(v + 1) and √v"),
        (r"$$\gamma \unknown{x}$$", "γ unknownx"),
        (r"$\alpha \lambda \theta \times \partial x$", "α λ θ × ∂ x"),
        ("`-x**-2` is `{}` \\ code", "`-x**-2` is `{}` \\ code"),
    ],
)
def test_mathematics_in_plain_text(latex: str, plain: str) -> None:
    assert plain_mathematics(latex) == plain


@pytest.mark.parametrize(("exercise", "gradient", "text"), EVERY_HINT)
def test_no_hint_of_the_course_shows_its_latex(exercise: str, gradient: str, text: str) -> None:
    plain = re.sub(r"`[^`]*`", "", plain_mathematics(text))
    assert not re.search(r"[\\${}]", plain), f"{exercise} {gradient}: {plain}"


@pytest.mark.parametrize("width", [10, 40, 80, 1000])
def test_lines_are_no_longer_than_the_terminal(width: int) -> None:
    for _, gradient, text in EVERY_HINT:
        for texts in ((text,), (text, text)):
            lines = as_text(Hint(gradient, 1, 3, texts), width).split("\n")
            room = max(20, min(width, 100))
            assert all(len(line) <= room or " " not in line.strip() for line in lines)


def test_one_and_several() -> None:
    one = Hint("dh", 2, 3, ("Turn\nit *over*.\n\nReally.",))
    assert as_text(one) == "Hint 2 of 3 for dh\n\nTurn it *over*.\n\nReally."
    several = Hint("dh", 3, 3, ("One.", "Two.\n\nStill two."), no_more=True)
    assert as_text(several) == (
        "There are no more hints for dh; here are all 3 again.\n\n"
        "1. One.\n\n2. Two.\n\n   Still two."
    )


def test_the_heading_before_anything_was_asked() -> None:
    none = Hint("dh", 0, 3, ())
    assert heading(none) == "You have not asked for a hint for dh yet; there are 3."
    assert as_text(none) == heading(none)
