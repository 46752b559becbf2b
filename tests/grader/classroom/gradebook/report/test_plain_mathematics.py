from __future__ import annotations

import re

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.report.lecture_page import plain_mathematics
from grader.program.course import HINTS_FILE, read_hints


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


def test_no_hint_of_the_course_shows_its_latex() -> None:
    for exercise, gradients in read_hints(COURSE.folder / HINTS_FILE).items():
        for gradient, texts in gradients.items():
            for text in texts:
                plain = re.sub(r"`[^`]*`", "", plain_mathematics(text))
                assert not re.search(r"[\\${}]", plain), f"{exercise} {gradient}: {plain}"
