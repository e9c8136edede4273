"""Processes killed at random while a class checks: every question ends in its verdict or in an honest "try again".

Real graders, zygotes and children; the draws of the killer are seeded, the moment of each kill is the machine's.
"""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from app.engine.pool.local_graders import LocalGraders
from app.grading.judge.verdict import Verdict
from app.settings import Settings
from tests.engine.pool.test_local_graders import ENDLESS, RIGHT, limited_task, task
from tests.graders import SharedGraders, shared_graders
from tests.waiting import comes, forked
from tests.zygotes import as_in_life

WRONG = RIGHT.replace("dY.sum(0)", "dY.mean(0)")
KINDS = {RIGHT: "right", WRONG: "wrong", ENDLESS: "endless"}
AT_ONCE = 6
VICTIMS = ("grader", "zygote", "child")


@dataclass(frozen=True, slots=True)
class Family:
    """The processes below one, by what they are: graders, their zygotes, and the children of those."""

    graders: tuple[int, ...]

    def members(self, kind: str) -> list[int]:
        zygotes = [zygote for grader in self.graders for zygote in children_of(grader)]
        match kind:
            case "grader":
                return list(self.graders)
            case "zygote":
                return zygotes
            case _:
                return [child for zygote in zygotes for child in children_of(zygote)]


def children_of(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def graders_of(pid: int) -> set[int]:
    """The graders below *pid* that still run; a jail that other tests share changes its zygote when it likes."""
    return {one for one in children_of(pid) if not is_zombie(one) and b"app.engine.pool.worker" in command_of(one)}


def command_of(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def is_zombie(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    return True


@pytest.fixture(scope="module", autouse=True)
def _as_in_life() -> Iterator[None]:
    """Below a grader is its zygote."""
    with as_in_life():
        yield


@pytest.fixture(scope="module")
def lone(_as_in_life: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedGraders]:
    with shared_graders(tmp_path_factory.mktemp("faults"), 1) as found:
        yield found


@dataclass
class Killer:
    """Kills one process at a time, of a kind that is drawn, each time some answers have come."""

    graders: LocalGraders
    draw: random.Random
    kills: int = 1
    killed: Counter[str] = field(default_factory=Counter)

    def strike(self, kind: str) -> bool:
        """Whether there was one to kill."""
        found = Family(self.graders.pids).members(kind)
        if found:
            with suppress(ProcessLookupError):
                os.kill(self.draw.choice(found), signal.SIGKILL)
                self.killed[kind] += 1
                return True
        return False

    async def rage(self, answers: list[object]) -> None:
        """Strike whenever *answers* has grown by some; now and then twice at once."""
        for number in range(self.kills):
            await comes(lambda reached=2 * number: len(answers) >= reached)
            # A moment within a run, which takes some milliseconds: at every stage, sooner or later.
            await asyncio.sleep(self.draw.uniform(0.0, 0.03))
            await comes(partial(self.strike, VICTIMS[number % len(VICTIMS)]))
            if self.draw.random() < 0.3:
                self.strike(self.draw.choice(VICTIMS))


@pytest.fixture
def traceless() -> Iterator[None]:
    """What is open and what runs afterwards is what was open and ran before."""
    before, running = open_kinds(), graders_of(os.getpid())
    yield
    assert open_kinds() == before
    # A process that was killed goes when the kernel has taken down its memory.
    asyncio.run(comes(lambda: graders_of(os.getpid()) <= running))


def open_kinds() -> Counter[str]:
    """How many descriptors of each kind this process holds: sockets, pipes, files."""
    found: Counter[str] = Counter()
    for one in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found[str(one.readlink()).partition(":")[0]] += 1
    return found


def judged(code: str, verdict: Verdict) -> str:
    """What the answer to *code* amounts to; a wrong verdict has no name here."""
    kind = KINDS[code.partition("  # ")[0]]
    if verdict.outcome in ("fault", "busy"):
        assert "try again" in verdict.message, verdict
        assert not verdict.passed
        assert verdict.names == ()
        return "try again"
    match kind:
        case "right":
            assert verdict.outcome == "graded", verdict
            assert verdict.passed, verdict
        case "wrong":
            assert verdict.outcome == "graded", verdict
            found = {one.name: one.verdict for one in verdict.names}
            assert found == {"dX": "right", "dW": "right", "db": "wrong"}, verdict
        case _:
            assert verdict.outcome == "timeout", verdict
    return kind


@pytest.mark.usefixtures("traceless")
@pytest.mark.prove
@pytest.mark.parametrize(("seed", "kills"), [(1, 3), *((seed, 6) for seed in range(1, 6))])
def test_random_kills_under_load_never_cost_an_answer_or_make_a_wrong_one(
    tmp_path: Path, seed: int, kills: int
) -> None:
    draw = random.Random(seed)
    questions = 5 * kills
    kinds = [ENDLESS] * (kills // 3) + [WRONG] * (questions // 2 - kills // 3) + [RIGHT] * (questions - questions // 2)
    codes = [f"{code}  # {number}" for number, code in enumerate(draw.sample(kinds, questions))]
    answers: list[object] = []

    async def main() -> Counter[str]:
        turn = asyncio.Semaphore(AT_ONCE)

        async def ask(code: str) -> str:
            async with turn:
                verdict = await graders.check(limited_task(0.5) if code.startswith(ENDLESS) else task(), code)
            answers.append(verdict)
            return judged(code, verdict)

        async with LocalGraders(Settings(graders=2, data_dir=tmp_path)) as graders:
            await asyncio.gather(*(graders.check(task(), RIGHT) for _ in range(2)))
            killer = Killer(graders, draw, kills)
            ends, _ = await asyncio.gather(asyncio.gather(*(ask(code) for code in codes)), killer.rage(answers))
            assert all(killer.killed[kind] for kind in VICTIMS), killer.killed
            await comes(lambda: graders.load.up == graders.load.idle == 2)
            load = graders.load
            assert (load.up, load.idle, load.waiting) == (2, 2, 0)
            # One that is dead already can be struck again before anybody has noticed.
            assert 1 <= load.replaced <= killer.killed["grader"]
            assert (await graders.check(task(), RIGHT)).passed
            assert (await graders.check(task(), WRONG)).outcome == "graded"
        return Counter(ends)

    found = asyncio.run(main())

    assert found.total() == questions
    assert found["right"] >= kills - 1
    assert found["wrong"] >= kills - 1


@pytest.mark.parametrize(
    ("stage", "victim"),
    [
        ("running", "zygote"),
        ("idle", "child"),
        pytest.param("idle", "zygote", marks=pytest.mark.prove),
        pytest.param("running", "child", marks=pytest.mark.prove),
    ],
)
def test_a_kill_at_each_stage_costs_at_most_one_answer(lone: SharedGraders, stage: str, victim: str) -> None:
    async def claim(graders: LocalGraders) -> None:
        assert (await graders.check(task(), RIGHT)).passed
        killer = Killer(graders, random.Random(1))
        if stage == "running":
            endless = asyncio.ensure_future(graders.check(task(), ENDLESS))
            await comes(lambda: graders.idle == 0 and killer.strike(victim))
            verdict = await endless
            assert verdict.outcome in ("fault", "timeout"), verdict
            assert verdict.outcome == "timeout" or "try again" in verdict.message
        else:
            await comes(lambda: killer.strike(victim))
        assert killer.killed[victim] == 1

        later = [await graders.check(task(), f"{RIGHT}  # {number}") for number in range(2)]
        assert [judged(f"{RIGHT}  # 0", one) for one in later][-1] == "right"

    lone.holds(claim)


@pytest.mark.usefixtures("traceless")
def test_a_web_process_that_is_killed_takes_every_process_with_it(tmp_path: Path) -> None:
    """A fork of this process stands for it: it opens a pool, says that it runs, and is killed in the midst of a run."""
    read_end, write_end = os.pipe()
    pid = forked(lambda: asyncio.run(_serve_until_killed(tmp_path, write_end)))
    os.close(write_end)
    with os.fdopen(read_end, "rb") as reader:
        below = [int(one) for one in reader.read().split()]  # the end comes when every holder of the pipe is gone
    _, status = os.waitpid(pid, 0)

    assert os.WTERMSIG(status) == signal.SIGKILL
    assert len(below) >= 3
    asyncio.run(comes(lambda: all(is_zombie(one) for one in below)))


async def _serve_until_killed(folder: Path, said: int) -> None:
    os.set_inheritable(said, False)
    async with LocalGraders(Settings(graders=1, data_dir=folder)) as graders:
        endless = asyncio.ensure_future(graders.check(task(), ENDLESS))
        await comes(lambda: graders.pids)
        family = Family(graders.pids)
        await comes(lambda: graders.idle == 0 and family.members("child"))
        os.write(said, " ".join(str(one) for kind in VICTIMS for one in family.members(kind)).encode())
        os.kill(os.getpid(), signal.SIGKILL)
        await endless
