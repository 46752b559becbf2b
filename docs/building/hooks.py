"""What MkDocs calls while it builds the site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from mkdocs.structure.toc import get_toc

from docs.building.included import PROJECT
from docs.building.notebook_page import Rendered, render
from docs.building.parts import fill
from docs.building.toc import nested
from grader.authoring.address import owner_and_name
from grader.authoring.course import read_repository

NOTEBOOKS = Path("build/docs/notebooks")
"""The blank notebooks with outputs, which `make docs` has run."""

FOLDER = "notebooks/"

_rendered: dict[str, Rendered] = {}


def on_config(config: Any) -> Any:
    """Say where the repository is, from the one place where its address stands."""
    config.repo_url = read_repository()
    config.repo_name = owner_and_name(config.repo_url)
    # It would look for its own style where a web server has its top.
    config.theme.static_templates.discard("404.html")
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each notebook."""
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    if not paths:
        raise PluginError(f"There are no notebooks in {NOTEBOOKS}: build with `make docs`.")
    for path in paths:
        page = f"{FOLDER}{path.stem}.md"
        _rendered[page] = render(nbformat.read(path, as_version=4))
        heading = f"---\ntitle: {json.dumps(_rendered[page].title, ensure_ascii=False)}\n---\n"
        files.append(File.generated(config, page, content=heading))
    for picture in (PROJECT / "docs").glob("*.svg"):
        target = f"assets/{picture.name}"
        files.append(File.generated(config, target, abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Put what the code says where a page has `{{ name }}`."""
    try:
        return fill(markdown, page.file.src_uri)
    except ValueError as error:
        raise PluginError(str(error)) from error


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Let a notebook's page hold the notebook."""
    rendered = _rendered.get(page.file.src_uri)
    if rendered is None:
        return html
    page.toc = get_toc(nested(rendered.headings))
    return rendered.html
