"""What moves with a seat, in both databases."""

import pytest
from sqlalchemy import select

from app.accounts import recovery
from app.store import classes, joining, learners, notices, sittings
from app.store.database import Database, now
from app.store.tables import Assignment, Attempt, Draft, GradeOverride, Learner, Progress
from tests.store.test_sittings import SETTINGS

pytestmark = pytest.mark.anyio


async def test_of_a_seat_moves_what_its_class_sees_and_nothing_else(database: Database, me: int) -> None:
    async with database.write() as db:
        ada, _ = await learners.begin_session(db)
        new, _ = await learners.begin_session(db)
        group = await classes.create_class(db, "Algebra", "UTC", ada, "Ada")
        person = await joining.join_class(db, group, me, "Bob")
        for exercises in ('["one", "two"]', '["two"]'):
            given = Assignment(class_id=group.id, lesson="given", exercises_json=exercises, late_share=0.5, points=1.0)
            db.add(given)
        await db.flush()
        other = await classes.create_class(db, "Geometry", "UTC", ada, "Ada")
        exam = await sittings.create_sitting(db, other.id, SETTINGS, "[]", 1, ada)
        db.add(GradeOverride(assignment_id=given.id, learner_id=me, points=1.0, reason="", set_by=ada, set_at=now()))
        own = (("given", "other"), ("own", "one"), (exam.lesson, "item-1"))
        for lesson, exercise in (("given", "one"), ("given", "two"), *own):
            db.add(Progress(learner_id=me, lesson=lesson, exercise=exercise, solved_at=now()))
            db.add(Attempt(learner_id=me, lesson=lesson, exercise=exercise, kind="code", text="dX = 1",
                           verdict_json="{}", correct=True, created_at=now()))  # fmt: skip
            db.add(Draft(learner_id=me, lesson=lesson, exercise=exercise, text="mine", revision=1, saved_at=now()))
        word = await recovery.seat_link(db, group, person, ada)
    async with database.write() as db:
        seat = await recovery.move_seat(db, word, new)

    assert (seat.learner_id, seat.name, seat.seated_by) == (new, "Bob", "link")
    async with database.read() as db:
        for table in (Progress, Attempt):
            moved = await db.execute(select(table.lesson, table.exercise).where(table.learner_id == new))
            assert sorted(moved.all()) == [("given", "one"), ("given", "two")]
            assert len((await db.scalars(select(table).where(table.learner_id == me))).all()) == 5
        assert (await db.scalars(select(Draft.learner_id).distinct())).all() == [me]
        assert (await db.scalars(select(GradeOverride.learner_id))).all() == [new]
        assert await classes.find_class_member(db, group.id, me) is None
        assert [one.data for one in await notices.notices_of(db, me)] == [{"by": "Ada", "group": "Algebra"}]
        assert len((await db.scalars(select(Learner))).all()) == 3
