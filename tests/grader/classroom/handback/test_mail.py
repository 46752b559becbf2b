from __future__ import annotations

import pytest

from grader.classroom.handback.mail import address_in, address_of, sender_in
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
