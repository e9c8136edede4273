"""Lists of people as they are pasted: who is in a class, and who has more days. A message for each line that is odd."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from app.teaching.sheets import SheetError, rows_of
from app.teaching.words import LONGEST_LINE, name_fault, one_line

HEADS: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "full name", "student", "student name", "learner", "display name"),
    "first": ("first name", "firstname", "given name", "vorname"),
    "last": ("last name", "lastname", "surname", "family name", "nachname"),
    "id": ("id", "external_id", "external id", "sis user id", "id number", "student id", "username", "matrikelnummer"),
    "label": ("label", "group", "section", "groups"),
}
"""What columns are called, here and where rosters come from; of several that are there, the last one counts."""
DAYS = re.compile(r"\+?(-?\d{1,4})(?: ?d(?:ays?)?)?")
MOST_DAYS = 366
NO_LETTERS = "\0\ufffd"
"""What a file in other letters leaves behind, and what a browser makes of it."""
Columns = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is odd about one line."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One line about somebody."""

    line: int
    name: str
    external_id: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """The lines that can be used, and what is odd about the others."""

    entries: tuple[Entry, ...]
    faults: tuple[Fault, ...]


def read_roster(text: str) -> Listing:
    """People, a line for each: a name, then an id, then a label; or the columns that a first line names."""
    try:
        rows = rows_of(text)
    except SheetError as error:
        return Listing((), (Fault(error.line, str(error)),))
    columns = _columns(rows[0][1]) if rows else {}
    entries: list[Entry] = []
    faults: list[Fault] = []
    lines: dict[str, int] = {}
    for line, cells in rows[1:] if columns else rows:
        entry = _entry(line, cells, columns)
        fault = _fault(entry, cells, lines)
        if fault:
            faults.append(Fault(line, fault))
            continue
        entries.append(entry)
        lines |= {entry.external_id: line} if entry.external_id else {}
    return Listing(tuple(entries), tuple(faults))


def _columns(cells: Sequence[str]) -> Columns:
    """What each column holds; nothing where the first line is somebody already."""
    words = [one_line(cell).casefold() for cell in cells]
    found = {key: words.index(word) for key, known in HEADS.items() for word in known if word in words}
    return found if "name" in found or {"first", "last"} & found.keys() else {}


def _entry(line: int, cells: Sequence[str], columns: Columns) -> Entry:
    texts = [one_line(cell) for cell in cells]
    if columns:
        at = {key: texts[index] if index < len(texts) else "" for key, index in columns.items()}
        name = at.get("name") or f"{at.get('first', '')} {at.get('last', '')}".strip()
        return Entry(line, name, at.get("id", ""), at.get("label", ""))
    # Without a first line that names them: an id has a digit, and what stands before it is a name, with commas or not.
    first = next((index for index, text in enumerate(texts) if index and any(map(str.isdigit, text))), len(texts))
    name = ", ".join(text for text in texts[:first] if text)
    return Entry(line, name, *(texts[first : first + 2]))


def _fault(entry: Entry, cells: Sequence[str], lines: Mapping[str, int]) -> str:
    if any(odd in cell for cell in cells for odd in NO_LETTERS):
        return "It holds a character that no text has. Save the file as CSV in UTF-8."
    if not entry.name:
        return "It has no name."
    if len(entry.external_id) > LONGEST_LINE or len(entry.label) > LONGEST_LINE:
        return f"An id or a label has at most {LONGEST_LINE} characters."
    if entry.external_id in lines:
        return f"The id {entry.external_id} stands in line {lines[entry.external_id]} already."
    return name_fault(entry.name)


class Person(Protocol):
    """Somebody in a class."""

    @property
    def name(self) -> str: ...
    @property
    def external_id(self) -> str | None: ...


P = TypeVar("P", bound=Person)


def read_days(text: str, people: Sequence[P]) -> tuple[list[tuple[P, int]], tuple[Fault, ...]]:
    """Lines such as `Ada, +3`: whom they mean, with so many days; and what is odd about the others."""
    found: dict[int, tuple[P, int]] = {}
    faults: list[Fault] = []
    for number, typed in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        line = one_line(typed)
        if not line:
            continue
        who, _, days = line.replace("\t", ",").replace(";", ",").rpartition(",")
        match = DAYS.fullmatch(days.strip())
        meant = whom(who, people)
        if match is None or not who.strip():
            faults.append(Fault(number, "Write a name or an id, a comma, and the days: Ada Lovelace, +3"))
        elif not 0 < int(match[1]) <= MOST_DAYS:
            faults.append(Fault(number, f"{int(match[1])} days cannot be given; 1 to {MOST_DAYS} can."))
        elif len(meant) != 1:
            faults.append(Fault(number, _nobody(who.strip(), len(meant))))
        elif id(meant[0]) in found:
            faults.append(Fault(number, f"{meant[0].name} stands in a line above already."))
        else:
            found[id(meant[0])] = meant[0], int(match[1])
    return list(found.values()), tuple(faults)


def _nobody(who: str, how_many: int) -> str:
    if how_many:
        return f"{how_many} people are called {who}. Write an id instead."
    return f"Nobody in this class has the id or the name {who[:LONGEST_LINE]}."


def whom(who: str, people: Iterable[P]) -> list[P]:
    """Who has that id; else all who have that name."""
    word = one_line(who).casefold()
    listed = list(people)
    by_id = [one for one in listed if one.external_id and one.external_id.casefold() == word]
    return by_id or [one for one in listed if one.name.casefold() == word]
