"""Somebody who practises in a browser without scripts, on days that are made up."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.testclient import TestClient

from app.content.blocks import Bug, Lesson
from app.content.blocks.code_exercises import CodeBox
from app.kinds.order.block import OrderQuestion
from app.kinds.order.mark import as_values
from app.store import cards, tables
from app.store.tables import Card, PracticeItem
from app.web.site import Site
from tests.browser.answers import right_answer
from tests.web.conftest import WRONG

MONDAY = datetime(2026, 3, 2, 18, 0, tzinfo=UTC)


class Clock:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.now = MONDAY

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **span: float) -> None:
        self.now += timedelta(**span)


class Stock:
    """Items that a test hands out, or none; it keeps what was asked for."""

    def __init__(self, *, there: bool = True) -> None:
        self.there = there
        self.waited: list[tuple[str, str]] = []
        self.expected: list[tuple[str, str]] = []

    async def make(self, _: int, family: str, slip: str, *__: object) -> bool:
        self.waited.append((family, slip))
        return self.there

    def expect(self, _: int, family: str, slip: str, *__: object) -> bool:
        self.expected.append((family, slip))
        return self.there


class Learner:
    """Somebody who practises."""

    def __init__(self, client: TestClient, site: Site) -> None:
        self.client = client
        self.site = site

    def next(self, **form: str) -> str:
        """The address that a press of a button leads to."""
        return str(self.client.post("/practice/next", data=form).url.path)

    def solve(self, address: str, *, slip: bool = False) -> str:
        """Answer the item rightly, whatever it asks, after a wrong answer where *slip* is set; its kind."""
        lesson = self.lesson(address)
        for one in lesson.exercises:
            if isinstance(one, CodeBox):
                if slip:
                    self.check(address, one.name, WRONG)
                code = one.solution.source
                self.check(address, one.name, code, line=one.line if isinstance(one, Bug) else None)
            else:
                answer = (
                    as_values(one, range(len(one.lines)))
                    if isinstance(one, OrderQuestion)
                    else right_answer(lesson, one)
                )
                self.client.post(f"{address}/quiz/{one.name}", data={"answer": answer})
        return type(lesson.exercises[0]).__name__.removesuffix("Question").lower()

    def check(self, address: str, name: str, code: str, line: int | None = None) -> None:
        form = {"code": code, "revision": "0", **({} if line is None else {"line": str(line)})}
        assert self.client.post(f"{address}/code/{name}/check", data=form).status_code == 200

    def text(self, address: str) -> str:
        """What stands in the main part of a page."""
        page = self.client.get(address).text
        words = re.sub("<[^>]*>", " ", page[page.index("<main") : page.index("</main>")])
        return re.sub(r"\s+", " ", words).replace(" ,", ",").replace(" :", ":").replace(" .", ".")

    def row(self, address: str) -> PracticeItem:
        return self.query(lambda db: cards.find_item(db, int(address.rpartition("/")[2])))

    def cards(self) -> list[Card]:
        async def all_cards(db: AsyncSession) -> list[Card]:
            return list(await db.scalars(select(Card)))

        return self.query(all_cards)

    def shown(self) -> list[Card]:
        """The cards that pages show, written down or not."""

        async def known(db: AsyncSession) -> list[Card]:
            me = await db.scalar(select(func.max(tables.Learner.id)))
            return list((await self.site.practice.cards(db, me)).values())

        return self.query(known)

    def query(self, ask: Callable[[AsyncSession], Awaitable[Any]]) -> Any:
        async def asked() -> Any:
            async with self.site.database.read() as db:
                return await ask(db)

        return self.client.portal.call(asked)

    def change(self, act: Callable[[AsyncSession], Awaitable[Any]]) -> Any:
        """What *act* answers, once it is written down."""

        async def changed() -> Any:
            async with self.site.database.write() as db:
                return await act(db)

        return self.client.portal.call(changed)

    def lesson(self, address: str) -> Lesson:
        return self.site.practice.items._lessons.get(int(address.rpartition("/")[2]))
