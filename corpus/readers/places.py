"""Where things stand in this checkout."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
NOTEBOOKS = PROJECT / "notebooks"
CORPUS = PROJECT / "corpus"
ANSWERS = CORPUS / "answers"
HONEST = CORPUS / "honest"
ATTACKS = CORPUS / "attacks"
PEOPLE = CORPUS / "people"
PUBLIC = CORPUS / "public"
MISTAKES = CORPUS / "mistakes"
BUGS = CORPUS / "bugs"
