"""Lists of people as they are pasted: who is in a class, and who has more days. A message for each line that is odd."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from app.teaching.roster_columns import Field, RosterColumn, assign_columns, columns_of
from app.teaching.sheets import MOST_ROWS, SheetError, rows_of
from app.teaching.text_input import LONGEST_LINE, name_fault, one_line, plain_letters

DAYS = re.compile(r"\+?(-?\d{1,4})(?: ?d(?:ays?)?)?")
MOST_DAYS = 366
NO_LETTERS = "\0\ufffd"
"""What a file in other letters leaves behind, and what a browser makes of it."""
SHORTENED = re.compile(r"\d+(?:[.,]\d+)?E\+?\d+", re.IGNORECASE)
"""A number as programs for tables write it when it is long: its digits are lost."""
MADE_BY_CANVAS = ("points possible", "student, test", "test student")
"""Rows of its gradebook that are nobody."""
NAMESAKES = (
    "Two people called {name} have no id, here and in line {line}. Who joins by that name fits neither seat, and "
    "becomes somebody new: give them ids, or personal links."
)


@dataclass(frozen=True, slots=True)
class RosterIssue:
    """Unclear line of a list, with the reason."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """Line of a list about one person."""

    line: int
    name: str
    external_id: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """The lines that can be used, what is odd about the others, and what is to be known of some that are used or not.

    *columns* are those of the list; whether its first line *names* them.
    """

    entries: tuple[RosterEntry, ...]
    faults: tuple[RosterIssue, ...]
    notes: tuple[RosterIssue, ...] = ()
    columns: tuple[RosterColumn, ...] = ()
    names: bool = False

    @property
    def unread(self) -> tuple[str, ...]:
        """The heads of the columns that are not read."""
        return tuple(
            roster_column.head
            for roster_column in self.columns
            if self.names and roster_column.head and not roster_column.field
        )


def read_roster(text: str, fields: Sequence[str] | None = None, *, named: bool = True) -> Listing:
    """Parse people, a line for each: a name, then an id, then a label; or the columns that a first line names.

    Args:
        fields: What each column holds, where the instructor has said so.
        named: True if the first line then names the columns, and is no person.
    """
    try:
        rows = rows_of(text)
    except SheetError as error:
        return Listing((), (RosterIssue(error.line, str(error)),))
    if not rows:
        return Listing((), ())
    first = rows[0][1]
    columns = columns_of(first) if fields is None else assign_columns(first, fields)
    names = bool(columns) if fields is None else named
    entries: list[RosterEntry] = []
    faults: list[RosterIssue] = []
    notes: list[RosterIssue] = []
    lines: dict[str, int] = {}
    for line, cells in rows[1:] if names else rows:
        entry = _entry(line, cells, columns)
        if entry.name.casefold() in MADE_BY_CANVAS or (not entry.name and not entry.external_id and names):
            notes.append(
                RosterIssue(line, f"{entry.name or 'A line without a name and an id'} is left out: it is nobody.")
            )
            continue
        fault = _fault(entry, cells, lines)
        if fault:
            faults.append(RosterIssue(line, fault))
            continue
        entries.append(entry)
        lines |= {entry.external_id: line} if entry.external_id else {}
    notes += _namesakes(entries)
    return Listing(tuple(entries), tuple(faults), tuple(notes), columns or _columns_of_first_row(rows[0]), names)


def _columns_of_first_row(row: tuple[int, Sequence[str]]) -> tuple[RosterColumn, ...]:
    """The columns of a list that does not name them, as its first line was read."""
    texts, entry = [one_line(cell) for cell in row[1]], _entry(*row, ())
    fields: dict[str, Field] = {entry.name: "name", entry.external_id: "id", entry.label: "label"}
    return tuple(RosterColumn(text, fields.get(text, "") if text else "") for text in texts)


def _namesakes(entries: Sequence[RosterEntry]) -> list[RosterIssue]:
    entries_by_name: dict[str, RosterEntry] = {}
    issues = []
    for entry in entries:
        if entry.external_id:
            continue
        before = entries_by_name.setdefault(entry.name.casefold(), entry)
        if before is not entry:
            issues.append(RosterIssue(entry.line, NAMESAKES.format(name=entry.name, line=before.line)))
    return issues


def _entry(line: int, cells: Sequence[str], columns: Sequence[RosterColumn]) -> RosterEntry:
    texts = [one_line(cell) for cell in cells]
    if columns:
        text_by_field = {roster_column.field: text for roster_column, text in zip(columns, texts, strict=False)}
        name = text_by_field.get("name") or f"{text_by_field.get('first', '')} {text_by_field.get('last', '')}".strip()
        return RosterEntry(line, name, text_by_field.get("id", ""), text_by_field.get("label", ""))
    # Without a first line that names them: an id has a digit, and what stands before it is a name, with commas or not.
    if len(texts) > 1 and _is_id(texts[0]) and _is_name(texts[1]):
        return RosterEntry(line, texts[1], texts[0], *texts[2:3])
    first = next((index for index, text in enumerate(texts) if index and any(map(str.isdecimal, text))), len(texts))
    name = ", ".join(text for text in texts[:first] if text)
    return RosterEntry(line, name, *(texts[first : first + 2]))


def _is_id(text: str) -> bool:
    return any(map(str.isdecimal, text)) and " " not in text


def _is_name(text: str) -> bool:
    return any(map(str.isalpha, text)) and not any(map(str.isdecimal, text))


def _fault(entry: RosterEntry, cells: Sequence[str], lines: Mapping[str, int]) -> str:
    if any(odd in cell for cell in cells for odd in NO_LETTERS):
        return "It holds a character that no text has. Save the file as CSV in UTF-8."
    if not entry.name:
        return "It has no name."
    if len(entry.external_id) > LONGEST_LINE or len(entry.label) > LONGEST_LINE:
        return f"An id or a label has at most {LONGEST_LINE} characters."
    if SHORTENED.fullmatch(entry.external_id):
        return (
            f"The id {entry.external_id} was shortened by a program for tables. Make the column a text there, and save "
            "it again."
        )
    if entry.external_id in lines:
        return f"The id {entry.external_id} stands in line {lines[entry.external_id]} already."
    return name_fault(entry.name)


class Member(Protocol):
    """Person on a roster, with what distinguishes them from others of the same name."""

    @property
    def learner_id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def external_id(self) -> str | None: ...
    @property
    def label(self) -> str | None: ...


def distinct_names(people: Iterable[Member]) -> dict[int, str]:
    """Display name of each learner: namesakes are told apart by id, label or number."""
    alike: dict[str, list[Member]] = {}
    for member in people:
        alike.setdefault(plain_letters(member.name), []).append(member)
    names: dict[int, str] = {}
    for group in alike.values():
        marks = [member.external_id or member.label or "" for member in group]
        for member, mark in zip(group, marks, strict=True):
            own = mark if mark and marks.count(mark) == 1 else f"{mark} no. {member.learner_id}".strip()
            names[member.learner_id] = member.name if len(group) == 1 else f"{member.name} ({own})"
    return names


class RosterPerson(Protocol):
    """Person in a class, as the roster lists them."""

    @property
    def name(self) -> str: ...
    @property
    def external_id(self) -> str | None: ...


P = TypeVar("P", bound=RosterPerson)


def read_days(text: str, people: Sequence[P]) -> tuple[list[tuple[P, int]], tuple[RosterIssue, ...]]:
    """Lines such as `Ada, +3`: whom they mean, with so many days; and what is odd about the others."""
    lines = text.removeprefix("\ufeff").splitlines()
    if len(lines) > MOST_ROWS:
        return [], (RosterIssue(MOST_ROWS + 1, f"More than {MOST_ROWS:,} lines. Send them in parts."),)
    directory = Directory(people)
    days_by_person: dict[int, tuple[P, int]] = {}
    faults: list[RosterIssue] = []
    for number, typed in enumerate(lines, start=1):
        line = one_line(typed)
        if not line:
            continue
        who, _, days = line.replace("\t", ",").replace(";", ",").rpartition(",")
        match = DAYS.fullmatch(days.strip())
        meant = directory.find(who)
        if match is None or not who.strip():
            faults.append(RosterIssue(number, "Write a name or an id, a comma, and the days: Ada Lovelace, +3"))
        elif not 0 < int(match[1]) <= MOST_DAYS:
            faults.append(RosterIssue(number, f"{int(match[1])} days cannot be given; 1 to {MOST_DAYS} can."))
        elif len(meant) != 1:
            faults.append(RosterIssue(number, _nobody(who.strip(), len(meant))))
        elif id(meant[0]) in days_by_person:
            faults.append(RosterIssue(number, f"{meant[0].name} stands in a line above already."))
        else:
            days_by_person[id(meant[0])] = meant[0], int(match[1])
    return list(days_by_person.values()), tuple(faults)


def _nobody(who: str, how_many: int) -> str:
    if how_many:
        return f"{how_many} people are called {who}. Write an id instead."
    return f"Nobody in this class has the id or the name {who[:LONGEST_LINE]}."


class Directory(Generic[P]):
    """People by their id and by their name, as both are typed: each is folded once, however many are looked up."""

    def __init__(self, people: Iterable[P]) -> None:
        self._by_id: dict[str, list[P]] = {}
        self._by_name: dict[str, list[P]] = {}
        for person in people:
            self._by_name.setdefault(person.name.casefold(), []).append(person)
            if person.external_id:
                self._by_id.setdefault(person.external_id.casefold(), []).append(person)

    def find(self, who: str) -> list[P]:
        """Find the person with that id; else all who have that name."""
        word = one_line(who).casefold()
        return self._by_id.get(word) or self._by_name.get(word, [])


def matching_people(who: str, people: Iterable[P]) -> list[P]:
    """Find the person with that id; else all who have that name."""
    return Directory(people).find(who)
