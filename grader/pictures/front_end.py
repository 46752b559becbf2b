"""Where a picture is shown: to a person at a front end, or to a program that runs a notebook."""

from __future__ import annotations

import sys
from base64 import b64encode
from html import escape


def is_live() -> bool:
    """True if a person runs this cell, as in JupyterLab, VS Code or Colab.

    A program that runs a whole notebook lets nobody type; there, what is displayed is for whoever
    reads the notebook later, without a kernel.
    """
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    if not hasattr(shell, "get_parent"):  # a terminal, or no shell at all
        return False
    return bool((shell.get_parent().get("content") or {}).get("allow_stdin", False))


DARK = tuple(
    f"{page} .bpn-figure"
    for page in (
        '[data-jp-theme-light="false"]',  # JupyterLab
        '[theme="dark"]',  # Colab
        '[data-theme="dark"]',  # the site
        ".vscode-dark",
    )
)
BRIGHTER = 1.6
"""By how much a figure's mid-tones are brightened on a dark page."""

DARK_STYLE = f"<style>{', '.join(DARK)} {{ filter: brightness({BRIGHTER}); }}</style>"


def image_element(png: bytes, words: str, width: int) -> str:
    """A figure as an element of a page; JupyterLab lets no other picture carry words.

    Args:
        png: the bytes of a PNG file.
        words: what stands for it where it cannot be seen.
        width: how wide it is shown, in pixels.
    """
    source = f"data:image/png;base64,{b64encode(png).decode()}"
    described = f'alt="{escape(words)}" width="{width}"'
    return f'{DARK_STYLE}<img class="bpn-figure" {described} src="{source}">'
