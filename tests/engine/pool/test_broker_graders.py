"""Graders behind a real broker: real hosts as an operator starts them, killed, stopped and lied about."""

import asyncio
import contextlib
import json
import secrets
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats
import nkeys
import pytest

from app.engine.codec import to_json_value
from app.engine.grader import CanaryReport, Load, Readiness
from app.engine.grader_version import grading_version
from app.engine.pool import broker as wire
from app.engine.pool import broker_graders, grader_host
from app.engine.pool.broker_graders import AWAY, BrokerGraders
from app.engine.pool.grader_client import BUSY, FAULT
from app.engine.pool.grader_host import GraderHost
from app.engine.training_chunk import TrainingChunk
from app.settings import Settings
from tests.engine.pool.broker_server import Broker, host, program
from tests.engine.pool.test_local_graders import RIGHT, limited_task, task
from tests.engine.train.load import SETUP
from tests.graders import SharedGraders
from tests.waiting import SECONDS, comes

pytestmark = pytest.mark.skipif(program() is None, reason="nats-server is not installed (Debian: nats-server)")

WRONG = RIGHT.replace("dY.sum(0)", "dY.mean(0)")
PATIENT, HASTY = limited_task(600.0), limited_task(0.5)
EACH_SLOT_PULLS = {"checks": (2, 2), "trains": (1, 1)}
ENDLESS = "while True:\n    pass"


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """A host that is gone is noticed sooner than in a deployment, and one that leaves has asked for less long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grader_host, "FETCH_SECONDS", 0.5)
        patch.setitem(wire.ACK_SECONDS, "checks", 3.0)
        patch.setattr(broker_graders, "PING_SECONDS", 0.5)
        patch.setattr(broker_graders, "STARTUP_SECONDS", SECONDS)
        yield


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    found = Broker(tmp_path_factory.mktemp("broker"))
    found.start()
    yield found
    found.kill()


@pytest.fixture(scope="module")
def serving(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator["subprocess.Popen[bytes]"]:
    """A host that checks and trains; each start takes seconds of processor time."""
    process = host(broker, tmp_path_factory.mktemp("host"), checks=2, trains=1)
    yield process
    end(process)


@pytest.fixture(scope="module")
def served(broker: Broker, serving: "subprocess.Popen[bytes]") -> Broker:
    """A broker with one host."""
    assert serving
    return broker


@pytest.fixture
def lonely(tmp_path: Path) -> Iterator[Broker]:
    """A broker of its own, without hosts."""
    found = Broker(tmp_path)
    found.start()
    yield found
    found.kill()


def end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGCONT)
    process.terminate()
    process.wait()


@asynccontextmanager
async def web(broker: Broker) -> AsyncIterator[BrokerGraders]:
    async with BrokerGraders(Settings(nats_url=broker.web, graders=3)) as graders:
        yield graders


def claimed(broker: Broker, claim: Callable[[BrokerGraders], Awaitable[None]]) -> None:
    async def main() -> None:
        async with web(broker) as graders:
            await claim(graders)

    asyncio.run(main())


async def pongs(broker: Broker, **changes: Any) -> nats.NATS:
    """A stand-in for a host that says how it is and never fetches anything."""
    connection = await nats.connect(broker.grader, inbox_prefix="_INBOX.grader")
    pong = {
        "host": "stand-in", "version": grading_version(), "slots": {"checks": 1}, "idle": 1, "replaced": 0,
        "readiness": [to_json_value(Readiness(state="ready"))], **changes,
    }  # fmt: skip

    async def pinged(message: Any) -> None:
        await connection.publish(f"{wire.PONG}.{message.data.decode()}", json.dumps(pong).encode())

    await connection.subscribe(wire.PING, cb=pinged)
    return connection


Claim = Callable[[Any], Awaitable[None]]


@pytest.fixture(params=["on this machine", "behind a broker"])
def graders_that(request: pytest.FixtureRequest) -> Callable[[Claim], None]:
    """What is claimed of graders holds of them wherever they are."""
    if request.param == "on this machine":
        here: SharedGraders = request.getfixturevalue("graders")
        return lambda claim: asyncio.run(_awaited(claim(here)))
    served: Broker = request.getfixturevalue("served")
    return lambda claim: claimed(served, claim)


async def _awaited(claim: Awaitable[None]) -> None:
    await claim


def test_every_question_is_answered(graders_that: Callable[[Claim], None]) -> None:
    async def claim(graders: Any) -> None:
        asked = (graders.check(task(), RIGHT), graders.check(task(), WRONG), graders.check(HASTY, ENDLESS))
        right, wrong, endless = await asyncio.gather(*asked)
        assert right.passed
        assert [one.verdict for one in wrong.names] == ["right", "right", "wrong"]
        assert endless.outcome == "timeout"
        ran = await graders.run(task(), RIGHT)
        assert ran.outcome == "graded"
        assert all(0 < one.jail_ms < one.wall_ms for one in (right, wrong, ran))
        assert endless.jail_ms > 500
        assert await graders.export_problems(["x = 1", "x ="]) == ("", "invalid syntax")
        assert (await graders.train(TrainingChunk(setup=SETUP, part="start"))).state
        assert graders.readiness.state == "ready"

    graders_that(claim)


def test_facts_are_those_of_the_forward_program(graders_that: Callable[[Claim], None]) -> None:
    async def claim(graders: Any) -> None:
        facts = await graders.facts(task().forward)

        assert facts.shapes["Y"] == (32, 27)
        assert set(facts.gradable) == {"X", "W", "b", "Y"}

    graders_that(claim)


def test_the_shapes_of_a_text_are_told_and_no_text_ends_a_grader(graders_that: Callable[[Claim], None]) -> None:
    async def claim(graders: Any) -> None:
        told = await graders.line_shapes(task(), "dW = dY.T @ X\nwhile True:\n    pass")
        nested = await graders.line_shapes(task(), "a = " + "(" * 5000)
        ran = await graders.run(task(), "dW = X.T @ dY")

        assert [(one.line, one.fits) for one in told.lines] == [(1, False)]
        assert nested.lines == ()
        assert [one.fits for one in ran.told.lines] == [True]
        assert {one.tensor: one.places[0] for one in ran.origins} == {"X": "[:, 0]", "dY": "[:, 0]"}

    graders_that(claim)


def test_a_nudge_is_measured_and_a_wrong_index_is_explained(graders_that: Callable[[Claim], None]) -> None:
    async def claim(graders: Any) -> None:
        measured = await graders.nudge(task(), RIGHT, "dW", "0, 1")
        refused = await graders.nudge(task(), RIGHT, "dW", "999, 0")

        assert measured.outcome == "graded"
        assert measured.own == pytest.approx(measured.quotient, rel=1e-4)
        assert refused.outcome == "refused"
        assert "no entry 999" in refused.message

    graders_that(claim)


def test_an_endless_loop_does_not_hold_up_the_other_grader(graders_that: Callable[[Claim], None]) -> None:
    async def claim(graders: Any) -> None:
        assert (await graders.check(task(), RIGHT)).passed
        endless = asyncio.ensure_future(graders.check(PATIENT, ENDLESS))

        assert (await graders.check(task(), RIGHT)).passed
        assert not endless.done()
        endless.cancel()
        await asyncio.gather(endless, return_exceptions=True)

    graders_that(claim)


def test_a_question_whose_asker_goes_away_is_stopped_and_the_slot_is_free(
    graders_that: Callable[[Claim], None],
) -> None:
    async def claim(graders: Any) -> None:
        assert (await graders.check(task(), RIGHT)).passed
        for number in range(3):  # more than there are slots
            endless = asyncio.ensure_future(graders.check(PATIENT, f"{ENDLESS}\n# {number}"))
            await comes(lambda: graders.load.idle < graders.load.up)
            endless.cancel()
            await asyncio.gather(endless, return_exceptions=True)

        assert (await graders.check(task(), f"{RIGHT}\n# later")).passed
        await comes(lambda: graders.load.idle == graders.load.up)

    graders_that(claim)


def test_each_slot_has_a_role_and_one_open_pull(served: Broker) -> None:
    async def claim(graders: BrokerGraders) -> None:
        await comes(lambda: {one.role: (one.slots, one.waiting) for one in graders.load.roles} == EACH_SLOT_PULLS)
        assert graders.load.up == 3

    claimed(served, claim)


def test_a_host_that_is_killed_or_halted_costs_no_answer(
    served: Broker, serving: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    """Questions that lay with it go to another host, and what it says after all is dropped."""

    async def claim(graders: BrokerGraders) -> None:
        assert (await graders.check(task(), RIGHT)).passed
        second = host(served, tmp_path)
        try:
            await comes(lambda: graders.load.up == 4)
            for process, blow in ((serving, signal.SIGSTOP), (second, signal.SIGKILL)):
                asked = [asyncio.ensure_future(graders.check(task(), f"{RIGHT}\n# {blow} {n}")) for n in range(20)]
                await comes(lambda asked=asked: any(one.done() for one in asked))
                process.send_signal(blow)
                assert all(one.passed for one in await asyncio.gather(*asked))
                process.send_signal(signal.SIGCONT)
            assert not graders._questions
        finally:
            end(second)

    claimed(served, claim)


def test_a_broker_that_is_killed_and_comes_back_loses_no_question(served: Broker) -> None:
    async def claim(graders: BrokerGraders) -> None:
        assert (await graders.check(task(), RIGHT)).passed
        asked = [asyncio.ensure_future(graders.check(task(), f"{RIGHT}\n# {number}")) for number in range(8)]
        await comes(lambda: any(one.done() for one in asked))
        await asyncio.to_thread(served.kill)
        await comes(lambda: graders.readiness.state == "away")
        away = await graders.check(task(), f"{RIGHT}\n# away")
        await asyncio.to_thread(served.start)

        assert all(one.passed for one in await asyncio.gather(*asked))
        assert (away.outcome, away.message) == ("busy", AWAY)
        await comes(lambda: graders.readiness.state == "ready")
        assert (await graders.check(task(), f"{RIGHT}\n# later")).passed

    claimed(served, claim)


def test_a_full_queue_turns_the_next_question_away(lonely: Broker) -> None:
    async def claim(graders: BrokerGraders) -> None:
        stand_in = await pongs(lonely)
        await comes(lambda: graders._slots == 1)
        waiting = [asyncio.ensure_future(graders.export_problems([f"{number}"])) for number in range(20)]
        assert graders._connection is not None
        jetstream = graders._connection.jetstream()
        while (await jetstream.stream_info(wire.STREAM)).state.messages < 20:
            await asyncio.sleep(0.01)

        refused = await graders.check(task(), RIGHT)

        assert (refused.outcome, refused.message) == ("busy", BUSY)
        await comes(lambda: [(one.pending, one.refused) for one in graders.load.roles] == [(20, 1), (0, 0)])
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await stand_in.close()

    claimed(lonely, claim)


def test_another_version_is_refused_with_both_versions(served: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_graders, "grading_version", lambda: "9.9+other")

    async def claim(graders: BrokerGraders) -> None:
        verdict = await graders.check(task(), RIGHT)

        assert verdict.outcome == "busy"
        assert "9.9+other" in verdict.message
        assert grading_version() in verdict.message

    claimed(served, claim)


def test_during_an_update_every_request_finds_a_grader_of_its_version(
    served: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grader_host, "grading_version", lambda: "9.9+other")

    async def claim(graders: BrokerGraders) -> None:
        connection = await wire.connect_to_broker(served.grader, None, "_INBOX.grader", nothing, nothing)
        leave = asyncio.Event()
        other = asyncio.ensure_future(GraderHost(connection, {"checks": Idle()}, {"checks": 2}).run(leave))
        await comes(lambda: graders.load.up == 5)

        found = await asyncio.gather(*(graders.check(task(), RIGHT) for _ in range(6)))

        assert all(one.passed for one in found), [one.message for one in found]
        leave.set()
        await asyncio.gather(other, return_exceptions=True)
        await connection.close()

    claimed(served, claim)


class Idle:
    """Graders that would be asked, were they of the same version."""

    readiness = Readiness(state="ready")
    load = Load()


async def nothing() -> None:
    """A broker that goes and comes back is not what this is about."""


def test_a_hole_that_any_host_found_closes_the_door_for_good(lonely: Broker) -> None:
    hole = Readiness(state="refused", reason="x", look=CanaryReport(at=1.0, succeeded=("read a file",)))

    async def claim(graders: BrokerGraders) -> None:
        holed = await pongs(lonely, host="a", readiness=[to_json_value(hole)])
        sound = await pongs(lonely, host="b")
        await comes(lambda: len(graders._pongs) == 2)
        await holed.close()

        verdict = await graders.check(task(), RIGHT)

        assert verdict.outcome == "refused"
        assert "read a file" in verdict.message
        assert graders.readiness.state == "refused"
        await sound.close()

    claimed(lonely, claim)


@pytest.mark.parametrize(
    "said", [b"", b"[]", b"{}", b"null", b'{"answer": {"outcome": "graded", "passed": 3}}', b'{"outcome": 3}']
)
def test_nonsense_instead_of_an_answer_is_an_honest_fault(lonely: Broker, said: bytes) -> None:
    async def claim(graders: BrokerGraders) -> None:
        liar = await pongs(lonely)
        await comes(lambda: graders._slots == 1)
        asked = asyncio.ensure_future(graders.check(task(), RIGHT))
        await comes(lambda: graders._questions)
        (number,) = graders._questions
        await liar.publish(f"{graders._inbox}.answer.{number}", said)

        verdict = await asked

        assert (verdict.outcome, verdict.message) == ("fault", FAULT)
        await liar.close()

    claimed(lonely, claim)


def test_a_server_stops_though_its_stop_came_between_broker_answers() -> None:
    class Deaf(BrokerGraders):
        async def _keep_in_touch(self) -> None:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            await asyncio.Event().wait()

    async def main() -> None:
        async with asyncio.timeout(SECONDS), Deaf(Settings(nats_url="nats://127.0.0.1:1")):
            await asyncio.sleep(0)

    asyncio.run(main())


def test_a_question_that_is_too_large_is_refused_before_it_is_sent(served: Broker) -> None:
    async def claim(graders: BrokerGraders) -> None:
        await comes(lambda: graders.readiness.state == "ready")

        verdict = await graders.check(task(), "x" * wire.LARGEST_BYTES)

        assert verdict.outcome == "refused"
        assert f"graders take {wire.LARGEST_BYTES:,}" in verdict.message

    claimed(served, claim)


def test_a_consumer_or_a_stream_that_somebody_deleted_is_made_again(served: Broker) -> None:
    async def claim(graders: BrokerGraders) -> None:
        assert (await graders.check(task(), RIGHT)).passed
        assert graders._connection is not None
        jetstream = graders._connection.jetstream()

        await jetstream.delete_consumer(wire.STREAM, "checks")
        assert (await graders.check(task(), f"{RIGHT}\n# without a consumer")).passed

        await jetstream.delete_stream(wire.STREAM)
        async with asyncio.timeout(SECONDS):
            while (verdict := await graders.check(task(), f"{RIGHT}\n# without a stream")).outcome == "busy":
                await asyncio.sleep(0.1)
        assert verdict.passed

    claimed(served, claim)


def test_the_second_answer_to_a_question_is_dropped(lonely: Broker) -> None:
    async def claim(graders: BrokerGraders) -> None:
        stand_in = await pongs(lonely)
        await comes(lambda: graders._slots == 1)
        asked = asyncio.ensure_future(graders.export_problems(["x"]))
        await comes(lambda: graders._questions)
        (number,) = graders._questions
        for said in ("first", "second"):
            await stand_in.publish(f"{graders._inbox}.answer.{number}", json.dumps({"answer": [said]}).encode())

        assert await asked == ("first",)

        await stand_in.publish(f"{graders._inbox}.answer.{number}", b'{"answer": ["late"]}')
        await stand_in.flush()
        assert not graders._questions
        await stand_in.close()

    claimed(lonely, claim)


def test_a_host_that_may_not_run_code_says_why_and_fetches_nothing(lonely: Broker) -> None:
    bare = Readiness(state="refused", reason="Landlock is missing, and BACKHAND_REQUIRE_LANDLOCK is set.")

    async def claim(graders: BrokerGraders) -> None:
        connection = await wire.connect_to_broker(lonely.grader, None, "_INBOX.grader", nothing, nothing)
        leave, pool = asyncio.Event(), Idle()
        pool.readiness = bare
        host = asyncio.ensure_future(GraderHost(connection, {"checks": pool}, {"checks": 1}).run(leave))
        await comes(lambda: graders.readiness.state == "refused")

        verdict = await graders.check(task(), RIGHT)

        assert (verdict.outcome, verdict.message) == ("refused", bare.reason)
        leave.set()
        await asyncio.gather(host, return_exceptions=True)
        await connection.close()

    claimed(lonely, claim)


def test_with_nkeys_nobody_sends_a_password(tmp_path: Path) -> None:
    public, files = [], []
    for name in ("web", "grader"):
        seed = nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER)
        public.append(nkeys.from_seed(bytearray(seed)).public_key.decode())
        files.append(tmp_path / f"{name}.nkey")
        files[-1].write_bytes(seed)
    broker = Broker(tmp_path, (public[0], public[1]))
    broker.start()
    address = f"nats://127.0.0.1:{broker.port}"

    async def claim() -> None:
        host = await wire.connect_to_broker(address, files[1], "_INBOX.grader", nothing, nothing)
        leave, pools = asyncio.Event(), {"checks": Idle()}
        working = asyncio.ensure_future(GraderHost(host, pools, {"checks": 1}).run(leave))
        async with BrokerGraders(Settings(nats_url=address, nats_nkey=files[0])) as graders:
            await comes(lambda: graders.load.up == 1)
        leave.set()
        await asyncio.gather(working, return_exceptions=True)
        await host.close()

    asyncio.run(claim())
    broker.kill()


def test_without_a_host_or_a_broker_people_are_told_to_come_again(tmp_path: Path) -> None:
    nowhere = Broker(tmp_path)

    async def claim(graders: BrokerGraders) -> None:
        assert graders.readiness.state == "away"

        verdict = await graders.check(task(), RIGHT)

        assert (verdict.outcome, verdict.message) == ("busy", AWAY)

    claimed(nowhere, claim)


def test_a_server_that_starts_before_its_broker_finds_it_later(lonely: Broker) -> None:
    lonely.kill()

    async def claim(graders: BrokerGraders) -> None:
        assert (await graders.check(task(), RIGHT)).message == AWAY
        await asyncio.to_thread(lonely.start)
        stand_in = await pongs(lonely)

        await comes(lambda: graders.readiness.state == "ready")
        await stand_in.close()

    claimed(lonely, claim)


FORBIDDEN = {
    "ask": (wire.ROLE_SUBJECTS["checks"], b"{}"),
    "give up what another asked": (wire.STOP, b"x"),
    "read the queue": (f"$JS.API.STREAM.MSG.GET.{wire.STREAM}", b'{"seq": 1}'),
    "empty the queue": (f"$JS.API.STREAM.PURGE.{wire.STREAM}", b""),
    "delete the queue": (f"$JS.API.STREAM.DELETE.{wire.STREAM}", b""),
    "delete a consumer": (f"$JS.API.CONSUMER.DELETE.{wire.STREAM}.checks", b""),
}


@pytest.mark.parametrize("act", FORBIDDEN)
def test_a_grader_cannot(served: Broker, act: str) -> None:
    assert "permissions violation" in asyncio.run(violation(served, publish=FORBIDDEN[act]))


@pytest.mark.parametrize("subject", ["grade.check", "grade.>", "_INBOX.web.>", ">", "$JS.API.>"])
def test_a_grader_cannot_listen_to(served: Broker, subject: str) -> None:
    assert "permissions violation" in asyncio.run(violation(served, listen=subject))


async def violation(broker: Broker, *, publish: tuple[str, bytes] | None = None, listen: str = "") -> str:
    """What the broker says to a grader that tries it."""
    said: list[str] = []

    async def told(error: Exception) -> None:
        said.append(str(error).lower())

    connection = await nats.connect(broker.grader, error_cb=told, inbox_prefix="_INBOX.grader")
    if publish:
        await connection.publish(*publish)
    else:
        await connection.subscribe(listen)
    await comes(lambda: said)
    await connection.close()
    return said[0]


def test_a_host_that_is_told_to_leave_answers_first_what_it_has(
    served: Broker, serving: "subprocess.Popen[bytes]"
) -> None:
    """The last that is asked of it."""

    async def claim(graders: BrokerGraders) -> None:
        assert (await graders.check(task(), RIGHT)).passed
        question = {"ask": "check", **graders._fields(task(), ENDLESS), "seconds": None}
        endless = asyncio.ensure_future(graders.send_request(question, 6.0))
        await comes(lambda: graders.load.idle < graders.load.up)
        serving.terminate()

        assert (await endless)["outcome"] == "timeout"
        assert serving.wait() == 0

    claimed(served, claim)
