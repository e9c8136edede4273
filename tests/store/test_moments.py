"""When a lesson or a hint was first opened, and since when an exercise is worded as it is."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.accounts.data_export import delete_learner, list_learner_rows
from app.accounts.merge import merge_learners
from app.store import learners, moments, progress
from app.store.database import Database, now
from app.store.progress import ResumePoint
from app.store.renames import adopt_renames
from app.store.tables import Learner, Moment

pytestmark = pytest.mark.anyio

PLACE = ("lesson", "box")


async def kept(database: Database, learner: int) -> dict[tuple[str, str, str], Moment]:
    async with database.read() as db:
        rows = await db.scalars(select(Moment).where(Moment.learner_id == learner))
        return {(row.lesson, row.exercise, row.what): row for row in rows}


async def do_all(database: Database, learner: int) -> None:
    async with database.write() as db:
        await progress.record_opened(db, learner, "lesson")
        for _ in range(3):
            await progress.open_hint(db, learner, *PLACE, 2)


async def test_each_hint_and_the_page_have_their_first_moment(database: Database, me: int) -> None:
    began = now()
    await do_all(database, me)
    first = await kept(database, me)
    await do_all(database, me)

    assert set(first) == {("lesson", "", "seen"), *((*PLACE, what) for what in ("hint-1", "hint-2"))}
    again = await kept(database, me)
    assert {key: row.happened_at for key, row in again.items()} == {key: row.happened_at for key, row in first.items()}
    assert all(began <= row.happened_at <= now() for row in first.values())


async def test_of_two_learners_who_become_one_the_earliest_moment_counts(database: Database, me: int) -> None:
    async with database.write() as db:
        other, _ = await learners.begin_session(db)
    for learner in (me, other):
        await do_all(database, learner)
    earlier = now() - timedelta(days=3)
    async with database.write() as db:
        await db.execute(update(Moment).where(Moment.learner_id == other).values(happened_at=earlier))

    async with database.write() as db:
        await merge_learners(db, other, me)

    assert {row.happened_at for row in (await kept(database, me)).values()} == {earlier}
    assert await kept(database, other) == {}


async def test_moments_are_taken_along_and_go_with_the_learner(database: Database, me: int) -> None:
    await do_all(database, me)
    async with database.read() as db:
        taken = (await list_learner_rows(db, me))["moment"]

    async with database.write() as db:
        await delete_learner(db, me)

    assert sorted(row["what"] for row in taken) == ["hint-1", "hint-2", "seen"]
    assert await kept(database, me) == {}


async def test_a_rename_takes_moments_along_and_the_earliest_counts(database: Database, me: int) -> None:
    await do_all(database, me)
    async with database.write() as db:
        await moments.record_moment(db, me, "lesson", "new", "hint-2")
    before = await kept(database, me)

    async with database.write() as db:
        places = {ResumePoint(*PLACE): ResumePoint("later", "new"), ResumePoint("lesson", ""): ResumePoint("later", "")}
        places[ResumePoint("lesson", "new")] = ResumePoint("later", "new")
        await adopt_renames(db, places)

    after = await kept(database, me)
    assert set(after) == {("later", "", "seen"), *(("later", "new", what) for what in ("hint-1", "hint-2"))}
    assert after["later", "new", "hint-2"].happened_at == before[(*PLACE, "hint-2")].happened_at


async def test_who_only_opened_a_page_is_forgotten_and_who_opened_a_hint_is_not(database: Database, me: int) -> None:
    async with database.write() as db:
        reader, _ = await learners.begin_session(db)
        await progress.record_opened(db, reader, "lesson")
    await do_all(database, me)

    async with database.write() as db:
        await learners.forget_empty(db, now() + timedelta(days=1))

    async with database.read() as db:
        assert list(await db.scalars(select(Learner.id))) == [me]


async def test_an_edition_is_kept_once_until_its_words_change(database: Database) -> None:
    for edition in ("one", "one", "two", "one"):
        async with database.write() as db:
            await moments.record_editions(db, {PLACE: edition, ("lesson", "other"): "same"})

    async with database.read() as db:
        found = await moments.list_editions(db)

    assert [edition for edition, _ in found[PLACE]] == ["one", "two", "one"]
    assert [edition for edition, _ in found["lesson", "other"]] == ["same"]
    assert sorted(since for _, since in found[PLACE]) == [since for _, since in found[PLACE]]
