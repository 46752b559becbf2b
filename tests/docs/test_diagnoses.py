import pytest

from docs.building.diagnoses import catalogue, examples
from grader.diagnosis.kinds import Kind, hint

pytestmark = pytest.mark.slow  # eight submissions are graded


def test_every_kind_has_its_section_in_the_order_of_the_code() -> None:
    headings = [line for line in catalogue().splitlines() if line.startswith("### ")]
    assert headings == [f"### `{kind}`" for kind in Kind]


def test_every_kind_has_a_sentence_that_a_student_was_told() -> None:
    assert [kind for kind, told in examples().items() if not told] == []


def test_sections_give_the_catalogues_hints() -> None:
    text = catalogue()
    for kind, told in examples().items():
        for diagnosis in told:
            assert diagnosis.kind == kind
            assert f"> {diagnosis.message}" in text
    assert hint(Kind.BESSEL, "dbnvar") in text
