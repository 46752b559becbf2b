"""Whose a file is, where its name can be read in several ways."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from grader.classroom.intake.about_folder import named
from grader.classroom.intake.matching import Matcher
from grader.classroom.intake.sighting import Sighting, Sightings, Submitter
from grader.printable import listed


def choose_readings(seen: Sightings, matcher: Matcher | None) -> Sightings:
    """The folder with one reading for each file.

    A student may choose a name with which their files' names begin like another student's. So the
    longest name counts that stands in the class list together with its number. If there is none,
    the shortest name counts, unless that user has other files: then this one gets a row of its own.
    """
    files = [_in_list(file, matcher) for file in seen.files]
    others = [_in_list(file, matcher) for file in seen.others]
    readings = defaultdict(set)
    for file in (*files, *others):
        for who in file.submitters:
            readings[who.id].add((who, *_further_users(file)))

    def chosen(file: Sighting) -> Sighting:
        users = (*file.submitters, *_further_users(file))
        alone = len(readings[users[0].id]) == 1 and matcher is None
        if users == file.submitters or alone:
            return replace(file, instead=())
        row = Submitter(listed((who.id for who in users), "or"))
        late = any(reading.late for reading in (file, *file.instead))
        return replace(file, submitters=(row,), late=late, instead=())

    files, others = [*map(chosen, files)], [*map(chosen, others)]
    rows = {who.id for file in (*files, *others) for who in file.submitters} - readings.keys()
    notices = [*seen.notices]
    if rows:
        notices.append(
            "Some names of files can be read in several ways, so that these users may be one or the"
            f" other, and each has a row of its own: {named(sorted(rows))}. A class list that has"
            " both their numbers and their names (--roster) can tell."
        )
    return replace(seen, files=files, others=others, notices=notices)


def _in_list(file: Sighting, matcher: Matcher | None) -> Sighting:
    """The file without the readings that the class list rules out.

    A user whom the list has under another name did not hand it in. The longest name counts that
    the list has together with its number. A user who is missing from the list may have handed it
    in, so a shorter reading does not win against theirs.
    """
    if not file.instead or matcher is None:
        return file
    readings = [replace(file, instead=()), *file.instead]
    readings = [one for one in readings if not matcher.is_another(one.submitters[0])] or readings
    if matcher.is_listed(readings[-1].submitters[0]):
        return readings[-1]
    return replace(readings[0], instead=tuple(readings[1:]))


def _further_users(file: Sighting) -> tuple[Submitter, ...]:
    """Those who handed it in by its other readings, and have another number."""
    users = (who for reading in file.instead for who in reading.submitters)
    return tuple(who for who in users if who.id != file.submitters[0].id)
