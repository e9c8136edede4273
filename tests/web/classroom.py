"""A class with its people, each with a browser of their own."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.testclient import TestClient

from app.store import classes, invitations, joining, learners
from app.store.assignments import AssignmentSettings, assign_lesson
from app.store.classes import Role
from app.store.database import Database
from app.store.migrate import migrate
from app.store.tables import Assignment, Class, Learner
from tests.web.conftest import BROWSER

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Seated:
    """A class, by its id, and the sessions of its people."""

    group: int
    instructor: str
    pupils: tuple[str, ...]


async def seated(url: str, size: int, lesson: str) -> Seated:
    """A class of *size* in the database at *url*, with *lesson* assigned."""
    await migrate(url)
    database = Database(url)
    async with database.write() as db:
        teacher, instructor = await learners.begin_session(db)
        await invitations.let_teach(db, teacher)
        group = await classes.create_class(db, "Deep learning", "Europe/Berlin", teacher, "Ada")
        db.add(Assignment(class_id=group.id, lesson=lesson, late_share=0.5, points=10))
        pupils = []
        for number in range(size):
            learner, token = await learners.begin_session(db)
            db.add(classes.new_member(group.id, learner, "learner", f"Learner {number + 1}"))
            pupils.append(token)
    await database.close()
    return Seated(group.id, instructor, tuple(pupils))


@dataclass
class Classroom:
    """Asks the database of *app*, and gives browsers to people."""

    app: FastAPI
    run: Callable[[Coroutine[Any, Any, Any]], Any] = asyncio.run
    ids: dict[str, int] = field(default_factory=dict)

    def write(self, question: Callable[[AsyncSession], Coroutine[Any, Any, T]]) -> T:
        async def asked() -> T:
            async with self.app.state.site.database.write() as db:
                return await question(db)

        found: T = self.run(asked())
        return found

    def browser(self, name: str, *, teaches: bool = False) -> TestClient:
        """Of a new learner, who is known by *name* here."""

        async def begin(db: AsyncSession) -> str:
            self.ids[name], token = await learners.begin_session(db)
            await db.flush()
            (await db.get_one(Learner, self.ids[name])).name = name
            if teaches:
                await invitations.let_teach(db, self.ids[name])
            return token

        return TestClient(self.app, headers=BROWSER, cookies={"session": self.write(begin)})

    def found(self, name: str, instructor: str, timezone: str = "Europe/Berlin") -> Class:
        return self.write(lambda db: classes.create_class(db, name, timezone, self.ids[instructor], instructor))

    def assign(self, group: Class, lesson: str, **values: Any) -> Assignment:
        given = {"exercises": None, "opens_at": None, "due_at": None, "late_until": None, "solutions_at": None}
        terms = AssignmentSettings(**{"late_share": 0.5, "points": 10.0, **given, **values})
        return self.write(lambda db: assign_lesson(db, group.id, lesson, terms, None))

    def join(self, group: Class, name: str, role: Role = "learner") -> None:
        async def come(db: AsyncSession) -> None:
            here = await joining.join_class(db, await db.get_one(Class, group.id), self.ids[name], name)
            here.role = role

        self.write(come)
