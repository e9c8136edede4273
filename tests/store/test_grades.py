"""Grades follow one rule, from when exercises were solved and until when there was time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.store import classes, cleanup, joining, learners, rosters
from app.store.assignments import Deadline, extend_due_date
from app.store.classes import RefusedError
from app.store.database import Database
from app.store.former_members import former_members
from app.store.grades import Grade, build_gradebook
from app.store.progress import ResumePoint
from app.store.renames import adopt_renames
from app.store.tables import Accommodation, Assignment, Class, Extension, GradeOverride, Learner, Progress
from app.teaching.dates import days_later

pytestmark = pytest.mark.anyio

# A Sunday: at three in the morning the clocks of Berlin went back.
DUE = datetime(2026, 10, 24, 21, 59, tzinfo=UTC)  # 23:59 there
LATE = DUE + timedelta(days=2)
NOW = DUE + timedelta(days=30)


def exercises(lesson):
    return {"lesson": ["one", "two"], "other": ["one"]}.get(lesson, [])


@pytest.fixture
async def group(database: Database, me: int) -> Class:
    async with database.write() as db:
        group = await classes.create_class(db, "Algebra", "Europe/Berlin", None)
        await joining.join_class(db, group, me, "Bob")
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
        book = await build_gradebook(db, group, exercises, moment=NOW)
    return book.rows[0].grades[0]


@pytest.mark.in_turn(turns=4, places=("app",))
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
    await asked(database, group, exercises_json='["two", "gone"]')
    await solved(database, me, "one", DUE)
    await solved(database, me, "two", DUE)
    await solved(database, me, "gone", DUE)

    got = await the_grade(database, group)

    assert (got.points, got.in_time, got.total) == (10.0, 1, 1)


async def test_what_the_course_has_lost_counts_as_it_was_assigned(database: Database, me: int, group: Class) -> None:
    listed = await asked(database, group, lesson="gone", known_exercises_json='["one", "two"]')
    unlisted = await asked(database, group, lesson="gone")
    await solved(database, me, "one", DUE, "gone")

    async with database.read() as db:
        book = await build_gradebook(db, group, exercises, moment=NOW)

    assert book.gone == {listed, unlisted}
    assert [(one.points, one.state) for one in book.rows[0].grades] == [(5.0, "counted"), (None, "unknown")]
    assert book.rows[0].possible == 10.0


@pytest.mark.parametrize(
    ("due", "points", "state"),
    [(None, None, "open"), (NOW, None, "open"), (NOW - timedelta(microseconds=1), 0.0, "counted")],
)
async def test_who_did_nothing_has_a_zero_once_it_was_due(
    database: Database, group: Class, due: datetime | None, points: float | None, state: str
) -> None:
    await asked(database, group, due_at=due)

    async with database.read() as db:
        (row,) = (await build_gradebook(db, group, exercises, moment=NOW)).rows

    assert (row.grades[0].points, row.grades[0].state) == (points, state)
    assert row.possible == (10.0 if points == 0.0 else 0.0)


async def test_a_seat_that_nobody_took_has_only_grades_by_hand(database: Database, group: Class) -> None:
    first, _ = await asked(database, group), await asked(database, group)
    async with database.write() as db:
        seat = await rosters.reserve_seat(db, group, "Dan", "learner")
        db.add(
            GradeOverride(
                assignment_id=first, learner_id=seat.learner_id, points=7.0, reason="", set_by=None, set_at=DUE
            )
        )

    async with database.read() as db:
        row = (await build_gradebook(db, group, exercises, seat.learner_id, NOW)).rows[0]

    assert [(one.points, one.state) for one in row.grades] == [(7.0, "by-hand"), (None, "absent")]


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


@pytest.mark.parametrize(("extra_days", "days"), [(7, 2), (2, 7)])
async def test_the_later_of_extension_and_extra_days_counts(
    database: Database, me: int, group: Class, extra_days: int, days: int
) -> None:
    assignment = await asked(database, group)
    until = days_later(DUE, 7, "Europe/Berlin")
    async with database.write() as db:
        db.add(Accommodation(class_id=group.id, learner_id=me, extra_days=extra_days))
        row = await db.get_one(Assignment, assignment)
        await extend_due_date(db, group, row, [(me, days)], "ill", None)

    assert (await the_grade(database, group)).deadline == Deadline(until, days_later(LATE, 7, "Europe/Berlin"))


@pytest.mark.parametrize(("days", "extra_days"), [(2, 7), (7, 2)])
async def test_extra_days_that_come_after_an_extension_take_no_time_away(
    database: Database, me: int, group: Class, days: int, extra_days: int
) -> None:
    assignment = await asked(database, group)
    async with database.write() as db:
        row = await db.get_one(Assignment, assignment)
        await extend_due_date(db, group, row, [(me, days)], "ill", None)
        db.add(Accommodation(class_id=group.id, learner_id=me, extra_days=extra_days))

    until = Deadline(days_later(DUE, 7, "Europe/Berlin"), days_later(LATE, 7, "Europe/Berlin"))
    assert (await the_grade(database, group)).deadline == until


async def test_a_second_extension_takes_no_time_away(database: Database, me: int, group: Class) -> None:
    assignment = await asked(database, group, late_until=None)
    async with database.write() as db:
        row = await db.get_one(Assignment, assignment)
        for days in (7, 2):
            await extend_due_date(db, group, row, [(me, days)], "ill", None)

    assert (await the_grade(database, group)).deadline.due == days_later(DUE, 7, "Europe/Berlin")


async def test_an_extension_until_a_moment_takes_no_late_time_away(database: Database, me: int, group: Class) -> None:
    assignment, until = await asked(database, group), DUE + timedelta(days=8)
    async with database.write() as db:
        row = await db.get_one(Assignment, assignment)
        for more in (7, until):
            await extend_due_date(db, group, row, [(me, more)], "ill", None)

    assert (await the_grade(database, group)).deadline == Deadline(until, days_later(LATE, 7, "Europe/Berlin"))


async def test_a_date_before_what_a_learner_has_is_refused_with_both(database: Database, me: int, group: Class) -> None:
    assignment = await asked(database, group)
    async with database.write() as db:
        db.add(Accommodation(class_id=group.id, learner_id=me, extra_days=7))
        row = await db.get_one(Assignment, assignment)
        with pytest.raises(RefusedError, match="Mon 26 Oct 2026, 22:59 is not after Sat 31 Oct 2026, 23:59, until"):
            await extend_due_date(db, group, row, [(me, DUE + timedelta(days=2))], "ill", None)


async def test_an_extension_moves_what_counts_in_full(database: Database, me: int, group: Class) -> None:
    assignment = await asked(database, group)
    until = DUE + timedelta(days=10)
    async with database.write() as db:
        db.add(Extension(assignment_id=assignment, learner_id=me, due_at=until, reason="ill", set_by=None, set_at=DUE))
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
        db.add(GradeOverride(assignment_id=first, learner_id=me, points=points, reason="ill", set_by=None, set_at=DUE))
    await solved(database, me, "one", DUE)

    async with database.read() as db:
        row = (await build_gradebook(db, group, exercises, moment=NOW)).rows[0]

    assert row.grades[0].points == points
    assert (row.points, row.possible) == sum_of_all


async def test_a_gradebook_holds_the_learners_of_the_class_and_nobody_else(
    database: Database, me: int, group: Class
) -> None:
    await asked(database, group, due_at=None)
    async with database.write() as db:
        gone, _ = await learners.begin_session(db)
        stranger, _ = await learners.begin_session(db)
        teacher, _ = await learners.begin_session(db)
        await joining.join_class(db, group, gone, "Gone")
        (await joining.join_class(db, group, teacher, "Ada")).role = "instructor"
        await joining.leave_class(db, group, gone)
    for who in (me, gone, stranger, teacher):
        await solved(database, who, "one", LATE + timedelta(days=99))

    async with database.read() as db:
        everybody = await build_gradebook(db, group, exercises, moment=NOW)
        alone = await build_gradebook(db, group, exercises, me, NOW)

    assert [one.person.learner_id for one in everybody.rows if one.left_at is None] == [me]
    assert everybody.rows[0].grades[0].points == 5.0
    assert alone.rows == everybody.rows[:1]


async def the_rows(database: Database, group: Class) -> list[tuple[str, bool, float, float]]:
    async with database.read() as db:
        book = await build_gradebook(db, group, exercises, moment=NOW)
    return [(row.person.name, row.left_at is not None, row.points, row.possible) for row in book.rows]


async def test_who_left_has_the_points_of_the_moment_they_left(database: Database, me: int, group: Class) -> None:
    first = await asked(database, group)
    other = await asked(database, group, lesson="other", points=4.0)
    async with database.write() as db:
        db.add(Accommodation(class_id=group.id, learner_id=me, extra_days=1))
        db.add(GradeOverride(assignment_id=other, learner_id=me, points=3.0, reason="oral", set_by=None, set_at=DUE))
    await solved(database, me, "one", DUE + timedelta(hours=20))  # in time, for them
    before = await the_rows(database, group)
    async with database.write() as db:
        await joining.leave_class(db, group, me)
    await solved(database, me, "two", DUE - timedelta(days=1))
    later = await asked(database, group, lesson="other", points=2.0)
    await asked(database, group, lesson="other", points=1.0, due_at=NOW + timedelta(days=1))
    async with database.write() as db:
        (await former_members(db, group.id))[0].left_at = NOW

    assert before == [("Bob", False, 8.0, 14.0)]
    assert await the_rows(database, group) == [("Bob", True, 8.0, 16.0)]
    assert len({first, other, later}) == 3


@pytest.mark.parametrize("extra_days", [0, 5])
async def test_time_that_was_left_when_they_went_is_no_zero(
    database: Database, me: int, group: Class, extra_days: int
) -> None:
    first = await asked(database, group)
    await asked(database, group, due_at=DUE - timedelta(days=9))
    async with database.write() as db:
        if extra_days:
            db.add(Accommodation(class_id=group.id, learner_id=me, extra_days=extra_days))
        else:
            row = await db.get_one(Assignment, first)
            await extend_due_date(db, group, row, [(me, DUE + timedelta(days=5))], "ill", None)
        await joining.leave_class(db, group, me)
        (await former_members(db, group.id))[0].left_at = DUE + timedelta(days=1)

    async with database.read() as db:
        (row,) = (await build_gradebook(db, group, exercises, moment=NOW)).rows

    # By due date: what was due long before is a zero, with extra days too.
    assert [(one.points, one.state) for one in row.grades] == [(0.0, "counted"), (None, "open")]
    assert (row.points, row.possible) == (0.0, 10.0)


async def test_points_of_who_left_outlive_a_renamed_lesson(database: Database, me: int, group: Class) -> None:
    row = await asked(database, group, lesson="old")
    await solved(database, me, "before", DUE, lesson="old")
    async with database.write() as db:
        await joining.leave_class(db, group, me)
        await adopt_renames(db, {ResumePoint("old", "before"): ResumePoint("lesson", "one")})
        (await db.get_one(Assignment, row)).lesson = "lesson"

    assert await the_rows(database, group) == [("Bob", True, 5.0, 10.0)]


async def test_who_is_forgotten_for_being_away_stays_in_a_graded_class(
    database: Database, me: int, group: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asked(database, group)
    await solved(database, me, "one", DUE)
    for days in (0, 1, 402, 403):
        at = cleanup.now() + timedelta(days=days)
        with monkeypatch.context() as patch:
            patch.setattr(cleanup, "now", lambda at=at: at)
            await cleanup.delete_expired(database)

    async with database.read() as db:
        assert await db.get(Learner, me) is None
        assert [(one.learner_id, one.reason) for one in await former_members(db, group.id)] == [(None, "forgotten")]
    assert await the_rows(database, group) == [("Bob", True, 5.0, 10.0)]
