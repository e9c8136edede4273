"""The graders of one machine behind a broker: each slot fetches one question, has it answered, and fetches the next.

It holds no login of a database and knows no learner. What comes from the broker is JSON, what goes back too.
"""

import asyncio
import contextlib
import json
import socket
from collections import OrderedDict
from functools import partial
from typing import Any

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from app.engine.codec import to_json_value
from app.engine.grader_version import grading_version
from app.engine.pool import broker
from app.engine.pool.grader_client import NoResponseError
from app.engine.pool.local_graders import LocalGraders

log = structlog.get_logger()

FETCH_SECONDS = 5.0
FLUSH_SECONDS = 60
"""A broker on a busy machine may take its time; the answer is on its way to it, and the question is held meanwhile."""
REMEMBERED = 1_000
VERSIONS = (
    "The graders run another version of Backhand ({theirs}) than this page ({ours}). Your text is saved; please try "
    "again when the update is through."
)


class GraderHost:
    """Slots of graders that pull from the stream.

    Args:
        pools: The graders of each role; those without any are left out.
        slots: How many of each role.
    """

    def __init__(self, connection: Client, pools: dict[str, LocalGraders], slots: dict[str, int]) -> None:
        self._connection = connection
        self._pools = pools
        self._slots = slots
        self._name = f"{socket.gethostname()}-{connection.client_id}"
        self._inbox = connection.new_inbox()
        self._fetched: dict[int, asyncio.Future[Msg]] = {}
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._given_up: OrderedDict[str, None] = OrderedDict()
        self._last: dict[int, tuple[str, bytes]] = {}
        self._flushing: set[asyncio.Future[None]] = set()

    async def run(self, until: asyncio.Event) -> None:
        """Answer *until* it is time to leave; what is being answered then is answered."""
        await self._connection.subscribe(broker.PING, cb=self._on_ping)
        await self._connection.subscribe(broker.STOP, cb=self._on_cancel)
        slots = [
            asyncio.ensure_future(self._slot(number, role, until))
            for number, role in enumerate(role for role, count in self._slots.items() for _ in range(count))
        ]
        await asyncio.gather(*slots)

    async def say_again(self) -> None:
        """Publish the last answers again: the broker or the server that waits may have been away.

        A slot that waits for a broker that is gone to confirm its answer would wait to the end of its time.
        """
        for flushing in tuple(self._flushing):
            flushing.cancel()
        for subject, answer in self._last.values():
            await self._connection.publish(subject, answer)

    async def _slot(self, number: int, role: str, until: asyncio.Event) -> None:
        leaving = asyncio.ensure_future(until.wait())
        # A question comes under the subject that it was asked under, so each slot has a subscription of its own.
        await self._connection.subscribe(f"{self._inbox}.{number}", cb=partial(self._came, number))
        while not until.is_set():
            if self._pools[role].readiness.state != "ready":  # it takes itself out
                await asyncio.wait([leaving], timeout=broker.WORKING_SECONDS)
                continue
            try:
                message = await self._next(number, role)
                if message is not None:
                    await self._answer(number, role, message)
            except Exception as error:  # a slot outlives whatever the broker does
                log.warning("slot-failed", slot=number, error=repr(error))
                await asyncio.wait([leaving], timeout=broker.WORKING_SECONDS)
        leaving.cancel()

    async def _next(self, number: int, role: str) -> Msg | None:
        """The next question; None where none came. One request is open at a time, or the next one waits for this."""
        wanted = self._fetched[number] = asyncio.get_running_loop().create_future()
        request = json.dumps({"batch": 1, "expires": int(FETCH_SECONDS * 1e9)}).encode()
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{broker.STREAM}.{role}"
        await self._connection.publish(subject, request, reply=f"{self._inbox}.{number}")
        with contextlib.suppress(TimeoutError):
            message: Msg = await asyncio.wait_for(wanted, FETCH_SECONDS + broker.WORKING_SECONDS)
            return message if message.reply else None
        return None

    async def _came(self, number: int, message: Msg) -> None:
        wanted = self._fetched.get(number)
        if wanted and not wanted.done():
            wanted.set_result(message)

    async def _answer(self, number: int, role: str, message: Msg) -> None:
        request = json.loads(message.data)
        if request["id"] not in self._given_up:
            working = asyncio.ensure_future(self._working(message))
            run = self._running[request["id"]] = asyncio.ensure_future(self._respond(role, request))
            try:
                answer = json.dumps({"id": request["id"], **(await run)}).encode()
                self._last[number] = (request["reply"], answer)
                await self._connection.publish(request["reply"], answer)
                await self._flush()
            except asyncio.CancelledError:
                if not run.cancelled():
                    raise
            finally:
                del self._running[request["id"]]
                working.cancel()
        await message.respond(b"+ACK")

    async def _flush(self) -> None:
        """Wait until the broker has what was published, or is back: then it is published again."""
        flushing = asyncio.ensure_future(self._connection.flush(FLUSH_SECONDS))
        self._flushing.add(flushing)
        try:
            await asyncio.wait([flushing])
        finally:
            self._flushing.discard(flushing)
            flushing.cancel()
        if not flushing.cancelled():
            flushing.result()

    async def _respond(self, role: str, request: dict[str, Any]) -> dict[str, Any]:
        if request["version"] != grading_version():
            message = VERSIONS.format(theirs=grading_version(), ours=request["version"])
            return {"outcome": "busy", "message": message, "version": grading_version()}
        try:
            return {"answer": await self._pools[role].send_request(request["question"], request["seconds"])}
        except NoResponseError as why:
            return {"outcome": why.outcome, "message": why.message}

    async def _working(self, message: Msg) -> None:
        while True:
            await asyncio.sleep(broker.WORKING_SECONDS)
            await message.respond(b"+WPI")

    async def _on_cancel(self, message: Msg) -> None:
        """Cancel a request: it is stopped if it is running, and does not begin if it is queued."""
        self._given_up[message.data.decode()] = None
        while len(self._given_up) > REMEMBERED:
            self._given_up.popitem(last=False)
        if run := self._running.get(message.data.decode()):
            run.cancel()

    async def _on_ping(self, message: Msg) -> None:
        loads = [pool.load for pool in self._pools.values()]
        pong = {
            "host": self._name,
            "version": grading_version(),
            "slots": self._slots,
            "idle": sum(load.idle for load in loads),
            "replaced": sum(load.replaced for load in loads),
            "readiness": [to_json_value(pool.readiness) for pool in self._pools.values()],
        }
        await self._connection.publish(f"{broker.PONG}.{message.data.decode()}", json.dumps(pong).encode())
