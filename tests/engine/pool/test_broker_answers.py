"""What a hostile or broken host of graders says is read with its types, or is an honest fault, and fills nothing."""

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.engine.codec import to_json_value
from app.engine.grader import Readiness
from app.engine.pool import broker_graders
from app.engine.pool.broker_graders import GONE_SECONDS, MOST_HOSTS, BrokerGraders, _understood
from app.engine.pool.grader_client import FAULT
from app.settings import Settings

DEEP = b"[" * 100_000
NO_ANSWER = {"outcome": "fault", "message": FAULT}


@pytest.mark.parametrize(
    "data",
    [b'["answer"]', b'"answer"', b"7", b"null", DEEP, b'{"answer": ' + DEEP, b"", b"\xff", b'{"outcome": "graded"}',
     b'{"outcome": "won", "message": "x"}', b'{"outcome": ["fault"], "message": "x"}',
     b'{"outcome": "busy", "message": 7}'],
    ids=lambda data: data[:30].decode("latin-1"),
)  # fmt: skip
def test_what_is_no_answer_is_an_honest_fault(data: bytes) -> None:
    assert _understood(data) == NO_ANSWER


def test_answers_and_reasons_are_taken_as_they_are() -> None:
    assert _understood(b'{"answer": [1]}') == {"answer": [1]}
    other = {"outcome": "busy", "message": "Later.", "version": "2"}
    assert _understood(json.dumps(other).encode()) == other


@pytest.fixture
def graders() -> BrokerGraders:
    return BrokerGraders(Settings(nats_url="nats://127.0.0.1:1", graders=1))


async def say(graders: BrokerGraders, **changes: Any) -> None:
    pong = {"host": "one", "version": "1", "slots": {"checks": 1}, "idle": 1, "replaced": 0}
    pong |= {"readiness": [to_json_value(Readiness(state="ready"))], **changes}
    await graders._on_pong(cast(Any, SimpleNamespace(data=json.dumps(pong).encode())))


@pytest.mark.anyio
async def test_hosts_that_are_gone_are_forgotten(graders: BrokerGraders, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(broker_graders.time, "monotonic", lambda: now)
    for number in range(3):
        await say(graders, host=f"host {number}")
    now += GONE_SECONDS + 1
    await say(graders, host="the last")

    assert list(graders._pongs) == ["the last"]


@pytest.mark.anyio
async def test_invented_hosts_fill_no_memory(graders: BrokerGraders) -> None:
    for number in range(MOST_HOSTS + 50):
        await say(graders, host=f"host {number}")

    assert len(graders._pongs) == MOST_HOSTS
    assert f"host {MOST_HOSTS + 49}" in graders._pongs


@pytest.mark.anyio
@pytest.mark.parametrize("slots", [{"checks": 10**12}, {"checks": -1}])
async def test_invented_slots_are_not_believed(graders: BrokerGraders, slots: dict[str, int]) -> None:
    await say(graders, slots=slots)

    assert graders.load.up == 0


@pytest.mark.anyio
async def test_a_pong_that_is_nested_without_end_is_dropped(graders: BrokerGraders) -> None:
    await graders._on_pong(cast(Any, SimpleNamespace(data=DEEP)))

    assert graders._pongs == {}
