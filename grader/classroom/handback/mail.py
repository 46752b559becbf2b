"""A student's page as a message that a mail program can open and send."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP

from grader.classroom.gradebook.table import Status
from grader.classroom.handback.platform_names import PAGE
from grader.classroom.handback.recipients import Recipient
from grader.classroom.intake.class_folder import Student
from grader.printable import printable

# Anything else, such as a comma, could be a second address to some mail program.
_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
_LONGEST_NAME = 60

_TEXT = """\
Hello {name},

{said}
Save the page, and open it in a browser; it needs no network.
"""

_REASONS = "The attached page says of each gradient whether it is right and, where it is not, why."
_SAID_THERE = "The attached page says so, too."


@dataclass(frozen=True, slots=True)
class Letter:
    """What all messages have in common; `sender` is None where the mail program knows."""

    subject: str = "Your graded notebooks"
    sender: Address | None = None


USUAL = Letter()


def address_of(student: Student) -> Address | None:
    """The one address that the class list has; None where it has none that can be used."""
    return address_in(student.email, _shown(student.name))


def address_in(text: str, name: str = "") -> Address | None:
    """The address written there, if it is one, in letters that every mail server takes."""
    if not _ADDRESS.fullmatch(text):
        return None
    try:
        return Address(name, addr_spec=text)
    except (ValueError, IndexError):  # such as two dots in a row
        return None


def sender_in(text: str) -> Address | None:
    """The address that messages come from: alone, or behind a name, as in `Ada <ada@uni.edu>`."""
    name, bracket, rest = text.strip().rpartition("<")
    if not bracket:
        return address_in(rest)
    return address_in(rest[:-1], name.strip(' "')) if rest.endswith(">") else None


def message(to: Address, recipient: Recipient, page: bytes, letter: Letter) -> bytes:
    """The message with the page attached; the same page gives the same bytes."""
    made = EmailMessage(SMTP)
    made["Subject"] = printable(letter.subject)
    if letter.sender:
        made["From"] = letter.sender
    made["To"] = to
    made["X-Unsent"] = "1"  # Outlook opens the file to be sent, not as a mail that came
    name = to.display_name or printable(recipient.student.id)
    made.set_content(_TEXT.format(name=name, said=_said(recipient)))
    made.add_attachment(
        page, maintype="text", subtype="html", filename=PAGE, params={"charset": "utf-8"}
    )
    made.set_boundary(f"page-{hashlib.sha256(page).hexdigest()[:32]}")
    return made.as_bytes()


def _said(recipient: Recipient) -> str:
    grade = recipient.grade
    points = f"your notebooks have {grade.points} of {grade.most} points"
    match grade.status:
        case "missing":
            return "nothing that was due has come from you. The attached page names what was due."
        case "excused":
            return f"you are excused, and nothing is graded. {_SAID_THERE}"
        case "awarded":
            return f"{points}, which your instructor gave. {_SAID_THERE}"
        case "graded":
            return f"{points}. {_REASONS}"
    # Of several notebooks, such as "awarded 01_...; missing 02_...".
    statuses = {part.split(" ")[0] for part in grade.status.split("; ")}
    if statuses.isdisjoint((Status.GRADED, Status.LATE, Status.AWARDED)):
        if Status.UNREADABLE in grade.status:
            return "what you handed in could not be read. The attached page says why."
        return f"nothing of yours is graded ({grade.status}). {_SAID_THERE}"
    graded = not statuses.isdisjoint((Status.GRADED, Status.LATE))
    return f"{points} ({grade.status}). {_REASONS if graded else _SAID_THERE}"


def _shown(name: str) -> str:
    """What of a name can stand before an address, whatever a mail program makes of commas."""
    kept = (
        each if unicodedata.category(each)[0] in "LMN" or each in " '-" else " "
        for each in unicodedata.normalize("NFC", name)
    )
    return " ".join("".join(kept).split())[:_LONGEST_NAME].strip()
