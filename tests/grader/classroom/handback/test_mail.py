from __future__ import annotations

from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest

from grader.classroom.gradebook.read_grades import Graded
from grader.classroom.handback.mail import USUAL, address_in, address_of, message, sender_in
from grader.classroom.handback.recipients import Recipient
from grader.classroom.intake.class_folder import Student


def test_an_address() -> None:
    found = address_of(Student("zoe", 'Müller, "Zoë" <b@x.org>', "zoe+c@x.org"))
    assert found is not None
    assert (found.addr_spec, found.display_name) == ("zoe+c@x.org", "Müller Zoë b x org")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "a@x.org, b@x.org",
        "a@x.org;b@x.org",
        "A <a@x.org>",
        "a@x.org\nBcc: b@x.org",
        '"a b"@x.org',
        "zoë@x.org",
        "a@exämple.org",
        "a..b@x.org",
        "(b@x.org)a@x.org",
        "a@x.org ",
    ],
)
def test_no_address(text: str) -> None:
    assert address_in(text) is None


@pytest.mark.parametrize(
    ("text", "name", "address"),
    [
        ("ada@x.org", "", "ada@x.org"),
        ("Ada L <ada@x.org>", "Ada L", "ada@x.org"),
        ('"L, Ada" <ada@x.org>', "L, Ada", "ada@x.org"),
        ("<ada@x.org>", "", "ada@x.org"),
    ],
)
def test_a_sender(text: str, name: str, address: str) -> None:
    found = sender_in(text)
    assert found is not None
    assert (found.display_name, found.addr_spec) == (name, address)


@pytest.mark.parametrize(
    "text", ["Ada", "Ada <ada>", "a@x.org, b@x.org", "Ada <a@x.org", "A\nBcc: b@x.org <a@x.org>"]
)
def test_no_sender(text: str) -> None:
    assert sender_in(text) is None


@pytest.mark.parametrize(
    ("status", "graded"),
    [
        ("graded", True),
        ("late", True),
        ("graded 01_a; missing 02_b", True),
        ("late 01_a; awarded 02_b", True),
        ("graded; 1 unreadable file", True),
        ("awarded", False),
        ("awarded 01_a; missing 02_b", False),
        ("awarded 01_a; excused 02_b; 1 unreadable file", False),
    ],
)
def test_gradients_are_spoken_of_where_some_were_graded(status: str, graded: bool) -> None:
    said = said_to_ada(status, "1")
    assert "1 of 4 points" in said
    assert ("says of each gradient" in said) is graded


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("missing", "nothing that was due has come from you."),
        ("excused", "you are excused, and nothing is graded."),
        ("excused 01_a; missing 02_b", "nothing of yours is graded (excused 01_a; missing 02_b)."),
        ("unreadable", "what you handed in could not be read."),
        ("missing; 1 unreadable file", "what you handed in could not be read."),
        ("unreadable 01_a; missing 02_b", "what you handed in could not be read."),
    ],
)
def test_no_points_are_spoken_of_where_nothing_was_graded(status: str, sentence: str) -> None:
    said = said_to_ada(status, "0")
    assert sentence in said
    assert "points" not in said


def said_to_ada(status: str, points: str) -> str:
    ada = Student("ada", "Ada", "ada@x.org")
    to = address_of(ada)
    assert to
    recipient = Recipient(ada, Path("ada.html"), Graded(ada, points, "4", status, False), ())
    mail = message_from_bytes(message(to, recipient, b"", USUAL), policy=default)
    text = mail.get_body(("plain",))
    assert text
    return str(text.get_content())
