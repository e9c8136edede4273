"""The pool with real grader processes and real jails."""

import asyncio
import os
import signal
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from app.content.blocks import Grad, Lesson
from app.course.parse import parse_lesson
from app.engine.grader import CanaryReport, Load, Readiness, RunResult
from app.engine.pool import grader_client, local_graders
from app.engine.pool.grader_process import GraderDiedError, GraderProcess
from app.engine.pool.local_graders import NOT_STARTING, LocalGraders
from app.engine.task import GradTask, task_of
from app.grading.judge.verdict import Verdict
from app.sandbox import kernel
from app.settings import Settings
from tests.graders import SharedGraders
from tests.waiting import SECONDS, comes

LESSON = (Path(__file__).parents[1] / "layer.md").read_text(encoding="utf-8")
RIGHT = "dX = dY @ W.T\ndW = X.T @ dY\ndb = dY.sum(0)"
ENDLESS = "while True:\n    pass"


def lesson() -> Lesson:
    found, errors = parse_lesson(LESSON, "layer.md")
    assert found is not None, errors
    return found


def task() -> GradTask:
    grad = lesson().exercise("layer-backward")
    assert isinstance(grad, Grad)
    return task_of(lesson(), grad)


@dataclass(frozen=True, slots=True)
class Life:
    """What a pool with canaries said from before its start until after its end."""

    at_first: Readiness
    first: Verdict
    then: Readiness
    last: Verdict


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    async def lived() -> Life:
        async with LocalGraders(Settings(graders=1, data_dir=tmp_path_factory.mktemp("life")), watch=True) as graders:
            at_first = graders.readiness
            first = await graders.check(task(), RIGHT)
            then = graders.readiness
        return Life(at_first, first, then, await graders.check(task(), RIGHT))

    return asyncio.run(lived())


def test_a_check_before_the_graders_are_warm_waits_and_is_answered(life: Life) -> None:
    assert life.at_first.state == "warming"
    assert life.first.passed
    assert life.first.hidden_sizes == 2
    assert life.then.state == "ready"


def test_the_first_canaries_are_told_before_the_first_check(life: Life) -> None:
    assert life.then.look is not None
    assert life.then.look.at > 0
    assert life.then.look.succeeded == ()


def test_a_stopped_pool_says_so(life: Life) -> None:
    assert life.last.outcome == "busy"


def test_a_killed_grader_costs_one_answer_and_is_logged_with_its_text(
    lone: SharedGraders, capsys: pytest.CaptureFixture[str]
) -> None:
    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)
        slow = asyncio.ensure_future(graders.check(task(), ENDLESS))
        await comes(lambda: graders.idle == 0)
        os.kill(graders.pids[0], signal.SIGKILL)

        assert (await slow).outcome == "fault"
        assert (await graders.check(task(), RIGHT)).passed

    lone.holds(claim)

    said = "".join(capsys.readouterr())
    assert "grader-replaced" in said
    for part in ("it ended", "-9", "check", sha256(ENDLESS.encode()).hexdigest()):
        assert part in said


def test_endless_loops_of_a_few_do_not_hold_up_the_others(graders: SharedGraders) -> None:
    async def claim() -> None:
        await asyncio.gather(graders.check(task(), RIGHT), graders.check(task(), RIGHT))
        codes = [f"while True:\n    pass\n# {number}" for number in range(3)]
        endless = [asyncio.ensure_future(graders.check(patient_task(), code)) for code in codes]
        await comes(lambda: graders.idle == 0)

        assert (await graders.check(task(), RIGHT)).passed
        assert not any(one.done() for one in endless)
        for one in endless:
            await stopped(one)

    asyncio.run(claim())


@pytest.fixture
def hello(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What each grader says of its protection when it has started; none is."""
    said: dict[str, object] = {"refusal": "", "layers": []}

    async def start(_process: GraderProcess) -> dict[str, object]:
        return said

    monkeypatch.setattr(GraderProcess, "start", start)
    return said


def test_code_is_refused_with_the_reason_where_a_protection_is_missing(
    tmp_path: Path, hello: dict[str, object]
) -> None:
    hello["refusal"] = "This kernel has no seccomp."

    async def main() -> None:
        async with LocalGraders(Settings(graders=1, data_dir=tmp_path)) as graders:
            await comes(lambda: graders.readiness.state != "warming")
            verdict = await graders.check(task(), RIGHT)

            assert verdict.outcome == "refused"
            assert verdict.message == graders.readiness.reason == "This kernel has no seccomp."
            assert (await graders.facts(task().forward)).error == "This kernel has no seccomp."

    asyncio.run(main())


@pytest.mark.usefixtures("hello")
def test_a_canary_that_succeeded_anywhere_closes_every_grader_for_good(tmp_path: Path) -> None:
    async def main() -> None:
        async with LocalGraders(Settings(graders=1, data_dir=tmp_path)) as graders:
            await comes(lambda: graders.readiness.state == "ready")

            graders._on_canary_report(CanaryReport(at=1.0, succeeded=("read a file",)))
            graders._on_canary_report(CanaryReport(at=2.0))

            assert graders.readiness.state == "refused"
            assert graders.readiness.look == CanaryReport(at=1.0, succeeded=("read a file",))
            verdict = await graders.check(task(), RIGHT)
            assert verdict.outcome == "refused"
            assert "read a file" in verdict.message

    asyncio.run(main())


def patient_task() -> GradTask:
    """A task whose limit is far beyond what these tests wait for."""
    return limited_task(10 * SECONDS)


def limited_task(seconds: float) -> GradTask:
    one = task()
    return replace(one, grad=replace(one.grad, seconds=seconds))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question waits for a grader a much shorter time than a run of `patient_task` may take."""
    for module in (grader_client, local_graders):
        monkeypatch.setattr(module, "STARTUP_SECONDS", SECONDS / 5)


@pytest.mark.usefixtures("impatient")
def test_a_stopped_run_ends_and_the_same_grader_is_free(lone: SharedGraders) -> None:
    async def claim() -> None:
        await lone.check(task(), RIGHT)
        before = lone.pids
        endless = await endless_check(lone)
        await stopped(endless)

        assert (await lone.check(task(), RIGHT)).passed
        assert lone.pids == before
        assert (lone.load.up, lone.load.idle) == (1, 1)

    asyncio.run(claim())


@pytest.mark.usefixtures("impatient")
def test_a_stopped_question_that_still_waited_never_reaches_a_grader(
    lone: SharedGraders, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def note(process: GraderProcess, question: dict[str, Any], seconds: float) -> Any:
        asked.append(question["code"])
        return await ask(process, question, seconds)

    ask = GraderProcess.ask
    monkeypatch.setattr(GraderProcess, "ask", note)

    async def claim() -> None:
        await lone.check(task(), RIGHT)
        endless = await endless_check(lone)
        queued = asyncio.ensure_future(lone.check(task(), "dX = 1"))
        await comes(lambda: lone.load.waiting == 1)
        await stopped(queued)

        await comes(lambda: lone.load.waiting == 0)
        await stopped(endless)
        assert (await lone.check(task(), RIGHT)).passed
        assert "dX = 1" not in asked

    asyncio.run(claim())


def test_a_stop_that_crosses_the_answer_does_not_stop_the_next_question(lone: SharedGraders) -> None:
    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)
        (process,) = graders._running

        process.give_up()
        assert (await graders.check(task(), RIGHT)).passed
        process.give_up()
        assert (await graders.check(task(), "dX = dY.T")).outcome == "graded"

    lone.holds(claim)


def test_a_grader_that_dies_idle_is_replaced_before_anybody_asks(lone: SharedGraders) -> None:
    async def claim(graders: LocalGraders) -> None:
        await graders.check(task(), RIGHT)
        before = graders.load.replaced
        os.kill(graders.pids[0], signal.SIGKILL)
        await comes(lambda: graders.load.replaced == before + 1)

        assert (await graders.check(task(), RIGHT)).passed
        assert graders.load == Load(up=1, idle=1, replaced=before + 1)

    lone.holds(claim)


def test_more_questions_than_the_queue_holds_are_told_to_come_again(
    lone: SharedGraders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_graders, "QUESTIONS_PER_GRADER", 3)

    async def claim(graders: LocalGraders) -> None:
        # On the pool's own loop all five stand in the queue before one of them is answered.
        found = await asyncio.gather(*(graders.check(task(), RIGHT) for _ in range(5)))

        assert [one.outcome for one in found] == ["graded"] * 3 + ["busy"] * 2
        assert (await graders.check(task(), RIGHT)).passed

    lone.holds(claim)


async def endless_check(graders: LocalGraders | SharedGraders) -> "asyncio.GradTask[Verdict]":
    """A run that is under way and would go on."""
    endless = asyncio.ensure_future(graders.check(patient_task(), ENDLESS))
    await comes(lambda: graders._long.locked() and graders.idle == 0)
    return endless


async def stopped(check: "asyncio.GradTask[Any]") -> None:
    check.cancel()
    await asyncio.gather(check, return_exceptions=True)
    assert check.cancelled()


def test_a_text_that_takes_forever_to_compile_ends_a_reader_and_no_grader(lone: SharedGraders) -> None:
    nested = "".join(" " * depth + "try:a\n" + " " * depth + "finally:\n" for depth in range(20)) + " " * 20 + "a\n"

    async def claim() -> None:
        await lone.check(task(), RIGHT)
        before = lone.pids

        assert "".join(await lone.export_problems([nested]))
        assert await lone.export_problems(["a = 1", "a ="]) == ("", "invalid syntax")
        assert (await lone.check(task(), f"{RIGHT}\n# again")).passed
        assert lone.pids == before

    asyncio.run(claim())


def test_endless_loops_that_are_nudged_do_not_hold_up_the_others_either(graders: SharedGraders) -> None:
    async def claim() -> None:
        await asyncio.gather(graders.check(task(), RIGHT), graders.check(task(), RIGHT))
        endless = [
            asyncio.ensure_future(graders.nudge(patient_task(), f"while True:\n    pass\n# {n}", "dW", "0, 0"))
            for n in range(3)
        ]
        await comes(lambda: graders.idle == 0)

        assert (await graders.check(task(), RIGHT)).passed
        assert not any(one.done() for one in endless)
        for one in endless:
            await stopped(one)

    asyncio.run(claim())


def about(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def descendants(pid: int) -> list[int]:
    found = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return found + [deeper for one in found for deeper in descendants(one)]


@pytest.mark.skipif(
    os.geteuid() != 0, reason="whoever is not root has no rights to give up, and sees nothing of theirs"
)
def test_a_grader_gets_no_setting_and_reaches_no_network(lone: SharedGraders) -> None:
    async def claim(graders: LocalGraders) -> None:
        assert (await graders.check(task(), RIGHT)).passed
        grader = graders.pids[0]
        readers = [
            one for one in descendants(grader) if int(about(one)["CapBnd"], 16) == 0 and about(one)["Seccomp"] == "0"
        ]
        assert set(Path(f"/proc/{grader}/environ").read_bytes().split(b"\0")) == {
            b"OPENBLAS_NUM_THREADS=1",
            b"OMP_NUM_THREADS=1",
            b"",
        }
        kept = {kernel.CAP_KILL, kernel.CAP_SETUID, kernel.CAP_SETGID, kernel.CAP_SETPCAP}
        for name in ("CapPrm", "CapEff", "CapBnd"):
            assert int(about(grader)[name], 16) == sum(1 << one for one in kept)
        assert [int(about(one)["CapEff"], 16) for one in readers].count(0) == 1
        assert Path(f"/proc/{grader}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()

    lone.holds(claim)


def test_who_waited_in_vain_for_graders_is_not_told_of_a_crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_graders, "STARTUP_SECONDS", 0.01)

    async def starve(_: GraderProcess) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(GraderProcess, "start", starve)

    async def asked() -> tuple[Verdict, RunResult]:
        async with LocalGraders(Settings(graders=1, data_dir=tmp_path)) as graders:
            return await graders.check(task(), "dX = 1"), await graders.run(task(), "dX = 1")

    answers = asyncio.run(asked())

    assert {(one.outcome, one.message) for one in answers} == {("busy", grader_client.NONE_UP)}


def test_who_waits_for_graders_that_do_not_start_is_told_so_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_graders, "STARTUP_SECONDS", 10 * SECONDS)

    async def fail(_: GraderProcess) -> dict[str, Any]:
        raise GraderDiedError

    monkeypatch.setattr(GraderProcess, "start", fail)

    async def asked() -> list[Verdict]:
        async with LocalGraders(Settings(graders=1, data_dir=tmp_path)) as graders:
            waiting = (graders.check(task(), f"dX = {number}") for number in range(3))
            return await asyncio.wait_for(asyncio.gather(*waiting), SECONDS)

    answers = asyncio.run(asked())

    assert {(one.outcome, one.message) for one in answers} == {("refused", NOT_STARTING.reason)}
