"""Sections of a class: those of its people who have one label, as pages of the class may be narrowed to them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Query

from app.store.grades import Gradebook
from app.store.tables import Membership

UNLABELLED = "-"
"""In place of a label, for who has none."""
LabelQuery = Annotated[str, Query(alias="label", max_length=200)]


@dataclass(frozen=True, slots=True)
class RosterSection:
    """The section with this *label*, or the whole class where it is empty; *labels* are those that the class has."""

    label: str
    labels: tuple[str, ...]


def section_of(people: Iterable[Membership], label: str) -> RosterSection:
    """The section of *label* among *people*; a label that no one has shows no one."""
    return RosterSection(label, tuple(sorted({person.label for person in people if person.label})))


def is_in_section(person: Membership, label: str) -> bool:
    return not label or (person.label or UNLABELLED) == label


def narrowed_book(book: Gradebook, label: str) -> Gradebook:
    """*book* with the rows of a section alone."""
    return replace(book, rows=tuple(row for row in book.rows if is_in_section(row.person, label)))
