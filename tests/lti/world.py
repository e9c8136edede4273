"""A class of a platform's course without pages and browsers: a database, and servers that have it in common."""

import asyncio
import subprocess
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.lti.keys import encryption_in, make_keys, published_keys
from app.lti.line_item_search import LineItemFinder
from app.lti.scores import ScoreSender
from app.lti.service import LtiService
from app.settings import Settings
from app.store import progress
from app.store.assignments import AssignmentSettings, assign_lesson
from app.store.classes import create_class, new_member
from app.store.database import Database, now
from app.store.lti_platforms import add_platform
from app.store.migrate import migrate
from app.store.tables import Base, Learner, LtiContext, LtiLineItem, LtiMember, LtiPlatform
from tests.courses import course_in
from tests.lti.platform import Platform
from tests.lti.server import COURSE, LESSON

T = TypeVar("T")


class World:
    """A class of so many *learners* who have each solved something; their grades go to one *column* of the platform."""

    def __init__(self, folder: Path, platform: Platform, url: str, learners: int) -> None:
        self.platform = platform
        self.settings = Settings(data_dir=folder, database_url=url, address="http://testserver")
        (lesson,) = (lesson for lesson in course_in(COURSE).lessons if lesson.name == LESSON)
        self.exercises = [exercise.name for exercise in lesson.exercises]
        self.solved: dict[int, int] = {}
        self.column = platform.add_column("All", 10.0)
        asyncio.run(migrate(self.settings.resolved_database_url))
        keys = self.write(lambda db: self._fill(db, learners))
        platform.tool_keys = lambda: keys

    def write(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        async def run() -> T:
            database = Database(self.settings.resolved_database_url)
            try:
                async with database.write() as db:
                    return await work(db)
            finally:
                await database.close()

        return asyncio.run(run())

    def count(self, table: type[Base]) -> int:
        """How many rows are there; asked without a lock, while servers write."""

        async def run() -> int:
            database = Database(self.settings.resolved_database_url)
            try:
                async with database.read() as db:
                    return await db.scalar(select(func.count()).select_from(table)) or 0
            finally:
                await database.close()

        return asyncio.run(run())

    async def _fill(self, db: AsyncSession, count: int) -> dict[str, Any]:
        await make_keys(db, encryption_in(self.settings.lti_secret_path, make=True))
        url = self.platform.url
        platform = LtiPlatform(
            issuer=url, client_id=self.platform.client_id, name="Moodle", auth_url=url, token_url=f"{url}/token",
            jwks_url=f"{url}/jwks", private=True, added_at=now(),
        )  # fmt: skip
        await add_platform(db, platform, ["1"])
        group = await create_class(db, "All", "UTC", None)
        context = LtiContext(
            platform_id=platform.id, context_id="c", class_id=group.id, title="", launched_at=now(),
            memberships_url=f"{url}/nrps/c", roster_read_at=now(), lineitems_url=f"{url}/ags/c/lineitems?type_id=1",
        )  # fmt: skip
        terms = AssignmentSettings(None, None, None, None, 0.5, float(len(self.exercises)), None)
        assignment = await assign_lesson(db, group.id, LESSON, terms, None)
        learners = [Learner(created_at=now()) for _ in range(count)]
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
        """One more, where something is left."""
        if self.solved[learner] < len(self.exercises):
            name = self.exercises[self.solved[learner]]
            self.solved[learner] += 1
            await progress.mark_solved(db, learner, LESSON, name)

    def server(self) -> subprocess.Popen[bytes]:
        """A process of its own."""
        folder, url = str(self.settings.data_dir), self.settings.database_url
        words = [sys.executable, "-m", "tests.lti.server", folder, url]
        return subprocess.Popen(words, stdout=subprocess.DEVNULL)

    def send(self, servers: int) -> list[int]:
        """How many grades each of so many servers sent, which begin at the same time."""

        return self._together(
            servers,
            lambda tool: ScoreSender(tool.database, tool.services, lambda: lambda _: self.exercises).send_due(),
        )

    def find(self, servers: int) -> list[int]:
        """How many columns each of so many servers looked for."""
        return self._together(servers, lambda tool: LineItemFinder(tool.database, tool.services).find_due())

    def _together(self, servers: int, work: Callable[[LtiService], Awaitable[int]]) -> list[int]:
        async def together() -> list[int]:
            tools = [LtiService(self.settings, Database(self.settings.resolved_database_url)) for _ in range(servers)]
            try:
                return list(await asyncio.gather(*map(work, tools)))
            finally:
                for tool in tools:
                    await tool.close()
                    await tool.database.close()

        return asyncio.run(together())

    def told(self) -> dict[int, list[float]]:
        """What the platform was told of each learner, in its order."""
        told: dict[int, list[float]] = defaultdict(list)
        for score in self.column.scores:
            told[int(score["userId"])].append(score["scoreGiven"])
        return told

    def newest(self) -> dict[int, float]:
        """What it was told last."""
        return {learner: points[-1] for learner, points in self.told().items()}
