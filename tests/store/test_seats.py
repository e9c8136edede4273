"""Who gets a free seat by a name alone, and how long a word for instructors lives."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from app.store import classes, invitations, joining, learners, roster_lists, rosters
from app.store.classes import RefusedError, Role
from app.store.database import Database, now
from app.store.tables import Class, Membership, OneTimeToken
from app.teaching.roster import RosterEntry

pytestmark = pytest.mark.anyio


async def expecting(database: Database, role: Role) -> int:
    """A class in which Grace is expected in that role, by its id."""
    async with database.write() as db:
        teacher, _ = await learners.begin_session(db)
        group = await classes.create_class(db, "Algebra", "Europe/Berlin", teacher, "Ada")
        keeper, _ = await learners.begin_session(db)
        seat = classes.new_member(group.id, keeper, role, "Grace")
        seat.joined_at = None
        db.add(seat)
        return group.id


async def come(database: Database, group: int) -> Membership:
    async with database.write() as db:
        learner, _ = await learners.begin_session(db)
        return await joining.join_class(db, await db.get_one(Class, group), learner, "Grace")


async def test_an_expected_learner_takes_the_seat_by_name(database: Database) -> None:
    here = await come(database, await expecting(database, "learner"))

    assert (here.role, here.seated_by) == ("learner", "name")


@pytest.mark.parametrize("role", ["instructor", "assistant"])
async def test_a_name_makes_nobody_more_than_a_learner(database: Database, role: Role) -> None:
    here = await come(database, await expecting(database, role))

    assert (here.role, here.seated_by) == ("learner", None)


async def test_a_name_is_no_way_into_a_class_for_its_list_alone(database: Database) -> None:
    group = await expecting(database, "learner")
    async with database.write() as db:
        (await db.get_one(Class, group)).joining = "invited"

    with pytest.raises(RefusedError):
        await come(database, group)


async def test_a_word_for_instructors_ends_with_its_time(database: Database) -> None:
    async with database.write() as db:
        word = await invitations.teacher_word(db)
        assert await invitations.makes_teacher(db, word)
        await db.execute(update(OneTimeToken).values(expires_at=now() - timedelta(seconds=1)))
        assert not await invitations.makes_teacher(db, word)


async def test_a_word_for_instructors_has_an_end(database: Database) -> None:
    async with database.write() as db:
        await invitations.teacher_word(db)
        ticket = (await db.scalars(OneTimeToken.__table__.select().with_only_columns(OneTimeToken.expires_at))).one()

    assert now() < ticket < now() + timedelta(days=400)


async def test_a_list_is_taken_back_for_who_took_a_changed_seat_since(database: Database) -> None:
    group = await expecting(database, "learner")
    async with database.write() as db:
        algebra = await db.get_one(Class, group)
        await roster_lists.apply_list(db, algebra, [RosterEntry(1, "Grace", "g1", "B")], None)
    here = await come(database, group)

    async with database.write() as db:
        await roster_lists.undo_list(db, await db.get_one(Class, group), None)
        person = await db.get_one(Membership, (group, here.learner_id))
        assert (person.name, person.external_id, person.label) == ("Grace", None, None)


async def test_a_list_is_taken_back_beside_one_who_left_and_whose_id_is_free(database: Database) -> None:
    group = await expecting(database, "learner")
    async with database.write() as db:
        algebra = await db.get_one(Class, group)
        for label in ("A", "B"):
            await roster_lists.apply_list(db, algebra, [RosterEntry(1, "Grace", "g1", label)], None)
    here = await come(database, group)
    async with database.write() as db:
        algebra = await db.get_one(Class, group)
        await joining.leave_class(db, algebra, here.learner_id)
        (await rosters.reserve_seat(db, algebra, "Eve", "learner")).external_id = "g1"

    async with database.write() as db:
        await roster_lists.undo_list(db, await db.get_one(Class, group), None)
        assert (await db.get_one(Membership, (group, here.learner_id))).external_id is None
