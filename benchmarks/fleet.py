"""Graders behind a broker beside those of one process, and words between servers: ratios within one run.

With two cores no machine shows more than two graders at work, so that throughput grows with grader processes is shown
with stand-ins that sleep over each question.
"""

import asyncio
import contextlib
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from app.engine.grader import Grader, Load, Readiness
from app.engine.json_columns import to_json_column
from app.engine.pool import broker as wire
from app.engine.pool.broker_graders import BrokerGraders
from app.engine.pool.grader_host import GraderHost
from app.engine.pool.local_graders import LocalGraders
from app.engine.train.snapshot import Snapshot
from app.engine.training_chunk import TrainingChunk
from app.settings import Settings
from app.store import learners
from app.store.database import Database
from app.store.event_bus import EventBus
from app.store.migrate import migrate
from app.store.trainings import NewTrainingRun, begin_training
from app.web.driven_run import TrainingRecorder
from app.web.training_runs import TrainingRuns
from tests.engine.pool.broker_server import Broker, host
from tests.engine.pool.test_local_graders import RIGHT, task
from tests.engine.train.load import SETUP
from tests.store import postgres

ROUNDS = 200
SLEEP_SECONDS = 0.05
STAND_INS = (1, 2, 4, 8, 16)
ASKED_SECONDS = 4.0

Ask = Callable[[], Awaitable[object]]


def main() -> None:
    """Print the medians and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_graders(Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_killed(Path(folder)))
    asyncio.run(_stand_ins())
    found = postgres.programs()
    if found is None:
        print("PostgreSQL is not installed; words between servers were not measured")
        return
    with postgres.server(found) as url:
        asyncio.run(_words(url))


async def _graders(folder: Path) -> None:
    broker = Broker(folder)
    broker.start()
    process = host(broker, folder, checks=1, trains=1)
    try:
        async with (
            LocalGraders(Settings(graders=1, data_dir=folder / "local"), watch=False) as local,
            BrokerGraders(Settings(nats_url=broker.web)) as remote,
        ):
            for grader in (local, remote):
                while not (await grader.check(task(), RIGHT)).passed:
                    await asyncio.sleep(0.1)
            near, far = await _in_turn(_asks(local), _asks(remote))
            print(f"check in process p50 {_ms(near, 50)}, behind a broker {_ms(far, 50)}: "
                  f"ratio {statistics.median(far) / statistics.median(near):.2f}")  # fmt: skip
            idle = await _some(_asks(remote))
            async with _training(remote):
                busy = await _some(_asks(remote))
            print(f"behind a broker p99 {_ms(idle, 99)} idle, {_ms(busy, 99)} while a run trains: "
                  f"ratio {_at(busy, 99) / _at(idle, 99):.2f}")  # fmt: skip
    finally:
        process.terminate()
        process.wait()
        broker.kill()


async def _killed(folder: Path) -> None:
    """How long a question waits whose grader is killed over it, and one that a full queue turns away."""
    broker = Broker(folder)
    broker.start()
    hosts = [host(broker, folder), host(broker, folder)]
    try:
        async with BrokerGraders(Settings(nats_url=broker.web)) as remote:
            while remote.load.up < len(hosts):
                await asyncio.sleep(0.1)
            endless = [partial(remote.check, task(), f"while True:\n    pass\n# {number}") for number in range(4)]
            run = max(await asyncio.gather(*map(_seconds, endless[:2])))
            asked = asyncio.gather(*map(_seconds, endless[2:]))
            await asyncio.sleep(0.3)
            hosts[0].kill()
            print(f"a question whose grader is killed is answered after {max(await asked):.1f} s, where the run takes "
                  f"{run:.1f} s and a grader is waited for {wire.ACK_SECONDS['checks']:g} s")  # fmt: skip
            waiting = [asyncio.ensure_future(remote.check(task(), f"{RIGHT}\n# {number}")) for number in range(60)]
            await asyncio.sleep(0)
            refused = [await _seconds(partial(remote.check, task(), RIGHT)) for _ in range(20)]
            print(f"where the queue is full, it is said after {_ms(refused, 99)} at most")
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
    finally:
        for one in hosts:
            one.kill()
            one.wait()
        broker.kill()


def _asks(grader: Grader) -> Ask:
    number = iter(range(1_000_000))

    async def ask() -> None:
        verdict = await grader.check(task(), f"{RIGHT}\n# {next(number)}")
        assert verdict.passed, verdict.message

    return ask


@contextlib.asynccontextmanager
async def _training(grader: Grader) -> AsyncIterator[None]:
    """A run that asks for one stretch after another, as a learner's does."""

    async def train() -> None:
        state = (await grader.train(TrainingChunk(setup=SETUP, part="start"))).state
        while True:
            await grader.train(TrainingChunk(setup=SETUP, part="steps", state=state, stop=100_000, half=50_000))

    run = asyncio.ensure_future(train())
    await asyncio.sleep(1.0)
    try:
        yield
    finally:
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)


class Sleepers:
    """Stand-ins that answer every question after a while."""

    readiness = Readiness(state="ready")
    load = Load()

    async def send_request(self, _question: dict[str, Any], _seconds: float) -> list[str]:
        await asyncio.sleep(SLEEP_SECONDS)
        return [""]


async def _stand_ins() -> None:
    one = 0.0
    for count in STAND_INS:
        rate = await _rate(count)
        one = one or rate
        print(f"{count} stand-ins answer {rate:.0f} questions a second: {rate / one / count:.2f} of {count} times one")


async def _rate(count: int) -> float:
    """Answers a second of *count* hosts with one slot each, while twice as many questions wait."""
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker(Path(folder))
        broker.start()
        leave, connections, hosts = asyncio.Event(), [], []
        for _ in range(count):
            connections.append(await wire.connect_to_broker(broker.grader, None, "_INBOX.grader", _nothing, _nothing))
            pools: Any = {"checks": Sleepers()}
            hosts.append(asyncio.ensure_future(GraderHost(connections[-1], pools, {"checks": 1}).run(leave)))
        async with BrokerGraders(Settings(nats_url=broker.web)) as remote:
            while remote.load.up < count:
                await asyncio.sleep(0.1)
            # Hosts that were there before the stream fetch from it some seconds later.
            await asyncio.gather(*(remote.export_problems(["x"]) for _ in range(count)))
            await asyncio.sleep(6.0)
            end, answered = time.monotonic() + ASKED_SECONDS, 0

            async def ask() -> None:
                nonlocal answered
                while time.monotonic() < end:
                    await remote.export_problems(["x"])
                    answered += 1

            await asyncio.gather(*(ask() for _ in range(2 * count)))
        leave.set()
        await asyncio.gather(*hosts, return_exceptions=True)
        for each in connections:
            await each.close()
        broker.kill()
    return answered / ASKED_SECONDS


async def _nothing() -> None:
    pass


async def _words(url: str) -> None:
    """From the commit at one server until whoever watches the run at another has its new moment."""
    await migrate(url)
    database, buses = Database(url), (EventBus(url), EventBus(url))
    listening = [asyncio.create_task(bus.relay_notifications()) for bus in buses]
    await asyncio.gather(*(bus.listens.wait() for bus in buses))
    snapshot = Snapshot(phase="training", steps=ROUNDS)
    begun = NewTrainingRun(
        lesson="l",
        exercise="run",
        preset="p",
        attempt_id=None,
        passing=True,
        run=to_json_column(snapshot),
        owner="",
        checkpoint="",
    )
    async with database.write() as db:
        learner, _ = await learners.begin_session(db)
        await begin_training(db, learner, begun)
    here = TrainingRecorder(database, buses[0], "")
    there = TrainingRuns(LocalGraders(Settings()), database, buses[1], None, 1).watch(learner, "l", "run")
    await anext(there)
    found = []
    for step in range(1, ROUNDS + 1):
        seen = asyncio.ensure_future(anext(there))
        await asyncio.sleep(0.01)
        began = time.perf_counter()
        await here.record(learner, ("l", "run"), replace(snapshot, step=step))
        assert (await seen).step == step
        found.append(time.perf_counter() - began)
    for one in listening:
        one.cancel()
    await asyncio.gather(*listening, return_exceptions=True)
    await database.close()
    print(f"a moment of a run is seen at another server: p50 {_ms(found, 50)}, p99 {_ms(found, 99)}, writing included")


async def _in_turn(*asks: Ask) -> list[list[float]]:
    found: list[list[float]] = [[] for _ in asks]
    for _ in range(ROUNDS):
        for ask, seconds in zip(asks, found, strict=True):
            seconds.append(await _seconds(ask))
    return found


async def _some(ask: Ask) -> list[float]:
    return [await _seconds(ask) for _ in range(ROUNDS)]


async def _seconds(ask: Ask) -> float:
    began = time.perf_counter()
    await ask()
    return time.perf_counter() - began


def _at(found: list[float], percent: int) -> float:
    return sorted(found)[min(len(found) - 1, len(found) * percent // 100)]


def _ms(found: list[float], percent: int) -> str:
    return f"{_at(found, percent) * 1e3:.1f} ms"
