from dataclasses import replace

import pytest

from app.store import drafts, progress, trainings
from app.store.database import Database
from app.store.drafts import marks_of, past_text
from app.store.progress import NewAttempt, ResumePoint
from app.store.renames import adopt_renames
from app.store.trainings import NewTrainingRun

pytestmark = pytest.mark.anyio

CHECK = NewAttempt(kind="code", text="x", verdict="{}", correct=False, task_key="k")


async def test_what_is_solved_stays_solved(database: Database, me: int) -> None:
    async with database.write() as db:
        first = (await progress.mark_solved(db, me, "lesson", "box")).solved_at
        second = (await progress.mark_solved(db, me, "lesson", "box")).solved_at
        await db.flush()

        assert first == second
        assert await progress.solved_by_lesson(db, me) == {"lesson": {"box"}}
        assert (await progress.lesson_state(db, me, "lesson")).solved == {"box"}


async def test_hints_open_one_by_one_and_not_beyond_the_last(database: Database, me: int) -> None:
    async with database.write() as db:
        assert [await progress.open_hint(db, me, "lesson", "box", 2) for _ in range(3)] == [1, 2, 2]


async def test_the_state_of_one_exercise_leaves_out_the_others(database: Database, me: int) -> None:
    async with database.write() as db:
        for name in ("one", "two"):
            await drafts.save_draft(db, me, "lesson", name, name)
            await progress.record_attempt(db, me, "lesson", name, CHECK)
            await progress.mark_solved(db, me, "lesson", name)
        await db.flush()
        state = await progress.lesson_state(db, me, "lesson", "two")

    assert list(state.drafts) == list(state.tries) == list(state.progress) == ["two"]


async def test_a_newcomer_has_no_place(database: Database, me: int) -> None:
    async with database.read() as db:
        assert await progress.last_place(db, me) is None
        assert await progress.last_place(db, 999) is None


async def test_the_place_is_the_exercise_that_was_worked_on_last(database: Database, me: int) -> None:
    async with database.write() as db:
        await progress.record_opened(db, me, "first")
        await progress.record_attempt(db, me, "first", "quiz", CHECK)
        await drafts.save_draft(db, me, "first", "box", "text")
        await db.flush()

        assert await progress.last_place(db, me) == ResumePoint("first", "box")


async def test_a_lesson_opened_since_is_the_place(database: Database, me: int) -> None:
    async with database.write() as db:
        await drafts.save_draft(db, me, "first", "box", "text")
        await progress.record_opened(db, me, "second")
        assert await progress.last_place(db, me) == ResumePoint("second", None)
        await progress.record_opened(db, me, "first")

        assert await progress.last_place(db, me) == ResumePoint("first", "box")


RENAMED = {ResumePoint("lesson", "old"): ResumePoint("lesson", "new")}


async def test_a_rename_keeps_everything(database: Database, me: int) -> None:
    async with database.write() as db:
        await drafts.save_draft(db, me, "lesson", "old", "text")
        await progress.record_attempt(db, me, "lesson", "old", CHECK)
        await progress.mark_solved(db, me, "lesson", "old")

        await adopt_renames(db, RENAMED)
        await db.flush()

        state = await progress.lesson_state(db, me, "lesson")
    assert state.solved == {"new"}
    assert state.drafts["new"].text == "text"
    assert state.tries["new"].count == 1


async def test_an_exercise_that_moves_to_another_lesson_takes_everything_along(database: Database, me: int) -> None:
    async with database.write() as db:
        await progress.record_opened(db, me, "lesson")
        for name in ("old", "stays"):
            await drafts.save_draft(db, me, "lesson", name, name)
            await progress.record_attempt(db, me, "lesson", name, CHECK)
            await progress.mark_solved(db, me, "lesson", name)
        await adopt_renames(db, {ResumePoint("lesson", "old"): ResumePoint("other", "new")})
        await db.flush()
        here, there = [await progress.lesson_state(db, me, one) for one in ("lesson", "other")]

        assert await progress.last_opened(db, me) == "other"
    assert here.solved == set(here.drafts) == set(here.tries) == {"stays"}
    assert there.solved == set(there.drafts) == set(there.tries) == {"new"}


async def test_what_a_rename_does_not_name_stays(database: Database, me: int) -> None:
    async with database.write() as db:
        await progress.mark_solved(db, me, "another", "old")
        await adopt_renames(db, RENAMED)
        await db.flush()

        assert await progress.solved_by_lesson(db, me) == {"another": {"old"}}


async def test_a_rename_onto_a_box_in_use_keeps_both_texts(database: Database, me: int) -> None:
    async with database.write() as db:
        for name in ("old", "new"):
            await drafts.save_draft(db, me, "lesson", name, f"{name} text")
            await progress.open_hint(db, me, "lesson", name, 3)
        await progress.mark_solved(db, me, "lesson", "old")
        await adopt_renames(db, RENAMED)
        await db.flush()
        state = await progress.lesson_state(db, me, "lesson")
        kept = await drafts.kept_texts(db, me, "lesson", "new")

    assert state.drafts["new"].text == "new text"
    assert [row.text for row in kept] == ["old text"]
    assert state.solved == {"new"}
    assert "old" not in state.drafts


RUN = NewTrainingRun(
    lesson="lesson", exercise="old", preset="short", attempt_id=3, passing=True, run="{}", owner="o", checkpoint="h"
)


async def test_a_rename_keeps_the_training_run(database: Database, me: int) -> None:
    async with database.write() as db:
        await trainings.begin_training(db, me, RUN)
        await trainings.record_training(db, me, "lesson", "old", "to its end", owner="o", live=False, finished=True)

        await adopt_renames(db, RENAMED)
        await db.flush()

        (run,) = await trainings.trainings_by(db, me)
    assert (run.exercise, run.preset, run.finished_json) == ("new", "short", "to its end")


async def test_a_rename_onto_a_run_keeps_that_and_what_came_of_the_former(database: Database, me: int) -> None:
    async with database.write() as db:
        await trainings.begin_training(db, me, RUN)
        await trainings.record_training(db, me, "lesson", "old", "to its end", owner="o", live=False, finished=True)
        await trainings.begin_training(db, me, replace(RUN, exercise="new", preset="long"))

        await adopt_renames(db, RENAMED)
        await db.flush()
        (run,) = await trainings.trainings_by(db, me)
    assert (run.exercise, run.preset, run.finished_json) == ("new", "long", "to its end")


async def test_history_holds_checks_and_kept_texts_in_order(database: Database, me: int) -> None:
    async with database.write() as db:
        saved = await drafts.save_draft(db, me, "lesson", "box", "x")
        await progress.record_attempt(db, me, "lesson", "box", CHECK)
        await drafts.replace_draft(db, saved.draft, "starter", "reset")
        await db.flush()
        marks = await marks_of(db, me, "lesson", "box")
        texts = [await past_text(db, mark) for mark in marks]

    assert [mark.kind for mark in marks] == ["check", "kept"]
    assert [(one.text, one.verdict, one.reason) for one in texts] == [("x", "{}", None), ("x", None, "reset")]
