"""The address of a repository on GitHub."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"(?:https://github\.com/)?([A-Za-z0-9][A-Za-z0-9-]*/[\w.-]*\w[\w.-]*)")


class NotAnAddress(ValueError):
    """What was given names no repository; the message is a sentence."""


def repository_address(text: str) -> str:
    """The full address of what is given as `owner/name` or as an address.

    Examples:
        >>> repository_address("ada/backprop-2027")
        'https://github.com/ada/backprop-2027'
        >>> repository_address("https://github.com/ada/backprop-2027.git")
        'https://github.com/ada/backprop-2027'

    Raises:
        NotAnAddress: it is neither, or not on GitHub, which is where Colab looks for notebooks.
    """
    match = _ADDRESS.fullmatch(text.strip().removesuffix("/").removesuffix(".git"))
    if match is None:
        raise NotAnAddress(
            f"`{text}` is no repository on GitHub: it should look like owner/name, as in "
            "https://github.com/owner/name."
        )
    return f"https://github.com/{match[1]}"


def owner_and_name(address: str) -> str:
    """`owner/name` of a full address."""
    return address.removeprefix("https://github.com/")
