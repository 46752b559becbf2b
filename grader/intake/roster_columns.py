"""What the columns of a class list mean."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_NAMES = {
    "id": (
        "id, id number, user id, student id, student number, sid, matriculation number, id-nummer,"
        " matrikelnummer, numéro d'identification, número de id, número id, identificador,"
        " numero id"
    ),
    "login": (
        "login, login id, sis login id, username, user name, netid, net id, anmeldename,"
        " nom d'utilisateur, nombre de usuario, benutzername, nome utente, gebruikersnaam"
    ),
    "sis": "sis user id, sis id, lms user id, integration id",
    "email": (
        "email, e-mail, mail, email address, e-mail address, e-mail-adresse, adresse de courriel,"
        " dirección de correo, correo electrónico, endereço de email, indirizzo email, e-mailadres"
    ),
    "name": (
        "name, student, student name, full name, fullname, vollständiger name, nom complet,"
        " nombre completo, nome completo, volledige naam"
    ),
    "first": "first name, given name, forename, vorname, prénom, nombre, nome, voornaam",
    "last": (
        "last name, surname, family name, nachname, nom, nom de famille, apellidos, apellido(s),"
        " cognome, apelido, achternaam"
    ),
    "participant": "identifier, id des teilnehmers, teilnehmer/in, identifiant",
}
"""Each system's and language's words for a column that tells who somebody is."""

ID_ORDER = ("id", "login", "sis", "participant", "email", "name")
"""The first of these that a row has is what its student is called."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column holds what; `kind` is the system that writes such a list."""

    kind: str
    places: Mapping[str, int]

    def value(self, role: str, cells: Sequence[str]) -> str:
        """What the row says there; "" where it has no such column."""
        place = self.places.get(role)
        if place is None or place >= len(cells):
            return ""
        return unicodedata.normalize("NFC", cells[place]).strip()


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


_ROLES = {_plain(word): role for role, words in _NAMES.items() for word in words.split(",")}


def columns_of(row: Sequence[str]) -> Columns | None:
    """The columns, if the row is a header."""
    names = [_plain(cell) for cell in row]
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        role = _ROLES.get(name)
        if role:
            places.setdefault(role, place)
    if not places or any("@" in cell for cell in row):
        return None
    known = set(names)
    if "sisloginid" in known or {"student", "id", "section"} <= known:
        kind = "canvas"
    elif "id" in known and ("lmsuserid" in known or {"first_name", "last_name"} <= set(row)):
        kind = "nbgrader"
    elif "sid" in known:
        kind = "gradescope"
    elif "participant" in places or ("first" in places and "last" in places):
        kind = "moodle"
    else:
        kind = "plain"
    return Columns(kind, places)


def columns_without_header(rows: Sequence[Sequence[str]]) -> Columns:
    """The columns of a list that says nothing of them: an id, then perhaps a name, an address."""
    width = max(map(len, rows), default=0)
    address = {
        place: sum("@" in row[place] for row in rows if place < len(row)) for place in range(width)
    }
    places = {"id": 0}
    rest = list(range(1, width))
    email = max(address, key=lambda place: address[place], default=0)
    if address.get(email):
        places["email"] = email
    names = [place for place in rest if place != places.get("email")]
    if names:
        places["name"] = names[0]
    return Columns("plain", places)
