"""Match submitters with a class list, and decide whose a file is if several may have sent it."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.classroom.intake.class_folder import Student
from grader.classroom.intake.roster_file import ClassList
from grader.classroom.intake.sighting import Sighting, Sightings, Submitter
from grader.classroom.notices import MOST_NAMED, Notice
from grader.printable import listed, printable

_KEY_ROLES = ("id", "login", "sis", "email", "local")
_NUMBER = re.compile(r"(\d+)\D*\Z")
"""Moodle's "Participant 123", in any language."""


@dataclass(frozen=True, slots=True)
class Match:
    """The student's id, or "" if no student fits, or more than one (`among`).

    `by_name` is true if only a name speaks for the match, and `by_word` if only a part of a
    folder's name does.
    """

    student: str = ""
    among: tuple[str, ...] = ()
    by_name: bool = False
    by_word: bool = False


class Matcher:
    """Looks submitters up in a class list. Several answers count as none."""

    def __init__(self, classes: ClassList) -> None:
        self._kind = classes.roster.kind
        self.is_empty = not classes.known
        self._index: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._words: dict[str, list[str]] = {}
        for student, known in classes.known.items():
            words = map(word_key, known["name"].split())
            self._words[student] = [word for word in words if len(word) > 1]
            for role, key in _keys(known, student):
                if key:
                    self._index[role, key].add(student)

    def match(self, submitter: Submitter) -> Match:
        """Match by id, login, registry id and address, and then by name."""
        number = self._by_number(submitter)
        strong = number or self._first(submitter.keys)
        address = self._find("email", submitter.email)
        if strong and address and not strong & address:
            return Match(among=tuple(sorted(strong | address)))  # two columns contradict each other
        if found := strong or address:
            return _one(found)
        if found := self._by_name(submitter):
            return _one(found, by_name=True)
        for ending in _endings(submitter.keys):  # "backprop-ada-lovelace" is ada-lovelace's
            if found := self._first([ending]):
                return _one(found, by_word=submitter.folder)
        found = self._first(submitter.words, union=True)
        return _one(found, by_word=submitter.folder)

    def is_listed(self, submitter: Submitter) -> bool:
        """True if a line of the list has both the platform's number and the name."""
        if submitter.canvas:
            name = self._by_name(submitter)
        else:
            name = self._find("name", name_key(submitter.name))
        return not self._numbered(submitter).isdisjoint(name)

    def is_another(self, submitter: Submitter) -> bool:
        """True if the list has the platform's number, but under other names."""
        number, squeezed = self._numbered(submitter), word_key(submitter.name)
        return bool(number) and not any(self._may_be(student, squeezed) for student in number)

    def _numbered(self, submitter: Submitter) -> set[str]:
        """The students who have the number that Canvas or Moodle gave."""
        canvas = self._find("id", submitter.canvas)
        return canvas or self._find("participant", submitter.participant)

    def _by_number(self, submitter: Submitter) -> set[str]:
        if submitter.participant:
            return self._find("participant", submitter.participant)
        found = self._find("id", submitter.canvas)
        if self._kind == "canvas" or not submitter.name:
            return found
        # Another system's number may be the same by chance. Then the name belongs to another line,
        # or has nothing in common with this one. It tells no more, as files squeeze it together.
        squeezed = word_key(submitter.name)
        named = self._find("word", squeezed)
        return found & named if named else {one for one in found if self._may_be(one, squeezed)}

    def _may_be(self, student: str, squeezed: str) -> bool:
        words = self._words[student]
        return not words or any(word in squeezed for word in words)

    def _by_name(self, submitter: Submitter) -> set[str]:
        if submitter.canvas:
            return self._find("word", word_key(submitter.name))
        for name in [submitter.name] if submitter.name else submitter.keys:
            if found := self._find("name", name_key(name)) or self._find("words", words_key(name)):
                return found
        return set()

    def _first(self, keys: Iterable[str], *, union: bool = False) -> set[str]:
        """The students of the first role that knows one of the keys; with `union`, of all roles."""
        found: set[str] = set()
        for role in _KEY_ROLES:
            for key in keys:
                found |= self._find(role, key)
            if found and not union:
                break
        return found

    def _find(self, role: str, key: str) -> set[str]:
        return set(self._index.get((role, fold(key)), ())) if key else set()


def _one(found: set[str], *, by_name: bool = False, by_word: bool = False) -> Match:
    if len(found) == 1:
        return Match(next(iter(found)), by_name=by_name, by_word=by_word)
    return Match(among=tuple(sorted(found)))


def _endings(keys: Iterable[str]) -> Iterator[str]:
    """The parts after each hyphen or underscore, the longest first, without single letters."""
    for key in keys:
        yield from (key[sign.end() :] for sign in re.finditer("[-_]", key[:-2]))


def _keys(known: Mapping[str, str], student: str) -> Iterator[tuple[str, str]]:
    yield from ((role, fold(known[role])) for role in ("id", "login", "sis", "email"))
    yield "id", fold(student)  # the one made up for a second line with the same id
    yield "local", fold(known["email"].partition("@")[0])
    if number := _NUMBER.search(known["participant"]):
        yield "participant", number[1]
    name = known["name"]
    yield from (("name", name_key(name)), ("words", words_key(name)))
    words = name.split()
    # "Last, First" as it is, else the last name may be of any number of words: "Ada van der Berg"
    for first in range(1 if "," in name else len(words)):
        yield "word", word_key("".join(words[first:] + words[:first]))


def word_key(name: str) -> str:
    """A name as Canvas writes it in file names, with the last name first."""
    return re.sub(r"[\W_]", "", fold(name))


def fold(text: str) -> str:
    """Make upper and lower case, and the two encodings of "é", the same. Accents are kept."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold()).strip()


def name_key(name: str) -> str:
    """The name without the differences between systems: "Last, First" is turned round."""
    last, comma, first = name.partition(",")
    return " ".join(fold(f"{first} {last}" if comma else name).replace("_", " ").split())


def words_key(name: str) -> str:
    """The words of the name in any order."""
    return " ".join(sorted(re.split(r"[\s,_.]+", fold(name).strip(" ,_."))))


def choose_readings(seen: Sightings, matcher: Matcher) -> Sightings:
    """Choose one reading for each file of the folder.

    A student may choose a name with which the names of their files begin like another student's.
    Therefore the longest name counts that the class list has together with its number. If there is
    none, the shortest name counts, unless that user has other files. In that case, the file gets a
    row of its own.
    """
    files = [_in_list(file, matcher) for file in seen.files]
    others = [_in_list(file, matcher) for file in seen.others]
    readings = defaultdict(set)
    for file in (*files, *others):
        for who in file.submitters:
            readings[who.id].add((who, *_further_users(file)))

    def chosen(file: Sighting) -> Sighting:
        users = (*file.submitters, *_further_users(file))
        alone = len(readings[users[0].id]) == 1 and matcher.is_empty
        if users == file.submitters or alone:
            return replace(file, instead=())
        row = Submitter(listed((who.id for who in users), "or"))
        late = any(reading.late for reading in (file, *file.instead))
        return replace(file, submitters=(row,), late=late, instead=())

    files, others = [*map(chosen, files)], [*map(chosen, others)]
    rows = {who.id for file in (*files, *others) for who in file.submitters} - readings.keys()
    notices = [*seen.notices]
    if rows:
        notices.append(Notice("readings", users=sorted(rows)))
    return replace(seen, files=files, others=others, notices=notices)


def _in_list(file: Sighting, matcher: Matcher) -> Sighting:
    """Remove the readings of a file that the class list rules out.

    A user whom the list has under another name did not hand in the file. The longest name counts
    that the list has together with its number. But a user who is missing from the list may have
    handed it in, so a shorter reading does not win against theirs.
    """
    if not file.instead:
        return file
    readings = [replace(file, instead=()), *file.instead]
    readings = [one for one in readings if not matcher.is_another(one.submitters[0])] or readings
    if matcher.is_listed(readings[-1].submitters[0]):
        return readings[-1]
    return replace(readings[0], instead=tuple(readings[1:]))


def _further_users(file: Sighting) -> tuple[Submitter, ...]:
    """The submitters by the other readings of a file who have another number."""
    users = (who for reading in file.instead for who in reading.submitters)
    return tuple(who for who in users if who.id != file.submitters[0].id)


def identify(
    submitters: Sequence[Submitter], classes: ClassList, matcher: Matcher
) -> tuple[list[Student], dict[Submitter, str], list[Notice]]:
    """The students, the id of each submitter among them, and notices about what was unclear."""
    students = {student.id: student for student in classes.students}
    matches = _match(submitters, matcher)
    called: dict[Submitter, str] = {}
    made_up: dict[str, str] = {}
    strangers = []
    for who in submitters:
        if matches[who].student:
            called[who] = matches[who].student
            continue
        if who.id not in made_up:
            user = who.id
            while user in students:
                user = f"{user}~2"  # somebody else has the id, such as another system's number
            made_up[who.id] = user
            students[user] = Student(user, who.name, who.email)
            if not matches[who].among:  # of those it is said below
                strangers.append(who)
        called[who] = made_up[who.id]
    notices = list(_unclear(matches))
    if classes.known and strangers:
        notices.append(Notice("strangers", names=[who.name or who.id for who in strangers]))
        notices += _damaged_ids((key for who in strangers for key in (who.id, *who.keys)), classes)
    return list(students.values()), called, notices


def _match(submitters: Iterable[Submitter], matcher: Matcher) -> dict[Submitter, Match]:
    matches = {who: matcher.match(who) for who in submitters}
    same = defaultdict(set)
    for who, match in matches.items():
        if match.by_name and who.name:
            same[match.student].add(who.id)
    # A system has given them different numbers, so they are two people, and one of them is not in
    # the list: nobody can say which.
    shared = {student for student, ids in same.items() if len(ids) > 1}
    # A folder with somebody's own name is theirs, and not one that has the name among its words.
    sure = {match.student for match in matches.values() if match.student and not match.by_word}

    def doubtful(match: Match) -> bool:
        return match.student in (shared if match.by_name else sure if match.by_word else ())

    return {
        who: Match(among=(match.student,)) if doubtful(match) else match
        for who, match in matches.items()
    }


def _unclear(matches: dict[Submitter, Match]) -> Iterator[Notice]:
    unclear = [(who, match) for who, match in matches.items() if match.among]
    for who, match in unclear[:MOST_NAMED]:
        name = printable(who.name or who.id)
        yield Notice("unclear", who=name, students=[*match.among])
    if more := len(unclear[MOST_NAMED:]):
        yield Notice("more-unclear", number=more)


def _damaged_ids(strangers: Iterable[str], classes: ClassList) -> Iterator[Notice]:
    listed = {known["id"].removesuffix(".0"): known["id"] for known in classes.known.values()}
    for id_ in sorted(strangers):
        short = id_.lstrip("0")
        if short and id_ not in listed.values() and short in listed:
            yield Notice("changed-id", id=printable(id_), listed=printable(listed[short]))
            return
