from __future__ import annotations

import pytest

from grader.classroom.handback.mail import address_in, address_of
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
