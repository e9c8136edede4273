"""Whatever comes back from a stretch of training, the run goes on with it, or ends and says why."""

import asyncio
import json
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.engine.codec import from_json_value, to_json_value
from app.engine.train.snapshot import Snapshot
from app.engine.train.trainer import Trainer
from app.engine.training_chunk import ChunkResult, TrainingChunk
from app.sandbox.wire import Job, Reply
from tests.engine.train.load import SETUP, SOLUTION, open_ask, training
from tests.examples import examples
from tests.grading.boxes.load import OpenJail

PARAMETERS = {one.name: one.shape for one in SETUP.parameters}
KEYS = [*(f"p/{name}" for name in PARAMETERS), *(f"d/{name}" for name in PARAMETERS), "g", "losses", "x", "p/", ""]
shapes = st.sampled_from([(), (0,), (1,), (20,), (10_000,), *PARAMETERS.values()])


def filled(shape: tuple[int, ...], dtype: str, value: float) -> np.ndarray:
    return np.full(shape, value if dtype.startswith("float") or np.isfinite(value) else 0, dtype)


arrays = st.builds(
    filled,
    shapes,
    st.sampled_from(["float32", "float64", "int64", "int32", "bool", "uint8"]),
    st.sampled_from([0.0, 1.0, 200.0, float("nan"), float("inf")]),
)
values = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from(["\ud800", [], {}, [[None]]])
reports = st.dictionaries(
    st.sampled_from(["whose", "message", "type", "text", "line", "operands", "source", "statement"]), values, max_size=6
)
failures = st.none() | st.text(max_size=9) | st.builds(json.dumps, reports | values)


class Answering:
    """A jail that says what it is told to."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def run(self, _job: Job) -> Reply:
        return self._reply


def reply(found: dict[str, Any], failed: str | None) -> Reply:
    return Reply(ending="done", arrays=found, texts={} if failed is None else {"failed": failed}, wall_ms=1.0)


replies = st.builds(reply, st.dictionaries(st.sampled_from(KEYS), arrays, max_size=len(KEYS)), failures)


@examples(100)
@given(replies, st.sampled_from(["start", "steps", "gradients"]))
def test_any_reply_is_read_and_what_does_not_fit_is_left_out(found: Reply, part: str) -> None:
    stretch = TrainingChunk(setup=SETUP, part=part, code=SOLUTION, first=0, stop=20)

    answer = Trainer(Answering(found), None).run(stretch, gate=False)

    for key, numbers in answer.state.items():
        kind, _, name = key.partition("/")
        assert kind not in ("p", "d") or numbers.shape == PARAMETERS[name]
    assert to_json_value(from_json_value(ChunkResult, json.loads(json.dumps(to_json_value(answer))))) == json.loads(
        json.dumps(to_json_value(answer))
    )
    json.dumps(to_json_value(answer), ensure_ascii=False).encode()


HONEST = open_ask(Trainer(OpenJail(), None))


@examples(13)
@given(st.lists(replies, min_size=1, max_size=4), st.integers(0, 3))
def test_a_run_with_a_forged_stretch_comes_to_an_end(forged: list[Reply], honest: int) -> None:
    left = iter(forged)
    asked = 0

    async def ask(stretch: TrainingChunk) -> ChunkResult:
        nonlocal asked
        if stretch.code is None:
            return await HONEST(stretch)
        asked += 1
        said = next(left, None) if asked > honest else None
        return await HONEST(stretch) if said is None else Trainer(Answering(said), None).run(stretch, gate=False)

    snapshot = asyncio.run(training(ask=ask, steps=20).run())

    assert not snapshot.live
    assert from_json_value(Snapshot, json.loads(json.dumps(to_json_value(snapshot)))).phase == snapshot.phase
    json.dumps(to_json_value(snapshot), ensure_ascii=False).encode()
