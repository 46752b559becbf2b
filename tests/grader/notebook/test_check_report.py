"""What stands below a check cell."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import torch
from torch import Tensor

from grader.notebook.check_report import (
    OLD_VALUE,
    Row,
    Section,
    as_html,
    as_text,
    make_sections,
)
from grader.pictures.gradient_error import measure_error
from grader.program.compare import compare
from grader.verdict import Check, Diagnosis, Outcome, Place, Verdict, because
from tests.helpers.reasons import said

VALUES = torch.tensor([1.0, 2.0])
ROUGH = "This line is right to a few digits only."


def line(outcome: Outcome, value: object = VALUES, note: str = "", name: str = "dh") -> Row:
    """A gradient whose code gives the right values; in the notebook it has this one."""
    place, anew = Place("ex1-linear2", 2), compare(name, VALUES, VALUES)
    verdict = Verdict(name, outcome, anew, Check.RIGHT, Check.RIGHT, said(note), place)
    return Row(verdict, compare(name, value, VALUES))


AGAIN = OLD_VALUE
NUMBERS = "exact: True  | approximate: True  | maxdiff: 0.0"


def told(*rows: Row, stale: Diagnosis | None = None) -> str:
    return as_text(make_sections(rows, [row.verdict.name for row in rows], stale))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (line(Outcome.PASS), f"✓ pass: dh | {NUMBERS}"),
        (line(Outcome.PASS, note="By the way."), f"✓ pass: dh | {NUMBERS}\n  By the way."),
        (line(Outcome.TODO, ...), "… to do: dh"),
        (line(Outcome.CARRIED, note="See above."), "↓ carried: dh\n  See above."),
        (
            line(Outcome.PASS, 2 * VALUES),
            # What differs is an older value: its numbers would contradict the verdict.
            f"✓ pass, run again: dh\n  {AGAIN}",
        ),
        (
            # That it is right to a few digits only says nothing of an older value.
            line(Outcome.PASS, 2 * VALUES, ROUGH),
            f"✓ pass, run again: dh\n  {ROUGH} {AGAIN}",
        ),
        (line(Outcome.PASS, ...), f"✓ pass, run again: dh\n  {AGAIN}"),
        (line(Outcome.PASS, VALUES[:1]), f"✓ pass, run again: dh\n  {AGAIN}"),
        (
            # Beside the gradient of a forward pass of the student's own it may be anything.
            replace(line(Outcome.PASS, 2 * VALUES), is_own=True),
            "✓ pass: dh | exact: False | approximate: False | maxdiff: 2",
        ),
    ],
)
def test_one_gradients_line(given: Row, text: str) -> None:
    assert told(given) == text


def test_what_is_as_far_off_when_it_runs_anew_is_not_to_be_run_again() -> None:
    off = compare("dh", VALUES * (1 + 1e-4), VALUES)
    given = line(Outcome.PASS, note=ROUGH)
    given = replace(given, verdict=replace(given.verdict, comparison=off), comparison=off)
    assert told(given) == f"✓ pass: dh | {off.numbers}\n  {ROUGH}"
    assert off.numbers.endswith("| maxdiff: 2.0e-04")


def test_a_value_without_an_answer_cell_is_said_to_be_so() -> None:
    text = told(line(Outcome.TODO))
    assert text.startswith("… to do: dh\n  dh has a value, but no answer cell that you ran")


def test_what_is_said_of_several_lines_is_said_once() -> None:
    rows = [line(Outcome.CARRIED, note="See dlogits.", name=name) for name in ("dh", "dW2", "db2")]
    assert told(*rows) == "↓ carried: dh, dW2, db2\n  See dlogits."


def test_where_the_forward_pass_is_stale_the_card_says_first_what_to_run() -> None:
    assert told(line(Outcome.PASS, 2 * VALUES), stale=STALE).splitlines() == [
        "↻ forward pass",
        f"  {STALE.message}",
        f"  {STALE.hint}",
        "✓ pass, run again: dh",
    ]


ORDER = ("dlogits", "dh", "dW2", "db2")
REFERENCE = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
WRONG = REFERENCE + torch.tensor([[0.0, 0.0, 0.0], [0.0, -1.5, 0.5]])
HERE = Place("ex1-linear2", 2)
CODE = "dh = dlogits @ W2  # <i>&amp;</i>"
VAGUE = "This is not the gradient of the loss with respect to h."
DOUBLED = Diagnosis("constant-factor", "`dh` is 2 times the gradient.", "Which number is too much?")
SIGN = Diagnosis("sign", "`dh` has the other sign.", "Is there a minus in the forward pass?")
STALE = Diagnosis("stale-forward", "`h` is old.", "Run the forward cell again.")


def row(
    outcome: Outcome = Outcome.FAIL,
    value: object = WRONG,
    note: str = "",
    name: str = "dh",
    diagnosis: tuple[Diagnosis, ...] = (),
    place: Place | None = HERE,
    reference: Tensor = REFERENCE,
) -> Row:
    comparison = compare(name, value, reference)
    code = CODE if place else ""
    checks = Check.WRONG, Check.WRONG
    # Of right code, a wrong value in the notebook is an older one.
    anew = compare(name, reference, reference) if outcome is Outcome.PASS else comparison
    verdict = Verdict(name, outcome, anew, *checks, said(note), place, diagnosis, code=code)
    comparable = isinstance(value, Tensor) and value.shape == reference.shape
    error = measure_error(value, reference) if comparable else None  # type: ignore[arg-type]
    return Row(verdict, comparison, error)


def sections(*rows: Row, stale: Diagnosis | None = None) -> list[Section]:
    return make_sections(rows, ORDER, stale)


def text(*rows: Row, stale: Diagnosis | None = None) -> list[str]:
    return as_text(sections(*rows, stale=stale)).splitlines()


def test_where_nothing_is_to_say_of_the_difference_no_blank_follows() -> None:
    fact = text(replace(row(), error=None))[-1]
    assert fact == "  Shape (2, 3), as expected."


def test_a_wrong_gradient_in_full() -> None:
    assert text(row(diagnosis=(DOUBLED,))) == [
        "✗ fail: dh (ex1-linear2, line 2)",
        "    dh = dlogits @ W2  # <i>&amp;</i>",
        "  `dh` is 2 times the gradient.",
        "  Hint: Which number is too much?",
        "  Shape (2, 3), as expected. Largest difference 1.5 at [1, 1]: yours 3.5, autograd's 5.",
        '  Draw the error: heat_map("dh")',
    ]


def test_the_gradient_nearest_to_the_loss_comes_first() -> None:
    found = sections(*(row(name=name, note=name) for name in ("db2", "dlogits", "dh")))
    assert [section.names for section in found] == [("dlogits",), ("dh",), ("db2",)]


@pytest.mark.parametrize(
    ("note", "diagnosis", "said"),
    [
        (VAGUE, (), [VAGUE]),
        ("", (DOUBLED,), ["`dh` is 2 times the gradient."]),
        ("This line raised X.", (DOUBLED,), ["This line raised X.", DOUBLED.message]),
        ("", (DOUBLED, SIGN), [DOUBLED.message, f"Or: {SIGN.message}"]),
        ("", (DOUBLED, SIGN, STALE), [DOUBLED.message, f"Or: {SIGN.message}"]),
    ],
)
def test_the_sentence_is_said_and_then_two_diagnoses(
    note: str, diagnosis: tuple[Diagnosis, ...], said: list[str]
) -> None:
    lines = [line.strip() for line in text(row(note=note, diagnosis=diagnosis))[2:]]
    assert [line for line in lines if not line.startswith(("Hint:", "Shape", "Draw"))] == said


RIGHT_HERE = "In this notebook its value is right; with other numbers it is not."
SHAPES = "dh has shape (3, 2), but a gradient has its tensor's shape, (2, 3)."
SHAPE = because("shape", message=SHAPES)


@pytest.mark.parametrize(
    ("value", "diagnosis", "note", "fact"),
    [
        (WRONG.T, (), SHAPES, ""),
        (WRONG.T, (DOUBLED,), SHAPES, ""),
        # On the hidden networks only: what was measured here does not tell.
        (
            REFERENCE,
            (DOUBLED,),
            f"As the check runs it, {SHAPES}",
            f"In this notebook it has shape (2, 3), as expected. {RIGHT_HERE}",
        ),
    ],
)
def test_shapes_are_said_once(
    value: Tensor, diagnosis: tuple[Diagnosis, ...], note: str, fact: str
) -> None:
    found = row(value=value, diagnosis=diagnosis)
    found = replace(found, verdict=replace(found.verdict, reasons=(SHAPE,)))
    (section,) = sections(found)
    assert section.note == note
    assert " ".join(section.facts).startswith(fact)
    assert bool(section.facts) == bool(fact)


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        (row(value=WRONG.T), "Shape (3, 2), expected (2, 3)."),
        (
            row(value=REFERENCE),
            f"Shape (2, 3), as expected. {RIGHT_HERE}",
        ),
        # Rounding, or a forgotten epsilon: nobody says that it is right.
        (
            row(value=REFERENCE + 2**-22),
            "Shape (2, 3), as expected."
            " In this notebook it differs from autograd's by 2.38e\N{MINUS SIGN}07 at most.",
        ),
        (
            row(value=WRONG * float("nan")),
            "Shape (2, 3), as expected. 6 of 6 values are NaN or infinite.",
        ),
        (
            row(value=torch.tensor(3.0), reference=torch.tensor(1.0)),
            "Shape (), as expected. Largest difference 2: yours 3, autograd's 1.",
        ),
        (row(value=...), ""),
        # The value is an earlier run's: its numbers would contradict the error.
        (row(Outcome.ERROR), ""),
        (row(Outcome.REFUSED), ""),
    ],
)
def test_what_was_measured(given: Row, facts: str) -> None:
    (section,) = sections(given)
    assert " ".join(section.facts) == facts


@pytest.mark.parametrize(
    ("given", "is_offered"),
    [
        (row(), True),
        (row(value=WRONG * float("nan")), True),
        (row(Outcome.ERROR, WRONG * float("nan")), True),
        (row(Outcome.ERROR), False),
        (row(value=REFERENCE), False),
        (row(value=WRONG.T), False),
        (row(value=None), False),
    ],
)
def test_a_heat_map_is_offered_where_it_shows_something(given: Row, is_offered: bool) -> None:
    (section,) = sections(given)
    assert section.call == ('heat_map("dh")' if is_offered else "")


def test_the_call_works_in_a_notebook_that_has_not_imported_it() -> None:
    (section,) = make_sections([row()], ORDER, has_heat_map=False)
    assert section.call == 'from grader import heat_map; heat_map("dh")'


def test_what_is_said_of_several_is_said_once() -> None:
    rows = [row(Outcome.REFUSED, note="Autograd.", name=name) for name in ("dW2", "db2")]
    (section,) = sections(*rows)
    assert section.names == ("dW2", "db2")


def test_what_was_measured_keeps_gradients_apart() -> None:
    assert len(sections(row(name="dW2"), row(name="db2"))) == 2


def test_a_gradient_asked_for_twice_is_told_once() -> None:
    (section,) = sections(row(), row())
    assert section.names == ("dh",)


class Page(HTMLParser):
    """What a browser would find: elements with their classes, and whether all are closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, str]] = []
        self.folded: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.elements.append((tag, dict(attrs).get("class") or ""))
        assert not {name for name, _ in attrs} & {"id", "href", "src", "onclick"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "details" in self.open and "summary" not in self.open:
            self.folded.append(data)


EVERYTHING = (
    row(diagnosis=(DOUBLED, SIGN)),
    row(Outcome.ERROR, ..., "\x1b[31m</div><script>alert(1)</script>\u202e {{ 7 * 7 }}", "dW2"),
    row(Outcome.REFUSED, note="`W2.grad` is autograd's.", name="dlogits", place=None),
    row(Outcome.PASS, name="db2"),
)


def test_the_card_as_html_is_closed_and_needs_nothing() -> None:
    html = as_html(sections(*EVERYTHING, stale=STALE))
    page = Page(html)
    assert page.open == []
    assert {tag for tag, _ in page.elements} == {
        *("div", "style", "span", "code", "details", "summary")
    }
    assert "http" not in html
    assert "url(" not in html
    looks = [name for tag, name in page.elements if name.startswith("bpn-part")]
    assert looks == [
        f"bpn-part bpn-{look}" for look in ("stale", "refused", "fail", "error", "pass")
    ]


def test_what_a_student_wrote_is_text() -> None:
    html = as_html(sections(*EVERYTHING))
    assert "&lt;/div&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "# &lt;i&gt;&amp;amp;&lt;/i&gt;" in html
    assert "{{ 7 * 7 }}" in html
    assert all(character == "\n" or character.isprintable() for character in html)


def test_hints_are_folded_but_what_to_run_again_is_not() -> None:
    html = as_html(sections(*EVERYTHING, stale=STALE))
    folded = "".join(Page(html).folded)
    assert DOUBLED.hint in folded
    assert SIGN.hint in folded
    assert STALE.hint not in folded
    assert STALE.hint in html


def test_a_diagnosis_without_a_hint_folds_nothing() -> None:
    html = as_html(sections(row(diagnosis=(Diagnosis("sign", "The sign.", ""),))))
    assert "<details" not in html
    assert "Hint" not in html


def test_the_style_reaches_nothing_outside_of_the_card() -> None:
    html = as_html(sections(row()))
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", style[1])
    assert len(rules) > 10
    assert all(".bpn-card" in part for rule in rules for part in rule.split(","))


def test_both_forms_are_the_same_each_time() -> None:
    found = sections(*EVERYTHING, stale=STALE)
    assert as_html(found) == as_html(sections(*EVERYTHING, stale=STALE))
    assert as_text(found) == as_text(sections(*EVERYTHING, stale=STALE))
