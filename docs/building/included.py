"""Texts of the repository, as parts of the site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from grader.authoring.course import read_repository

PROJECT = Path(__file__).parents[2]

ON_THE_SITE: Mapping[str, str] = {
    "CONTRIBUTING.md": "maintainer/index.md",
    "CHANGELOG.md": "maintainer/changelog.md",
    "README.md": "index.md",
}
"""Files that are pages here; a link to any other leads to the repository."""

_LINK = re.compile(r"(?<=\]\()(?!https?://|#|mailto:)([^)\s#]+)(#[^)\s]*)?(?=\))")


def included(path: str, page: str) -> str:
    """A file of the repository, without its title, as part of a page.

    Args:
        path: the file, as in `CHANGELOG.md`.
        page: where it will stand, as in `maintainer/changelog.md`: links are written from there.

    Raises:
        ValueError: there is no such file.
    """
    if not (PROJECT / path).is_file():
        raise ValueError(f"{page} includes {path}, which is not there.")
    text = re.sub(r"\A# .*\n+", "", (PROJECT / path).read_text(encoding="utf-8"))
    up = "../" * page.count("/")

    def lead(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        if target in ON_THE_SITE:
            return f"{up}{ON_THE_SITE[target]}{anchor}"
        kind = "tree" if (PROJECT / target).is_dir() else "blob"
        return f"{read_repository()}/{kind}/main/{target}{anchor}"

    return _LINK.sub(lead, text).strip()
