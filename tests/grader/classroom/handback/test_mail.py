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
        ("excused 01_a; missing 02_b", False),
        ("missing; 1 unreadable file", False),
    ],
)
def test_gradients_are_spoken_of_where_some_were_graded(status: str, graded: bool) -> None:
    ada = Student("ada", "Ada", "ada@x.org")
    to = address_of(ada)
    assert to
    recipient = Recipient(ada, Path("ada.html"), Graded(ada, "1", "4", status, False), ())
    mail = message_from_bytes(message(to, recipient, b"", USUAL), policy=default)
    text = mail.get_body(("plain",))
    assert text
    said = text.get_content()
    assert "1 of 4 points" in said
    assert ("says of each gradient" in said) is graded
