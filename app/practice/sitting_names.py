"""A quiet sitting as a lesson: what it is called, where it is, and what counts in it."""

import re
from dataclasses import dataclass

from app.content.blocks import NOWHERE, Exercise, Lesson
from app.store.progress import SITTINGS

NAME = re.compile(rf"{SITTINGS}([1-9]\d{{0,8}})-([1-9]\d{{0,8}})-([1-9]\d?)", re.ASCII)
TITLE = "A quiet sitting"


@dataclass(frozen=True, slots=True)
class SittingName:
    """Class, assignment and number of items, as the name of a sitting tells them: it is assigned as a lesson is."""

    group: int
    assignment: int
    items: int

    def __str__(self) -> str:
        return f"{SITTINGS}{self.group}-{self.assignment}-{self.items}"

    @property
    def address(self) -> str:
        return f"/classes/{self.group}/sittings/{self.assignment}"

    @property
    def lesson(self) -> Lesson:
        """As a lesson with an exercise for each item: so it is counted and graded like any assignment."""
        counted = tuple(Exercise(place=NOWHERE, name=item_name(at)) for at in range(1, self.items + 1))
        return Lesson(
            path="", slug=str(self), unit="practice", title=TITLE, name=str(self), estimate="", requires=(), goals=(),
            draft=False, blocks=counted, address=self.address, drawn=True,
        )  # fmt: skip


def sitting_named(name: str) -> SittingName | None:
    """The sitting that is assigned under *name*; None for all else."""
    match = NAME.fullmatch(name)
    return SittingName(*map(int, match.groups())) if match else None


def item_name(item: int) -> str:
    """The exercise of item number *item*, from 1."""
    return f"item-{item}"
