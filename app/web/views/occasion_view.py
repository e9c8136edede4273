"""What pages say of occasions: recall at the head of a lesson, a try before a unit, and where an item belongs."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.content.blocks import Lesson, Unit
from app.practice.occasions import READY, READY_FORMS, is_measuring, lesson_by_family
from app.practice.practice_words import family_words
from app.store import cards
from app.store.cards import RECALL
from app.store.tables import ServedItem
from app.web.site import Site


@dataclass(frozen=True, slots=True)
class OccasionHead:
    """Where an item belongs that was drawn for an occasion: the page *about* it, at *address*.

    Args:
        counts: Whether the first answer counts.
    """

    about: str
    address: str
    counts: bool


@dataclass(frozen=True, slots=True)
class TriedItem:
    """One item of a try: what it was about, and the lesson that teaches it; *right* is None while it is open."""

    title: str
    right: bool | None
    address: str
    lesson: Lesson | None

    @property
    def mark(self) -> str:
        return "open" if self.right is None else "right" if self.right else "wrong"


@dataclass(frozen=True, slots=True)
class ReadyView:
    """The try before a unit; *items* are those of the last one."""

    address: str
    items: tuple[TriedItem, ...]

    @property
    def over(self) -> bool:
        return bool(self.items) and all(item.right is not None for item in self.items)

    @property
    def all_right(self) -> bool:
        return all(item.right for item in self.items)


def lessons_before(site: Site, unit: Unit) -> tuple[Lesson, ...]:
    """Lessons of the units before *unit*, in course order."""
    at = site.course.units.index(unit)
    return tuple(lesson for before in site.course.units[:at] for lesson in before.lessons)


async def ready_view(site: Site, unit: Unit, learner: int | None) -> ReadyView | None:
    """The try before *unit*; None where too little comes before it."""
    lessons = lessons_before(site, unit)
    teachers = site.kept.of(site.course, {}, lambda: lesson_by_family(lessons), "teachers", unit.slug)
    if len(teachers) < len(READY_FORMS) or site.seen is not None:
        return None
    tried: Sequence[ServedItem] = ()
    if learner is not None:
        async with site.database.read() as db:
            tried = await cards.given_for(db, learner, f"{READY}{unit.slug}")
    # A new try begins once all of the last one are settled: they come in threes.
    newest = tried[len(tried) - 1 - (len(tried) - 1) % len(READY_FORMS) :] if tried else ()
    items = tuple(
        TriedItem(
            family_words(row.family),
            is_settled_right(row),
            f"/practice/{row.item_id}",
            teachers.get(row.family),
        )
        for row in newest
    )
    return ReadyView(f"/practice/ready/{unit.slug}", items)


def is_settled_right(row: ServedItem) -> bool | None:
    """Whether the first answer was right; False for one that was left; None while it is open."""
    if row.right_at_once is None and row.left_at is not None:
        return False
    return row.right_at_once


def occasion_head(site: Site, purpose: str) -> OccasionHead | None:
    """Where an item of this *purpose* belongs; None for practice, and where the course has lost it."""
    kind, _, name = purpose.partition("/")
    if f"{kind}/" == RECALL:
        lesson = next((lesson for lesson in site.course.lessons if lesson.name == name), None)
        return OccasionHead(lesson.title, lesson.address, is_measuring(purpose)) if lesson else None
    unit = next((unit for unit in site.course.units if f"{kind}/" == READY and unit.slug == name), None)
    return OccasionHead(unit.title, f"/units/{unit.slug}#ready", is_measuring(purpose)) if unit else None
