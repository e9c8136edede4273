"""Classes in both databases: seats that are kept and taken, rosters, and the end of a class."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.store import assignments, classes, invitations, joining, learners, roster_lists, rosters
from app.store.assignments import AssignmentSettings
from app.store.classes import RefusedError
from app.store.database import Database, now
from app.store.tables import (
    Accommodation,
    AuditEvent,
    Class,
    Extension,
    GradeOverride,
    Learner,
    Membership,
    OneTimeToken,
    Progress,
)
from app.teaching.roster import RosterEntry, read_roster

pytestmark = pytest.mark.anyio

DUE = datetime(2199, 3, 1, 12, tzinfo=UTC)
TERMS = AssignmentSettings(None, None, DUE, None, late_share=0.5, points=10, solutions_at=None)


@pytest.fixture
async def group(database: Database) -> Class:
    async with database.write() as db:
        return await classes.create_class(db, "Algebra", "Europe/Berlin", None)


async def somebody(database: Database) -> int:
    async with database.write() as db:
        return (await learners.begin_session(db))[0]


async def test_who_takes_a_seat_gets_all_that_was_arranged_for_it(database: Database, group: Class, me: int) -> None:
    async with database.write() as db:
        await roster_lists.apply_list(db, group, [RosterEntry(1, "Bob", "7", "A")], None)
        seat = (await classes.list_members(db, group.id))[0]
        row = await assignments.assign_lesson(db, group.id, "lesson", TERMS, None)
        await rosters.accommodate(db, group, seat.learner_id, 3, None)
        await assignments.extend_due_date(db, group, row, [(seat.learner_id, 5)], "ill", None)
        await assignments.override_grade(db, row, seat.learner_id, 7.0, "ill", None)
        expected = seat.learner_id
    async with database.write() as db:
        here = await joining.join_class(db, group, me, "Robert", "7")

    assert (here.learner_id, here.name, here.label, here.external_id) == (me, "Bob", "A", "7")
    async with database.read() as db:
        assert await db.get(Learner, expected) is None
        for table in (Accommodation, Extension, GradeOverride, Membership):
            assert (await db.scalars(select(table.learner_id))).all() == [me]
        assert (await db.scalars(select(Extension.due_at))).all() == [DUE + timedelta(days=5)]
        assert (await db.get_one(Learner, me)).name == "Robert"


async def test_who_left_and_takes_a_seat_has_one_membership(database: Database, group: Class, me: int) -> None:
    async with database.write() as db:
        await joining.join_class(db, group, me, "Bob")
        await rosters.accommodate(db, group, me, 1, None)
        await joining.leave_class(db, group, me)
        await roster_lists.apply_list(db, group, [RosterEntry(1, "Bob", "7")], None)
        seat = (await classes.list_members(db, group.id))[0]
        await rosters.accommodate(db, group, seat.learner_id, 3, None)
    async with database.write() as db:
        await joining.join_class(db, group, me, "Bob", "7")

    async with database.read() as db:
        assert [(one.learner_id, one.external_id) for one in await classes.list_members(db, group.id)] == [(me, "7")]
        assert await rosters.extra_days(db, group.id) == {me: 3}


@pytest.mark.parametrize("days", [1, 2])
async def test_days_more_are_kept_however_few(database: Database, group: Class, me: int, days: int) -> None:
    async with database.write() as db:
        await joining.join_class(db, group, me, "Bob")
        await rosters.accommodate(db, group, me, days, None)

    async with database.read() as db:
        assert await rosters.extra_days(db, group.id) == {me: days}


async def test_of_two_who_say_one_word_at_once_one_gets_the_seat(database: Database, group: Class) -> None:
    async with database.write() as db:
        seat = await rosters.reserve_seat(db, group, "Ada", "instructor")
        word = (await invitations.seat_words(db, [seat]))[seat.learner_id]
    both = [await somebody(database) for _ in range(2)]

    async def take(learner: int) -> bool:
        try:
            async with database.write() as db:
                found = await invitations.seat_of(db, word)
                if found is None:
                    return False
                await joining.take_seat(db, found.person, learner, "Ada")
        except RefusedError:
            return False
        return True

    took = await asyncio.gather(*map(take, both))

    assert sorted(took) == [False, True]
    async with database.read() as db:
        ada = both[took.index(True)]
        assert [one.learner_id for one in await classes.list_members(db, group.id)] == [ada]
        assert (await db.get_one(Learner, ada)).teaches


async def test_of_two_instructors_who_leave_at_once_one_stays(database: Database, group: Class) -> None:
    both = [await somebody(database) for _ in range(2)]
    async with database.write() as db:
        for one in both:
            db.add(classes.new_member(group.id, one, "instructor", f"I {one}"))

    async def leave(learner: int) -> bool:
        try:
            async with database.write() as db:
                await joining.leave_class(db, group, learner)
        except RefusedError:
            return False
        return True

    assert sorted(await asyncio.gather(*map(leave, both))) == [False, True]


async def test_two_tabs_that_join_at_once_make_one_member(database: Database, group: Class, me: int) -> None:
    async def join() -> None:
        async with database.write() as db:
            await joining.join_class(db, group, me, "Bob")

    await asyncio.gather(join(), join())

    async with database.read() as db:
        assert [one.learner_id for one in await classes.list_members(db, group.id)] == [me]


async def test_a_list_of_five_thousand_is_laid_over_a_roster(database: Database, group: Class) -> None:
    entries = read_roster("\n".join(f"Person {n};{n}" for n in range(5000))).entries

    for count in (5000, 0):
        async with database.write() as db:
            done = await roster_lists.apply_list(db, group, entries, None)
        assert sum(one.kind == "new" for one in done) == count

    async with database.read() as db:
        assert len(await classes.list_members(db, group.id)) == 5000


async def test_a_list_changes_who_is_meant_and_takes_nobody_off(database: Database, group: Class, me: int) -> None:
    async with database.write() as db:
        await joining.join_class(db, group, me, "Bob")
        await roster_lists.apply_list(db, group, [RosterEntry(1, "Eve", "8"), RosterEntry(2, "Eve", "9")], None)
    async with database.write() as db:
        listed = [RosterEntry(1, "bob", "7", "A"), RosterEntry(2, "Eva", "8"), RosterEntry(3, "Eve")]
        kinds = [one.kind for one in await roster_lists.apply_list(db, group, listed, None)]

    async with database.read() as db:
        found = [(one.name, one.external_id, one.label) for one in await classes.list_members(db, group.id)]
    assert kinds == ["changed", "changed", "new"]
    assert found == [("bob", "7", "A"), ("Eva", "8", None), ("Eve", "9", None), ("Eve", None, None)]


async def test_who_is_taken_out_keeps_the_work_and_frees_the_id(database: Database, group: Class, me: int) -> None:
    async with database.write() as db:
        await roster_lists.apply_list(db, group, [RosterEntry(1, "Bob", "7")], None)
        here = await joining.join_class(db, group, me, "Bob", "7")
        db.add(Progress(learner_id=me, lesson="lesson", exercise="one", solved_at=now()))
        await rosters.take_out(db, group, here, None, block=False)
        await roster_lists.apply_list(db, group, [RosterEntry(1, "Robert", "7")], None)

    async with database.read() as db:
        assert [(one.name, one.joined_at) for one in await classes.list_members(db, group.id)] == [("Robert", None)]
        assert await db.scalar(select(func.count()).select_from(Progress)) == 1
        assert await classes.find_class_member(db, group.id, me) is None


async def test_who_leaves_frees_the_id_and_comes_back_as_a_learner(database: Database, group: Class, me: int) -> None:
    async with database.write() as db:
        await roster_lists.apply_list(db, group, [RosterEntry(1, "Bob", "7")], None)
        (await joining.join_class(db, group, me, "Bob", "7")).role = "instructor"
        db.add(classes.new_member(group.id, await another(db), "instructor", "Ada"))
        await db.flush()
        await joining.leave_class(db, group, me)
        await roster_lists.apply_list(db, group, [RosterEntry(1, "Robert", "7")], None)

    async with database.write() as db:
        assert (await joining.join_class(db, group, me, "Bob")).role == "learner"
        found = [(one.name, one.external_id) for one in await classes.list_members(db, group.id)]
    assert found == [("Ada", None), ("Bob", None), ("Robert", "7")]


async def test_an_id_makes_nobody_more_than_a_learner(database: Database, group: Class, me: int) -> None:
    async with database.write() as db:
        await roster_lists.apply_list(db, group, [RosterEntry(1, "Tom", "7")], None)
        (await classes.list_members(db, group.id))[0].role = "assistant"

    async with database.write() as db:
        with pytest.raises(RefusedError, match="personal link"):
            await joining.join_class(db, group, me, "Tom", "7")
        assert await classes.find_class_member(db, group.id, me) is None


async def test_an_id_is_not_given_to_whoever_is_out(database: Database, group: Class, me: int) -> None:
    async with database.write() as db:
        here = await joining.join_class(db, group, me, "Bob")
        await rosters.take_out(db, group, here, None, block=True)

        with pytest.raises(RefusedError, match="not in the class now"):
            await rosters.change_person(db, group, here, RosterEntry(0, "Bob", "7"), "learner", 0, None)


async def another(db: AsyncSession) -> int:
    return (await learners.begin_session(db))[0]


async def test_a_class_is_archived_and_brought_back_only_where_that_is_asked(database: Database, group: Class) -> None:
    async with database.write() as db:
        here = await db.get_one(Class, group.id)
        for name, archived in (("A", False), ("B", True), ("C", True), ("D", False)):
            await classes.change_class(db, here, classes.ClassSettings(name, "Europe/Berlin", None, archived), None)
            assert (here.archived_at is not None) is archived
        await db.flush()
        verbs = list(await db.scalars(select(AuditEvent.verb).order_by(AuditEvent.id)))

    assert [one for one in verbs if one in ("archived", "brought-back")] == ["archived", "brought-back"]


async def test_a_class_is_forgotten_with_its_seats_and_its_learners_are_not(
    database: Database, group: Class, me: int
) -> None:
    async with database.write() as db:
        await joining.join_class(db, group, me, "Bob")
        await roster_lists.apply_list(db, group, [RosterEntry(1, "Eve", "8")], None)
        await assignments.assign_lesson(db, group.id, "lesson", TERMS, None)
        (await db.get_one(Class, group.id)).keep_until = DUE.date()
        kept = await classes.forget_over(db, DUE)
        gone = await classes.forget_over(db, DUE + timedelta(days=1))

    async with database.read() as db:
        assert (kept, gone) == (0, 1)
        assert (await db.scalars(select(Learner.id))).all() == [me]
        assert (await db.scalars(select(AuditEvent.verb).where(AuditEvent.class_id.is_(None)))).all() == [
            "class-forgotten"
        ]


@pytest.mark.parametrize(
    ("timezone", "over"),
    [
        ("UTC", datetime(2199, 3, 2, tzinfo=UTC)),
        ("Pacific/Honolulu", datetime(2199, 3, 2, 10, tzinfo=UTC)),
        ("Pacific/Kiritimati", datetime(2199, 3, 1, 10, tzinfo=UTC)),
    ],
)
async def test_a_class_is_there_until_its_last_day_is_over_where_it_is(
    database: Database, timezone: str, over: datetime
) -> None:
    async with database.write() as db:
        (await classes.create_class(db, "Algebra", timezone, None)).keep_until = DUE.date()
        kept = await classes.forget_over(db, over - timedelta(minutes=1))
        gone = await classes.forget_over(db, over)

    assert (kept, gone) == (0, 1)


async def test_no_word_is_kept_as_it_is_said(database: Database, group: Class) -> None:
    async with database.write() as db:
        seat = await rosters.reserve_seat(db, group, "Ada", "instructor")
        words = [await invitations.teacher_word(db), *(await invitations.seat_words(db, [seat])).values()]
        await db.flush()
        kept = [(one.token_hash, one.data_json) for one in await db.scalars(select(OneTimeToken))]
        told = [(one.subject, one.data_json) for one in await db.scalars(select(AuditEvent))]

    assert len(kept) == 2
    assert not [word for word in words if word in repr((kept, told))]


async def test_who_teaches_is_not_forgotten_for_having_left_nothing(database: Database, me: int) -> None:
    later = now() + timedelta(days=30)
    async with database.write() as db:
        await invitations.let_teach(db, me)
        assert await learners.forget_empty(db, later) == 0
