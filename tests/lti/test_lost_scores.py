"""A thousand grades, a platform that fails in every way, and servers that are killed: none is lost, none is older."""

import asyncio
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.lti.keys import encryption_in, make_keys, published_keys
from app.settings import Settings
from app.store import lti_scores, progress
from app.store.assignments import AssignmentSettings, assign_lesson
from app.store.classes import create_class, new_member
from app.store.database import Database, now
from app.store.lti_platforms import add_platform
from app.store.migrate import migrate
from app.store.tables import Learner, LtiContext, LtiLineItem, LtiMember, LtiPlatform, LtiScore
from tests.lti.platform import Column, Platform
from tests.waiting import until

pytestmark = pytest.mark.prove

T = TypeVar("T")
LEARNERS = 1000
EXERCISES = ("a", "b", "c", "d")
KILLS = 6


class World:
    def __init__(self, folder: Path, platform: Platform) -> None:
        self.folder, self.platform = folder, platform
        self.settings = Settings(data_dir=folder, database_url="", address="http://testserver")
        self.solved: dict[int, int] = {}
        self.column = platform.add_column("All", 10.0)

    def write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        async def run() -> T:
            database = Database(self.settings.resolved_database_url)
            try:
                async with database.write() as db:
                    return await work(db)
            finally:
                await database.close()

        return asyncio.run(run())

    async def fill(self, db: AsyncSession) -> dict[str, Any]:
        """A class of learners who have each solved something; the keys of the tool."""
        await make_keys(db, encryption_in(self.settings.lti_secret_path, make=True))
        url = self.platform.url
        platform = LtiPlatform(
            issuer=url, client_id=self.platform.client_id, name="Moodle", auth_url=url, token_url=f"{url}/token",
            jwks_url=f"{url}/jwks", private=True, added_at=now(),
        )  # fmt: skip
        await add_platform(db, platform, ["1"])
        group = await create_class(db, "All", "UTC", None)
        context = LtiContext(platform_id=platform.id, context_id="c", class_id=group.id, title="", launched_at=now())
        terms = AssignmentSettings(list(EXERCISES), None, None, None, 0.5, float(len(EXERCISES)), None)
        assignment = await assign_lesson(db, group.id, "lesson", terms, None)
        learners = [Learner(created_at=now()) for _ in range(LEARNERS)]
        db.add_all([context, *learners])
        await db.flush()
        db.add(LtiLineItem(lti_context_id=context.id, assignment_id=assignment.id, url=self.column.url))
        for learner in learners:
            subject = str(learner.id)
            self.platform.person(subject, subject)
            self.solved[learner.id] = 0
            member = {"subject": subject, "role": "learner", "launched_at": now()}
            db.add(new_member(group.id, learner.id, "learner", subject))
            db.add(LtiMember(lti_context_id=context.id, learner_id=learner.id, **member))
        await db.flush()
        for learner in learners:
            await self.solve(db, learner.id)
        return await published_keys(db)

    async def solve(self, db: AsyncSession, learner: int) -> None:
        name = EXERCISES[self.solved[learner]]
        self.solved[learner] += 1
        await progress.mark_solved(db, learner, "lesson", name)

    def sender(self) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "tests.lti.sender", str(self.folder), *EXERCISES]
        return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def waiting(self) -> int:
        return self.write(lambda db: db.scalar(select(func.count()).select_from(LtiScore))) or 0


def order(column: Column) -> dict[str, list[float]]:
    """What was told of each person, in its order."""
    told: dict[str, list[float]] = defaultdict(list)
    for score in column.scores:
        told[score["userId"]].append(score["scoreGiven"])
    return told


def test_a_thousand_grades_survive_what_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lti_scores, "QUIET", lti_scores.QUIET * 0)
    platform, drawn = Platform(), random.Random(7)
    world = World(tmp_path, platform)
    asyncio.run(migrate(world.settings.resolved_database_url))
    keys = world.write(world.fill)
    platform.tool_keys = lambda: keys
    faults: list[int | str] = [503, 500, 409, 401, 429, "hang"]
    platform.broken = [drawn.choice(faults) if drawn.random() < 0.25 else 200 for _ in range(3 * LEARNERS)]
    senders = [world.sender(), world.sender()]
    try:
        for kill in range(1, KILLS + 1):
            arrived = kill * LEARNERS // (KILLS + 2)
            until(lambda arrived=arrived: len(platform.columns[0].scores) >= arrived)
            killed = senders.pop(0)
            killed.kill()
            killed.wait()
            again = drawn.sample(sorted(world.solved), 50)

            async def more(db: AsyncSession, learners: list[int] = again) -> None:
                for learner in learners:
                    if world.solved[learner] < len(EXERCISES):
                        await world.solve(db, learner)

            world.write(more)
            senders.append(world.sender())
        until(lambda: world.waiting() == 0)
    finally:
        for sender in senders:
            sender.kill()
            sender.wait()
        platform.close()

    told = order(world.column)
    assert {int(subject): points[-1] for subject, points in told.items()} == world.solved
    assert [subject for subject, points in told.items() if points != sorted(points)] == []
