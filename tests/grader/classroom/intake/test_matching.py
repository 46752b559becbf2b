from __future__ import annotations

from pathlib import Path

import pytest

from grader.classroom.intake.matching import Match, Matcher, name_key
from grader.classroom.intake.roster_file import read_roster
from grader.classroom.intake.sighting import Submitter

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ada",101,S17,ada,A
"Müller, Zoë",102,S18,zoe@x.edu,A
"Smith, John",103,S19,john,A
"Smith, John",104,S20,smith,A
"""
MOODLE = """Identifier,Full name,Email address
Participant 901,Ada Lovelace,ada@x.edu
Participant 102,Zoë Müller,zoe@x.edu
"""
PLAIN = """id,name,email
101,Grace Hopper,grace@x.edu
102,,
ada,Ada Lovelace,ada@y.edu
103,Bo van der Berg,
7,Emmy Noether,
7,Alan Turing,
cy,Cy van der Berg,
"""
ADA, ZOE = Match("101"), Match("102")


def by_name(student: str) -> Match:
    return Match(student, by_name=True)


def key(text: str) -> Submitter:
    return Submitter(text, keys=(text,))


def matcher(folder: Path, text: str) -> Matcher:
    path = folder / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return Matcher(read_roster(path))


@pytest.mark.parametrize(
    ("submitter", "expected"),
    [
        (key("101"), ADA),
        (key("ada"), ADA),
        (key("ADA"), ADA),
        (key("s17"), ADA),
        (key("zoe@x.edu"), ZOE),
        (Submitter("x", canvas="101", name="whoever"), ADA),
        (Submitter("x", canvas="999", name="lovelaceada"), by_name("101")),
        (Submitter("x", canvas="999", name="müllerzoë"), by_name("102")),
        (Submitter("x", canvas="999", name="smithjohn"), Match(among=("103", "104"))),
        (Submitter("x", name="Ada Lovelace"), by_name("101")),
        (Submitter("x", name="Lovelace, Ada"), by_name("101")),
        (Submitter("x", name="ada  LOVELACE"), by_name("101")),
        (Submitter("x", name="Zoe\u0308 Mu\u0308ller"), by_name("102")),
        (Submitter("x", name="Zoe Muller"), Match()),
        (Submitter("x", name="John Smith"), Match(among=("103", "104"))),
        (key("lovelace_ada"), by_name("101")),
        (key("Ada.Lovelace"), by_name("101")),
        (Submitter("hw_ada_v2", keys=("hw_ada_v2",), words=("hw", "ada", "v2")), ADA),
        (Submitter("ada_john", words=("ada", "john")), Match(among=("101", "103"))),
        (Submitter("x", participant="101"), Match()),
        (key("nobody"), Match()),
        (Submitter(""), Match()),
    ],
)
def test_in_a_list_of_canvas(tmp_path: Path, submitter: Submitter, expected: Match) -> None:
    assert matcher(tmp_path, CANVAS).match(submitter) == expected


@pytest.mark.parametrize(
    ("submitter", "expected"),
    [
        (Submitter("x", participant="901"), Match("Participant 901")),
        (Submitter("x", participant="901", name="Ada Lovelace"), Match("Participant 901")),
        (Submitter("x", participant="5", name="Zoë Müller"), by_name("Participant 102")),
        (Submitter("x", canvas="102", name="lovelaceada"), by_name("Participant 901")),
        (Submitter("x", email="ZOE@x.edu"), Match("Participant 102")),
        (key("zoe"), Match("Participant 102")),
        (
            Submitter("x", keys=("ada",), email="zoe@x.edu"),
            Match(among=("Participant 102", "Participant 901")),
        ),
    ],
)
def test_in_a_worksheet_of_moodle(tmp_path: Path, submitter: Submitter, expected: Match) -> None:
    assert matcher(tmp_path, MOODLE).match(submitter) == expected


@pytest.mark.parametrize(
    ("submitter", "expected"),
    [
        # a number of Canvas's that happens to be somebody else's here
        (Submitter("101", canvas="101", name="lovelaceada"), by_name("ada")),
        (Submitter("101", canvas="101", name="vanderbergcy"), by_name("cy")),
        (Submitter("101", canvas="101", name="turingalfred"), Match()),
        # a name that is not a line's: in other words, in another order, squeezed together
        (Submitter("101", canvas="101", name="murraygrace"), Match("101")),
        (Submitter("103", canvas="103", name="vanderbergbo"), Match("103")),
        (Submitter("103", canvas="103", name="bergbovander"), Match("103")),
        (Submitter("101", canvas="101", name="hoppergrace"), Match("101")),
        (Submitter("102", canvas="102", name="whoever"), Match("102")),
        # two lines with one number
        (Submitter("7", canvas="7", name="turingalan"), Match("7~2")),
        (Submitter("7", canvas="7", name="noetheremmy"), Match("7")),
        (Submitter("7", canvas="7", name="whoever"), Match()),
        (Submitter("anon_x", canvas="anon_x"), Match()),
    ],
)
def test_in_a_plain_list(tmp_path: Path, submitter: Submitter, expected: Match) -> None:
    assert matcher(tmp_path, PLAIN).match(submitter) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Lovelace, Ada", "ada lovelace", True),
        ("STRASSE", "Straße", True),
        ("Zoë", "Zoe\u0308", True),
        ("Zoë", "Zoe", False),
        ("Ada_Lovelace", "Ada Lovelace", True),
    ],
)
def test_names_that_are_the_same(one: str, other: str, same: bool) -> None:
    assert (name_key(one) == name_key(other)) is same
