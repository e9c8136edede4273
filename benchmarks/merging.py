"""How long a sign-in takes that brings work along, in both databases: at most a second for 2,000 attempts."""

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from app.accounts.merge import merge_learners
from app.store import learners
from app.store.database import Database, now
from app.store.migrate import migrate
from app.store.tables import Attempt, Draft, Progress, ReplacedText
from tests.store import postgres

ATTEMPTS, EXERCISES, TIMES = 2_000, 200, 7
MOST_SECONDS = 1.0
TEXT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)\n" * 4


def main() -> None:
    """Print the seconds of a merge of two learners who both did the same 200 exercises; fail where it takes longer."""
    for name, url in _databases():
        taken = asyncio.run(_measured(url))
        print(f"{name:<12} {ATTEMPTS:,} attempts into {ATTEMPTS:,}: {median(taken):.3f} s, at most {max(taken):.3f} s")
        assert median(taken) <= MOST_SECONDS


def _databases() -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        yield "SQLite", f"sqlite+aiosqlite:///{Path(folder) / 'merging.db'}"
    programs = postgres.programs()
    if programs is None:
        print("PostgreSQL is not installed")
        return
    with postgres.server(programs) as url:
        yield "PostgreSQL", url


async def _measured(url: str) -> list[float]:
    await migrate(url)
    database, taken = Database(url), []
    for _ in range(TIMES):
        source, into = [await _filled(database) for _ in range(2)]
        began = time.perf_counter()
        async with database.write() as db:
            await merge_learners(db, source, into)
        taken.append(time.perf_counter() - began)
    await database.close()
    return taken


async def _filled(database: Database) -> int:
    async with database.write() as db:
        learner, _ = await learners.begin_session(db)
        for at in range(ATTEMPTS):
            place = {"learner_id": learner, "lesson": f"lesson {at % 10}", "exercise": f"exercise {at % EXERCISES}"}
            verdict = json.dumps({"names": [at] * 100})
            row = {"kind": "code", "text": TEXT, "verdict_json": verdict, "correct": at % 3 == 0}
            db.add(Attempt(**place, **row, code=None, task_key=None, created_at=now()))
            if at < EXERCISES:
                db.add(Draft(**place, text=f"{TEXT}# {learner}", revision=1, saved_at=now()))
                db.add(Progress(**place, solved_at=now(), hints=0))
                db.add(ReplacedText(**place, text=f"# {learner}", reason="reset", replaced_at=now()))
    return learner
