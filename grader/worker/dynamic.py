"""Names that hide what a statement does."""

DYNAMIC_NAMES = frozenset(
    {"exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__import__", "compile"}
)
"""With one of these, what a statement does cannot be read off its text."""
