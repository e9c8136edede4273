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
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from app.content.blocks import Grad
from app.course.course import load_course
from app.engine.pool.local_graders import LocalGraders
from app.engine.task import AnyTask
from app.sandbox.runner import Jail
from app.settings import Settings
from app.web.checks import TaskRegistry
from benchmarks.load import BOX, GRADERS, SLUG, Pupil, Tally
from benchmarks.serving import ROOT, server

ROUNDS = 6
CHECK_SECONDS, FORK_SECONDS, STEADY_SECONDS = 4.0, 1.0, 5.0
AT_ONCE = 2 * GRADERS
STEADY = 0.8


@dataclass(frozen=True, slots=True)
class Round:
    """What one round met: checks and forks a second, and at `STEADY` of the former the seconds of each check."""

    checks: float
    single: float
    several: float
    waits: list[float]


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
        asyncio.run(_of_the_graders(jails, TaskRegistry(course).task(lesson, box), box.solution.source))
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
                rate = await _a_second(fastest)
                tally.seconds.clear()
                await _steadily(check, STEADY * rate)
                rounds.append(Round(rate, *forks, list(tally.seconds)))
    _report(f"asked of {GRADERS} graders", rounds, tally.errors)


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
        rate = (len(tally.seconds) - begun) / (time.perf_counter() - began)
        tally.seconds.clear()
        tickets = Tickets(STEADY * rate)
        with ThreadPoolExecutor(len(pupils)) as pool:
            list(pool.map(partial(_press_steadily, tickets=tickets, tally=tally), pupils))
        rounds.append(Round(rate, *forks, list(tally.seconds)))
    _report("through HTTP", rounds, tally.errors)


class Tickets:
    """So many moments a second, for many threads, until `STEADY_SECONDS` are over."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._numbers = count()
        self._lock = threading.Lock()
        self._began = time.perf_counter()

    def wait(self) -> bool:
        """Wait for the next moment; False when there is none."""
        with self._lock:
            due = next(self._numbers) / self._rate
        if due > STEADY_SECONDS:
            return False
        time.sleep(max(0.0, self._began + due - time.perf_counter()))
        return True


def _press_steadily(pupil: Pupil, tickets: Tickets, tally: Tally) -> None:
    while tickets.wait():
        tally.timed(pupil.check)


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


def _report(how: str, rounds: list[Round], errors: list[str]) -> None:
    checks, single, several = (
        statistics.median(values)
        for values in zip(*((one.checks, one.single, one.several) for one in rounds), strict=True)
    )
    print(
        f"{how}: {checks:.0f} checks/s, errors {len(errors)}; bare fork-and-exit of one zygote: {single:.0f}/s "
        f"({checks / single:.0%}), of {GRADERS} at once: {several:.0f}/s ({checks / several:.0%})"
    )
    print(f"  share of one zygote's forks, by round: {' '.join(f'{one.checks / one.single:.0%}' for one in rounds)}")
    cuts = [statistics.quantiles(one.waits, n=100) for one in rounds]
    median, late = (statistics.median(cut[place] for cut in cuts) for place in (49, 98))
    ratios = " ".join(f"{cut[98] / cut[49]:.1f}" for cut in cuts)
    print(f"  at {STEADY:.0%} of that: p50 {median * 1e3:.0f} ms, p99 {late * 1e3:.0f} ms; p99/p50 by round: {ratios}")
    if errors:
        print(f"  the first error: {errors[0][:200]}")


if __name__ == "__main__":
    main()
