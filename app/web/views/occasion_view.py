"""Views of occasions: recall at the head of a lesson, a try before a unit, and where an item belongs."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.content.blocks import Lesson, Unit
from app.insight.gain import Gain, gain_between
from app.practice.occasions import (
    AFTER,
    BEFORE,
    FORM_SLOTS,
    READY,
    READY_FORMS,
    can_be_measured,
    is_measuring,
    lesson_by_family,
)
from app.practice.practice_words import family_words
from app.practice.session_plans import SessionState
from app.store import cards
from app.store.cards import RECALL
from app.store.tables import ServedItem
from app.web.site import Site
from app.web.views.practice_view import session_that_ends


@dataclass(frozen=True, slots=True)
class OccasionHead:
    """Origin of an item that was drawn for an occasion: the page *about* it, at *address*.

    Args:
        counts: Whether the first answer counts.
        word: Whether the item comes `before` it or `after` it.
    """

    about: str
    address: str
    counts: bool
    word: str = BEFORE


@dataclass(frozen=True, slots=True)
class TriedItem:
    """One item of a try: what it was about, and the lesson that teaches it; *right* is None while it is open.

    Args:
        left: It was left without an answer, which says nothing of what is known.
    """

    title: str
    right: bool | None
    address: str
    lesson: Lesson | None
    left: bool = False

    @property
    def mark(self) -> str:
        return "later" if self.right is None or self.left else "right" if self.right else "wrong"


@dataclass(frozen=True, slots=True)
class ReadyView:
    """The try before a unit; *items* are those of the last one, *ends* tells of the session that a try would end."""

    address: str
    items: tuple[TriedItem, ...]
    ends: str = ""

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
    standing: SessionState | None = None
    if learner is not None:
        async with site.database.read() as db:
            tried = await cards.given_for(db, learner, f"{READY}{unit.slug}")
            standing = await site.practice.standing(db, learner)
    own = standing is not None and standing.plan.purpose == f"{READY}{unit.slug}"
    # A new try begins once all of the last one are settled: they come in threes.
    newest = tried[len(tried) - 1 - (len(tried) - 1) % len(READY_FORMS) :] if tried else ()
    items = tuple(
        TriedItem(
            family_words(row.family),
            is_settled_right(row),
            f"/practice/{row.item_id}",
            teachers.get(row.family),
            left=row.right_at_once is None and row.left_at is not None,
        )
        for row in newest
    )
    return ReadyView(f"/practice/ready/{unit.slug}", items, "" if own else session_that_ends(standing))


def is_settled_right(row: ServedItem) -> bool | None:
    """True if the first answer was right; False for one that was left; None while it is open."""
    if row.right_at_once is None and row.left_at is not None:
        return False
    return row.right_at_once


@dataclass(frozen=True, slots=True)
class MeasureView:
    """One of the two forms on the page of its unit: `before`, or `after`, which is there once the other one is done.

    Args:
        given: How many of its items were given; *right* how many of them at once.
        open: The item that waits for an answer; None for none.
        first: How many were right in the form before; None on its own page.
        other: The unit of the other form.
    """

    purpose: str
    address: str
    given: int
    settled: int
    right: int
    open: int | None
    first: int | None
    other: Unit

    @property
    def size(self) -> int:
        return len(FORM_SLOTS)

    @property
    def over(self) -> bool:
        return self.settled >= self.size


@dataclass(frozen=True, slots=True)
class MeasuredSpan:
    """The units that carry the two forms, and the lessons from the first to the second."""

    before: Unit
    after: Unit
    lessons: tuple[Lesson, ...]


def measured_span(site: Site) -> MeasuredSpan | None:
    """Between which units it is measured what learners gain; None where a course does not, or teaches too little."""
    return site.kept.of(site.course, {}, lambda: _measured_span(site), "measured")


def _measured_span(site: Site) -> MeasuredSpan | None:
    units = site.course.units
    marked = {unit.measure: at for at, unit in enumerate(units) if unit.measure}
    if set(marked) != {BEFORE, AFTER}:
        return None
    lessons = tuple(lesson for unit in units[marked[BEFORE] : marked[AFTER] + 1] for lesson in unit.lessons)
    span = MeasuredSpan(units[marked[BEFORE]], units[marked[AFTER]], lessons)
    return span if can_be_measured(lessons) else None


async def measure_view(site: Site, unit: Unit, learner: int | None) -> MeasureView | None:
    """The form on the page of *unit*; None where there is none, and for `after` before the other one is done."""
    span = measured_span(site) if unit.measure and site.seen is None else None
    if span is None:
        return None
    rows: dict[str, list[ServedItem]] = {BEFORE: [], AFTER: []}
    if learner is not None:
        async with site.database.read() as db:
            rows = {purpose: await cards.given_for(db, learner, purpose) for purpose in rows}
    own = MeasureView(
        purpose=unit.measure,
        address=f"/practice/measure/{unit.measure}",
        given=len(rows[unit.measure]),
        settled=settled_count(rows[unit.measure]),
        right=right_count(rows[unit.measure]),
        open=next((row.item_id for row in rows[unit.measure] if is_settled_right(row) is None), None),
        first=right_count(rows[BEFORE]) if unit.measure == AFTER else None,
        other=span.after if unit.measure == BEFORE else span.before,
    )
    ready = unit.measure == BEFORE or settled_count(rows[BEFORE]) >= own.size
    return own if ready else None


async def class_gain(site: Site, group: int, least: int) -> Gain | None:
    """Gain of the learners of a class who took both forms; None for fewer than *least*."""
    async with site.database.read() as db:
        rows = await cards.given_in_class(db, group, (BEFORE, AFTER))
    forms: dict[int, dict[str, list[ServedItem]]] = {}
    for row in rows:
        forms.setdefault(row.learner_id, {BEFORE: [], AFTER: []})[row.purpose].append(row)
    size = len(FORM_SLOTS)
    pairs = [
        (right_count(form[BEFORE]) / size, right_count(form[AFTER]) / size)
        for form in forms.values()
        if min(settled_count(form[BEFORE]), settled_count(form[AFTER])) >= size
    ]
    return gain_between(pairs) if len(pairs) >= least else None


def settled_count(rows: Sequence[ServedItem]) -> int:
    """Number of items of a form that are answered or left."""
    return sum(is_settled_right(row) is not None for row in rows[: len(FORM_SLOTS)])


def right_count(rows: Sequence[ServedItem]) -> int:
    """Number of items of a form that were right at once."""
    return sum(is_settled_right(row) is True for row in rows[: len(FORM_SLOTS)])


def occasion_head(site: Site, purpose: str) -> OccasionHead | None:
    """Origin of an item of this *purpose*; None for practice, and where the course has lost it."""
    kind, _, name = purpose.partition("/")
    if f"{kind}/" == RECALL:
        lesson = site.course.named.get(name)
        return OccasionHead(lesson.title, lesson.address, is_measuring(purpose)) if lesson else None
    if f"{kind}/" == READY:
        unit = next((unit for unit in site.course.units if unit.slug == name), None)
        return OccasionHead(unit.title, f"/units/{unit.slug}#ready", is_measuring(purpose)) if unit else None
    span = measured_span(site) if purpose in {BEFORE, AFTER} else None
    unit = {BEFORE: span.before, AFTER: span.after}[purpose] if span else None
    return OccasionHead(unit.title, f"/units/{unit.slug}#measure", counts=True, word=purpose) if unit else None
