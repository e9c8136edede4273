"""How long what answers tell takes to count, and to show, at 300,000 attempts of 2,000 learners of the course.

python -m benchmarks items
BACKHAND_ATTEMPTS=30000 python -m benchmarks items
"""

import asyncio
import json
import os
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert
from starlette.testclient import TestClient

from app.content.blocks import CodeBox, Course, Exercise, Quiz
from app.course.course import load_course, published
from app.insight.renewal import renew_reports
from app.installation import ROOT
from app.settings import Settings
from app.store import item_reports, learners
from app.store.database import Database, now
from app.store.migrate import migrate
from app.store.tables import Attempt, Learner, Moment, Progress
from app.web.application import create_app
from tests.store import postgres
from tests.web.conftest import BROWSER, FakeGrader

ATTEMPTS = int(os.environ.get("BACKHAND_ATTEMPTS", "300000"))
LEARNERS = max(30, ATTEMPTS // 150)
LEAST = 3
SLIPS = ("transposed", "sign", "mean", "factor-missing", "unrecognised")
BATCH = 5000
ROUNDS = 15
MOST_PAGE_MS, MOST_COUNT_SECONDS = 50.0, 5.0


def main() -> None:
    """Print the renewal of the report on both databases, and the best time of its pages."""
    course = published(load_course(ROOT / "lessons"))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measured("SQLite", f"sqlite+aiosqlite:///{Path(folder) / 'backhand.db'}", course))
        _show_pages(Path(folder), course)
    found = postgres.programs()
    if found is None:
        print("PostgreSQL is not installed and was not measured")
        return
    with postgres.server(found) as url:
        asyncio.run(_measured("PostgreSQL", url, course))


async def _measured(name: str, url: str, course: Course) -> None:
    await migrate(url)
    database = Database(url)
    await fill(database, course, LEARNERS, ATTEMPTS)
    async with database.write() as db:
        await item_reports.ask_report(db)
    began = time.perf_counter()
    await renew_reports(database, url, course, LEAST)
    took = time.perf_counter() - began
    async with database.read() as db:
        row = await item_reports.stored_report(db)
    size = len(row.report_json or "") if row else 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    verdict = "ok" if took <= MOST_COUNT_SECONDS else "TOO SLOW"
    print(f"{name}: {ATTEMPTS:,} attempts counted in {took:.1f} s  {verdict}; {size:,} bytes kept; peak {peak:.0f} MiB")
    await database.close()


def _show_pages(folder: Path, course: Course) -> None:
    app = create_app(Settings(data_dir=folder, database_url=""), course, FakeGrader())
    with TestClient(app, headers=BROWSER) as client:
        client.cookies.set("session", asyncio.run(_teacher(f"sqlite+aiosqlite:///{folder / 'backhand.db'}")))
        for path in ("/authors/items", f"/authors/items/{course.lessons[10].slug}"):
            times = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                answer = client.get(path)
                times.append(1e3 * (time.perf_counter() - began))
                assert answer.status_code == 200
            verdict = "ok" if min(times) <= MOST_PAGE_MS else "TOO SLOW"
            print(f"  {path:44} {sorted(times)[ROUNDS // 2]:6.1f} ms, best {min(times):6.1f}  {verdict}")


async def _teacher(url: str) -> str:
    database = Database(url)
    async with database.write() as db:
        learner, token = await learners.begin_session(db)
        await db.flush()
        (await db.get_one(Learner, learner)).teaches = True
    await database.close()
    return token


async def fill(database: Database, course: Course, people: int, attempts: int) -> None:
    """Let so many learners go through *course*, each as far as the *attempts* reach."""
    draw, at = random.Random(0), now()
    first = 1
    ids = range(first, first + people)
    await _insert(database, Learner, [{"id": learner, "created_at": at - timedelta(days=40)} for learner in ids])
    rows = list(_histories(draw, course, ids, attempts // people, at))
    for table in (Attempt, Progress, Moment):
        await _insert(database, table, [row for kind, row in rows if kind is table])


def _histories(
    draw: random.Random, course: Course, ids: range, each: int, at: datetime
) -> Iterator[tuple[type, dict[str, Any]]]:
    for learner in ids:
        moment, left = at - timedelta(days=35) + timedelta(hours=draw.random() * 24), each
        ability = draw.gauss(0, 1)
        for lesson in course.lessons:
            if left <= 0:
                break
            moment += timedelta(hours=draw.random() * 30)
            place = {"learner_id": learner, "lesson": lesson.name}
            yield Moment, {**place, "exercise": "", "what": "seen", "happened_at": moment}
            for exercise in lesson.exercises:
                place["exercise"] = exercise.name
                for number in range(6):
                    moment += timedelta(seconds=20 + draw.expovariate(1 / 60))
                    left -= 1
                    right = draw.random() < 0.45 + 0.12 * ability + 0.15 * number
                    yield Attempt, {**place, **_attempt(draw, exercise, right=right), "created_at": moment}
                    if right:
                        yield Progress, {**place, "solved_at": moment, "hints": 0}
                        break
                    if number == 1 and exercise.hints:
                        yield Moment, {**place, "what": "hint-1", "happened_at": moment}


def _attempt(draw: random.Random, exercise: Exercise, *, right: bool) -> dict[str, Any]:
    if isinstance(exercise, Quiz):
        options = [number for number, option in enumerate(getattr(exercise, "options", ())) if option.right == right]
        answer = str(draw.choice(options)) if options else "1" if right else str(draw.randrange(2, 9))
        tempting = [distractor.value for distractor in exercise.tempting]
        if not right and tempting and draw.random() < 0.6:
            answer = draw.choice(tempting)
        verdict = json.dumps({"correct": right, "echo": ""})
        return {"kind": "quiz", "text": json.dumps([answer]), "verdict_json": verdict, "correct": right, "code": None}
    name = draw.choice(getattr(exercise, "require", ()) or ("f",))
    slip = f"{name}:{draw.choice(SLIPS)}"
    source = exercise.solution.source if isinstance(exercise, CodeBox) else ""
    text = source if right else f"{name} = {name} * {draw.randrange(4)}\n" + source
    names = [] if right else [{"name": name, "verdict": "wrong", "code": slip, "line": 1}]
    verdict = json.dumps({"outcome": "graded", "passed": right, "names": names})
    return {"kind": "code", "text": text, "verdict_json": verdict, "correct": right, "code": None if right else slip}


async def _insert(database: Database, table: Any, rows: list[dict[str, Any]]) -> None:
    for start in range(0, len(rows), BATCH):
        async with database.write() as db:
            await db.execute(insert(table.__table__), rows[start : start + BATCH])
