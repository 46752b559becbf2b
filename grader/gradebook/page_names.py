"""The name of each student's page, safe on every file system and nobody else's."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")
"""What Windows takes for a device."""
_LONGEST_STEM = 40
_DIGITS = 16


def page_name(student: str) -> str:
    """The file name of a student's page.

    A plain id is its own name. Any other has what is readable of it, a dot, and a part of its
    hash: no plain id holds a dot, so nobody can choose an id whose page replaces another's, also
    where "Ada" and "ada" are one name.

    >>> page_name("ada-lovelace"), page_name("../Éva")
    ('ada-lovelace.html', 'eva.9a3aa73fb469c8f1.html')
    """
    if _PLAIN.fullmatch(student) and not _RESERVED.fullmatch(student):
        return f"{student}.html"
    letters = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:_LONGEST_STEM].strip("-") or "student"
    if _RESERVED.fullmatch(stem):
        stem = f"student-{stem}"  # a device's name is one whatever follows its dot
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{stem}.{digest}.html"
