import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text, update

from app.store import drafts, learners, progress, trainings
from app.store.database import Database, now
from app.store.tables import Draft, Learner, Session
from app.store.trainings import NewTrainingRun

pytestmark = pytest.mark.anyio

ROOM = 200
MANY_LIKE_ONE = """
INSERT INTO learner (created_at)
WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < :many)
SELECT created_at FROM copies, learner WHERE learner.id = :one
"""


async def test_a_token_leads_to_its_learner_and_only_its_hash_is_stored(database: Database) -> None:
    async with database.write() as db:
        learner, token = await learners.begin_session(db)

    async with database.read() as db:
        known = await learners.find_session_learner(db, token)
        stored = await db.scalar(select(Session.token_hash))
    assert known is not None
    assert known.learner == learner
    assert stored != token
    assert len(token) >= 43


@pytest.mark.parametrize("token", ["", "nonsense", "\udcff", "x" * 10_000])
async def test_an_unknown_token_is_nobodys(database: Database, token: str) -> None:
    async with database.read() as db:
        assert await learners.find_session_learner(db, token) is None


async def test_a_session_seen_long_ago_is_stale_until_it_is_marked(database: Database) -> None:
    async with database.write() as db:
        _, token = await learners.begin_session(db)
        await db.execute(update(Session).values(seen_at=now() - timedelta(days=2)))

    async with database.write() as db:
        before = await learners.find_session_learner(db, token)
        await learners.mark_seen(db, token)
        after = await learners.find_session_learner(db, token)
    assert before is not None
    assert before.stale
    assert after is not None
    assert not after.stale


async def test_only_learners_without_a_trace_are_forgotten(database: Database, me: int) -> None:
    async with database.write() as db:
        await learners.begin_session(db)
        await drafts.save_draft(db, me, "lesson", "box", "text")

    async with database.write() as db:
        gone = await learners.forget_empty(db, now() + timedelta(seconds=1))
        left = await db.scalar(select(Draft.text))
    assert gone == 1
    assert left == "text"


async def test_whoever_trained_is_not_forgotten(database: Database, me: int) -> None:
    async with database.write() as db:
        begun = NewTrainingRun(
            lesson="l",
            exercise="run",
            preset="short",
            attempt_id=None,
            passing=False,
            run="{}",
            owner="o",
            checkpoint="h",
        )
        await trainings.begin_training(db, me, begun)

    async with database.write() as db:
        assert await learners.forget_empty(db, now() + timedelta(seconds=1)) == 0


@pytest.mark.parametrize("visit", ["opened a lesson", "came back"])
async def test_readers_are_forgotten_when_they_were_not_here_for_long(database: Database, me: int, visit: str) -> None:
    long_ago = now() - timedelta(days=60)
    async with database.write() as db:
        await progress.record_opened(db, me, "lesson")
        await db.execute(update(Learner).values(created_at=long_ago))
        if visit == "opened a lesson":
            await db.execute(update(Session).values(seen_at=long_ago))
        else:
            await db.execute(update(Learner).values(opened_at=long_ago))

    async with database.write() as db:
        assert await learners.forget_empty(db, now() - timedelta(days=30)) == 0
        await db.execute(update(Learner).values(opened_at=long_ago))
        await db.execute(update(Session).values(seen_at=long_ago))
        assert await learners.forget_empty(db, now() - timedelta(days=30)) == 1


async def test_more_learners_are_forgotten_than_a_statement_has_room_for(
    tmp_path: Path, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The room of others is sixty thousand; a database that is told to has as little as fits into this test."""
    connect = sqlite3.connect

    def narrow(*place: Any, **options: Any) -> sqlite3.Connection:
        made = connect(*place, **options)
        made.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, ROOM)
        return made

    monkeypatch.setattr(sqlite3, "connect", narrow)
    database = Database(f"sqlite+aiosqlite:///{shutil.copy(template, tmp_path / 'own.db')}")
    async with database.write() as db:
        me, _ = await learners.begin_session(db)
        await db.execute(text(MANY_LIKE_ONE), {"one": me, "many": 2 * ROOM})

    async with database.write() as db:
        assert await learners.forget_empty(db, now() + timedelta(seconds=1)) == 2 * ROOM + 1
    await database.close()


async def test_recent_learners_are_not_forgotten(database: Database, me: int) -> None:
    async with database.write() as db:
        assert await learners.forget_empty(db, now() - timedelta(days=1)) == 0
        assert me


@pytest.mark.parametrize(
    ("kind", "correct", "gone"), [("quiz", False, 1), ("quiz", None, 1), ("quiz", True, 0), ("code", False, 0)]
)
async def test_a_wrong_choice_alone_keeps_nobody(
    database: Database, me: int, kind: Any, correct: bool | None, gone: int
) -> None:
    async with database.write() as db:
        answered = progress.NewAttempt(kind=kind, text="1", verdict="{}", correct=correct)
        await progress.record_attempt(db, me, "lesson", "one", answered)

    async with database.write() as db:
        assert await learners.forget_empty(db, now() + timedelta(seconds=1)) == gone


async def test_whom_no_browser_knows_any_more_is_forgotten_with_all_texts(database: Database, me: int) -> None:
    long_ago = now() - timedelta(days=500)
    async with database.write() as db:
        await drafts.save_draft(db, me, "lesson", "box", "text")
        await db.execute(update(Learner).values(created_at=long_ago))
        seen_today = await learners.forget_lost(db, now() - timedelta(days=400))
        await db.execute(update(Session).values(seen_at=long_ago))

    async with database.write() as db:
        gone = await learners.forget_lost(db, now() - timedelta(days=400))
        left = await db.scalar(select(Draft.text))
    assert (seen_today, gone, left) == (0, 1, None)


async def test_older_attempts_go_but_the_newest_right_and_trained_ones(database: Database, me: int) -> None:
    most = progress.KEPT_ATTEMPTS

    def answered(number: int) -> progress.NewAttempt:
        return progress.NewAttempt(kind="code", text=str(number), verdict="{}", correct=number in (2, 5))

    async with database.write() as db:
        for number in range(9):
            await progress.record_attempt(db, me, "lesson", "box", answered(number))
        third = (await progress.attempts_at(db, me, "lesson", "box"))[3]
        begun = NewTrainingRun(
            lesson="lesson",
            exercise="run",
            preset="short",
            attempt_id=third.id,
            passing=False,
            run="{}",
            owner="o",
            checkpoint="h",
        )
        await trainings.begin_training(db, me, begun)
        await progress.record_attempt(db, me, "lesson", "another", answered(0))
        for number in range(9, 9 + most):
            await progress.record_check(db, me, "lesson", "box", answered(number))

    async with database.read() as db:
        left = [int(one.text) for one in await progress.attempts_at(db, me, "lesson", "box")]
        others = await progress.attempts_at(db, me, "lesson", "another")
    assert left == [3, 5, *range(9, 9 + most)]
    assert len(others) == 1
