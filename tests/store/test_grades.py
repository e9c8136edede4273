"""Grades follow one rule, from when exercises were solved and until when there was time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.store import classes, joining, learners
from app.store.assignments import Deadline
from app.store.database import Database
from app.store.grades import Grade, gradebook
from app.store.tables import Accommodation, Assignment, Class, Excuse, Extension, Progress

pytestmark = pytest.mark.anyio

# A Sunday: at three in the morning the clocks of Berlin went back.
DUE = datetime(2026, 10, 24, 21, 59, tzinfo=UTC)  # 23:59 there
LATE = DUE + timedelta(days=2)


def exercises(lesson):
    return {"lesson": ["one", "two"], "other": ["one"]}.get(lesson, [])


@pytest.fixture
async def group(database: Database, me: int) -> Class:
    async with database.write() as db:
        group = await classes.found(db, "Algebra", "Europe/Berlin", None)
        await joining.join(db, group, me, "Bob")
    return group


async def asked(database: Database, group: Class, **values: Any) -> int:
    given: dict[str, Any] = {"lesson": "lesson", "due_at": DUE, "late_until": LATE, "late_share": 0.5, "points": 10.0}
    async with database.write() as db:
        row = Assignment(class_id=group.id, **{**given, **values})
        db.add(row)
        await db.flush()
        return row.id


async def solved(database: Database, learner: int, exercise: str, at: datetime, lesson: str = "lesson") -> None:
    async with database.write() as db:
        db.add(Progress(learner_id=learner, lesson=lesson, exercise=exercise, solved_at=at))


async def the_grade(database: Database, group: Class) -> Grade:
    async with database.read() as db:
        book = await gradebook(db, group, exercises)
    return book.rows[0].grades[0]


@pytest.mark.parametrize(
    ("at", "points"),
    [
        (DUE, 5.0),
        (DUE + timedelta(microseconds=1), 2.5),
        (LATE, 2.5),
        (LATE + timedelta(microseconds=1), 0.0),
        (DUE - timedelta(days=400), 5.0),
    ],
)
async def test_what_is_solved_counts_in_full_until_due_and_then_in_part(
    database: Database, me: int, group: Class, at: datetime, points: float
) -> None:
    await asked(database, group)
    await solved(database, me, "one", at)

    assert (await the_grade(database, group)).points == points


async def test_only_the_chosen_exercises_that_the_course_has_count(database: Database, me: int, group: Class) -> None:
    await asked(database, group, exercises='["two", "gone"]')
    await solved(database, me, "one", DUE)
    await solved(database, me, "two", DUE)
    await solved(database, me, "gone", DUE)

    got = await the_grade(database, group)

    assert (got.points, got.in_time, got.total) == (10.0, 1, 1)


async def test_what_the_course_has_lost_counts_for_nobody(database: Database, me: int, group: Class) -> None:
    await asked(database, group, lesson="gone")

    async with database.read() as db:
        row = (await gradebook(db, group, exercises)).rows[0]
    assert row.person.learner_id == me
    assert (row.grades[0].points, row.possible) == (None, 0.0)


async def test_extra_days_end_at_the_same_time_of_day_when_clocks_change(
    database: Database, me: int, group: Class
) -> None:
    await asked(database, group)
    async with database.write() as db:
        db.add(Accommodation(class_id=group.id, learner_id=me, extra_days=1))
    await solved(database, me, "one", DUE + timedelta(hours=25))
    await solved(database, me, "two", DUE + timedelta(hours=25, microseconds=1))

    got = await the_grade(database, group)

    assert got.deadline == Deadline(DUE + timedelta(hours=25), LATE + timedelta(days=1))
    assert (got.in_time, got.late, got.points) == (1, 1, 7.5)


async def test_an_extension_stands_instead_of_extra_days(database: Database, me: int, group: Class) -> None:
    assignment = await asked(database, group)
    until = DUE + timedelta(days=10)
    async with database.write() as db:
        db.add(Accommodation(class_id=group.id, learner_id=me, extra_days=30))
        db.add(Extension(assignment_id=assignment, learner_id=me, due_at=until, reason="ill", by=None, at=DUE))
    await solved(database, me, "one", until)
    await solved(database, me, "two", until + timedelta(seconds=1))

    got = await the_grade(database, group)

    assert (got.in_time, got.late) == (1, 0)


@pytest.mark.parametrize(("points", "sum_of_all"), [(None, (5.0, 10.0)), (7.0, (12.0, 20.0))])
async def test_an_excuse_stands_instead_of_what_was_computed(
    database: Database, me: int, group: Class, points: float | None, sum_of_all: tuple[float, float]
) -> None:
    first = await asked(database, group)
    await asked(database, group)
    async with database.write() as db:
        db.add(Excuse(assignment_id=first, learner_id=me, points=points, reason="ill", by=None, at=DUE))
    await solved(database, me, "one", DUE)

    async with database.read() as db:
        row = (await gradebook(db, group, exercises)).rows[0]

    assert row.grades[0].points == points
    assert (row.points, row.possible) == sum_of_all


async def test_a_gradebook_holds_the_learners_who_are_there_and_nobody_else(
    database: Database, me: int, group: Class
) -> None:
    await asked(database, group, due_at=None)
    async with database.write() as db:
        gone, _ = await learners.begin_session(db)
        stranger, _ = await learners.begin_session(db)
        teacher, _ = await learners.begin_session(db)
        await joining.join(db, group, gone, "Gone")
        (await joining.join(db, group, teacher, "Ada")).role = "instructor"
        await joining.leave(db, group, gone)
    for who in (me, gone, stranger, teacher):
        await solved(database, who, "one", LATE + timedelta(days=99))

    async with database.read() as db:
        everybody = await gradebook(db, group, exercises)
        alone = await gradebook(db, group, exercises, me)

    assert [one.person.learner_id for one in everybody.rows] == [me]
    assert everybody.rows[0].grades[0].points == 5.0
    assert alone == everybody
