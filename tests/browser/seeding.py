"""People, a class and items of practice, put into the database of the server that a browser opens."""

import asyncio
import http.cookiejar
import sqlite3
import urllib.request
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from playwright.sync_api import Page

from app.accounts.recovery import seat_link
from app.content.blocks import Lesson
from app.engine.json_columns import to_json_column
from app.engine.task import grad_task_of
from app.engine.train.snapshot import GradientComparison, Point, SampledNames, Snapshot, SplitLoss
from app.practice.item_lessons import render_form
from app.practice.pool import columns_of
from app.practice.proof import curated_items
from app.practice.sittings import PROGRAM, SittingItems, draw_for
from app.store.classes import list_members
from app.store.database import Database, now
from app.store.invitations import teacher_word
from app.store.learners import hash_of
from app.store.sitting_results import store_answers, store_program
from app.store.sittings import SittingSettings, begin_sitting, create_sitting, find_sitting
from app.store.tables import Class, Session, SittingAnswer
from tests.waiting import SECONDS
from tests.web.conftest import FakeGrader

T = TypeVar("T")
THEN = "2026-03-02 18:00:00"


def database_in(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / 'backhand.db'}"


def beside(work: Coroutine[Any, Any, T]) -> T:
    """What *work* gives, in a thread of its own: the browser has a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def teacher_word_in(folder: Path) -> str:
    """A word that makes an instructor."""
    database = Database(database_in(folder))
    async with database.write() as db:
        word = await teacher_word(db)
    await database.close()
    return word


async def seat_word_in(folder: Path, group: int, learner: int) -> str:
    """What a link to the seat of *learner* ends with, made by an instructor of the class."""
    database = Database(database_in(folder))
    async with database.write() as db:
        listed = await list_members(db, group)
        (seat,) = (one for one in listed if one.learner_id == learner)
        by = next(one.learner_id for one in listed if one.role == "instructor")
        word = await seat_link(db, await db.get_one(Class, group), seat, by)
    await database.close()
    return word


def asked(folder: Path, question: str, *values: object) -> Any:
    """The one value that the database answers."""
    with sqlite3.connect(folder / "backhand.db", timeout=SECONDS) as db:
        (value,) = db.execute(question, values).fetchone()
    return value


def learner_of(folder: Path, page: Page) -> int:
    """Whom the browser of *page* is for the server."""
    token = next(one["value"] for one in page.context.cookies() if one["name"] == "session")
    learner: int = asked(folder, "select learner_id from session where token_hash = ?", hash_of(token))
    return learner


def set_long_ago(folder: Path, learner: int) -> None:
    """Have *learner* known since long ago."""
    with sqlite3.connect(folder / "backhand.db", timeout=SECONDS) as db:
        db.execute("update learner set created_at = ? where id = ?", (THEN, learner))


def given(folder: Path, learner: int, form: str) -> tuple[str, Lesson]:
    """The address of an item in *form* that *learner* is given, and what it asks."""
    tried = ((item, render_form(item, form, "fork", "")) for item in curated_items(2))
    item, (stored, fragment) = next((item, asked) for item, asked in tried if asked)
    row = columns_of(item) | {"form": stored, "fragment": fragment, "proved_at": THEN}
    names, values = ", ".join(row), ", ".join(f":{key}" for key in row)
    once = f"insert into practice_item ({names}) values ({values}) on conflict do update set form = form returning id"
    mine = "insert into served_item (learner_id, item_id, family, slip, given_at, hints) values (?, ?, ?, ?, ?, ?)"
    with sqlite3.connect(folder / "backhand.db", timeout=SECONDS) as db:
        (number,) = db.execute(once, row).fetchone()
        db.execute(mine, (learner, number, "fork", "", THEN, 0))
    return f"/practice/{number}", item.lesson_of(fragment)


async def sitting_in(folder: Path, group: int, writing: str, graded: str) -> tuple[int, int]:
    """A sitting in which one session writes, and another one sees what it came to: its id, and whose that is."""
    database = Database(database_in(folder))
    settings = SittingSettings("Mid-term", now(), now() + timedelta(days=1), 60, 2.0, "right")
    async with database.write() as db:
        row = await create_sitting(db, group, settings, '[{"family": "", "level": 1, "count": 2}]', 2, None)
        for item, program in enumerate(curated_items(1)[:2], start=1):
            await store_program(db, row.id, item, program.seed, PROGRAM.dump_json(program).decode())
        found = await find_sitting(db, group, row.id)
        assert found is not None
        found.sitting.drawn_at = found.sitting.released_at = now()
        learners = []
        for token in (writing, graded):
            session = await db.get_one(Session, hash_of(token))
            learners.append(session.learner_id)
            draw = await draw_for(db, found, session.learner_id)
            place = session.token_hash, "Firefox on Linux"
            await begin_sitting(db, await db.get_one(Class, group), found, session.learner_id, draw, place, now())
        await db.flush()
        own = await find_sitting(db, group, row.id, learners[1])
        assert own is not None
        assert own.record is not None
        own.record.handed_in_at, own.record.handed_in_by = now(), "clock"
        box = (await SittingItems().of(db, own))[0]
        verdict = await FakeGrader().check(grad_task_of(box, box.exercises[0]), "dX = 2")
        texts = (("dX = 2", to_json_column(verdict)), ("", None))
        answers = [
            SittingAnswer(assignment_id=row.id, learner_id=learners[1], item=item, text=text, verdict_json=told,
                          correct=False, code="dX:transposed" if told else None)
            for item, (text, told) in enumerate(texts, start=1)
        ]  # fmt: skip
        await store_answers(db, own, answers, now())
    await database.close()
    return row.id, learners[1]


def trained(folder: Path, learner: int, lesson: str, exercise: str) -> None:
    """Let *learner* have a run that went to its end."""
    run = Snapshot(
        phase="finished",
        steps=2000,
        step=2000,
        numbers=4137,
        examples=182_625,
        source="names.txt",
        points=(Point(step=1, own=3.3, reference=3.3), Point(step=2000, own=2.4, reference=2.4)),
        gap=1e-9,
        sampled=(SampledNames(step=2000, names=("kaleigh", "quinn", "emia")),),
        judged=(SplitLoss(part="test", rows=10, own=2.4123, reference=2.4123),),
        compared=(GradientComparison(name="bngain", shape=(1, 64), exact=False, approx=True, maxdiff=1e-8),),
    )
    row = (
        "insert into training_run"
        " (learner_id, lesson, exercise, preset, passing, snapshot_json, live, stopping, began_at, lease_renewed_at)"
    )
    with sqlite3.connect(folder / "backhand.db", timeout=SECONDS) as db:
        db.execute(
            f"{row} values (?, ?, ?, 'short', 1, ?, 0, 0, ?, ?)",
            (learner, lesson, exercise, to_json_column(run), THEN, THEN),
        )


class Visitor:
    """Somebody who sends plain forms, and keeps their cookies."""

    def __init__(self, server: str, session: str = "") -> None:
        self._server, self._session = server, session
        self.jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def post(self, path: str, **fields: str | list[str]) -> None:
        headers = {"sec-fetch-site": "same-origin"}
        if self._session:
            headers["cookie"] = f"session={self._session}"
        sent = urllib.request.Request(self._server + path, urlencode(fields, doseq=True).encode(), headers)
        self._opener.open(sent, timeout=SECONDS).close()

    @property
    def cookies(self) -> list[dict[str, Any]]:
        """As a browser takes them."""
        found = [{"name": one.name, "value": one.value, "path": one.path} for one in self.jar]
        mine = [{"name": "session", "value": self._session, "path": "/"}] if self._session else []
        host = self._server.removeprefix("http://").partition(":")[0]
        return [{**one, "domain": host} for one in [*mine, *found]]
