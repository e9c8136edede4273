"""Plan and state of a practice session, as plain values; a plan is stored as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from app.content.blocks import NOWHERE, Exercise, Lesson
from app.practice import scheduler
from app.practice.scheduler import About
from app.store.cards import ROOM
from app.store.tables import ServedItem

MANY = 100
"""Items of a practice session that ends with its time."""


ANY_POINTS = (0, 10**6)


@dataclass(frozen=True, slots=True)
class Slot:
    """One item of a session that is settled beforehand: its family, its form, its level, and its fewest and most
    points.
    """

    family: str
    form: str
    level: int = 1
    points: tuple[int, int] = ANY_POINTS


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan:
    """Plan of a practice session.

    Args:
        items, minutes: When it is over; a drill has minutes alone.
        families: Of operations; empty for all that were taught.
        level: 0 for what fits the learner.
        lesson: Whose operations they are, where a lesson was the reason.
        form: Of its items, where it is not what fits the learner.
        assigned: The key of what its items count for, where a class was given them.
        drill: Whether it is against the own best.
        purpose: The occasion that its items are drawn for (see `app.practice.occasions`); empty for practice.
        back: Address of the page that it was begun on, where it ends.
        lessons: Whose operations alone its programs use; empty for all lessons that the learner opened.
        forms: Of its items in turn, where these are not what fits the learner.
        slots: What each of its items is, where that is settled.
    """

    items: int = scheduler.MOST_ITEMS
    minutes: float = scheduler.MAX_SESSION_TIME.total_seconds() / 60
    families: tuple[str, ...] = ()
    level: int = 0
    lesson: str = ""
    form: str = ""
    assigned: str = ""
    drill: bool = False
    purpose: str = ""
    back: str = ""
    lessons: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    slots: tuple[Slot, ...] = ()

    def goes_on(self, other: "SessionPlan") -> bool:
        """True if a session of this plan continues where *other* is asked for: an occasion draws its plan once."""
        return self == other if not self.purpose else self.purpose == other.purpose


PLAN = TypeAdapter(SessionPlan)
SET_ITEMS, SET_MINUTES = 5, 10
SETS = f"{ROOM}set-"
MOST_DIGITS = 7
MINUTES_AT_ONE = 5
"""An item counts for no more of the time: somebody may have left it open and gone away."""


@dataclass(frozen=True, slots=True)
class PracticeSet:
    """Practice set for a class: some items of one operation family or of one level, or *timed* minutes of them.

    To give the same another time is to give another round of it, which no learner has done yet.
    """

    kind: str
    about: str
    family: str = ""
    level: int = 0
    timed: bool = False
    number: int = 1

    def round(self, number: int) -> "PracticeSet":
        """The same for another time; the first one is number 1."""
        return replace(self, number=number)

    @property
    def key(self) -> str:
        return self.kind if self.number == 1 else f"{self.kind}-{self.number}"

    @property
    def title(self) -> str:
        return f"Practice: {self.about}" + (f", round {self.number}" if self.number > 1 else "")

    @property
    def name(self) -> str:
        """As a lesson's."""
        return f"{SETS}{self.key}"

    @property
    def size(self) -> int:
        return SET_MINUTES if self.timed else SET_ITEMS

    @property
    def lesson(self) -> Lesson:
        """As a lesson that has an exercise for each item or minute: so it is assigned, counted and graded like any."""
        counted = tuple(Exercise(place=NOWHERE, name=str(at)) for at in range(1, self.size + 1))
        return Lesson(
            path="",
            slug=self.key,
            unit="practice",
            title=self.title,
            name=self.name,
            estimate="10 min",
            requires=(),
            goals=(),
            draft=False,
            blocks=counted,
            address=f"/practice/set/{self.key}",
            drawn=True,
        )

    @property
    def plan(self) -> SessionPlan:
        items, minutes = (MANY, SET_MINUTES) if self.timed else (SET_ITEMS, 60)
        families = (self.family,) if self.family else ()
        return SessionPlan(items=items, minutes=minutes, families=families, level=self.level, assigned=self.key)

    def gained(self, done: Sequence[ServedItem], newest: ServedItem) -> int:
        """Number of its exercises that *newest* solves, after those *done* in the session: one, or full minutes."""
        return _minutes((*done, newest)) - _minutes(done) if self.timed else 1


def set_called(key: str, first: Mapping[str, PracticeSet]) -> PracticeSet | None:
    """The practice with that *key*, which may be a later round of one of the *first*: there is no last one."""
    kind, _, number = key.rpartition("-")
    later = number.isascii() and number.isdecimal() and len(number) <= MOST_DIGITS and number[0] != "0"
    if key not in first and kind in first and later and number != "1":
        return first[kind].round(int(number))
    return first.get(key)


def _minutes(done: Iterable[ServedItem]) -> int:
    return sum(min(served_item.seconds or 0, MINUTES_AT_ONE * 60) for served_item in done) // 60


def drill_of(family: str) -> SessionPlan:
    minutes = scheduler.DRILL.total_seconds() / 60
    return SessionPlan(items=MANY, minutes=minutes, families=(family,), level=1, drill=True)


@dataclass(frozen=True, slots=True)
class SessionState:
    """State of a practice session: its plan, its start, the items given in it, and whether it is over."""

    plan: SessionPlan
    began_at: datetime
    given: tuple[ServedItem, ...]
    over: bool

    @property
    def ends_at(self) -> datetime:
        return self.began_at + timedelta(minutes=self.plan.minutes)

    @property
    def done(self) -> int:
        """Number of items done; those after the end of a drill do not count, those left on an occasion do."""
        if self.plan.purpose:
            return sum(bool(served_item.done_at or served_item.left_at) for served_item in self.given)
        moments = [served_item.done_at for served_item in self.given if served_item.done_at]
        return sum(at <= self.ends_at for at in moments) if self.plan.drill else len(moments)

    @property
    def has_outcome(self) -> bool:
        """True if something was done in it and it is over; a drill tells its own."""
        return self.over and self.done > 0 and not self.plan.drill


@dataclass(frozen=True, slots=True)
class ItemRequest:
    """An item for a card, asked in a *form*; at *level*, or what fits the learner (0), with *points* from and to.

    *otherwise* is the form for a program that has not the other one; empty for the whole of it, to be written.
    """

    about: About
    form: str
    level: int = 0
    points: tuple[int, int] = ANY_POINTS
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class ItemShortage:
    """No item is at hand for a *wish*, at this *level* and with these *operations*."""

    wish: ItemRequest
    level: int
    operations: frozenset[str]


ENOUGH = ItemShortage(ItemRequest(("", ""), ""), 0, frozenset())
"""Nothing is drawn for somebody who was given so much today."""
NOTHING_LEFT = ItemShortage(ItemRequest(("", ""), "nothing"), 0, frozenset())
"""There is nothing that could be given."""
