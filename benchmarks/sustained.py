"""As many checks as two cores can bear, against what bare fork-and-exit of a zygote reaches, measured in turn.

Once asked of the pool of graders, as the web process asks it, and once as a browser does, through HTTP. Then at 80 % of
the first, how long the slowest wait. Every text is a new one: the same text again would be answered from the store.
"""

import asyncio
import statistics
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from app.content.blocks import Grad
from app.content.course import load_course
from app.engine.local import LocalGraders
from app.engine.task import AnyTask
from app.sandbox.runner import Jail
from app.settings import Settings
from app.web.tasks import Tasks
from benchmarks.load import BOX, GRADERS, SLUG, Pupil, Tally
from benchmarks.serving import ROOT, server

ROUNDS = 6
CHECK_SECONDS, FORK_SECONDS, STEADY_SECONDS = 4.0, 1.0, 15.0
AT_ONCE = 2 * GRADERS


def main() -> None:
    """Print both ratios, and the waiting times at 80 %."""
    course = load_course(ROOT / "lessons")
    lesson = course.lesson(SLUG)
    box = lesson.exercise(BOX) if lesson else None
    assert lesson is not None
    assert isinstance(box, Grad)
    jails = [Jail() for _ in range(GRADERS)]
    try:
        for jail in jails:
            assert jail.is_warm(60), jail.refusal
        asyncio.run(_of_the_graders(jails, Tasks(course).task(lesson, box), box.solution.source))
        with server(graders=GRADERS) as port:
            _through_http(jails, port, box.solution.source)
    finally:
        for jail in jails:
            jail.close()


async def _of_the_graders(jails: list[Jail], task: AnyTask, solution: str) -> None:
    numbers, tally = count(), Tally()
    with tempfile.TemporaryDirectory() as folder:
        async with LocalGraders(Settings(data_dir=Path(folder), graders=GRADERS)) as graders:

            async def check() -> None:
                began = time.perf_counter()
                verdict = await graders.check(task, f"{solution}\n# {next(numbers)}")
                tally.seconds.append(time.perf_counter() - began)
                if not verdict.passed:
                    tally.errors.append(verdict.message or verdict.outcome)

            async def fastest() -> float:
                end, begun = time.perf_counter() + CHECK_SECONDS, len(tally.seconds)
                await asyncio.gather(*(_again(check, end) for _ in range(AT_ONCE)))
                return len(tally.seconds) - begun

            await asyncio.gather(*(check() for _ in range(AT_ONCE)))
            rounds = []
            for _ in range(ROUNDS):
                forks = await asyncio.to_thread(_forks_per_second, jails)
                rounds.append((await _a_second(fastest), *forks))
            rate = _report(f"asked of {GRADERS} graders", rounds)
            tally.seconds.clear()
            await _steadily(check, 0.8 * rate)
    _report_waiting(0.8 * rate, tally)


async def _again(work: Callable[[], Awaitable[None]], end: float) -> None:
    while time.perf_counter() < end:
        await work()


async def _a_second(work: Callable[[], Awaitable[float]]) -> float:
    began = time.perf_counter()
    return await work() / (time.perf_counter() - began)


async def _steadily(work: Callable[[], Awaitable[None]], rate: float) -> None:
    """Begin *work* so many times a second, however long it takes."""
    began, running = time.perf_counter(), set()
    for number in range(int(rate * STEADY_SECONDS)):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        running.add(asyncio.ensure_future(work()))
    await asyncio.gather(*running)


def _through_http(jails: list[Jail], port: int, solution: str) -> None:
    tally = Tally()
    pupils = [Pupil(port, seed, solution) for seed in range(2 * AT_ONCE)]
    for pupil in pupils:
        tally.timed(pupil.check)
    rounds = []
    for _ in range(ROUNDS):
        forks, begun, began = _forks_per_second(jails), len(tally.seconds), time.perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda pupil: _press(pupil, tally), pupils[:AT_ONCE]))
        rounds.append(((len(tally.seconds) - begun) / (time.perf_counter() - began), *forks))
    rate = _report("through HTTP", rounds)
    tally.seconds.clear()
    tickets, lock, began = count(), threading.Lock(), time.perf_counter()

    def steadily(pupil: Pupil) -> None:
        while True:
            with lock:
                due = began + next(tickets) / (0.8 * rate)
            if due - began > STEADY_SECONDS:
                return
            time.sleep(max(0.0, due - time.perf_counter()))
            tally.timed(pupil.check)

    with ThreadPoolExecutor(len(pupils)) as pool:
        list(pool.map(steadily, pupils))
    _report_waiting(0.8 * rate, tally)


def _press(pupil: Pupil, tally: Tally) -> None:
    end = time.perf_counter() + CHECK_SECONDS
    while time.perf_counter() < end:
        tally.timed(pupil.check)


def _forks_per_second(jails: list[Jail]) -> tuple[float, float]:
    """Of one zygote, and of as many as there are graders, all at once."""

    def one(jail: Jail) -> float:
        done, began = 0, time.perf_counter()
        while time.perf_counter() - began < FORK_SECONDS:
            jail.bare_fork()
            done += 1
        return done / (time.perf_counter() - began)

    with ThreadPoolExecutor(len(jails)) as pool:
        return one(jails[0]), sum(pool.map(one, jails))


def _report(how: str, rounds: list[tuple[float, float, float]]) -> float:
    """Print checks and forks per second; the median of the checks."""
    checks, single, several = (statistics.median(one[place] for one in rounds) for place in range(3))
    shares = " ".join(f"{one[0] / one[1]:.0%}" for one in rounds)
    print(
        f"{how}: {checks:.0f} checks/s; bare fork-and-exit of one zygote: {single:.0f}/s ({checks / single:.0%}; by "
        f"round {shares}), of {GRADERS} at once: {several:.0f}/s ({checks / several:.0%})"
    )
    return checks


def _report_waiting(rate: float, tally: Tally) -> None:
    cuts = statistics.quantiles(tally.seconds, n=100)
    print(f"  at 80 %, {rate:.0f} checks/s: {tally}, p99/p50 {cuts[98] / cuts[49]:.1f}")


if __name__ == "__main__":
    main()
