"""What is told of the work of a class: of its learners alone, of what is assigned alone."""

import json
from datetime import timedelta

import pytest

from app.store import board, learners, progress
from app.store.database import now
from app.store.drafts import save_draft
from app.store.progress import NewAttempt
from app.store.tables import Assignment, AuditEvent, Class, Membership

pytestmark = pytest.mark.anyio

LESSON, BOX = "layer", "backward"


@pytest.fixture
async def group(database):
    """A class with one lesson assigned."""
    async with database.write() as db:
        made = Class(name="Thursday", timezone="UTC", joining="open", created_at=now())
        db.add(made)
        await db.flush()
        assign(db, made.id, LESSON)
    return made.id


def assign(db, group, lesson, exercises=None):
    asked = None if exercises is None else json.dumps(exercises)
    db.add(Assignment(class_id=group, lesson=lesson, exercises_json=asked, late_share=0.5, points=10))


@pytest.fixture
def joined(database, group):
    async def join(role="learner", name="Ada", **fields):
        async with database.write() as db:
            learner, _ = await learners.begin_session(db)
            person = {"role": role, "name": name, "joined_at": now(), "blocked": False, **fields}
            db.add(Membership(class_id=group, learner_id=learner, **person))
        return learner

    return join


@pytest.fixture
def tried(database):
    async def attempt(learner, code=None, *, lesson=LESSON, exercise=BOX, text="dX = 1", correct=None):
        right = code is None if correct is None else correct
        answered = NewAttempt(kind="code", text=text, verdict=f'{{"of": "{code}"}}', correct=right, code=code)
        async with database.write() as db:
            await progress.record_attempt(db, learner, lesson, exercise, answered)
            if right:
                await progress.mark_solved(db, learner, lesson, exercise)

    return attempt


async def asked(database, question, *args, **options):
    async with database.read() as db:
        return await question(db, *args, **options)


async def test_each_learners_newest_attempt_counts_with_how_often_it_ended_so(database, group, joined, tried):
    ada, bob = await joined(), await joined(name="Bob")
    for code in ("dX:sign", "dX:mean", "dX:sign", "dX:mean", "dX:mean"):
        await tried(ada, code)
    await tried(bob, "dX:sign")
    await tried(bob)

    found = {one.learner: one for one in await asked(database, board.exercise_statuses, group, LESSON, BOX)}

    assert (found[ada].code, found[ada].same, found[ada].tries, found[ada].wrong) == ("dX:mean", 3, 5, True)
    assert (found[bob].code, found[bob].correct, found[bob].tries, found[bob].wrong) == (None, True, 2, False)


async def test_somebody_who_has_it_and_tries_on_is_not_called_wrong(database, group, joined, tried):
    ada = await joined()
    await tried(ada)
    await tried(ada, "dX:sign")

    [found] = await asked(database, board.exercise_statuses, group, LESSON, BOX)

    assert found.solved_at is not None
    assert not found.wrong


async def test_a_text_that_is_saved_without_a_check_is_a_change(database, group, joined, tried):
    ada = await joined()
    await tried(ada, "dX:sign")
    async with database.write() as db:
        draft = (await save_draft(db, ada, LESSON, BOX, "dX = 2")).draft
        draft.saved_at = now() + timedelta(minutes=3)

    assert await asked(database, board.text_changes, group, LESSON, BOX) == {ada: draft.saved_at}


async def test_nobody_is_told_of_who_is_no_learner_of_the_class_now(database, group, joined, tried):
    away = await joined(left_at=now())
    blocked = await joined(blocked=True)
    teacher = await joined("instructor")
    async with database.write() as db:
        stranger, _ = await learners.begin_session(db)
    for one in (away, blocked, teacher, stranger):
        await tried(one, "dX:sign")

    for question in (
        (board.exercise_statuses, group, LESSON, BOX),
        (board.exercise_statuses, group, LESSON),
        (board.slip_counts, group),
        (board.list_learners, group),
        *((board.list_attempts, group, one, LESSON) for one in (away, blocked, teacher, stranger)),
    ):
        assert await asked(database, *question) == []
    assert await asked(database, board.slip_counts, group, since=now() - timedelta(hours=1)) == []
    assert await asked(database, board.recent_exercises, group, now() - timedelta(hours=1)) == []


async def test_nothing_is_told_of_what_is_not_assigned(database, group, joined, tried):
    ada = await joined()
    async with database.write() as db:
        assign(db, group, "short", ["first"])
    for lesson, exercise in (("elsewhere", BOX), ("short", "second"), ("short", "first")):
        await tried(ada, "dX:sign", lesson=lesson, exercise=exercise)
    hour = now() - timedelta(hours=1)

    assert await asked(database, board.exercise_statuses, group, "elsewhere") == []
    assert await asked(database, board.list_attempts, group, ada, "elsewhere") == []
    async with database.write() as db:
        for lesson, exercise in (("elsewhere", BOX), ("short", "second"), ("short", "first")):
            await save_draft(db, ada, lesson, exercise, "dX = 2")
    assert await asked(database, board.text_changes, group, "elsewhere", BOX) == {}
    assert await asked(database, board.text_changes, group, "short", "second") == {}
    assert list(await asked(database, board.text_changes, group, "short", "first")) == [ada]
    assert [one.exercise for one in await asked(database, board.exercise_statuses, group, "short")] == ["first"]
    assert [one.exercise for one in await asked(database, board.list_attempts, group, ada, "short")] == ["first"]
    for options in ({}, {"since": hour}, {"learner": ada}):
        assert [(one.lesson, one.exercise) for one in await asked(database, board.slip_counts, group, **options)] == [
            ("short", "first")
        ]
    assert await asked(database, board.recent_exercises, group, hour) == [("short", "first")]


async def test_a_lesson_that_is_assigned_twice_shows_what_either_asks(database, group):
    async with database.write() as db:
        for lesson, exercises in (("short", ["first"]), ("short", ["second"]), (LESSON, ["one"])):
            assign(db, group, lesson, exercises)

    assert await asked(database, board.assigned_exercises, group) == {
        LESSON: None,
        "short": frozenset({"first", "second"}),
    }


async def test_mistakes_are_counted_by_learners_first(database, group, joined, tried):
    ada, bob = await joined(), await joined(name="Bob")
    for _ in range(3):
        await tried(ada, "dX:mean")
    await tried(ada, "dX:sign")
    await tried(bob, "dX:sign")

    found = await asked(database, board.slip_counts, group)
    of_bob = await asked(database, board.slip_counts, group, learner=bob)
    none_yet = await asked(database, board.slip_counts, group, since=now() + timedelta(seconds=1))

    assert [(one.code, one.learners, one.attempts) for one in found] == [("dX:sign", 2, 2), ("dX:mean", 1, 3)]
    assert [(one.code, one.attempts) for one in of_bob] == [("dX:sign", 1)]
    assert none_yet == []


async def test_a_trace_holds_every_attempt_in_order(database, group, joined, tried):
    ada = await joined()
    for text, code in (("a", "dX:mean"), ("b", "dX:sign"), ("c", None)):
        await tried(ada, code, text=text)

    found = await asked(database, board.list_attempts, group, ada, LESSON)

    assert [(one.text, one.code) for one in found] == [("a", "dX:mean"), ("b", "dX:sign"), ("c", None)]


async def test_what_stood_before_a_moment_is_told_without_what_came_after(database, group, joined, tried):
    ada = await joined()
    await tried(ada, "dX:sign")
    moment = now()
    await tried(ada)

    [then] = await asked(database, board.exercise_statuses, group, LESSON, BOX, before=moment)
    [since] = await asked(database, board.exercise_statuses, group, LESSON, BOX)

    assert (then.code, since.code) == ("dX:sign", None)


async def test_what_was_said_in_an_attempt_is_found_again(database, group, joined, tried):
    await tried(await joined(), "dX:sign", text="dX = -dY")
    [found] = await asked(database, board.exercise_statuses, group, LESSON, BOX)

    said = await asked(database, board.said_in, [found.newest])

    assert said == {found.newest: board.AttemptText("dX = -dY", '{"of": "dX:sign"}')}


async def test_the_last_explanation_of_an_exercise_counts(database, group):
    early, late = now() - timedelta(hours=1), now()
    async with database.write() as db:
        for at, place in ((late, f"{LESSON}/{BOX}"), (early, f"{LESSON}/{BOX}"), (late, f"{LESSON}/other")):
            db.add(AuditEvent(recorded_at=at, class_id=group, verb=board.EXPLAINED, subject=place, data_json="{}"))

    assert await asked(database, board.explained_at, group, LESSON, BOX) == late
    assert await asked(database, board.explained_at, group, LESSON, "never") is None


async def test_learners_come_by_name(database, group, joined):
    for name in ("Zoe", "ada", "Bob"):
        await joined(name=name)

    assert [one.name for one in await asked(database, board.list_learners, group)] == ["ada", "Bob", "Zoe"]
