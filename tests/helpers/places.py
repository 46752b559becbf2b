"""Where things stand in this checkout."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOKS = PROJECT / "notebooks"
ANSWERS = PROJECT / "tests" / "answers"
HONEST = PROJECT / "tests" / "honest"
