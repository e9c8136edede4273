"""The pool with real grader processes and real jails."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.content.blocks import Grad, Lesson
from app.content.parse import parse_lesson
from app.engine import local
from app.engine.local import LocalGraders
from app.engine.task import Task, task_of
from app.settings import Settings

LESSON = (Path(__file__).parent / "layer.md").read_text(encoding="utf-8")
RIGHT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)"


def lesson() -> Lesson:
    found, errors = parse_lesson(LESSON, "layer.md")
    assert found is not None, errors
    return found


def task() -> Task:
    grad = lesson().exercise("layer-backward")
    assert isinstance(grad, Grad)
    return task_of(lesson(), grad)


def run(claim: Callable[[LocalGraders], Awaitable[None]], tmp_path: Path, graders: int = 1) -> None:
    async def main() -> None:
        async with pool(tmp_path, graders) as graders_up:
            await claim(graders_up)

    asyncio.run(main())


@asynccontextmanager
async def pool(tmp_path: Path, graders: int) -> AsyncIterator[LocalGraders]:
    async with LocalGraders(Settings(graders=graders, data_dir=tmp_path)) as up:
        yield up


def test_a_check_that_comes_before_the_graders_are_warm_waits_and_is_answered(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        assert graders.readiness.state == "warming"

        verdict = await graders.check(task(), RIGHT)

        assert verdict.passed
        assert verdict.hidden_sizes == 2
        assert graders.readiness.state == "ready"

    run(claim, tmp_path)


def test_a_killed_grader_costs_one_answer_and_is_replaced(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)
        slow = asyncio.ensure_future(graders.check(task(), "while True:\n    pass"))
        await until(lambda: graders.idle == 0)
        for pid in graders.pids:
            os.kill(pid, signal.SIGKILL)

        assert (await slow).outcome == "fault"
        assert (await graders.check(task(), RIGHT)).passed

    run(claim, tmp_path)


def test_a_caller_that_goes_away_does_not_confuse_the_next_answer(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)
        leaving = asyncio.ensure_future(graders.check(task(), "dX = dY.sum(0)"))
        await until(lambda: graders.idle == 0)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)

        assert (await graders.check(task(), RIGHT)).passed

    run(claim, tmp_path)


def test_an_endless_loop_does_not_hold_up_the_other_grader(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        await asyncio.gather(graders.check(task(), RIGHT), graders.check(task(), RIGHT))
        endless = asyncio.ensure_future(graders.check(task(), "while True:\n    pass"))

        assert (await graders.check(task(), RIGHT)).passed
        assert not endless.done()
        assert (await endless).outcome == "timeout"

    run(claim, tmp_path, graders=2)


def test_endless_loops_of_a_few_do_not_hold_up_the_others(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        await asyncio.gather(graders.check(task(), RIGHT), graders.check(task(), RIGHT))
        endless = [asyncio.ensure_future(graders.check(task(), f"while True:\n    pass\n# {n}")) for n in range(3)]
        await until(lambda: graders.idle == 0)

        assert (await graders.check(task(), RIGHT)).passed
        assert not any(one.done() for one in endless)
        assert [one.outcome for one in await asyncio.gather(*endless)] == ["timeout"] * 3

    run(claim, tmp_path, graders=2)


def test_facts_are_those_of_the_forward_program(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        facts = await graders.facts(task().forward)

        assert facts.shapes["Y"] == (32, 27)
        assert set(facts.gradable) == {"X", "W", "b", "Y"}

    run(claim, tmp_path)


def test_a_nudge_is_measured_and_a_wrong_index_is_explained(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        measured = await graders.nudge(task(), RIGHT, "dW", "0, 1")
        refused = await graders.nudge(task(), RIGHT, "dW", "999, 0")

        assert measured.outcome == "graded"
        assert measured.own == pytest.approx(measured.quotient, rel=1e-4)
        assert refused.outcome == "refused"
        assert "no entry 999" in refused.message

    run(claim, tmp_path)


def test_a_stopped_pool_says_so(tmp_path: Path) -> None:
    async def main() -> str:
        async with pool(tmp_path, 1) as graders:
            await graders.check(task(), RIGHT)
        return (await graders.check(task(), RIGHT)).outcome

    assert asyncio.run(main()) == "busy"


def test_code_is_refused_with_the_reason_where_a_protection_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hello(process: object) -> dict[str, object]:
        said = await start(process)
        return {**said, "refusal": "This kernel has no seccomp."}

    start = local._Process.start
    monkeypatch.setattr(local._Process, "start", hello)

    async def claim(graders: LocalGraders) -> None:
        verdict = await graders.check(task(), RIGHT)

        assert verdict.outcome == "refused"
        assert verdict.message == graders.readiness.reason == "This kernel has no seccomp."
        assert (await graders.facts(task().forward)).error == "This kernel has no seccomp."

    run(claim, tmp_path)


async def until(claim: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not claim():
            await asyncio.sleep(0.001)
