"""What a sitting is about and where it stands, as plain values; a plan is kept as JSON."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from app.practice import scheduler
from app.practice.scheduler import About
from app.store.tables import PracticeAttempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a sitting is about.

    Args:
        items, minutes: When it is over; a drill has minutes alone.
        families: Of operations; empty for all that were taught.
        level: 0 for what fits the learner.
        lesson: Whose operations they are, where a lesson was the reason.
        form: Of its items, where it is not what fits the learner.
        assigned: The lesson that its items count for, where a class was given them.
        drill: Whether it is against the own best.
    """

    items: int = scheduler.MOST_ITEMS
    minutes: float = scheduler.LONGEST.total_seconds() / 60
    families: tuple[str, ...] = ()
    level: int = 0
    lesson: str = ""
    form: str = ""
    assigned: str = ""
    drill: bool = False


PLAN = TypeAdapter(Plan)
DRILL_ITEMS = 100


def drill_of(family: str) -> Plan:
    minutes = scheduler.DRILL.total_seconds() / 60
    return Plan(items=DRILL_ITEMS, minutes=minutes, families=(family,), level=1, drill=True)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a sitting is: its plan, since when, the items that were given in it, and whether it is over."""

    plan: Plan
    began_at: datetime
    given: tuple[PracticeAttempt, ...]
    over: bool

    @property
    def ends_at(self) -> datetime:
        return self.began_at + timedelta(minutes=self.plan.minutes)

    @property
    def done(self) -> int:
        """How many were done; what is done after the end of a drill does not count."""
        moments = [one.done_at for one in self.given if one.done_at]
        return sum(at <= self.ends_at for at in moments) if self.plan.drill else len(moments)


@dataclass(frozen=True, slots=True)
class Wish:
    """An item for a card, asked in a *form*."""

    about: About
    form: str


@dataclass(frozen=True, slots=True)
class Missing:
    """No item is at hand for any of these *wishes*, the best first, at this *level* and with these *operations*."""

    wishes: tuple[Wish, ...]
    level: int
    operations: frozenset[str]


ENOUGH = Missing((), 0, frozenset())
"""Nothing is drawn for somebody who was given so much today."""
