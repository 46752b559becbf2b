"""Texts of the repository, as parts of the site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from grader.course.read import read_repository

PROJECT = Path(__file__).parents[2]

ON_THE_SITE: Mapping[str, str] = {
    "CONTRIBUTING.md": "maintainer/index.md",
    "CHANGELOG.md": "maintainer/changelog.md",
    "README.md": "index.md",
}
"""Files that are pages here; a link to any other leads to the repository."""

_LINK = re.compile(r"(?<=\]\()(?!https?://|#|mailto:)([^)\s#]+)(#[^)\s]*)?(?=\))")


def included(name: str, page: str) -> str:
    """A file of the repository without its title, or one of its sections, for a page.

    Args:
        name: a path, as in `CHANGELOG.md`, or with a heading, as in `README.md#A whole class`.
        page: where it will stand, as in `maintainer/changelog.md`: links are written from there.

    Raises:
        ValueError: there is no such file or heading.
    """
    path, _, heading = name.partition("#")
    if not (PROJECT / path).is_file():
        raise ValueError(f"{page} includes {path}, which is not there.")
    text = (PROJECT / path).read_text(encoding="utf-8")
    text = _section(text, heading, name) if heading else re.sub(r"\A# .*\n+", "", text)
    up = "../" * page.count("/")

    def lead(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        if target in ON_THE_SITE:
            return f"{up}{ON_THE_SITE[target]}{anchor}"
        kind = "tree" if (PROJECT / target).is_dir() else "blob"
        return f"{read_repository()}/{kind}/main/{target}{anchor}"

    return _LINK.sub(lead, text).strip()


def _section(text: str, heading: str, name: str) -> str:
    """What stands below a heading, up to the next one that is no deeper."""
    found = re.search(rf"^(#+) {re.escape(heading)}\n", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"There is no section {name}.")
    rest = text[found.end() :]
    following = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: following.start()] if following else rest
