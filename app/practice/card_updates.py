"""Updates of cards by answers: those in lessons open cards, those to practice items rate them as well.

Cards are worked out from what was answered anyway, when an item of practice is asked for or answered: no check of a
lesson waits for them. A page that only shows them opens in memory what is not written down yet, as of when the slip was
made: to look changes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from app.bindings import writes
from app.content.blocks import Bug, Grad, Lesson
from app.engine.json_columns import decoded_verdict
from app.practice import scheduler
from app.practice.item_lessons import Curriculum, PracticeItems, asks_for, families_written, form_of
from app.practice.occasions import is_measuring
from app.practice.scheduler import About, CardState, ReviewOutcome
from app.practice.session_plans import PLAN, PracticeSet, SessionPlan, SessionState, set_called
from app.practice.taught import family_at
from app.store import cards, progress
from app.store.database import lock_learner
from app.store.progress import NewAttempt, record_attempt
from app.store.tables import Attempt, Card, PracticeItem, PracticeSession, ServedItem
from app.syntax import parse_code, statements_of

RESTED = timedelta(minutes=30)
"""After a pause as long as this, whoever goes on begins anew."""
DECLARED = "declared-"
"""A mistake that the lesson names by number alone; it is about the family as a whole."""
UNRATED = frozenset(scheduler.ITEM_FORMS) - {"write"} | {"which"}
"""Forms that help so much that nothing is recalled."""

Known = dict[About, Card]


@dataclass(frozen=True, slots=True)
class CardUpdater:
    """The cards of one learner, at a moment."""

    db: AsyncSession
    learner: int
    curriculum: Curriculum
    items: PracticeItems
    now: datetime
    known: Known

    async def from_lessons(self) -> None:
        """Open the cards of slips that were made in lessons since."""
        practice_session = await cards.find_practice_session(self.db, self.learner)
        fresh = await cards.slips_since(
            self.db, self.learner, practice_session.seen_attempt_id if practice_session else 0
        )
        for about, at in _slips_made(fresh, self.curriculum):
            self._open(about, at)
        if fresh:
            plan = PLAN.dump_json(SessionPlan()).decode()
            practice_session = practice_session or await cards.start_practice_session(
                self.db, self.learner, plan, self.now - RESTED
            )
            practice_session.seen_attempt_id = fresh[-1].id

    async def from_item(self, given: ServedItem) -> None:
        """Rate what the item that was *given* is about, and open what went wrong at it."""
        row = await cards.find_item(self.db, given.item_id)
        assert row is not None, "an item stays as long as somebody was given it"
        lesson = self.items.lesson(row)
        if lesson is None:
            given.left_at = self.now
            return
        attempts = await cards.attempts_at(self.db, self.learner, lesson.name)
        rows = (await progress.progress_in(self.db, self.learner, lesson.name)).values()
        solved = [item.solved_at for item in rows if item.solved_at]
        given.hints = sum(item.hints for item in rows)
        if given.code is None and (code := next((attempt.code for attempt in attempts if attempt.code), None)):
            given.code = code
            await self._tell_class(given, code)
        if len(solved) == len(lesson.exercises):
            given.done_at = max(solved)
            given.seconds = max(0, round((given.done_at - given.given_at).total_seconds()))
            await self._count(given)
        at = given.done_at or self.now
        failed = any(attempt.correct is False and _is_answer(attempt) for attempt in attempts)
        solution_seen = any(item.solution_at and item.solution_at <= (item.solved_at or at) for item in rows)
        if failed or solution_seen or given.hints or given.done_at:
            given.right_at_once = not (failed or solution_seen or given.hints)
        if is_measuring(given.purpose):
            return
        met = ReviewOutcome(
            cards=_stood_for(given, row, lesson, self.known, at),
            slips=frozenset(about for attempt in attempts for about in slips_in(lesson, attempt)),
            failed=failed,
            solved=given.done_at is not None,
            helped=given.hints > 0,
            told=solution_seen,
        )
        rated = await cards.rated_at(self.db, self.learner, row.id)
        for about, rating in scheduler.card_ratings(met).items():
            card = self._open(about, at)
            if card is not None and card.id not in rated:
                _keep(card, scheduler.review_card(memory_of(card), rating, at))
                await cards.add_review(self.db, card, rating, at, row.id)

    async def _find_practice_session(self, given: ServedItem) -> PracticeSession | None:
        """The practice session of now, if the item was *given* in it."""
        practice_session = await cards.find_practice_session(self.db, self.learner)
        return practice_session if practice_session and given.given_at >= practice_session.began_at else None

    async def _tell_class(self, given: ServedItem, code: str) -> None:
        """Keep the first slip at an item that a class was given as a mistake at that practice, without its text."""
        practice_session = await self._find_practice_session(given)
        goal = self._goal(PLAN.validate_json(practice_session.plan_json)) if practice_session else None
        if goal:
            # Everybody is drawn other exercises: a class shares the kind of a slip, and not the gradient it was at.
            kind = f"d:{scheduler.slip_of(code)}"
            slip = NewAttempt(kind="code", text="", verdict="", correct=None, code=kind)
            await record_attempt(self.db, self.learner, goal.name, goal.lesson.exercises[0].name, slip)

    def _goal(self, plan: SessionPlan) -> PracticeSet | None:
        return set_called(plan.assigned, self.curriculum.sets)

    async def _count(self, given: ServedItem) -> None:
        """Let an item that was done in a practice session count: for what a class was given, or for the own best."""
        practice_session = await self._find_practice_session(given)
        if practice_session is None or given.done_at is None:
            return
        plan = PLAN.validate_json(practice_session.plan_json)
        done = await cards.given_to(self.db, self.learner, practice_session.began_at)
        if plan.drill:
            solved = SessionState(plan, practice_session.began_at, tuple(done), over=False).done
            await cards.record_drill(self.db, self.learner, plan.families[0], solved, given.done_at)
        goal = self._goal(plan)
        if goal:
            lesson = goal.lesson
            counted = await progress.progress_in(self.db, self.learner, lesson.name)
            left = [exercise.name for exercise in lesson.exercises if exercise.name not in counted]
            before = [served_item for served_item in done if served_item.done_at and served_item is not given]
            for name in left[: goal.gained(before, given)]:
                row = await progress.progress_of(self.db, self.learner, lesson.name, name)
                row.solved_at = given.done_at

    def _open(self, about: About, at: datetime) -> Card | None:
        """The card of *about*, made where it is missing; None where there are too many already."""
        if about not in self.known and len(self.known) < cards.MOST_CARDS:
            card = self.known[about] = _new_card(self.learner, about, at)
            self.db.add(card)
        return self.known.get(about)


async def _cards_of(db: AsyncSession, learner: int) -> Known:
    """The cards that are written down, without those about what is no slip: such were opened once."""
    return {
        about: card for about, card in (await cards.cards_of(db, learner)).items() if about[1] not in scheduler.UNNAMED
    }


async def cards_shown(db: AsyncSession, learner: int, curriculum: Curriculum) -> Known:
    """All cards of *learner*, with those that slips in lessons will open; nothing is written."""
    known, practice_session = await _cards_of(db, learner), await cards.find_practice_session(db, learner)
    fresh = await cards.slips_since(db, learner, practice_session.seen_attempt_id if practice_session else 0)
    for about, at in _slips_made(fresh, curriculum):
        if about not in known and len(known) < cards.MOST_CARDS:
            known[about] = _new_card(learner, about, at)
    return known


LEFT_OUT = "share-missing"
"""A slip that the last line of a gradient may be free of: the next one is not there."""
MISSING = frozenset({"factor-missing", "divisor-missing", "mean-missing", "constant-missing", "minus-missing", ""})
"""Slips that each of several lines of a gradient may be free of: what is missing may be a line of its own."""


@dataclass(frozen=True, slots=True)
class OwnLine:
    """A line that a learner wrote in a lesson, and by which a slip was made.

    Args:
        whole: The line itself is the slip; it is not where one that should come after it was left out.
    """

    line: str
    at: datetime
    whole: bool = True


async def own_lines(db: AsyncSession, learner: int, curriculum: Curriculum) -> dict[About, OwnLine]:
    """The line by which each slip was made last in a lesson that is still there."""
    lines_by_card: dict[About, OwnLine] = {}
    for attempt in await cards.slips_since(db, learner, 0):
        lesson = curriculum.lessons.get(attempt.lesson)
        lines = attempt.text.split("\n")
        for about, number in slip_lines(lesson, attempt) if lesson else ():
            if number and number <= len(lines):
                text = lines[number - 1].partition("#")[0].strip()
                lines_by_card[about] = OwnLine(text, attempt.created_at, about[1] != LEFT_OUT)
    return lines_by_card


async def caught_up(
    db: AsyncSession, learner: int, curriculum: Curriculum, items: PracticeItems, now: datetime, answered: str = ""
) -> Known:
    """All cards of *learner*, with those opened and rated that something was answered about since.

    Args:
        answered: The lesson of the item that was answered just now, which counts after it was left as well.
    """
    await lock_learner(db, learner)
    book = CardUpdater(db, learner, curriculum, items, now, await _cards_of(db, learner))
    await book.from_lessons()
    for given in await cards.unsolved_items(db, learner, answered):
        await book.from_item(given)
    await db.flush()
    return book.known


def _is_answer(attempt: Attempt) -> bool:
    """False for a text that was not run: it is no Python yet, or calls what no box has."""
    verdict = decoded_verdict(attempt.verdict_json) if attempt.kind == "code" else None
    if verdict is None or verdict.outcome not in {"refused", "error"}:
        return True
    try:
        parse_code(attempt.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return verdict.outcome == "error"


def _slips_made(attempts: Sequence[Attempt], curriculum: Curriculum) -> Iterator[tuple[About, datetime]]:
    """The slips of *attempts* in lessons, and when each was made."""
    for attempt in attempts:
        lesson = curriculum.lessons.get(attempt.lesson)
        for about in slips_in(lesson, attempt) if lesson else ():
            yield about, attempt.created_at


def _new_card(learner: int, about: About, at: datetime) -> Card:
    card = Card(learner_id=learner, family=about[0], slip=about[1], met=0, opened_at=at)
    _keep(card, scheduler.new_card(*about, at))
    return card


def slips_in(lesson: Lesson, attempt: Attempt) -> Iterator[About]:
    """The slips that were recognised in an *attempt* at a box of *lesson*, each at its family of operations."""
    return (about for about, _ in slip_lines(lesson, attempt))


def slip_lines(lesson: Lesson, attempt: Attempt) -> Iterator[tuple[About, int | None]]:
    """The slips of `slips_in`, each with the number of the line that made it, where that is known."""
    box = lesson.exercise(attempt.exercise)
    forward = lesson.forward(box.forward) if isinstance(box, Grad | Bug) else None
    verdict = decoded_verdict(attempt.verdict_json) if attempt.code and forward else None
    for name_verdict in verdict.names if verdict else ():
        code = name_verdict.code or ""
        slip = scheduler.slip_of(code)
        if forward and slip and slip not in scheduler.UNNAMED:
            gradient, shown = scheduler.gradient_of(code), "" if slip.startswith(DECLARED) else slip
            family = family_at(forward, gradient.removeprefix("d"), slip, scheduler.share_of(code))
            if family:
                anywhere = shown in MISSING and _lines_writing(attempt.text, gradient) > 1
                yield (family, shown), None if anywhere else name_verdict.line


def _lines_writing(text: str, name: str) -> int:
    return sum(name in writes(statement) for statement in statements_of(text))


def _stood_for(given: ServedItem, row: PracticeItem, lesson: Lesson, known: Known, at: datetime) -> frozenset[About]:
    """The cards that a solution is held against: its own where it asks for its slip, and whole families that are new
    or due.
    """
    if form_of(row) in UNRATED:
        return frozenset()
    families = families_written(row) if form_of(row) == "write" else ()
    whole = {(family, "") for family in families if (family, "") not in known or known[family, ""].due_at <= at}
    slip = "" if given.slip in scheduler.UNNAMED else given.slip
    own = {(given.family, slip)} if not slip or asks_for(row, lesson, given.family, slip) else set()
    return frozenset({*own, *whole})


def memory_of(card: Card) -> CardState:
    return CardState(family=card.family, slip=card.slip, state=card.state_json, due_at=card.due_at)


def _keep(card: Card, memory: CardState) -> None:
    card.state_json, card.due_at = memory.state, memory.due_at
