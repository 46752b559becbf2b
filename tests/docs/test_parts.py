import re
from pathlib import Path

import pytest

from docs.building.parts import PARTS, fill
from docs.building.verdicts import verdict_table


def test_a_name_is_replaced_by_what_the_code_says() -> None:
    assert fill("a {{ verdicts }} b", "index.md") == f"a {verdict_table()} b"


def test_what_is_included_is_not_filled_again() -> None:
    assert "{{ hints: dprobs }}" in fill("{{ include: CONTRIBUTING.md }}", "maintainer/index.md")


@pytest.mark.parametrize("text", ["{{ nothing }}", "{{ verdicts: two }}"])
def test_a_name_of_nothing_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        fill(text, "index.md")


def test_every_part_stands_on_some_page(project: Path) -> None:
    pages = "".join(p.read_text(encoding="utf-8") for p in (project / "docs/pages").rglob("*.md"))
    assert [name for name in PARTS if f"{{{{ {name} }}}}" not in pages] == []


def test_limits_are_numbers_with_units() -> None:
    rows = PARTS["limits"]().splitlines()[2:]
    assert all(re.search(r"\| (none|\d[\d,]*( s| MiB)?.*|killed after \d.*) \|$", r) for r in rows)
