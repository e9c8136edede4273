"""Pages of practice: cards in words, the rhythm of weeks, what comes back when."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import Lesson
from app.grading.operations.table import EXERCISES
from app.practice import scheduler
from app.practice.card_updates import Known, OwnLine, memory_of, own_lines
from app.practice.practice_words import family_words, slip_words
from app.practice.scheduler import About, Strength
from app.practice.session_plans import SessionPlan, SessionState
from app.practice.sessions import Practice, bugs_of
from app.practice.taught import families_of
from app.store import cards
from app.store.database import Database
from app.store.tables import Card, ServedItem

WEEKS = 4
TEN = 10
PURPOSE_TITLES: Mapping[str, str] = {
    "recall": "Two questions before a lesson",
    "ready": "Ready?",
    "before": "Before and after",
    "after": "Before and after",
}
PLAN_TITLES: Mapping[str, str] = {
    "assigned": "Practice of your class",
    "lesson": "Five more like these",
    "form": "Bug of the day",
}
"""What a set is called that was begun, by its purpose, or by what its plan has."""
WAYS = ("right at once", "after another try", "with a hint", "looked up")
"""How an exercise of a sitting was come by, in the order in which it is told."""


@dataclass(frozen=True, slots=True)
class CardView:
    """A card in words; *own* is the line by which its slip was made last."""

    family: str
    title: str
    slip: str
    strength: Strength
    due: str
    own: OwnLine | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeView:
    """Practice state of a learner.

    Args:
        first: Where to begin, for a learner whose lessons have taught nothing yet.
        due: The cards that are due; *later* says when the next one is.
        ended: What is said of the sitting that is just over; *gone* are the slips that were not made again in it.
        button: What begins, or goes on.
        back: The lesson whose exercises the sitting that is over was like.
        open: What was begun and is not the ordinary sitting, and how much of it is done; empty for none.
        bug: The own slip that can be hunted today; *ends* tells of the session that the hunt would end.
    """

    first: Lesson | None = None
    taught: bool = False
    due: tuple[CardView, ...] = ()
    later: str = ""
    rhythm: str = ""
    ended: str = ""
    gone: tuple[CardView, ...] = ()
    back: Lesson | None = None
    button: str = ""
    open: str = ""
    bug: CardView | None = None
    ends: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyView:
    """A family on the map; no *strength* before it was recalled, *practised* where only more was shown than that."""

    family: str
    title: str
    strength: Strength | None
    practised: bool
    due: str
    slips: tuple[CardView, ...]
    best: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MapView:
    first: Lesson | None
    families: tuple[FamilyView, ...] = ()
    able: tuple[CardView, ...] = ()
    rhythm: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillView:
    """*solved* is how many items the drill had that ended just now; None where there was none. *going*: it is on.

    *ends* tells of the session that another one would end.
    """

    family: str
    title: str
    best: int | None
    solved: int | None
    taught: bool
    going: bool = False
    ends: str = ""


async def practice_view(practice: Practice, database: Database, learner: int | None) -> PracticeView:
    first = practice.curriculum.first
    if learner is None:
        return PracticeView(first=first)
    async with database.read() as db:
        known = await practice.cards(db, learner)
        operations = await practice.operations_known(db, learner)
        standing = await practice.standing(db, learner)
        now = practice.clock()
        due = scheduler.in_order(
            card_state for card_state in map(memory_of, known.values()) if card_state.due_at <= now
        )
        ended = standing if standing and standing.has_outcome else None
        ratings = await _ratings_since(db, learner, ended) if ended else {}
        gone = _slips_gone(ended, ratings) if ended else []
        own = await own_lines(db, learner, practice.curriculum)
        return PracticeView(
            first=None if operations else first,
            taught=bool(operations),
            due=tuple(_card(known[card_state.about], now, own.get(card_state.about)) for card_state in due),
            later=_later(known, now),
            rhythm=await _rhythm(db, learner, now),
            ended=_end_text(ended, len(gone), await _items_told(db, learner, ended), bool(ratings)) if ended else "",
            gone=tuple(_card(known[about], now) for about in gone if about in known),
            back=_lesson_ended(practice, standing),
            button=_button(standing, bool(due)),
            open=_open(standing),
            bug=_bug(known, now),
            ends="" if standing and standing.plan.form else session_that_ends(standing),
        )


async def map_view(practice: Practice, database: Database, learner: int | None) -> MapView:
    if learner is None:
        return MapView(first=practice.curriculum.first)
    async with database.read() as db:
        known = await practice.cards(db, learner)
        taught = families_of(await practice.operations_known(db, learner))
        drills = await cards.drills_of(db, learner)
        now = practice.clock()
        met = {family for family, _ in known}
        ratings = await cards.ratings_of(db, learner)
        practised = {item.family for item in await cards.given_to(db, learner) if item.done_at}
        # What opened the card of a slip was the slip.
        first = {about: [(card.opened_at, scheduler.AGAIN)] if about[1] else [] for about, card in known.items()}
        able = scheduler.newly_able({about: [*item, *ratings.get(about, ())] for about, item in first.items()}, now)
        order = dict.fromkeys(operation.family for operation in EXERCISES)
        return MapView(
            first=None if taught else practice.curriculum.first,
            families=tuple(
                _family(name, known, name in practised, drills[name].best if name in drills else None, now)
                for name in order
                if name in taught | met
            ),
            able=tuple(_card(known[about], now) for about in able),
            rhythm=await _rhythm(db, learner, now),
        )


async def drill_view(practice: Practice, database: Database, learner: int | None, family: str) -> DrillView:
    title = family_words(family)
    if learner is None:
        return DrillView(family=family, title=title, best=None, solved=None, taught=False)
    async with database.read() as db:
        drills = await cards.drills_of(db, learner)
        standing = await practice.standing(db, learner)
        taught = family in families_of(await practice.operations_known(db, learner))
    own = standing is not None and standing.plan.drill and standing.plan.families == (family,)
    ended = own and standing is not None and standing.over
    return DrillView(
        family=family,
        title=title,
        best=drills[family].best if family in drills else None,
        solved=standing.done if standing and ended else None,
        taught=taught,
        going=own and not ended,
        ends="" if own else session_that_ends(standing),
    )


def session_that_ends(standing: SessionState | None) -> str:
    """Say of a session that is on that another one ends it; empty where none is."""
    if standing is None or standing.over or not standing.given:
        return ""
    done = "" if standing.plan.drill else f", {standing.done} of {standing.plan.items} done,"
    return f"The session that you began{done} ends with it."


def session_position(standing: SessionState | None, item: int, now: datetime) -> str:
    """Position in a session, for the head of an *item*; empty for one of an earlier session."""
    items = [served_item.item_id for served_item in standing.given] if standing else []
    if standing is None or standing.plan.form or item not in items:
        return ""
    if standing.plan.drill:
        minutes, seconds = divmod(max(0, round((standing.ends_at - now).total_seconds())), 60)
        return f"{minutes}:{seconds:02} left when this page opened. {standing.done} solved."
    before = replace(standing, given=standing.given[: items.index(item)])
    return f"{min(before.done + 1, standing.plan.items)} of {standing.plan.items}"


async def _items_told(db: AsyncSession, learner: int, standing: SessionState) -> Collection[int]:
    """The items of a sitting that is over whose solution was open before they were solved."""
    return await cards.items_told(db, learner, [item.item_id for item in standing.given])


def _end_text(standing: SessionState, gone: int, told: Collection[int], rated: bool) -> str:
    """Outcome of a session that is over. Only what was *rated* comes back."""
    out_of_time = "" if standing.done >= standing.plan.items else f"{_minutes_text(standing.plan.minutes)} are over: "
    done = sum(item.done_at is not None for item in standing.given)
    passed = sum(item.left_at is not None and item.done_at is None for item in standing.given)
    outcome = f"{_count_text(done, 'exercise')} done"
    if done:
        outcome += f": {_came_to(standing, told)}"
    left = f" {passed} {'was' if passed == 1 else 'were'} left." if passed else ""
    result = f" {_count_text(gone, 'slip')} gone." if gone else ""
    rests = " What you solved rests now and comes back later." if rated else ""
    return f"{out_of_time}{outcome}.{left}{result}{rests}"


def _came_to(standing: SessionState, told: Collection[int]) -> str:
    """`3 right at once, 1 with a hint`: how each exercise that was done was come by."""
    ways = Counter(_way_of(item, told) for item in standing.given if item.done_at)
    return ", ".join(f"{ways[way]} {way}" for way in WAYS if ways[way])


def _way_of(item: ServedItem, told: Collection[int]) -> str:
    if item.item_id in told:
        return "looked up"
    return "with a hint" if item.hints else "right at once" if item.right_at_once else "after another try"


def _minutes_text(minutes: float) -> str:
    return "Ten minutes" if minutes == TEN else f"{minutes:g} minutes"


def _count_text(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


async def _ratings_since(db: AsyncSession, learner: int, standing: SessionState) -> Mapping[About, Sequence[int]]:
    """The ratings that cards were given in a sitting that is over."""
    since = {
        about: [rating for at, rating in ratings if at >= standing.began_at]
        for about, ratings in (await cards.ratings_of(db, learner)).items()
    }
    return {about: ratings for about, ratings in since.items() if ratings}


def _slips_gone(standing: SessionState, ratings: Mapping[About, Sequence[int]]) -> list[About]:
    """The slips that a sitting asked for and that were recalled in it, at once and without help.

    An item that helps too much to recall anything rates nothing; after another slip at it, it may be the same one.
    """
    asked = dict.fromkeys((item.family, item.slip) for item in standing.given if item.slip and item.done_at)
    return [about for about in asked if about in ratings and min(ratings[about]) > scheduler.HARD]


def _button(standing: SessionState | None, due: bool) -> str:
    # A drill or the like goes on where it began; here another sitting begins.
    if standing is not None and standing.plan == SessionPlan() and not standing.over and standing.given:
        return "Go on"
    return "Another session" if standing is not None and standing.over else "Begin" if due else "Practise"


def _lesson_ended(practice: Practice, standing: SessionState | None) -> Lesson | None:
    """The lesson that a sitting which is over was begun at."""
    if standing is None or not standing.over:
        return None
    lessons = practice.curriculum.lessons.values()
    return next((lesson for lesson in lessons if lesson.slug == standing.plan.lesson), None)


def _open(standing: SessionState | None) -> str:
    if standing is None or standing.over or standing.plan == SessionPlan() or standing.plan.drill or not standing.given:
        return ""
    plan = standing.plan
    about = PURPOSE_TITLES.get(plan.purpose.partition("/")[0], "")
    title = about or next((title for field, title in PLAN_TITLES.items() if getattr(plan, field)), "")
    done = f"{standing.done} of {plan.items} done" if plan.items > 1 else "one exercise is open"
    return f"{title}: {done}" if title else done.capitalize()


def _card(card: Card, now: datetime, own: OwnLine | None = None) -> CardView:
    strength = scheduler.memory_strength(memory_of(card), now)
    return CardView(
        card.family, family_words(card.family), slip_words(card.slip), strength, _when(card.due_at, now), own
    )


def _family(family: str, known: Known, practised: bool, best: int | None, now: datetime) -> FamilyView:
    whole = known.get((family, ""))
    slips = [card for (name, slip), card in known.items() if name == family and slip]
    return FamilyView(
        family=family,
        title=family_words(family),
        strength=scheduler.memory_strength(memory_of(whole), now) if whole else None,
        practised=practised,
        due=_when(whole.due_at, now) if whole else "",
        slips=tuple(
            _card(card, now) for card in sorted(slips, key=lambda this_card: (this_card.due_at, this_card.slip))
        ),
        best=best,
    )


def _bug(known: Known, now: datetime) -> CardView | None:
    """One of the own slips, another one each day."""
    return next((_card(known[about], now) for about in bugs_of(known, now)), None)


def _later(known: Known, now: datetime) -> str:
    """Next due date in words, if nothing is due now."""
    moments = [card.due_at for card in known.values()]
    return _when(min(moments), now) if moments and min(moments) > now else ""


def _when(due: datetime, now: datetime) -> str:
    if due <= now:
        return "now"
    days = (due.date() - now.date()).days
    return "later today" if not days else "tomorrow" if days == 1 else f"in {days} days"


async def _rhythm(db: AsyncSession, learner: int, now: datetime) -> str:
    days = await cards.days_practised(db, learner, now - timedelta(weeks=WEEKS))
    return scheduler.rhythm_text(scheduler.weeks_practised(days, now, WEEKS), WEEKS)
