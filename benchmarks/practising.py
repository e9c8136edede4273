"""What practice costs: the next exercise from the pool, as a whole request with the page that follows, and a refill."""

import asyncio
import resource
import statistics
import tempfile
import time
from pathlib import Path

import httpx

from app.check.bounded_grader import RetryingGrader
from app.cli.graders import started_graders
from app.course.course import load_course
from app.engine.pool.local_graders import LocalGraders
from app.practice.draw import generate_item
from app.practice.pool import columns_of
from app.practice.proof import curated_items, prove_item
from app.settings import Settings
from app.store import practice_items
from app.store.database import Database
from app.store.migrate import migrate
from benchmarks.serving import ROOT, server

ITEMS = 40
READS = 2.0
"""Seconds that somebody is at an exercise, at least; what comes after it is drawn meanwhile."""
REFILLED = 100
GRADERS = 2


def main() -> None:
    """Print p50 and p95 of the next exercise and of its page, and what a refill takes."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_filled(Path(folder)))
        with server(data=Path(folder)) as port:
            _next_items(f"http://127.0.0.1:{port}")
    asyncio.run(_refill())


async def _filled(folder: Path) -> None:
    """A pool with all exercises that were proved before."""
    url = f"sqlite+aiosqlite:///{folder / 'backhand.db'}"
    await migrate(url)
    database = Database(url)
    async with database.write() as db:
        for level in (1, 2, 3):
            for item in curated_items(level):
                await practice_items.store_item(db, columns_of(item))
    await database.close()


def _next_items(address: str) -> None:
    headers = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as learner:
        for lesson in load_course(ROOT / "lessons").lessons:
            learner.get(f"/lessons/{lesson.slug}")
            quiz = next((one.name for one in lesson.exercises if type(one).__name__ == "Number"), None)
            if quiz:
                learner.post(f"/lessons/{lesson.slug}/quiz/{quiz}", data={"answer": "1"})
        told, form = {"next": [], "page": []}, {"begin": "1"}
        for _ in range(ITEMS):
            at = _timed(told["next"], learner.post, "/practice/next", data=form).headers["location"]
            assert _timed(told["page"], learner.get, at).status_code == 200, at
            time.sleep(READS)
            form = {"skip": at.rpartition("/")[2], "begin": "1"}
    for what, seconds in told.items():
        p95 = statistics.quantiles(seconds, n=20)[-1]
        print(f"{what}: p50 {statistics.median(seconds) * 1e3:.1f} ms, p95 {p95 * 1e3:.1f} ms")


def _timed(seconds, ask, *args, **given) -> httpx.Response:
    began = time.perf_counter()
    response = ask(*args, **given)
    seconds.append(time.perf_counter() - began)
    return response


async def _refill() -> None:
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    async with started_graders(LocalGraders(Settings(graders=GRADERS), keep_facts=False)) as graders:
        items = [generate_item(1 + seed % 3, seed) for seed in range(1000, 1000 + REFILLED)]
        kept = sum([(await prove_item(item, RetryingGrader(graders))).kept for item in items])
        seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"refill: {kept} of {REFILLED} kept in {seconds:.0f} s by {GRADERS} graders, {spent:.0f} processor seconds")


if __name__ == "__main__":
    main()
