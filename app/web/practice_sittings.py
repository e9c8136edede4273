"""A learner's practice: what attempts say about cards, and which item comes next.

Cards are worked out from what was answered anyway, whenever practice is looked at: no check of a lesson waits for them,
and to look twice, or from two tabs, changes nothing.
"""

import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import Bug, Grad, Lesson
from app.practice import scheduler
from app.practice.draw import VERSION
from app.practice.operations import TABLE
from app.practice.scheduler import About, Memory, Met
from app.practice.taught import families_of, family_at
from app.store import cards, progress
from app.store.cards import Candidate
from app.store.database import hold, now
from app.store.tables import Attempt, Card, PracticeAttempt, PracticeItem, Sitting
from app.web.json_columns import decoded_verdict
from app.web.practice_items import FORMS, LEVELS, Curriculum, PracticeItems, item_of
from app.web.practice_plans import ENOUGH, NOTHING, PLAN, Missing, Plan, Standing, Wish

DAY = timedelta(days=1)
RESTED = timedelta(minutes=30)
"""After a pause as long as this, whoever goes on begins anew."""
FIRST_WRITTEN = scheduler.FORMS.index("write")
UNRATED = frozenset(scheduler.FORMS) - {"write"}
"""Forms that help so much that nothing is recalled."""
MOST_DRAWN = 3
"""For how many wishes somebody waits."""

Known = dict[About, Card]
Clock = Callable[[], datetime]
Maker = Callable[[int, str, str, frozenset[str]], Awaitable[bool]]
"""Draws, proves and keeps an item of a level, for a family and a slip, from operations; whether it could."""


class Practice:
    """The practice of all learners of a course."""

    def __init__(self, curriculum: Curriculum, items: PracticeItems, maker: Maker, clock: Clock = now) -> None:
        self.curriculum = curriculum
        self.items = items
        self._maker = maker
        self.clock = clock

    # What attempts say.

    async def catch_up(self, db: AsyncSession, learner: int) -> Known:
        """Open and rate the cards of everything that was answered since; all cards."""
        await hold(db, learner)
        known = await cards.cards_of(db, learner)
        await self._from_lessons(db, learner, known)
        for given in await cards.open_items(db, learner):
            await self._from_item(db, learner, given, known)
        await db.flush()
        return known

    async def _from_lessons(self, db: AsyncSession, learner: int, known: Known) -> None:
        sitting = await cards.sitting_of(db, learner)
        fresh = await cards.slips_since(db, learner, sitting.seen_attempt if sitting else 0)
        for attempt in fresh:
            lesson = self.curriculum.lessons.get(attempt.lesson)
            for about in slips_in(lesson, attempt) if lesson else ():
                self._open(db, learner, known, about, self.clock())
        if fresh:
            sitting = sitting or await self._sit(db, learner, Plan(), self.clock() - RESTED)
            sitting.seen_attempt = fresh[-1].id

    async def _from_item(self, db: AsyncSession, learner: int, given: PracticeAttempt, known: Known) -> None:
        row = await cards.item(db, given.item_id)
        assert row is not None, "an item stays as long as somebody was given it"
        lesson = self.items.lesson(row)
        if lesson is None:
            given.left_at = self.clock()
            return
        attempts = await cards.attempts_at(db, learner, lesson.name)
        rows = (await progress.progress_in(db, learner, lesson.name)).values()
        solved = [one.solved_at for one in rows if one.solved_at]
        given.hints = sum(one.hints for one in rows)
        given.code = given.code or next((one.code for one in attempts if one.code), None)
        if len(solved) == len(lesson.exercises):
            given.done_at = max(solved)
            given.seconds = max(0, round((given.done_at - given.given_at).total_seconds()))
            await self._count(db, learner, given)
        at = given.done_at or self.clock()
        met = Met(
            cards=_stood_for(given, row, known, at),
            slips=frozenset(about for one in attempts for about in slips_in(lesson, one)),
            failed=any(one.correct is False for one in attempts),
            solved=given.done_at is not None,
            helped=given.hints > 0,
            told=any(one.solution_at and one.solution_at <= (one.solved_at or at) for one in rows),
        )
        rated = await cards.rated_at(db, learner, row.id)
        for about, rating in scheduler.ratings(met).items():
            card = self._open(db, learner, known, about, at)
            if card is not None and card.id not in rated:
                _keep(card, scheduler.reviewed(memory_of(card), rating, at))
                await cards.add_review(db, card, rating, at, row.id)

    async def _count(self, db: AsyncSession, learner: int, given: PracticeAttempt) -> None:
        """Let an item that was done in a sitting count: for what a class was given, or for the own best."""
        sitting = await cards.sitting_of(db, learner)
        if sitting is None or given.given_at < sitting.began_at or given.done_at is None:
            return
        plan, done = PLAN.validate_json(sitting.plan), await cards.given_to(db, learner, sitting.began_at)
        if plan.drill:
            solved = Standing(plan, sitting.began_at, tuple(done), over=False).done
            await cards.record_drill(db, learner, plan.families[0], solved, given.done_at)
        goal = self.curriculum.sets.get(plan.assigned)
        if goal:
            lesson = goal.lesson
            counted = await progress.progress_in(db, learner, lesson.name)
            left = [one.name for one in lesson.exercises if one.name not in counted]
            before = [one for one in done if one.done_at and one is not given]
            for name in left[: goal.gained(before, given)]:
                row = await progress.progress_of(db, learner, lesson.name, name)
                row.solved_at = given.done_at

    def _open(self, db: AsyncSession, learner: int, known: Known, about: About, at: datetime) -> Card | None:
        """The card of *about*, made where it is missing; None where there are too many already."""
        if about not in known and len(known) < cards.MOST_CARDS:
            card = known[about] = Card(learner_id=learner, family=about[0], slip=about[1], met=0, opened_at=at)
            _keep(card, scheduler.opened(*about, at))
            db.add(card)
        return known.get(about)

    # What comes next.

    async def begin(self, db: AsyncSession, learner: int, plan: Plan) -> Standing:
        """A new sitting. What was open goes on in an ordinary one, and is left for any other."""
        for one in await cards.open_items(db, learner) if plan != Plan() else ():
            one.left_at = self.clock()
        sitting = await self._sit(db, learner, plan, self.clock())
        return Standing(plan, sitting.began_at, (), over=False)

    async def end(self, db: AsyncSession, learner: int, standing: Standing | None) -> str:
        """The address of what is said of a sitting that is over. What was open is left."""
        for one in await cards.open_items(db, learner) if standing and standing.plan != Plan() else ():
            one.left_at = self.clock()
        plan = standing.plan if standing else Plan()
        if plan.assigned:
            return f"/practice/set/{plan.assigned}"
        return f"/practice/drill/{plan.families[0]}" if plan.drill else "/practice"

    async def standing(self, db: AsyncSession, learner: int) -> Standing | None:
        """Where the sitting of *learner* is; None where there was none, or long ago."""
        sitting = await cards.sitting_of(db, learner)
        if sitting is None:
            return None
        plan, now = PLAN.validate_json(sitting.plan), self.clock()
        given = tuple(await cards.given_to(db, learner, sitting.began_at))
        last = max((one.done_at or one.given_at for one in given), default=sitting.began_at)
        if now - last >= RESTED:
            return None
        standing = Standing(plan, sitting.began_at, given, over=False)
        longest = timedelta(minutes=plan.minutes)
        return replace(standing, over=scheduler.is_over(sitting.began_at, now, standing.done, plan.items, longest))

    async def next_item(
        self, db: AsyncSession, learner: int, known: Known, standing: Standing, tried: Collection[About]
    ) -> int | Missing:
        """The item that *learner* is at, or a new one; where the best is not at hand, what it should be.

        Args:
            tried: What somebody has waited for already.
        """
        for at in await cards.open_items(db, learner):
            return at.item_id
        if len(await cards.given_to(db, learner, self.clock() - DAY)) >= cards.MOST_A_DAY:
            return ENOUGH
        operations = await self.operations_known(db, learner)
        wishes = await self._wishes(db, learner, known, standing, families_of(operations))
        level = standing.plan.level or scheduler.level_at(await cards.solved_count(db, learner))
        for wish in wishes:
            row = await self._found(db, learner, wish, operations, level)
            if row is not None:
                await cards.give(db, learner, row.id, *wish.about, self.clock())
                return row.id
            if wish.about not in tried and len(tried) < MOST_DRAWN:
                return Missing(wish, level, operations)
        return NOTHING

    async def make(self, missing: Missing) -> bool:
        """Have an item drawn that is missing; it may take a while."""
        return await self._maker(missing.level, *missing.wish.about, missing.operations)

    async def leave(self, db: AsyncSession, learner: int, item: int) -> None:
        """Go past *item* undone; its card stays as it is."""
        given = await cards.given(db, learner, item)
        if given is not None and given.done_at is None:
            given.left_at = self.clock()

    async def operations_known(self, db: AsyncSession, learner: int) -> frozenset[str]:
        """What the lessons that *learner* opened have taught."""
        return self.curriculum.operations_of(await cards.opened_lessons(db, learner))

    async def _wishes(
        self, db: AsyncSession, learner: int, known: Known, standing: Standing, taught: frozenset[str]
    ) -> list[Wish]:
        """What could come next, the best first: what is due, what was never met, and then all of it again."""
        plan, now = standing.plan, self.clock()
        wanted = taught & set(plan.families) if plan.families else taught
        if plan.drill:
            return [Wish((family, ""), "write") for family in wanted]
        if plan.form:
            slips = bugs_of(known, now)
            return [Wish(one, plan.form) for one in slips if one[0] in wanted]
        # What was left was met as well: it is not asked in the same way over and over.
        met = Counter(one.family for one in await cards.given_to(db, learner) if one.done_at or one.left_at)
        met.update(dict.fromkeys(await self._written(db, learner), FIRST_WRITTEN))
        tried = {(one.family, one.slip) for one in standing.given}
        memories = [memory_of(card) for card in known.values() if card.family in wanted]
        due = scheduler.in_order(one for one in memories if one.due_at <= now and one.about not in tried)
        wishes = [Wish(one.about, scheduler.form_at(max(met[one.family], FIRST_WRITTEN))) for one in due]
        carded = {family for family, slip in known if not slip}
        unmet = sorted(wanted - carded, key=lambda one: (-met[one], one))
        wishes += [Wish((one, ""), scheduler.form_at(met[one])) for one in unmet if met[one] <= FIRST_WRITTEN]
        times = Counter(one.family for one in standing.given)
        last = {one.family: one.due_at for one in memories if not one.slip}
        again = sorted(wanted, key=lambda one: (times[one], last.get(one, now), one))
        return wishes + [Wish((one, ""), scheduler.form_at(max(met[one], FIRST_WRITTEN))) for one in again]

    async def _written(self, db: AsyncSession, learner: int) -> set[str]:
        """Families that *learner* has written right in a lesson: their first meeting is over."""
        solved = await progress.solved_by_lesson(db, learner)
        return {one for lesson, names in solved.items() for one in self.curriculum.families_at(lesson, names)}

    async def _found(
        self, db: AsyncSession, learner: int, wish: Wish, operations: frozenset[str], level: int
    ) -> PracticeItem | None:
        """An item that *learner* has not seen, uses nothing that was not taught, and is about *wish*."""
        family, slip = wish.about
        for wanted in (rows_of(slip), {""}) if slip else ({""},):
            for each in sorted(LEVELS, key=lambda one: (one > level, abs(one - level))):
                options = [
                    one
                    for one in await cards.candidates(db, learner, VERSION, (each,), wanted)
                    if one.operations <= operations and family in families_of(one.operations)
                ]
                if options:
                    return await self._in_form(db, _chosen(options, wish.form), wish)
        return None

    async def _in_form(self, db: AsyncSession, chosen: Candidate, wish: Wish) -> PracticeItem:
        row = await cards.item(db, chosen.id)
        assert row is not None
        ask = FORMS.get(wish.form)
        fragment = ask(item_of(row), *wish.about) if ask else ""
        return await cards.in_form(db, row, wish.form, fragment) if fragment else row

    async def _sit(self, db: AsyncSession, learner: int, plan: Plan, at: datetime) -> Sitting:
        sitting = await cards.sitting_of(db, learner)
        if sitting is None:
            sitting = Sitting(learner_id=learner, seen_attempt=0, began_at=at, plan="")
            db.add(sitting)
        sitting.began_at, sitting.plan = at, PLAN.dump_json(plan).decode()
        return sitting


def bugs_of(known: Known, now: datetime) -> list[About]:
    """The own slips, beginning with another one each day."""
    slips = sorted(about for about in known if about[1])
    at = now.toordinal() % len(slips) if slips else 0
    return slips[at:] + slips[:at]


def rows_of(slip: str) -> set[str]:
    """What an item may have been drawn for that shows *slip*."""
    return {row for one in TABLE for row in one.shows if row.partition(":")[0] == slip} or {slip}


def slips_in(lesson: Lesson, attempt: Attempt) -> Iterator[About]:
    """The slips that were recognised in an *attempt* at a box of *lesson*, each at its family of operations."""
    box = lesson.exercise(attempt.exercise)
    forward = lesson.forwards.get(box.forward or "") if isinstance(box, Grad | Bug) else None
    verdict = decoded_verdict(attempt.verdict) if attempt.code and forward else None
    for one in verdict.names if verdict else ():
        slip = scheduler.slip_of(one.code or "")
        if forward and slip and slip not in scheduler.UNNAMED:
            family = family_at(forward, one.name.removeprefix("d"), slip)
            if family:
                yield family, slip


def _chosen(options: list[Candidate], form: str) -> Candidate:
    """The simplest for a first meeting; else any, so that neighbours do not have the same before them."""
    return min(options, key=lambda one: (one.points, one.id)) if form in UNRATED else random.choice(options)


def _stood_for(given: PracticeAttempt, row: PracticeItem, known: Known, at: datetime) -> frozenset[About]:
    """The cards that a solution is held against: its own, and whole families that are new or due."""
    if row.form in UNRATED:
        return frozenset()
    families = families_of(json.loads(row.operations)) if row.form == "write" else ()
    whole = {(one, "") for one in families if (one, "") not in known or known[one, ""].due_at <= at}
    return frozenset({(given.family, given.slip), *whole})


def memory_of(card: Card) -> Memory:
    return Memory(family=card.family, slip=card.slip, state=card.state, due_at=card.due_at)


def _keep(card: Card, memory: Memory) -> None:
    card.state, card.due_at = memory.state, memory.due_at
