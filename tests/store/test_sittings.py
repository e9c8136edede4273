"""Sittings in each database: what servers do by themselves, once and in time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from app.accounts.merge import merge_learners, seat_person
from app.store import classes, drafts, former_members, joining, learners, rosters, sitting_results, sittings
from app.store.classes import RefusedError
from app.store.database import Database
from app.store.grades import build_gradebook
from app.store.sittings import ExtraTime, OwnSitting, SittingSettings, SittingTime
from app.store.tables import Class, Draft, Progress, ReplacedText, SittingAnswer, SittingRecord

pytestmark = pytest.mark.anyio

OPENS = datetime(2026, 11, 30, 9, tzinfo=UTC)
SETTINGS = SittingSettings("Exam", OPENS, OPENS + timedelta(hours=2), 40, 2.0, "nothing")


class Exam:
    """A class with one sitting, and learners who begin when it opens."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.group = self.sitting = 0

    async def set_up(self) -> None:
        async with self.database.write() as db:
            teacher, _ = await learners.begin_session(db)
            group = await classes.create_class(db, "Algebra", "UTC", teacher, "Ada")
            row = await sittings.create_sitting(db, group.id, SETTINGS, "[]", 2, teacher)
            self.group, self.sitting = group.id, row.id
            (await self.own(db)).sitting.drawn_at = OPENS

    async def own(self, db, learner: int | None = None) -> OwnSitting:
        own = await sittings.find_sitting(db, self.group, self.sitting, learner)
        assert own is not None
        return own

    async def begins(self, name: str) -> int:
        async with self.database.write() as db:
            learner, _ = await learners.begin_session(db)
            group = await db.get_one(Class, self.group)
            await joining.join_class(db, group, learner, name)
            own = await self.own(db, learner)
            await sittings.begin_sitting(db, group, own, learner, "[]", ("0" * 64, "Firefox"), OPENS)
        return learner

    async def expects(self, name: str) -> int:
        """A learner who is on the list, and has not come yet."""
        async with self.database.write() as db:
            return (await rosters.reserve_seat(db, await db.get_one(Class, self.group), name, "learner")).learner_id

    async def gives(self, learner: int, extra: ExtraTime, **after: int) -> None:
        async with self.database.write() as db:
            own = await self.own(db, learner)
            await sittings.give_time(db, own, learner, extra, None, OPENS + timedelta(**after))

    async def change(self, minutes: int, after: int) -> None:
        """So many minutes *after* it opened."""
        async with self.database.write() as db:
            settings, moment = replace(SETTINGS, minutes=minutes), OPENS + timedelta(minutes=after)
            await sittings.change_sitting(db, await self.own(db), settings, None, moment)

    async def close(self, **after: int) -> int:
        async with self.database.write() as db:
            return await sitting_results.close_over(db, OPENS + timedelta(**after))

    async def claim(self, **after: int) -> int | None:
        async with self.database.write() as db:
            own = await sitting_results.claim_ungraded(db, OPENS + timedelta(**after))
            return own.record.learner_id if own and own.record else None

    async def book(self) -> dict[str, float | None]:
        """Points of each in the gradebook, when all is over."""
        async with self.database.read() as db:
            group = await db.get_one(Class, self.group)
            book = await build_gradebook(db, group, lambda _: ("item-1", "item-2"), moment=OPENS + timedelta(hours=4))
        return {row.person.name: row.grades[0].points for row in book.rows}


@pytest.fixture
async def exam(database: Database) -> Exam:
    exam = Exam(database)
    await exam.set_up()
    return exam


async def test_each_is_handed_in_by_the_clock_at_their_own_end(exam: Exam) -> None:
    bob, eve = await exam.begins("Bob"), await exam.begins("Eve")
    await exam.gives(eve, ExtraTime(percent=50))

    assert [await exam.close(minutes=minutes) for minutes in (40, 41, 41, 60, 61)] == [0, 1, 0, 0, 1]

    async with exam.database.read() as db:
        ends = {record.learner_id: record.handed_in_at for record in await sittings.list_records(db, exam.sitting)}
    assert ends == {bob: OPENS + timedelta(minutes=40), eve: OPENS + timedelta(minutes=60)}


async def test_an_answer_is_graded_by_one_server_and_by_another_after_a_lease(exam: Exam) -> None:
    bob = await exam.begins("Bob")
    await exam.close(hours=1)
    assert await exam.claim(hours=1) is None, "it is not over for all"
    await exam.close(hours=3)

    assert [await exam.claim(hours=3, minutes=minutes) for minutes in (0, 1, 6)] == [bob, None, bob]


async def test_what_is_right_counts_when_it_was_handed_in_and_once(exam: Exam) -> None:
    bob = await exam.begins("Bob")
    await exam.close(hours=3)
    answers = {"assignment_id": exam.sitting, "learner_id": bob, "verdict_json": "{}", "code": None}
    for _ in range(2):
        async with exam.database.write() as db:
            own = await exam.own(db, bob)
            rows = [SittingAnswer(item=item, text="x", correct=item == 1, **answers) for item in (1, 2)]
            await sitting_results.store_answers(db, own, rows, OPENS + timedelta(hours=3))

    async with exam.database.read() as db:
        (solved,) = await db.scalars(select(Progress).where(Progress.learner_id == bob))
        group = await db.get_one(Class, exam.group)
        book = await build_gradebook(db, group, lambda _: ("item-1", "item-2"), bob, OPENS + timedelta(hours=4))
    assert (solved.exercise, solved.solved_at) == ("item-1", OPENS + timedelta(minutes=40))
    assert [grade.points for grade in book.rows[0].grades] == [1.0]


async def test_what_is_not_graded_yet_is_no_zero(exam: Exam) -> None:
    await exam.begins("Bob")
    async with exam.database.write() as db:
        idle, _ = await learners.begin_session(db)
        await joining.join_class(db, await db.get_one(Class, exam.group), idle, "Idle")
    await exam.close(hours=3)

    assert await exam.book() == {"Bob": None, "Idle": 0.0}


async def test_of_two_that_become_one_the_sitting_that_was_begun_goes_on(exam: Exam) -> None:
    bob = await exam.begins("Bob")
    async with exam.database.write() as db:
        other, _ = await learners.begin_session(db)
        await sittings.give_time(db, await exam.own(db, other), other, ExtraTime(minutes=20), None, OPENS)
    async with exam.database.write() as db:
        assert await merge_learners(db, bob, other)

    async with exam.database.read() as db:
        (record,) = await db.scalars(select(SittingRecord))
    assert (record.learner_id, record.begun_at, record.extra_minutes) == (other, OPENS, 20)


@pytest.mark.parametrize("into_first", [True, False])
async def test_of_two_sittings_that_were_begun_the_first_has_its_own_texts(exam: Exam, into_first: bool) -> None:
    first, later = await exam.begins("Bob"), await exam.begins("Bobby")
    async with exam.database.write() as db:
        lesson = (await exam.own(db)).assignment.lesson
        await drafts.save_draft(db, first, lesson, "item-1", "first")
        for item in (1, 2):
            await drafts.save_draft(db, later, lesson, f"item-{item}", f"later {item}")
            db.add(SittingAnswer(assignment_id=exam.sitting, learner_id=later, item=item, text="later", correct=True))
            db.add(Progress(learner_id=later, lesson=lesson, exercise=f"item-{item}", solved_at=OPENS, hints=0))
        (await sittings.record_for(db, exam.sitting, later)).begun_at = OPENS + timedelta(minutes=1)
    source, into = (later, first) if into_first else (first, later)
    async with exam.database.write() as db:
        assert await merge_learners(db, source, into)

    async with exam.database.read() as db:
        texts = {row.exercise: row.text for row in await db.scalars(select(Draft))}
        aside = {(row.learner_id, row.exercise): row.text for row in await db.scalars(select(ReplacedText))}
        counted = [*await db.scalars(select(SittingAnswer)), *await db.scalars(select(Progress))]
    assert (texts, counted) == ({"item-1": "first"}, [])
    assert aside == {(into, "item-1"): "later 1", (into, "item-2"): "later 2"}


async def test_extra_time_stays_when_an_expected_learner_joins(exam: Exam) -> None:
    seat = await exam.expects("Nora")
    until = OPENS + timedelta(hours=3)
    async with exam.database.write() as db:
        extra = ExtraTime(50, 5, opens_at=OPENS, until=until)
        await sittings.give_time(db, await exam.own(db, seat), seat, extra, None, OPENS)

    nora = await exam.begins("Nora")

    async with exam.database.read() as db:
        own = await exam.own(db, nora)
    assert (own.time, own.ends_at) == (SittingTime(OPENS, until, 65), OPENS + timedelta(minutes=65))


async def test_a_seat_gives_its_time_to_who_had_begun_and_begins_nothing_anew(exam: Exam) -> None:
    nora = await exam.begins("Nora")
    async with exam.database.write() as db:
        group = await db.get_one(Class, exam.group)
        record = await sittings.record_for(db, exam.sitting, nora)
        record.switches = 1
        await joining.leave_class(db, group, nora)
    seat = await exam.expects("Nora")
    async with exam.database.write() as db:
        await sittings.give_time(db, await exam.own(db, seat), seat, ExtraTime(percent=50), None, OPENS)
        await joining.join_class(db, await db.get_one(Class, exam.group), nora, "Nora")

    async with exam.database.read() as db:
        (record,) = await sittings.list_records(db, exam.sitting)
    assert (record.begun_at, record.draw_json, record.switches, record.extra_percent) == (OPENS, "[]", 1, 50)


@pytest.mark.parametrize(("right", "points"), [((1,), 1.0), ((), 0.0)])
async def test_who_handed_in_and_left_gets_the_points_of_it(exam: Exam, right: tuple[int, ...], points: float) -> None:
    bob = await exam.begins("Bob")
    async with exam.database.write() as db:
        await joining.leave_class(db, await db.get_one(Class, exam.group), bob)
        (former,) = await former_members.former_members(db, exam.group)
        former.left_at = OPENS + timedelta(minutes=5)
    await exam.close(hours=3)
    before = await exam.book()
    async with exam.database.write() as db:
        rows = [
            SittingAnswer(assignment_id=exam.sitting, learner_id=bob, item=item, text="x", correct=item in right)
            for item in (1, 2)
        ]
        await sitting_results.store_answers(db, await exam.own(db, bob), rows, OPENS + timedelta(hours=3))

    assert (before, await exam.book()) == ({"Bob": None}, {"Bob": points})


@pytest.mark.parametrize(("years", "holds"), [(200, True), (-20, False)])
async def test_who_began_and_is_seated_gets_the_window_of_the_seat(exam: Exam, years: int, holds: bool) -> None:
    bob, seat = await exam.begins("Bob"), await exam.expects("Robert")
    until = OPENS.replace(year=OPENS.year + years)
    async with exam.database.write() as db:
        extra = ExtraTime(opens_at=until - timedelta(hours=1), until=until)
        await sittings.give_time(db, await exam.own(db, seat), seat, extra, None, OPENS)
    async with exam.database.write() as db:
        await seat_person(db, await db.get_one(Class, exam.group), bob, seat, None)

    async with exam.database.read() as db:
        own = await exam.own(db, bob)
    assert (own.ends_at, own.time.until) == (OPENS + timedelta(minutes=40), until if holds else SETTINGS.until)


async def test_time_that_is_set_after_grading_is_refused_and_takes_no_points(exam: Exam) -> None:
    bob, until = await exam.begins("Bob"), OPENS + timedelta(hours=3)
    await exam.gives(bob, ExtraTime(opens_at=OPENS, until=until))
    async with exam.database.write() as db:
        record = await sittings.record_for(db, exam.sitting, bob)
        record.begun_at = until - timedelta(minutes=40)
    await exam.close(hours=4)
    async with exam.database.write() as db:
        rows = [SittingAnswer(assignment_id=exam.sitting, learner_id=bob, item=1, text="x", correct=True)]
        await sitting_results.store_answers(db, await exam.own(db, bob), rows, OPENS + timedelta(hours=4))
    before = await exam.book()

    with pytest.raises(RefusedError, match="graded already"):
        await exam.gives(bob, ExtraTime(minutes=5), hours=5)

    assert before == await exam.book() == {"Bob": 1.0}


@pytest.mark.parametrize("extra", [ExtraTime(opens_at=OPENS - timedelta(days=7), until=OPENS), ExtraTime()])
async def test_no_time_of_one_learner_ends_what_they_write_at_once(exam: Exam, extra: ExtraTime) -> None:
    bob = await exam.begins("Bob")
    await exam.gives(bob, ExtraTime(percent=50))

    with pytest.raises(RefusedError, match="over at once"):
        await exam.gives(bob, extra, minutes=50)

    assert await exam.close(minutes=50) == 0


async def test_minutes_that_would_be_over_for_who_writes_are_refused(exam: Exam) -> None:
    await exam.begins("Bob")

    with pytest.raises(RefusedError, match="over at once"):
        await exam.change(minutes=5, after=10)

    assert await exam.close(minutes=10) == 0
    await exam.change(minutes=15, after=10)
    assert await exam.close(minutes=16) == 1


async def test_more_minutes_open_again_what_the_clock_took_alone(exam: Exam) -> None:
    bob, eve = await exam.begins("Bob"), await exam.begins("Eve")
    async with exam.database.write() as db:
        record = await sittings.record_for(db, exam.sitting, eve)
        record.handed_in_at, record.handed_in_by = OPENS, "learner"
    await exam.close(minutes=41)

    await exam.change(minutes=60, after=45)

    async with exam.database.read() as db:
        ends = {record.learner_id: record.handed_in_at for record in await sittings.list_records(db, exam.sitting)}
    assert ends == {bob: None, eve: OPENS}
