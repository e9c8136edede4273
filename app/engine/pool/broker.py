"""Names that the web and the grader hosts share at a NATS broker: subjects, the stream, its consumers, its rights.

Questions lie in a work queue on disk until a grader has answered; everything else is published to all who subscribe.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import nats
import structlog
from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig

log = structlog.get_logger()

STREAM: Final = "GRADE"
PING: Final = "grade.ping"
PONG: Final = "grade.pong"
"""Followed by the name of the replica that asked."""
STOP: Final = "grade.stop"
ROLE_SUBJECTS: Final = {"checks": "grade.check", "trains": "grade.train"}
"""Each consumer of the stream with its subject. A slot has one role: a check never waits behind a training run."""
ACK_SECONDS: Final = {"checks": 8.0, "trains": 12.0}
"""How long a grader may be silent over a question before another one gets it."""
WORKING_SECONDS: Final = 1.0
DELIVERIES: Final = 2
LIVES_SECONDS: Final = 60.0
"""Nobody waits longer for a question to begin."""
LARGEST_BYTES: Final = 1_000_000

Said = Callable[[], Awaitable[None]]


async def connect_to_broker(url: str, nkey: Path | None, inbox: str, disconnected: Said, reconnected: Said) -> Client:
    """A connection that comes back by itself; this waits for the broker as long as it takes."""

    warned = False

    async def ignored(error: Exception) -> None:
        """Each failed try; the first is told, and that there is no connection is said where it matters."""
        nonlocal warned
        if not warned:
            host = urlsplit(url).netloc.rpartition("@")[2]
            log.warning("broker-not-reached", broker=host, error=str(error) or type(error).__name__)
        warned = True

    options: dict[str, Any] = {"nkeys_seed": str(nkey)} if nkey else {}
    return await nats.connect(
        url,
        name=f"backhand {inbox}",
        inbox_prefix=inbox,
        max_reconnect_attempts=-1,
        reconnect_time_wait=0.5,
        error_cb=ignored,
        disconnected_cb=disconnected,
        reconnected_cb=reconnected,
        **options,
    )


def stream_config(slots: int) -> StreamConfig:
    """The work queue: twenty questions for each slot wait in it, and the next is turned away."""
    return StreamConfig(
        name=STREAM,
        subjects=list(ROLE_SUBJECTS.values()),
        retention=RetentionPolicy.WORK_QUEUE,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        max_msgs=20 * max(1, slots),
        max_msg_size=LARGEST_BYTES,
        max_age=LIVES_SECONDS,
        duplicate_window=LIVES_SECONDS,
    )


def consumer_config(role: str) -> ConsumerConfig:
    return ConsumerConfig(
        durable_name=role,
        filter_subject=ROLE_SUBJECTS[role],
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_SECONDS[role],
        max_deliver=DELIVERIES,
    )
