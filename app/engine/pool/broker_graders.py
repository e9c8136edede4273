"""Graders on other machines, behind a broker: the transport of a server that has more than one.

The broker may go and come back at any time: until then questions are answered by "try again", and all else goes on.
"""

import asyncio
import contextlib
import json
import secrets
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error
from nats.js.errors import APIError, NotFoundError

from app.engine.codec import from_json_value
from app.engine.grader import Load, Readiness, RoleLoad
from app.engine.grader_version import grading_version
from app.engine.pool import broker
from app.engine.pool.grader_client import BUSY, FAULT, STARTUP_SECONDS, STOPPED, GraderClient, NoResponseError
from app.grading.forward.facts import Outcome
from app.settings import Settings

log = structlog.get_logger()

AWAY = "The graders cannot be reached just now. Your text is saved; please try again in a minute."
NOBODY_TRAINS = "No grader of this server trains networks; its operator starts one with --trains."
TOO_LARGE = "The question has {size:,} bytes; graders take {most:,}. Shorten your text; it is saved as it is."
PING_SECONDS = 5.0
GONE_SECONDS = 3 * PING_SECONDS
PUBLISH_SECONDS = 5.0
MEET_SECONDS = 2.0
"""How long a question waits for a broker that has not been seen since the start."""
AGAIN_SECONDS = 0.2
MISSES, MISSED_SECONDS = 50, 0.1
"""How often a question may come to a grader of another version, while there are some of this one: an update goes on."""
MOST_HOSTS, MOST_SLOTS = 256, 1024
"""More than a course needs: what a host says of itself is believed up to here."""
FULL = 10077
"""The broker's number for a stream that holds as many messages as it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStatus:
    """Status that a grader host reports."""

    host: str
    version: str
    slots: dict[str, int]
    idle: int
    replaced: int
    readiness: tuple[Readiness, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Reason why a grader host has no answer to the request *id*; with its *version* if that is another one."""

    id: str = ""
    outcome: Outcome
    message: str
    version: str = ""


@dataclass(slots=True)
class PendingRequest:
    """A question that is on its way, and what it was published as."""

    subject: str
    body: bytes
    answer: "asyncio.Future[dict[str, Any]]"
    tries: int = field(default=1)


class BrokerGraders(GraderClient):
    """An async context manager that implements `Grader` over a NATS broker; entering returns at once."""

    def __init__(self, settings: Settings, *, gate: bool = True) -> None:
        super().__init__(gate=gate, at_once=max(1, settings.graders - 1))
        self._settings = settings
        self._replica = secrets.token_hex(8)
        self._inbox = f"_INBOX.web.{self._replica}"
        self._connection: Client | None = None
        self._questions: dict[str, PendingRequest] = {}
        self._pongs: dict[str, tuple[float, HostStatus]] = {}
        self._breach: Readiness | None = None
        self._slots = 0
        self._roles: tuple[RoleLoad, ...] = ()
        self._refused: Counter[str] = Counter()
        self._met = asyncio.Event()
        self._heard = asyncio.Event()
        self._stopped = False
        self._work: asyncio.Task[None] | None = None

    @property
    def readiness(self) -> Readiness:
        readinesses = [readiness for pong in self._hosts() for readiness in pong.readiness]
        ready = [readiness for readiness in readinesses if readiness.state == "ready"]
        if self._stopped:
            return Readiness(state="stopped", reason=STOPPED)
        if self._breach:
            return self._breach
        if self._connection is None or not self._connection.is_connected or not readinesses:
            return Readiness(state="away", reason=AWAY)
        return next(iter(ready or readinesses))

    @property
    def load(self) -> Load:
        hosts = self._hosts()
        up, idle = (
            sum(sum(host_status.slots.values()) for host_status in hosts),
            sum(host_status.idle for host_status in hosts),
        )
        waiting = max(0, self._waiting - (up - idle))
        replaced = sum(host_status.replaced for host_status in hosts)
        return Load(up=up, idle=idle, waiting=waiting, replaced=replaced, roles=self._roles)

    async def __aenter__(self) -> Self:
        self._work = asyncio.ensure_future(self._keep_in_touch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped = True
        for pending_request in self._questions.values():
            if not pending_request.answer.done():
                pending_request.answer.set_exception(NoResponseError("busy", STOPPED))
        while self._work and not self._work.done():
            # The client of the broker waits in ways that lose a cancellation which comes together with an answer.
            self._work.cancel()
            await asyncio.wait([self._work], timeout=AGAIN_SECONDS)
        if self._connection:
            await self._connection.close()

    async def send_request(self, question: dict[str, Any], seconds: float) -> Any:
        if self._stopped:
            raise NoResponseError("busy", STOPPED)
        role = "trains" if question["ask"] == "train" else "checks"
        self._waiting += 1
        try:
            connection = await self._wait_for_host(role)
            return await self._answer_of_version(connection, role, question, seconds)
        except NoResponseError as error:
            self._refused[role] += error.message == BUSY
            raise
        finally:
            self._waiting -= 1

    async def _wait_for_host(self, role: str) -> Client:
        """The connection, once a host of graders has been heard of."""
        if self._full:
            raise NoResponseError("busy", BUSY)
        try:
            async with asyncio.timeout(MEET_SECONDS):
                await self._met.wait()
            async with asyncio.timeout(STARTUP_SECONDS):
                await self._heard.wait()
        except TimeoutError:
            raise NoResponseError("busy", AWAY) from None
        readiness = self.readiness
        if readiness.state == "refused":
            raise NoResponseError("refused", readiness.reason)
        if self._connection is None or not self._connection.is_connected or not self._hosts():
            raise NoResponseError("busy", AWAY)
        if role == "trains" and not any(pong.slots.get(role) for pong in self._hosts()):
            raise NoResponseError("refused", NOBODY_TRAINS)
        return self._connection

    async def _answer_of_version(self, connection: Client, role: str, question: dict[str, Any], seconds: float) -> Any:
        """The answer of a grader of this version, as long as there is one."""
        for _ in range(MISSES):
            response = await self._request(connection, role, question, seconds)
            if "answer" in response:
                return response["answer"]
            if "version" not in response or not any(
                host_status.version == grading_version() for host_status in self._hosts()
            ):
                break
            await asyncio.sleep(MISSED_SECONDS)
        raise NoResponseError(response["outcome"], str(response["message"]))

    async def _request(self, connection: Client, role: str, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        # Whoever guesses it could answer; nobody does.
        number = secrets.token_hex(16)
        reply = f"{self._inbox}.answer.{number}"
        request = {"id": number, "version": grading_version(), "reply": reply, "seconds": seconds, "question": question}
        body = json.dumps(request, separators=(",", ":")).encode()
        if len(body) > broker.LARGEST_BYTES:
            raise NoResponseError("refused", TOO_LARGE.format(size=len(body), most=broker.LARGEST_BYTES))
        waiting = PendingRequest(broker.ROLE_SUBJECTS[role], body, asyncio.get_running_loop().create_future())
        self._questions[number] = waiting
        try:
            await self._publish(connection, number, waiting)
            return await self._wait_for_response(connection, role, waiting, STARTUP_SECONDS + seconds)
        except asyncio.CancelledError:
            if connection.is_connected:
                await connection.publish(broker.STOP, number.encode())
            raise
        finally:
            del self._questions[number]

    async def _publish(self, connection: Client, number: str, waiting: PendingRequest) -> None:
        headers = {"Nats-Msg-Id": f"{number}.{waiting.tries}"}
        try:
            await connection.jetstream().publish(waiting.subject, waiting.body, PUBLISH_SECONDS, headers=headers)
        except APIError as error:
            raise NoResponseError("busy", BUSY if error.err_code == FULL else AWAY) from error
        except (Error, TimeoutError) as error:
            raise NoResponseError("busy", AWAY) from error

    async def _wait_for_response(
        self, connection: Client, role: str, waiting: PendingRequest, seconds: float
    ) -> dict[str, Any]:
        """Wait for the response of a grader; a fault if the request is no longer queued anywhere."""
        end, lost = time.monotonic() + seconds, 0
        while time.monotonic() < end and lost < broker.DELIVERIES:
            with contextlib.suppress(TimeoutError):
                return await asyncio.wait_for(asyncio.shield(waiting.answer), broker.ACK_SECONDS[role] + 1)
            with contextlib.suppress(Error, TimeoutError):
                info = await connection.jetstream().consumer_info(broker.STREAM, role)
                lost = 0 if info.num_pending or info.num_ack_pending else lost + 1
        raise NoResponseError("fault", FAULT) if self._hosts() else NoResponseError("busy", AWAY)

    @property
    def _full(self) -> bool:
        return bool(self._slots) and self._waiting > 20 * self._slots

    def _hosts(self) -> list[HostStatus]:
        """Those that were heard of lately."""
        return [pong for _, pong in self._recent()]

    def _recent(self) -> list[tuple[float, HostStatus]]:
        recent = time.monotonic() - GONE_SECONDS
        return sorted((pong for pong in self._pongs.values() if pong[0] > recent), key=lambda pong: pong[0])

    async def _keep_in_touch(self) -> None:
        """Connect, and ask from time to time who is there."""
        settings = self._settings
        self._connection = await broker.connect_to_broker(
            settings.nats_url, settings.nats_nkey, self._inbox, self._on_disconnect, self._on_reconnect
        )
        await self._connection.subscribe(f"{self._inbox}.answer.*", cb=self._on_response)
        await self._connection.subscribe(f"{broker.PONG}.{self._replica}", cb=self._on_pong)
        self._met.set()
        while True:
            try:
                await self._ensure_stream(self._connection)
                await self._connection.publish(broker.PING, self._replica.encode())
                self._roles = tuple([await self._looked_at(self._connection, role) for role in broker.ROLE_SUBJECTS])
            except (Error, APIError, TimeoutError) as error:
                log.warning("broker-refuses", error=str(error))
            await asyncio.sleep(PING_SECONDS if self._heard.is_set() else PING_SECONDS / 20)

    async def _ensure_stream(self, connection: Client) -> None:
        """Make sure that the stream and its consumers exist, as large as the slots demand."""
        jetstream = connection.jetstream()
        slots = sum(sum(pong.slots.values()) for pong in self._hosts())
        try:
            info = await jetstream.stream_info(broker.STREAM)
            if info.config.max_msgs != broker.stream_config(slots).max_msgs and slots:
                await jetstream.update_stream(broker.stream_config(slots))
        except NotFoundError:
            await jetstream.add_stream(broker.stream_config(slots))
        for role in broker.ROLE_SUBJECTS:
            await jetstream.add_consumer(broker.STREAM, broker.consumer_config(role))
        self._slots = slots

    async def _looked_at(self, connection: Client, role: str) -> RoleLoad:
        info = await connection.jetstream().consumer_info(broker.STREAM, role)
        return RoleLoad(
            role=role,
            slots=sum(pong.slots.get(role, 0) for pong in self._hosts()),
            pending=info.num_pending or 0,
            in_hand=info.num_ack_pending or 0,
            waiting=info.num_waiting or 0,
            redelivered=info.num_redelivered or 0,
            refused=self._refused[role],
        )

    async def _on_disconnect(self) -> None:
        log.warning("broker-lost")

    async def _on_reconnect(self) -> None:
        """Ask again for each pending answer after a reconnect: it may have been published in the meantime."""
        log.warning("broker-back", waiting=len(self._questions))
        connection = self._connection
        if connection is None:
            return
        with contextlib.suppress(Error, APIError, TimeoutError):
            await self._ensure_stream(connection)
        for number, waiting in list(self._questions.items()):
            if waiting.tries == 1 and not waiting.answer.done():
                waiting.tries = 2
                with contextlib.suppress(NoResponseError):
                    await self._publish(connection, number, waiting)

    async def _on_response(self, message: Msg) -> None:
        """The first answer counts; a second one, or one to nothing, is dropped."""
        waiting = self._questions.get(message.subject.rpartition(".")[2])
        if waiting is None or waiting.answer.done():
            return
        waiting.answer.set_result(_understood(message.data))

    async def _on_pong(self, message: Msg) -> None:
        try:
            pong = from_json_value(HostStatus, json.loads(message.data))
        except (ValueError, RecursionError) as error:
            log.warning("pong-not-understood", error=str(error)[:200])
            return
        if not all(0 <= slots <= MOST_SLOTS for slots in (*pong.slots.values(), pong.idle)):
            log.warning("pong-not-understood", error=f"more than {MOST_SLOTS} slots")
            return
        self._pongs = {
            host_status.host: (heard, host_status) for heard, host_status in self._recent()[-MOST_HOSTS + 1 :]
        }
        self._pongs[pong.host] = (time.monotonic(), pong)
        for readiness in pong.readiness:
            if readiness.look is not None and readiness.look.refusal and self._breach is None:
                log.critical("canary-attacks-succeeded", host=pong.host, attacks=readiness.look.succeeded)
                self._breach = replace(readiness, state="refused", reason=readiness.look.refusal)
        if any(readiness.state != "warming" for readiness in pong.readiness):
            self._heard.set()


def _understood(data: bytes) -> dict[str, Any]:
    """Decode the response of a host: an answer, or its reason for none; else a fault."""
    try:
        response = json.loads(data)
        if isinstance(response, dict) and "answer" in response:
            return {"answer": response["answer"]}
        reason = from_json_value(Unanswered, response)
    except (ValueError, RecursionError):
        return {"outcome": "fault", "message": FAULT}
    version = {"version": reason.version} if reason.version else {}
    return {"outcome": reason.outcome, "message": reason.message, **version}
