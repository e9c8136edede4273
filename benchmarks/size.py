"""How much room learners take who do the whole course, in both databases.

What one of them leaves is made once, with verdicts of real graders: each question is answered wrongly and then rightly,
each box checked three times wrongly and then rightly, with its draft and what a run showed. Then as many learners leave
the same, each a row at a time in turn, as they do in a term.

    python -m benchmarks size
    BACKHAND_CLASS=30 python -m benchmarks size
"""

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import insert, text

from app.cli.graders import started_graders
from app.content.blocks import CodeBox, Course, Quiz
from app.course.course import load_course
from app.engine.json_columns import to_json_column
from app.engine.pool.local_graders import LocalGraders
from app.engine.task import task_of
from app.settings import Settings
from app.store.database import Database, now
from app.store.migrate import migrate
from app.store.tables import Attempt, Base, Draft, Learner, Progress
from app.web.checks import CheckResult
from benchmarks.serving import ROOT
from tests.store import postgres
from tests.web.conftest import solution_of

LEARNERS = int(os.environ.get("BACKHAND_CLASS", "200"))
WRONG = 3
ANSWERS = (("(100, 27)", False), ("(27,)", True))

Row = tuple[type[Base], dict[str, Any]]


def main() -> None:
    """Print bytes for a learner, and how they divide."""
    course = load_course(ROOT / "lessons")
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(_left(course, Path(folder)))
        kinds = {kind: sum(one.__tablename__ == kind for one, _ in rows) for kind in ("attempt", "draft", "progress")}
        checks = sum(values.get("kind") == "code" for _, values in rows)
        print(f"{LEARNERS} learners, each with {checks} checks and {kinds['attempt'] - checks} answers: {kinds}")
        asyncio.run(_measured("SQLite", f"sqlite+aiosqlite:///{Path(folder) / 'backhand.db'}", rows))
    found = postgres.programs()
    if found is None:
        print("PostgreSQL is not installed and was not measured")
        return
    with postgres.server(found) as url:
        asyncio.run(_measured("PostgreSQL", url, rows))


async def _left(course: Course, folder: Path) -> list[Row]:
    """What one learner leaves."""
    rows: list[Row] = []
    async with started_graders(LocalGraders(Settings(data_dir=folder, graders=1))) as graders:
        for lesson in course.lessons:
            for exercise in lesson.exercises:
                place = {"lesson": lesson.name, "exercise": exercise.name}
                if isinstance(exercise, Quiz):
                    rows += [(Attempt, place | values) for values in _answers()]
                if isinstance(exercise, CodeBox):
                    task = task_of(lesson, exercise)
                    right = solution_of(task)
                    for code in (*_wrong(right), right):
                        verdict = await graders.check(task, code)
                        told = CheckResult(verdict).as_attempt(code, "key", 1)
                        rows.append((Attempt, place | _columns(told)))
                    ran = to_json_column(replace(await graders.run(task, right), wall_ms=0.0))
                    rows.append(
                        (Draft, place | {"text": right, "revision": 9, "run_json": ran, "saved_at": now()}),
                    )
                rows.append((Progress, place | {"hints": 1, "solved_at": now(), "edition": "0" * 16}))
    return rows


def _answers() -> Iterator[dict[str, Any]]:
    for answer, correct in ANSWERS:
        said = json.dumps({"correct": correct, "echo": answer})
        row = {"kind": "quiz", "text": json.dumps([answer]), "verdict_json": said, "correct": correct}
        yield row | {"created_at": now()}


def _wrong(right: str) -> Iterator[str]:
    """Texts that differ from *right* in a factor of their last line, as long as it is."""
    head, sign, last = right.rstrip().rpartition("= ")
    for number in range(WRONG):
        yield f"{head}{sign}{number + 2} * {last}\n"


def _columns(told: Any) -> dict[str, Any]:
    named = ("kind", "text", "correct", "code", "task_key", "revision")
    return {name: getattr(told, name) for name in named} | {"verdict_json": told.verdict, "created_at": now()}


async def _measured(name: str, url: str, rows: list[Row]) -> None:
    await migrate(url)
    database = Database(url)
    before = await _bytes(database)
    async with database.write() as db:
        await db.execute(insert(Learner), [{"id": one, "created_at": now()} for one in range(1, LEARNERS + 1)])
    for number, (table, values) in enumerate(rows):
        key = {"task_key": sha256(str(number).encode()).hexdigest()} if values.get("task_key") else {}
        # As they come: those of all learners mixed, each text with a key of its own.
        own = [
            values | {"learner_id": one} | {name: f"{key[name][:-6]}{one:06}" for name in key}
            for one in range(1, LEARNERS + 1)
        ]
        async with database.write() as db:
            await db.execute(insert(table.__table__), own)
    took = await _bytes(database) - before
    print(f"  {name}: {took / 2**20:.1f} MiB, {took / LEARNERS / 1000:.0f} KB a learner")
    for table, size in (await _tables(database)).items():
        print(f"    {table:10} {size / LEARNERS / 1000:6.0f} KB a learner, its indexes included")
    await database.close()


async def _bytes(database: Database) -> int:
    sqlite = database.engine.dialect.name == "sqlite"
    asked = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    async with database.read() as db:
        found = await db.scalar(text(asked if sqlite else "SELECT pg_database_size(current_database())"))
    return int(found or 0)


async def _tables(database: Database) -> dict[str, int]:
    """By table, where the database tells."""
    if database.engine.dialect.name == "sqlite":
        return {}
    async with database.read() as db:
        asked = text("SELECT pg_total_relation_size(CAST(:name AS regclass))")
        return {name: int(await db.scalar(asked, {"name": name}) or 0) for name in ("attempt", "draft", "progress")}


if __name__ == "__main__":
    main()
