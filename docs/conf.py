"""The site, as Sphinx reads it: `make docs` builds it from pages/ and from the code (building/)."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
sys.path.insert(0, str(PROJECT))

from sphinx.application import Sphinx  # noqa: E402  the project's own modules come after its path

from docs.building import formulas, notebooks, parts  # noqa: E402
from grader.authoring.course import read_repository  # noqa: E402

# Sphinx reads this file inside its folder.
with contextlib.chdir(PROJECT):
    REPOSITORY = read_repository()

project = "Backprop Ninja"
author = "The Backprop Ninja authors"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
]

myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 4
# `make docs` has run them; widgets would need scripts from elsewhere.
nb_execution_mode = "off"
# The default knows no tables.
nb_render_markdown_format = "myst"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}

# Docstrings say `x` as Markdown does.
default_role = "code"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
toc_object_entries_show_parents = "hide"
copybutton_selector = "div:not(.output) > div.highlight pre"
copybutton_prompt_text = "$ "

html_theme = "sphinx_book_theme"
html_title = "Backprop Ninja"
html_theme_options = {
    "repository_url": REPOSITORY,
    "use_repository_button": True,
    "use_download_button": False,
    "home_page_in_toc": True,
    "navbar_persistent": [],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_favicon = "pages/assets/favicon.svg"
# Relative to this file: `make docs` puts the pages and the pictures together in build/docs.
html_static_path = ["../build/docs/pages/assets"]
# The gradebook of the example, to click through.
html_extra_path = ["../build/docs/pages/example"]
exclude_patterns = ["example"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
# Sources would hold the answers that folded hints lead to, and cost twice the space.
html_copy_source = False
# It would fetch the pages that it lists, which no browser does from disk.
html_show_search_summary = False
html_use_index = False
html_domain_indices = False
html_show_sphinx = False
html_show_copyright = False
html_math_renderer = "mathml"


def setup(app: Sphinx) -> None:
    """Let pages say what the code says, formulas need no script, notebooks have one title."""
    app.connect("source-read", parts.fill_page)
    app.connect("doctree-read", notebooks.put_all_under_the_title)
    app.add_html_math_renderer("mathml", (formulas.visit, None), (formulas.visit_block, None))
