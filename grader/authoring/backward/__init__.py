"""The backward of forward lines, as text."""

from grader.authoring.backward.derive import Branch, Derived, derive

__all__ = ["Branch", "Derived", "derive"]
