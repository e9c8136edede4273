"""A learner's practice: the practice session that they are in, and which item comes next."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from app.content.blocks import Lesson
from app.grading.operations.table import EXERCISES
from app.practice import scheduler
from app.practice.card_updates import RESTED, UNRATED, Known, cards_shown, caught_up, memory_of
from app.practice.derived_hints import faults_met
from app.practice.draw import VERSION
from app.practice.item_lessons import LEVELS, PLANTED, Curriculum, PracticeItems, item_of, render_form
from app.practice.occasions import OTHERWISE, is_measuring, requests_from
from app.practice.operations import slips_shown
from app.practice.scheduler import About
from app.practice.session_plans import (
    ANY_POINTS,
    ENOUGH,
    NOTHING_LEFT,
    PLAN,
    ItemRequest,
    ItemShortage,
    SessionPlan,
    SessionState,
)
from app.practice.taught import families_of
from app.store import cards, progress
from app.store.cards import Candidate
from app.store.database import now
from app.store.moments import hints_opened
from app.store.tables import PracticeItem

DAY = timedelta(days=1)
FIRST_WRITTEN = scheduler.ITEM_FORMS.index("write")
MOST_DRAWN, MOST_ASKED = 3, 9
"""For how many wishes somebody waits until there is one, and how many are asked for at most: of these operations there
may be no exercise, which is known at once.
"""
AHEAD = 2
"""How many of the wishes after the one that is met are drawn meanwhile."""

Clock = Callable[[], datetime]


class ItemSource(Protocol):
    """Source of items; both methods take a level, a family, a slip and the operations that may be used."""

    async def make(
        self, level: int, family: str, slip: str, operations: frozenset[str], points: tuple[int, int] = ANY_POINTS
    ) -> bool:
        """Keep an item for a learner who waits; False where it could not."""

    def expect(self, level: int, family: str, slip: str, operations: frozenset[str]) -> bool:
        """Draw items that will be asked for; False where there can be none."""


class Practice:
    """The practice of all learners of a course."""

    def __init__(self, curriculum: Curriculum, items: PracticeItems, stock: ItemSource, clock: Clock = now) -> None:
        self.curriculum = curriculum
        self.items = items
        self._stock = stock
        self.clock = clock

    async def catch_up(self, db: AsyncSession, learner: int, answered: str = "") -> Known:
        """All cards, with those opened and rated that something was answered about since, last in *answered*."""
        return await caught_up(db, learner, self.curriculum, self.items, self.clock(), answered)

    async def cards(self, db: AsyncSession, learner: int) -> Known:
        """All cards, to be shown: nothing is written."""
        return await cards_shown(db, learner, self.curriculum)

    async def begin(self, db: AsyncSession, learner: int, plan: SessionPlan) -> SessionState:
        """Start a practice session. What was open goes on where both are ordinary; what an occasion asked waits."""
        last = await cards.find_practice_session(db, learner)
        before = PLAN.validate_json(last.plan_json) if last else plan
        await self._leave_open(db, learner, plan, plan if before.purpose else before)
        practice_session = await cards.start_practice_session(db, learner, PLAN.dump_json(plan).decode(), self.clock())
        return SessionState(plan, practice_session.began_at, (), over=False)

    async def end(self, db: AsyncSession, learner: int, standing: SessionState | None) -> str:
        """The address of what is said of a practice session that is over. What was open is left."""
        plan = standing.plan if standing else SessionPlan()
        await self._leave_open(db, learner, plan)
        if plan.back:
            return plan.back
        if plan.assigned:
            return f"/practice/set/{plan.assigned}"
        return f"/practice/drill/{plan.families[0]}" if plan.drill else "/practice"

    async def _leave_open(self, db: AsyncSession, learner: int, *plans: SessionPlan) -> None:
        """Leave what is open, unless all *plans* are those of ordinary sessions."""
        for served_item in await cards.open_items(db, learner) if {*plans} != {SessionPlan()} else ():
            served_item.left_at = self.clock()

    async def standing(self, db: AsyncSession, learner: int) -> SessionState | None:
        """State of the practice session of *learner*; None where there was none, or long ago."""
        practice_session = await cards.find_practice_session(db, learner)
        if practice_session is None:
            return None
        plan, now = PLAN.validate_json(practice_session.plan_json), self.clock()
        given = tuple(
            served_item
            for served_item in await cards.given_to(db, learner, practice_session.began_at)
            if served_item.purpose == plan.purpose
        )
        last = max(
            (served_item.done_at or served_item.given_at for served_item in given), default=practice_session.began_at
        )
        if now - last >= RESTED:
            return None
        standing = SessionState(plan, practice_session.began_at, given, over=False)
        longest = timedelta(minutes=plan.minutes)
        return replace(
            standing, over=scheduler.is_over(practice_session.began_at, now, standing.done, plan.items, longest)
        )

    async def next_item(
        self, db: AsyncSession, learner: int, known: Known, standing: SessionState, tried: Mapping[About, bool]
    ) -> int | ItemShortage:
        """The item that *learner* is at, or a new one; where the best is not at hand, what it should be.

        Args:
            tried: Requests for which the learner has waited already, and whether one was drawn.
        """
        for at in await cards.open_items(db, learner):
            if at.purpose == standing.plan.purpose:  # what is open on another occasion waits there
                return at.item_id
        if len(await cards.given_to(db, learner, self.clock() - DAY)) >= cards.MOST_A_DAY:
            return ENOUGH
        plan = standing.plan
        operations = self.curriculum.operations_of(plan.lessons) or await self.operations_known(db, learner)
        wishes = await self._wishes(db, learner, known, standing, families_of(operations))
        usual = plan.level or scheduler.level_at(await cards.solved_count(db, learner))
        for wish in wishes:
            level = wish.level or usual
            row = await self._found(db, learner, wish, operations, level)
            if row is not None:
                await cards.serve_item(db, learner, row.id, *wish.about, self.clock(), plan.purpose)
                for about in _ahead(wishes, wish) if not plan.slots else ():
                    self._stock.expect(level, *about, operations)
                return row.id
            if wish.about not in tried and sum(tried.values()) < MOST_DRAWN and len(tried) < MOST_ASKED:
                return ItemShortage(wish, level, operations)
        return NOTHING_LEFT

    async def lesson_of(self, db: AsyncSession, learner: int, item: int) -> Lesson | None:
        """The *item* as a lesson, with hints about what is not right yet; None where *learner* was not given it."""
        given = await cards.find_served_item(db, learner, item)
        row = await cards.find_item(db, item) if given else None
        if row is None:
            return None
        name = cards.lesson_of_item(item)
        opened = await hints_opened(db, learner, name)
        return self.items.lesson(row, faults_met(await cards.attempts_at(db, learner, name), opened))

    async def make(self, missing: ItemShortage) -> bool:
        """Have an item drawn that is missing; it may take a while."""
        wish = missing.wish
        return await self._stock.make(missing.level, *wish.about, missing.operations, wish.points)

    async def leave(self, db: AsyncSession, learner: int, item: int) -> None:
        """Go past *item* undone; its card stays as it is."""
        given = await cards.find_served_item(db, learner, item)
        if given is not None and given.done_at is None:
            given.left_at = self.clock()

    async def operations_known(self, db: AsyncSession, learner: int) -> frozenset[str]:
        """Operations taught by the lessons that *learner* opened, those that left no trace but in practice as well."""
        opened = self.curriculum.operations_of(await progress.opened_lessons(db, learner))
        return opened | await cards.operations_met(db, learner)

    async def _wishes(
        self, db: AsyncSession, learner: int, known: Known, standing: SessionState, taught: frozenset[str]
    ) -> list[ItemRequest]:
        """Requests that could come next, the best first: what is due, what was never met, and then all of it again."""
        plan, now = standing.plan, self.clock()
        wanted = taught & set(plan.families) if plan.families else taught
        if plan.slots:
            return requests_from(plan.slots, len(standing.given))
        if plan.drill:
            return [ItemRequest((family, ""), "write") for family in wanted]
        if plan.form:
            slips = bugs_of(known, now)
            return [ItemRequest(slip, plan.form) for slip in slips if slip[0] in wanted]
        # What was left was met as well: it is not asked in the same way over and over.
        met = Counter(
            served_item.family
            for served_item in await cards.given_to(db, learner)
            if (served_item.done_at or served_item.left_at) and not is_measuring(served_item.purpose)
        )
        written = await self._written(db, learner)
        met.update(dict.fromkeys(written, FIRST_WRITTEN))
        tried = {(served_item.family, served_item.slip) for served_item in standing.given}
        memories = [memory_of(card) for card in known.values() if card.family in wanted]
        due = scheduler.in_order(
            card_state for card_state in memories if card_state.due_at <= now and card_state.about not in tried
        )
        form = scheduler.form_in_round(len(standing.given), f"{learner} {standing.began_at}")
        if plan.forms:
            form = plan.forms[len(standing.given) % len(plan.forms)]
        # A form that says nothing of a slip is about its family: the slip comes next.
        shapely = form in scheduler.SHAPELY
        wishes = [ItemRequest((state.family, "" if shapely else state.slip), form) for state in due]
        carded = {family for family, slip in known if not slip}
        unmet = sorted(wanted - carded, key=lambda name: (-met[name], name))
        wishes += [
            ItemRequest((name, ""), form if plan.forms or name in written else scheduler.form_at(met[name]))
            for name in unmet
            if met[name] <= FIRST_WRITTEN
        ]
        times = Counter(served_item.family for served_item in standing.given)
        last = {card_state.family: card_state.due_at for card_state in memories if not card_state.slip}
        again = sorted(wanted, key=lambda name: (times[name], last.get(name, now), name))
        wishes += [ItemRequest((name, ""), form) for name in again]
        return list(dict.fromkeys(replace(wish, otherwise=OTHERWISE) if plan.forms else wish for wish in wishes))

    async def _written(self, db: AsyncSession, learner: int) -> set[str]:
        """Families that *learner* has written right in a lesson: their first meeting is over."""
        solved = await progress.solved_by_lesson(db, learner)
        return {name for lesson, names in solved.items() for name in self.curriculum.families_at(lesson, names)}

    async def _found(
        self, db: AsyncSession, learner: int, wish: ItemRequest, operations: frozenset[str], level: int
    ) -> PracticeItem | None:
        """An item that *learner* has not seen, uses nothing that was not taught, and is about *wish*."""
        family, slip = wish.about
        for wanted in (rows_of(slip), {""}) if slip else ({""},):
            for each in _levels_from(level) if wish.points == ANY_POINTS else (level,):
                options = [
                    candidate
                    for candidate in await cards.list_candidates(db, learner, VERSION, (each,), wanted)
                    if candidate.operations <= operations
                    and family in families_of(candidate.operations)
                    and wish.points[0] <= candidate.points <= wish.points[1]
                ]
                showing = [each for each in options if slip in slips_shown(each.operations, family)]
                options = showing or options
                if options:
                    return await self._in_form(db, learner, _choose(options, wish.form), wish)
        return None

    async def _in_form(self, db: AsyncSession, learner: int, chosen: Candidate, wish: ItemRequest) -> PracticeItem:
        row = await cards.find_item(db, chosen.id)
        assert row is not None
        planted = await cards.newest_form(db, learner, [f"{form}-" for form in PLANTED])
        item, avoided = item_of(row), planted.partition("-")[2]
        item_form = render_form(item, wish.form, *wish.about, avoided=avoided)
        if item_form is None and wish.otherwise:
            item_form = render_form(item, wish.otherwise, *wish.about)
        return await cards.in_form(db, row, *item_form) if item_form else row


def _levels_from(level: int) -> list[int]:
    """*level* first, then those below it, and last those above."""
    return sorted(LEVELS, key=lambda number: (number > level, abs(number - level)))


def bugs_of(known: Known, now: datetime) -> list[About]:
    """The own slips, beginning with another one each day."""
    slips = sorted(about for about in known if about[1])
    at = now.toordinal() % len(slips) if slips else 0
    return slips[at:] + slips[:at]


def rows_of(slip: str) -> set[str]:
    """Slips for which an item may have been drawn that shows *slip*."""
    return {row for operation in EXERCISES for row in operation.shows if row.partition(":")[0] == slip} or {slip}


def _ahead(wishes: list[ItemRequest], met: ItemRequest) -> list[About]:
    """Requests after *met*, which is used up by one itself: the next comes last, and is drawn first."""
    others = dict.fromkeys(item_request.about for item_request in wishes if item_request.about != met.about)
    return [met.about, *reversed(list(others)[:AHEAD])]


def _choose(options: list[Candidate], form: str) -> Candidate:
    """The simplest for a first meeting; else what has a name, or any: neighbours need not have the same before them.

    Where shapes and sums are asked for, a program with a sum comes first.
    """
    if form in UNRATED:
        return min(options, key=lambda candidate: (candidate.points, candidate.id))
    if form == "shapes":
        options = [each for each in options if "broadcast" in families_of(each.operations)] or options
    return random.choice([candidate for candidate in options if candidate.named] or options)
