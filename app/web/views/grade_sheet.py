"""A gradebook as rows of text: for a spreadsheet, for Canvas, for Moodle.

What Canvas and Moodle want was read in their own importers: Canvas `lib/gradebook_importer.rb`, Moodle
`grade/import/csv/classes/load_data.php`. Canvas takes a number in brackets at the end of a heading for the id of an
assignment of its own. Moodle gives the grades of a row without an id to the row before it, so such rows are left out.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

from app.content.blocks import Lesson
from app.store.grades import Gradebook, Row
from app.teaching.sheets import guarded

System = Literal["", "canvas", "moodle"]
Known = Callable[[str], Lesson | None]
"""What a class may have been given under a name."""


def titles(known: Known, book: Gradebook) -> list[str]:
    """What the assignments are called, each otherwise: by the lesson, which may be assigned more than once."""
    seen: Counter[str] = Counter()
    found = []
    for one in book.assignments:
        lesson = known(one.lesson)
        title = lesson.title if lesson else one.lesson
        seen[title] += 1
        found.append(title if seen[title] == 1 else f"{title}, part {seen[title]}")
    return found


@lru_cache(maxsize=4096)  # a class of 200 with 100 assignments has 20,000 grades, and few that differ
def shown_points(points: float | None, none: str = "") -> str:
    """At most two decimals, and none where there is nothing behind the point."""
    return none if points is None else f"{points:.2f}".rstrip("0").rstrip(".")


def sheet(known: Known, book: Gradebook, system: System) -> str:
    """The gradebook as CSV, ended as spreadsheets want it."""
    heads = [guarded(one) for one in titles(known, book)]
    rows = {"": _plain, "canvas": _canvas, "moodle": _moodle}[system](book, heads)
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()


def _plain(book: Gradebook, heads: Sequence[str]) -> list[list[str]]:
    possible = [shown_points(one.points) for one in book.assignments]
    found = [["Name", "Id", "Group", *heads, "Total", "Of"], ["Points", "", "", *possible, "", ""]]
    for row in book.rows:
        totals = [shown_points(row.points), shown_points(row.possible)]
        found.append([*_person(row), *(shown_points(one.points, "excused") for one in row.grades), *totals])
    return found


def _canvas(book: Gradebook, heads: Sequence[str]) -> list[list[str]]:
    found = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *heads]]
    found.append(["Points Possible", "", "", "", "", *(shown_points(one.points) for one in book.assignments)])
    for row in book.rows:
        name, number, label = _person(row)
        found.append([name, "", number, "", label, *(shown_points(one.points, "EX") for one in row.grades)])
    return found


def _moodle(book: Gradebook, heads: Sequence[str]) -> list[list[str]]:
    found = [["ID number", "Full name", *heads]]
    for row in book.rows:
        name, number, _ = _person(row)
        if number:
            found.append([number, name, *(shown_points(one.points, "-") for one in row.grades)])
    return found


def _person(row: Row) -> list[str]:
    return [guarded(one) for one in (row.person.name, row.person.external_id, row.person.label)]
