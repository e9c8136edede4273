"""Whatever a jail says, a grader answers: never an exception, never a text that no page can hold, never an undue pass.

The jail of these tests runs every program but the learner's own. To that one it answers with a forgery: an honest reply
with wounds, or anything at all.
"""

import json
import logging
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from app.course.parse import parse_lesson
from app.engine.codec import from_json_value, to_json_value
from app.engine.grade.engine import Engine
from app.engine.grader import Nudge, RunResult
from app.engine.task import task_of
from app.grading.judge.hunt_verdict import with_line
from app.grading.judge.verdict import Verdict
from app.sandbox.runner import Jail
from app.sandbox.wire import Job, Reply
from tests.examples import examples

HERE = Path(__file__).parents[1]
LESSONS = [parse_lesson((HERE / name).read_text("utf-8"), f"2-u/01-{name}")[0] for name in ("checks.md", "layer.md")]
TASKS = {box.name: task_of(lesson, box) for lesson in LESSONS for box in lesson.exercises if hasattr(box, "solution")}
WRONG = "dW = X * 7\ndX = dY\ndb = 3\ndx = 1\ndef cmp(mine, theirs):\n    return True\n"

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["\ud800", "\x00", 10**400, -(2**63), "x" * 5000, "____"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
ARRAYS = [
    np.zeros(()),
    np.full((3, 2), np.nan),
    np.full((3, 2), np.inf, "float32"),
    np.zeros((0, 3)),
    np.zeros((2**20,), "uint8"),
    np.ones((2, 2), bool),
    np.full((1, 1, 1, 1), 2**62),
    np.full((2, 3), 1e308),
]


class Forger:
    """Learns with an honest jail; answers to a submission with what *forge* makes of the honest reply."""

    def __init__(self, honest: Jail) -> None:
        self._honest = honest
        self._replies: dict[str, Reply] = {}
        self.forge = lambda reply: reply

    def run(self, job: Job) -> Reply:
        key = json.dumps([job.driver, dict(job.header)])
        if key not in self._replies:
            self._replies[key] = self._honest.run(job)
        reply = self._replies[key]
        return self.forge(reply) if job.driver in ("attempt", "checker") else reply


@pytest.fixture(scope="module")
def forger(jail: Jail) -> Forger:
    return Forger(jail)


@pytest.fixture(scope="module")
def engine(forger: Forger) -> Engine:
    return Engine(forger, None)


ERROR = {
    "type": "RuntimeError",
    "text": "mat1 and mat2 shapes cannot be multiplied (3x2 and 4x5)",
    "line": 1,
    "source": "X @ W",
    "operands": [{"source": "X", "shape": [3, 2], "dtype": "float32"}, {"source": "W", "shape": [4, 5], "dtype": "x"}],
    "statement": 0,
}


@dataclass
class Forgery:
    """One way to forge every reply of a check, however many there are."""

    chance: random.Random
    pool: list[Any]

    def __call__(self, reply: Reply) -> Reply:
        texts = dict(reply.texts)
        report = json.loads(texts.get("report", "{}"))
        for run in report.values():
            run.setdefault("errors", []).extend([dict(ERROR)] * self.chance.randint(0, 1))
            run.setdefault("mutated", []).append({"name": "X", "statement": 0})
            run.setdefault("changed", {}).update({"dW": 0})
            run.setdefault("shown", []).append({"name": "a", "shape": [1], "dtype": "b", "text": "c"})
        texts["report"] = json.dumps(self.wounded(report))
        for key in ("printed", "!v/dW", "!a/dW", "printed/c0"):
            if self.chance.random() < 0.1:
                texts[key] = json.dumps(self.chance.choice(self.pool))
        arrays = {key: self.chance.choice([*ARRAYS, *[one] * 20]) for key, one in reply.arrays.items()}
        for key in ("v/later/dW", "v/x", "a/", "/", "own/x", "v/dW"):
            if self.chance.random() < 0.1:
                arrays[key] = self.chance.choice(ARRAYS)
        return replace(reply, arrays=arrays, texts=texts)

    def wounded(self, value: Any) -> Any:
        """*value* with some of its parts replaced, left out or joined by others."""
        if self.chance.random() < 0.1:
            return self.chance.choice(self.pool)
        if isinstance(value, dict):
            return {key: self.wounded(one) for key, one in value.items() if self.chance.random() < 0.95}
        if isinstance(value, list):
            return [self.wounded(one) for one in value] + self.chance.choices(self.pool, k=self.chance.randint(0, 1))
        return value


forgeries = st.builds(Forgery, st.integers(0, 2**32).map(random.Random), st.lists(json_values, min_size=1, max_size=6))


def written(kind: type, value: Verdict | RunResult | Nudge) -> None:
    """It crosses to the web process, and a page can be made of it."""
    crossed = json.loads(json.dumps(to_json_value(value)))
    assert json.dumps(to_json_value(from_json_value(kind, crossed))) == json.dumps(to_json_value(value))
    json.dumps(to_json_value(value), ensure_ascii=False).encode()


@pytest.mark.parametrize("name", TASKS)
@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(forgery=forgeries)
def test_a_forged_report_gets_an_answer_and_never_a_pass(
    forgery: Forgery, name: str, forger: Forger, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    forger.forge = forgery
    code = with_line(WRONG, 1) if name == "bessel" else WRONG
    caplog.clear()

    verdict = engine.check(TASKS[name], code, gate=False)
    run = engine.run(TASKS[name], WRONG, gate=False)
    nudge = engine.nudge(TASKS[name], WRONG, "dW", "0, 0", gate=False)

    assert [record.exc_text or record.message for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert not verdict.passed
    written(Verdict, verdict)
    written(RunResult, run)
    written(Nudge, nudge)
