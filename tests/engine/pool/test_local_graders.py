"""The pool with real grader processes and real jails."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.content.blocks import Grad, Lesson
from app.content.parse import parse_lesson
from app.engine.grader import Load, Look
from app.engine.pool import local_graders
from app.engine.pool.grader_process import Process
from app.engine.pool.local_graders import LocalGraders
from app.engine.task import Task, task_of
from app.grading.judge.verdict import Verdict
from app.settings import Settings

LESSON = (Path(__file__).parents[1] / "layer.md").read_text(encoding="utf-8")
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
    async def hello(process: Process) -> dict[str, object]:
        said = await start(process)
        return {**said, "refusal": "This kernel has no seccomp."}

    start = Process.start
    monkeypatch.setattr(Process, "start", hello)

    async def claim(graders: LocalGraders) -> None:
        verdict = await graders.check(task(), RIGHT)

        assert verdict.outcome == "refused"
        assert verdict.message == graders.readiness.reason == "This kernel has no seccomp."
        assert (await graders.facts(task().forward)).error == "This kernel has no seccomp."

    run(claim, tmp_path)


def patient_task() -> Task:
    """A task whose limit is far beyond what these tests wait for."""
    one = task()
    return replace(one, grad=replace(one.grad, seconds=50.0))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question waits for a grader a much shorter time than a run of `patient_task` may take."""
    monkeypatch.setattr(local_graders, "STARTUP_SECONDS", 15.0)


@pytest.mark.usefixtures("impatient")
def test_a_stopped_run_ends_and_the_same_grader_is_free(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)
        before = graders.pids
        endless = await endless_check(graders)
        await stopped(endless)

        assert (await graders.check(task(), RIGHT)).passed
        assert graders.pids == before
        assert graders.load == Load(up=1, idle=1)

    run(claim, tmp_path)


@pytest.mark.usefixtures("impatient")
def test_a_stopped_question_that_still_waited_never_reaches_a_grader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def note(process: Process, question: dict[str, Any], seconds: float) -> Any:
        asked.append(question["code"])
        return await ask(process, question, seconds)

    ask = Process.ask
    monkeypatch.setattr(Process, "ask", note)

    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)
        endless = await endless_check(graders)
        queued = asyncio.ensure_future(graders.check(task(), "dX = 1"))
        await until(lambda: graders.load.waiting == 1)
        await stopped(queued)

        assert graders.load.waiting == 0
        await stopped(endless)
        assert (await graders.check(task(), RIGHT)).passed
        assert "dX = 1" not in asked

    run(claim, tmp_path)


def test_a_stop_that_crosses_the_answer_does_not_stop_the_next_question(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)
        (process,) = graders._running

        process.give_up()
        assert (await graders.check(task(), RIGHT)).passed
        process.give_up()
        assert (await graders.check(task(), "dX = dY.T")).outcome == "graded"

    run(claim, tmp_path)


def test_a_grader_that_dies_idle_is_replaced_before_anybody_asks(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)
        for pid in graders.pids:
            os.kill(pid, signal.SIGKILL)
        await until(lambda: graders.load.replaced == 1)

        assert (await graders.check(task(), RIGHT)).passed
        assert graders.load == Load(up=1, idle=1, replaced=1)

    run(claim, tmp_path)


def test_more_questions_than_the_queue_holds_are_told_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_graders, "QUESTIONS_PER_GRADER", 3)

    async def claim(graders: LocalGraders) -> None:
        found = await asyncio.gather(*(graders.check(task(), RIGHT) for _ in range(5)))

        assert [one.outcome for one in found] == ["graded"] * 3 + ["busy"] * 2
        assert (await graders.check(task(), RIGHT)).passed

    run(claim, tmp_path)


def test_the_first_canaries_are_told_before_the_first_check(tmp_path: Path) -> None:
    async def main() -> None:
        async with LocalGraders(Settings(graders=1, data_dir=tmp_path), watch=True) as graders:
            await graders.check(task(), RIGHT)

            look = graders.readiness.look
            assert look is not None
            assert look.at > 0
            assert look.succeeded == ()

    asyncio.run(main())


def test_a_canary_that_succeeded_anywhere_closes_every_grader_for_good(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)

        graders._looked(Look(at=1.0, succeeded=("read a file",)))
        graders._looked(Look(at=2.0))

        assert graders.readiness.state == "refused"
        assert graders.readiness.look == Look(at=1.0, succeeded=("read a file",))
        verdict = await graders.check(task(), RIGHT)
        assert verdict.outcome == "refused"
        assert "read a file" in verdict.message

    run(claim, tmp_path)


async def endless_check(graders: LocalGraders) -> "asyncio.Task[Verdict]":
    """A run that is under way and would go on."""
    endless = asyncio.ensure_future(graders.check(patient_task(), "while True:\n    pass"))
    await until(lambda: graders._long.locked() and graders.idle == 0)
    return endless


async def stopped(check: "asyncio.Task[Verdict]") -> None:
    check.cancel()
    await asyncio.gather(check, return_exceptions=True)
    assert check.cancelled()


async def until(claim: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not claim():
            await asyncio.sleep(0.001)


def test_a_text_that_takes_forever_to_compile_ends_a_reader_and_no_grader(tmp_path: Path) -> None:
    nested = "".join(" " * depth + "try:a\n" + " " * depth + "finally:\n" for depth in range(20)) + " " * 20 + "a\n"

    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)
        before = graders.pids

        assert "".join(await graders.unfit([nested]))
        assert await graders.unfit(["a = 1", "a ="]) == ("", "invalid syntax")
        assert (await graders.check(task(), f"{RIGHT}\n# again")).passed
        assert graders.pids == before

    run(claim, tmp_path)


def test_endless_loops_that_are_nudged_do_not_hold_up_the_others_either(tmp_path: Path) -> None:
    async def claim(graders: LocalGraders) -> None:
        await asyncio.gather(graders.check(task(), RIGHT), graders.check(task(), RIGHT))
        endless = [
            asyncio.ensure_future(graders.nudge(task(), f"while True:\n    pass\n# {n}", "dW", "0, 0"))
            for n in range(3)
        ]
        await until(lambda: graders.idle == 0)

        assert (await graders.check(task(), RIGHT)).passed
        assert not any(one.done() for one in endless)
        assert all("did not finish" in one.message for one in await asyncio.gather(*endless))

    run(claim, tmp_path, graders=2)
