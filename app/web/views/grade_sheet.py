"""A gradebook as rows of text: for a spreadsheet, for Canvas, for Moodle.

What Canvas and Moodle want was read in their own importers: Canvas `lib/gradebook_importer.rb`, Moodle
`grade/import/csv/classes/load_data.php`. Canvas takes a number in brackets at the end of a heading for the id of an
assignment of its own, and a row without an id for the first student of that name. Moodle gives the grades of a row
without an id to the row before it. So such rows are left out of both.
"""

import csv
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Literal, get_args

from app.content.blocks import Lesson
from app.store.classes import RefusedError
from app.store.grades import Gradebook, GradebookRow, State
from app.store.tables import Assignment, Membership
from app.teaching.sheets import guard_cell
from app.teaching.text_input import LONGEST_LINE, one_line

System = Literal["", "canvas", "moodle"]
Known = Callable[[str], Lesson | None]
"""What a class may have been given under a name."""


MARKS: Mapping[System, Mapping[State, str]] = {
    "": {"excused": "excused", "unknown": "unknown"},
    "canvas": {"excused": "EX"},
    "moodle": dict.fromkeys(get_args(State), "-"),
}
"""What stands in a cell without points; nothing where a state has no mark."""
NEVER = "never joined"


def assignment_titles(known: Known, assignments: Sequence[Assignment]) -> list[str]:
    """Titles of the assignments, all different and stable, because imports go by them.

    Their headings; those without one are called by their lessons, in the order in which they were assigned.
    """
    titles: dict[int, str] = {assignment.id: assignment.heading for assignment in assignments if assignment.heading}
    for assignment in sorted(assignments, key=lambda assignment: assignment.id):
        if not assignment.heading:
            lesson = known(assignment.lesson)
            titles[assignment.id] = free_heading(lesson.title if lesson else assignment.lesson, titles.values())
    return [titles[assignment.id] for assignment in assignments]


def heading_for(typed: str, title: str, taken: Collection[str]) -> str:
    """Title of an assignment: as *typed*, or of its lesson.

    Raises:
        RefusedError: Another one is called as *typed*.
    """
    heading = one_line(typed)[:LONGEST_LINE]
    if heading in taken:
        raise RefusedError(f"Another assignment of this class is called {heading!r}. Give this one a name of its own.")
    return heading or free_heading(title, taken)


def free_heading(title: str, taken: Collection[str]) -> str:
    """*title*, or the first part of it that no other column is called."""
    parts = (f"{title}, part {number}" for number in count(2))
    return title if title not in taken else next(part for part in parts if part not in taken)


@lru_cache(maxsize=4096)  # a class of 200 with 100 assignments has 20,000 grades, and few that differ
def shown_points(points: float | None, none: str = "") -> str:
    """At most two decimals, and none where there is nothing behind the point."""
    return none if points is None else f"{points:.2f}".rstrip("0").rstrip(".")


def gradebook_csv(known: Known, book: Gradebook, system: System) -> str:
    """The gradebook as CSV, ended as spreadsheets want it."""
    heads = [guard_cell(title) for title in assignment_titles(known, book.assignments)]
    rows = {"": _plain, "canvas": _canvas, "moodle": _moodle}[system](book, heads)
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()


def _plain(book: Gradebook, heads: Sequence[str]) -> list[list[str]]:
    possible = [shown_points(assignment.points) for assignment in book.assignments]
    table = [["Name", "Id", "Group", *heads, "Total", "Of"], ["Points", "", "", *possible, "", ""]]
    table.extend([*_person(row), *_cells(row, ""), *total_points(row)] for row in book.rows)
    return table


def _canvas(book: Gradebook, heads: Sequence[str]) -> list[list[str]]:
    table = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *heads]]
    table.append(
        ["Points Possible", "", "", "", "", *(shown_points(assignment.points) for assignment in book.assignments)]
    )
    for row in book.rows:
        name, number, label = _person(row)
        if number:
            table.append([name, "", number, "", label, *_cells(row, "canvas")])
    return table


def _moodle(book: Gradebook, heads: Sequence[str]) -> list[list[str]]:
    table = [["ID number", "Full name", *heads]]
    for row in book.rows:
        name, number, _ = _person(row)
        if number:
            table.append([number, name, *_cells(row, "moodle")])
    return table


def _cells(row: GradebookRow, system: System) -> list[str]:
    marks = MARKS[system]
    return [shown_points(grade.points, marks.get(grade.state, "")) for grade in row.grades]


def total_points(row: GradebookRow) -> tuple[str, str]:
    """The sum of points and of how many that is; nothing as long as nothing counts."""
    if all(grade.points is None for grade in row.grades):
        return NEVER if row.person.joined_at is None else "", ""
    return shown_points(row.points), shown_points(row.possible)


def is_confirmed(person: Membership) -> bool:
    """True if the person joined by the id on the roster, by a link to it, or by their school's sign-in."""
    return person.joined_at is not None and person.seated_by in ("id", "claim", "link", "instructor")


def _person(row: GradebookRow) -> list[str]:
    left = f" (left {row.left_at:%Y-%m-%d})" if row.left_at else ""
    return [guard_cell(name) for name in (row.person.name + left, row.person.external_id, row.person.label)]
