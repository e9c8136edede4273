"""The gradebook of 200 learners with 100 assignments of 3 exercises, in both databases: 300 ms of processor at most."""

import asyncio
import statistics
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from sqlalchemy import insert

from app.store import classes
from app.store.database import Database, now
from app.store.grades import build_gradebook
from app.store.migrate import migrate
from app.store.tables import Accommodation, Assignment, Learner, Membership, Progress
from tests.store import postgres

LEARNERS, ASSIGNMENTS, EXERCISES, REPEATS = 200, 100, 3, 7
KNOWN = {f"lesson-{one}": [f"exercise-{at}" for at in range(EXERCISES)] for one in range(ASSIGNMENTS)}


async def measure(url: str) -> list[float]:
    await migrate(url)
    database = Database(url)
    soon = now() + timedelta(days=3)
    async with database.write() as db:
        group = await classes.create_class(db, "Large", "Europe/Berlin", None)
        await db.execute(insert(Learner), [{"created_at": now()} for _ in range(LEARNERS)])
        learners = range(1, LEARNERS + 1)
        person = {"class_id": group.id, "role": "learner", "joined_at": now(), "blocked": False}
        await db.execute(insert(Membership), [{**person, "learner_id": one, "name": f"L {one}"} for one in learners])
        extra = {"class_id": group.id, "extra_days": 2}
        await db.execute(insert(Accommodation), [{**extra, "learner_id": one} for one in learners if one % 20 == 0])
        due = {"class_id": group.id, "due_at": soon, "late_until": soon, "late_share": 0.5, "points": 10.0}
        await db.execute(insert(Assignment), [{**due, "lesson": name} for name in KNOWN])
        solved = [
            {"learner_id": one, "lesson": lesson, "exercise": name, "solved_at": now(), "hints": 0}
            for one in learners
            for lesson, names in KNOWN.items()
            for name in names
        ]
        await db.execute(insert(Progress), solved)
    took = []
    for _ in range(REPEATS):
        began = time.process_time()
        async with database.read() as db:
            book = await build_gradebook(db, group, KNOWN)
        took.append((time.process_time() - began) * 1000)
        assert (len(book.rows), book.rows[-1].points) == (LEARNERS, 10.0 * ASSIGNMENTS)
    await database.close()
    return took


def _report(kind: str, took: list[float]) -> None:
    print(f"{kind}: median {statistics.median(took):.0f} ms, longest {max(took):.0f} ms")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _report("SQLite", asyncio.run(measure(f"sqlite+aiosqlite:///{Path(folder) / 'book.db'}")))
    if found := postgres.programs():
        with postgres.server(found) as url:
            _report("PostgreSQL", asyncio.run(measure(url)))
