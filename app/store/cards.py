"""Practice of a learner as it is stored: items they were given, cards, and every review of a card.

The texts and verdicts of an item are attempts at the lesson `practice/<item>`, like those of any other lesson.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store.progress import PRACTISED
from app.store.tables import (
    Attempt,
    Card,
    Draft,
    Drill,
    Membership,
    PracticeItem,
    PracticeSession,
    Progress,
    ReplacedText,
    Review,
    ServedItem,
)

RECALL = "recall/"
"""How the purpose of an item begins that recalls what earlier lessons taught."""
ROOM = PRACTISED.removesuffix("%")
ORIGIN = ("version", "level", "seed", "wanted", "within_json")
"""What several forms of the same program have in common."""
MOST_CARDS = 600
"""Of one learner: more than there are slips that lessons and items can show."""
KEPT_TEXTS = 60
"""Items of one learner whose texts stay; of older ones it stays that they were done."""
KEPT_ITEMS = 3000
MOST_SLIPS = 500
"""That are read at once."""
MOST_A_DAY = 100
"""Items that one learner is given: each is a row that stays, and a new one is a minute of a grader."""
MOST_CANDIDATES = 400
"""Items that are looked at, the newest first."""

About = tuple[str, str]
"""A family and a slip."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that could be given; *named* tells of a program that has a name, and was not drawn."""

    id: int
    operations: frozenset[str]
    points: float
    named: bool = False


def lesson_of_item(item: int) -> str:
    return f"{ROOM}{item}"


async def cards_of(db: AsyncSession, learner: int) -> dict[About, Card]:
    return {(card.family, card.slip): card for card in await db.scalars(select(Card).where(Card.learner_id == learner))}


async def ratings_of(db: AsyncSession, learner: int) -> dict[About, list[tuple[datetime, int]]]:
    """List the reviews of each card: moments and ratings."""
    rows = (
        select(Card.family, Card.slip, Review.reviewed_at, Review.rating).join(Card).where(Card.learner_id == learner)
    )
    ratings: dict[About, list[tuple[datetime, int]]] = {}
    for family, slip, moment, rating in await db.execute(rows.order_by(Review.reviewed_at, Review.id)):
        ratings.setdefault((family, slip), []).append((moment, rating))
    return ratings


async def rated_at(db: AsyncSession, learner: int, item: int) -> set[int]:
    """Ids of the cards that *item* has been held against."""
    rows = select(Review.card_id).join(Card).where(Card.learner_id == learner, Review.item_id == item)
    return set(await db.scalars(rows))


async def _in_order(db: AsyncSession, query: Select[ServedItem]) -> list[ServedItem]:
    return list(await db.scalars(query.order_by(ServedItem.given_at, ServedItem.id)))


async def given_to(db: AsyncSession, learner: int, since: datetime | None = None) -> list[ServedItem]:
    """The items that *learner* was given, or did, in order."""
    query = select(ServedItem).where(ServedItem.learner_id == learner)
    if since is not None:
        query = query.where(or_(ServedItem.given_at >= since, ServedItem.done_at >= since))
    return await _in_order(db, query)


async def given_for(db: AsyncSession, learner: int, purpose: str) -> list[ServedItem]:
    """The items that *learner* was given on one occasion, in order."""
    query = select(ServedItem).where(ServedItem.learner_id == learner, ServedItem.purpose == purpose)
    return await _in_order(db, query)


async def given_in_class(db: AsyncSession, group: int, purposes: Collection[str]) -> list[ServedItem]:
    """The items that learners of a class were given for one of *purposes*, in order."""
    member = (Membership.class_id == group, Membership.role == "learner", Membership.left_at.is_(None))
    query = (
        select(ServedItem)
        .join(Membership, Membership.learner_id == ServedItem.learner_id)
        .where(*member, ServedItem.purpose.in_(purposes))
    )
    return await _in_order(db, query)


async def open_items(db: AsyncSession, learner: int) -> list[ServedItem]:
    """Items that were given, and neither done nor left, in order."""
    query = select(ServedItem).where(
        ServedItem.learner_id == learner, ServedItem.done_at.is_(None), ServedItem.left_at.is_(None)
    )
    return await _in_order(db, query)


async def unsolved_items(db: AsyncSession, learner: int, lesson: str) -> list[ServedItem]:
    """Items that are open, and that of *lesson* even after it was left."""
    items = await open_items(db, learner)
    number = lesson.removeprefix(ROOM)
    answered = await find_served_item(db, learner, int(number)) if number.isdecimal() else None
    return items if answered is None or answered.done_at or answered in items else [*items, answered]


async def find_served_item(db: AsyncSession, learner: int, item: int) -> ServedItem | None:
    query = select(ServedItem).where(ServedItem.learner_id == learner, ServedItem.item_id == item)
    return (await db.scalars(query)).one_or_none()


async def items_told(db: AsyncSession, learner: int, items: Collection[int]) -> set[int]:
    """Those of *items* whose solution *learner* opened before solving them."""
    lessons = select(Progress.lesson).where(
        Progress.learner_id == learner,
        Progress.lesson.in_(map(lesson_of_item, items)),
        Progress.solution_at <= func.coalesce(Progress.solved_at, Progress.solution_at),
    )
    return {int(name.removeprefix(ROOM)) for name in await db.scalars(lessons)}


async def find_item(db: AsyncSession, number: int) -> PracticeItem | None:
    return await db.get(PracticeItem, number)


async def list_candidates(
    db: AsyncSession, learner: int, version: int, levels: Collection[int], wanted: Collection[str]
) -> list[Candidate]:
    """Items to write, with programs that are new to *learner*.

    Args:
        wanted: The slips that they were drawn for; "" for none.
    """
    origin = [getattr(PracticeItem, name) for name in ORIGIN]
    query = select(*origin).join(ServedItem).where(ServedItem.learner_id == learner)
    known = {tuple(row) for row in await db.execute(query)}
    # The few columns that are compared: whole rows hold texts, and reading them takes longer than all the rest.
    rows = select(PracticeItem.id, PracticeItem.operations_json, PracticeItem.points, *origin).where(
        PracticeItem.version == version,
        PracticeItem.form == "write",
        PracticeItem.level.in_(levels),
        PracticeItem.wanted.in_(wanted),
    )
    candidates = await db.execute(rows.order_by(PracticeItem.id.desc()).limit(MOST_CANDIDATES))
    return [
        Candidate(number, frozenset(json.loads(operations)), points, named=own[ORIGIN.index("seed")] < 0)
        for number, operations, points, *own in candidates
        if tuple(own) not in known
    ]


async def in_form(db: AsyncSession, base: PracticeItem, form: str, fragment: str) -> PracticeItem:
    """Find the program of *base* in another *form*; create it from *fragment* if it is not stored yet."""
    same = (getattr(PracticeItem, name) == getattr(base, name) for name in ORIGIN)
    practice_item = (await db.scalars(select(PracticeItem).where(*same, PracticeItem.form == form))).one_or_none()
    if practice_item is None:
        columns = (*ORIGIN, "forward", "solution", "operations_json", "line_operations_json", "points", "proved_at")
        practice_item = PracticeItem(form=form, fragment=fragment, **{name: getattr(base, name) for name in columns})
        db.add(practice_item)
        await db.flush()
    return practice_item


async def newest_form(db: AsyncSession, learner: int, starts: Sequence[str]) -> str:
    """The form of the item that *learner* was given last, of those whose form has one of these *starts*; or empty."""
    query = (
        select(PracticeItem.form)
        .join(ServedItem, ServedItem.item_id == PracticeItem.id)
        .where(ServedItem.learner_id == learner, or_(*(PracticeItem.form.startswith(start) for start in starts)))
        .order_by(ServedItem.given_at.desc(), ServedItem.id.desc())
    )
    return await db.scalar(query.limit(1)) or ""


async def serve_item(
    db: AsyncSession, learner: int, item: int, family: str, slip: str, now: datetime, purpose: str = ""
) -> None:
    row = ServedItem(learner_id=learner, item_id=item, family=family, slip=slip, given_at=now, hints=0, purpose=purpose)
    db.add(row)
    await db.flush()
    await _forget_older(db, learner)


async def add_review(db: AsyncSession, card: Card, rating: int, moment: datetime, item: int) -> None:
    await db.flush()
    card.met += 1
    db.add(Review(card_id=card.id, item_id=item, rating=rating, reviewed_at=moment))


async def find_practice_session(db: AsyncSession, learner: int) -> PracticeSession | None:
    return await db.get(PracticeSession, learner)


async def start_practice_session(db: AsyncSession, learner: int, plan: str, moment: datetime) -> PracticeSession:
    """Start a practice session in place of the last one of *learner*."""
    practice_session = await find_practice_session(db, learner)
    if practice_session is None:
        practice_session = PracticeSession(learner_id=learner, seen_attempt_id=0, began_at=moment, plan_json="")
        db.add(practice_session)
    practice_session.began_at, practice_session.plan_json = moment, plan
    return practice_session


async def drills_of(db: AsyncSession, learner: int) -> dict[str, Drill]:
    return {drill.family: drill for drill in await db.scalars(select(Drill).where(Drill.learner_id == learner))}


async def record_drill(db: AsyncSession, learner: int, family: str, solved: int, now: datetime) -> None:
    """Keep the best."""
    row = await db.get(Drill, (learner, family))
    if row is None:
        db.add(Drill(learner_id=learner, family=family, best=solved, reached_at=now))
    elif solved > row.best:
        row.best, row.reached_at = solved, now


async def slips_since(db: AsyncSession, learner: int, attempt: int) -> Sequence[Attempt]:
    """Attempts in lessons after number *attempt* that a diagnosis named a slip of, in order."""
    query = select(Attempt).where(
        Attempt.learner_id == learner,
        Attempt.id > attempt,
        Attempt.code.is_not(None),
        Attempt.lesson.not_like(PRACTISED),
    )
    return list(await db.scalars(query.order_by(Attempt.id).limit(MOST_SLIPS)))


async def attempts_at(db: AsyncSession, learner: int, lesson: str) -> Sequence[Attempt]:
    query = select(Attempt).where(Attempt.learner_id == learner, Attempt.lesson == lesson)
    return list(await db.scalars(query.order_by(Attempt.id)))


async def operations_met(db: AsyncSession, learner: int) -> frozenset[str]:
    """The operations of all items that *learner* was given: what was known then stays known.

    What was drawn to find out what is known is left out.
    """
    query = (
        select(PracticeItem.operations_json)
        .join(ServedItem)
        .where(ServedItem.learner_id == learner, or_(ServedItem.purpose == "", ServedItem.purpose.startswith(RECALL)))
    )
    return frozenset(name for text in await db.scalars(query.distinct()) for name in json.loads(text))


async def days_practised(db: AsyncSession, learner: int, since: datetime) -> list[datetime]:
    done = ServedItem.done_at
    query = select(done).where(ServedItem.learner_id == learner, done >= since)
    return [moment for moment in await db.scalars(query) if moment is not None]


async def solved_count(db: AsyncSession, learner: int) -> int:
    """Count the items that *learner* has solved."""
    query = select(func.count()).where(ServedItem.learner_id == learner, ServedItem.done_at.is_not(None))
    return await db.scalar(query) or 0


async def _forget_older(db: AsyncSession, learner: int) -> None:
    """Texts of items from long ago go; a learner may go on for ever, and the store does not grow with that."""
    query = select(ServedItem.item_id).where(ServedItem.learner_id == learner)
    newest = query.order_by(ServedItem.given_at.desc(), ServedItem.id.desc())
    older = list(await db.scalars(newest.offset(KEPT_TEXTS).limit(2)))
    if not older:
        return  # most learners never come so far
    names = list(map(lesson_of_item, older))
    for table in (Attempt, Draft, ReplacedText, Progress):
        await db.execute(delete(table).where(table.learner_id == learner, table.lesson.in_(names)))
    lost = list(await db.scalars(newest.offset(KEPT_ITEMS).limit(2)))
    await db.execute(delete(ServedItem).where(ServedItem.learner_id == learner, ServedItem.item_id.in_(lost)))
