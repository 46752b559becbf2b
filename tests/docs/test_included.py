import pytest

from docs.building.included import included
from grader.course.read import read_repository


def test_a_file_comes_without_its_title() -> None:
    text = included("CHANGELOG.md", "maintainer/changelog.md")
    assert not text.startswith("#")
    assert "\n## [" in text


def test_a_section_ends_where_the_next_begins() -> None:
    text = included("README.md#A whole class", "instructor/class.md")
    assert "grader grade submitted/" in text
    assert "environment.yml" not in text
    assert "### " not in text


def test_links_lead_to_pages_of_the_site_or_to_the_repository() -> None:
    text = included("README.md#You are a maintainer", "maintainer/index.md")
    assert "](../maintainer/index.md)" in text
    assert f"]({read_repository()}/tree/main/notebooks/source)" in text


@pytest.mark.parametrize("name", ["NOTHING.md", "README.md#Nothing"])
def test_what_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match=name.replace("#Nothing", "")):
        included(name, "index.md")
