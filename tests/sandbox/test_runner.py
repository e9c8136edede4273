"""Runs through the real path: what each kind of program ends as, and that the jail survives the death of its parts."""

import contextlib
import ctypes
import os
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import running

from app.sandbox import process
from app.sandbox.runner import Jail
from app.sandbox.wire import Job, Reply
from tests.waiting import SECONDS, until

PRINTS = """
from app.sandbox.harness import FrameWriter
with FrameWriter(0).capture(100) as printed:
    print("x" * 1000)
y = torch.tensor([len(printed.getvalue()), printed.lost])
"""
HONEST = "y = torch.tanh(x @ x)"
X = np.arange(16.0).reshape(4, 4) / 16


def run(jail: Jail, source: str, *names: str, **limits: Any) -> Reply:
    header = {"source": source, "names": list(names)}
    return jail.run(Job(driver="probe", header=header, arrays={"x": X}, **{"seconds": SECONDS, **limits}))


def is_honest(jail: Jail) -> bool:
    reply = run(jail, HONEST, "y")
    return reply.ending == "done" and np.allclose(reply.arrays["y"], np.tanh(X @ X))


def test_an_honest_program_is_done_and_its_numbers_come_back(jail):
    assert is_honest(jail)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "bool", "uint8"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (300, 40)])
def test_every_dtype_and_shape_crosses_both_ways(jail, dtype, shape):
    sent = (np.arange(np.prod(shape)) % 2).reshape(shape).astype(dtype)

    reply = jail.run(Job(driver="probe", header={"source": "y = x.clone()", "names": ["y"]}, arrays={"x": sent}))

    assert reply.arrays["y"].dtype == sent.dtype
    assert reply.arrays["y"].shape == shape
    assert np.array_equal(reply.arrays["y"], sent)


@pytest.mark.parametrize(
    ("source", "ending"),
    [
        ("while True: pass", "timeout"),
        ("y = torch.zeros(10**9)", "memory"),
        ("y = [0] * 10**9", "memory"),
        ("import os; os.fork()", "denied"),
        ("import ctypes; ctypes.string_at(0)", "crashed"),
        ("import os; os._exit(0)", "crashed"),
        ("1 / 0", "done"),
        ("y = x.expand(10**5, 4, 4)", "done"),
    ],
)
def test_each_kind_of_program_has_its_ending(jail, source, ending):
    reply = run(jail, source, "y", cpu_seconds=0.5 if ending == "timeout" else SECONDS)

    assert reply.ending == ending
    assert is_honest(jail)


def test_names_sent_before_the_end_keep_their_values(jail):
    header = {"source": "y = x + 1\nz = torch.zeros(10**6)", "names": ["y", "z"]}

    reply = jail.run(Job(driver="probe", header=header, arrays={"x": X}, output_bytes=4000))

    assert reply.ending == "done"
    assert np.array_equal(reply.arrays["y"], X + 1)
    assert reply.texts["!z"].startswith("too large")


def test_the_deadline_of_the_job_is_kept(jail):
    before = spent_by_runs(jail)

    reply = run(jail, "while True: pass", cpu_seconds=0.3)

    assert reply.ending == "timeout"
    assert spent_by_runs(jail) - before < 0.6


def spent_by_runs(jail: Jail) -> float:
    """Seconds of processor time of all runs that have ended: on a busy machine a deadline leaves less, never more."""
    stat = Path(f"/proc/{jail.zygote_pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(stat[13]) + int(stat[14])) / os.sysconf("SC_CLK_TCK")


def test_a_killed_child_is_a_fault_and_the_next_run_works(jail):
    run(jail, HONEST)
    assert jail.is_warm(SECONDS)
    waiting = jail._zygote._child
    os.kill(waiting.pid, signal.SIGKILL)

    reply = run(jail, HONEST, "y")

    assert reply.ending in {"fault", "done"}
    assert is_honest(jail)


@pytest.fixture(scope="module")
def before(jail: Jail) -> int:
    """How many descriptors there are without the jail of this module."""
    assert jail.is_warm(SECONDS)
    return descriptors()


@pytest.fixture(scope="module")
def own(before: int) -> Iterator[Jail]:
    """A jail whose zygote is killed and grows old."""
    assert before
    jail = Jail()
    yield jail
    jail.close()


def test_a_killed_zygote_takes_its_waiting_child_and_is_replaced(own):
    assert own.is_warm(SECONDS)
    assert is_honest(own)
    assert own.is_warm(SECONDS)
    child = own._zygote._child.pid
    os.kill(own.zygote_pid, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{child}").exists())

    ending = run(own, HONEST, "y").ending

    assert ending in {"fault", "done"}
    until(lambda: is_honest(own))


def test_autograd_works_in_the_jail(jail):
    reply = run(jail, "w = x.clone().requires_grad_()\n(w @ w).tanh().sum().backward()\ng = w.grad", "g")

    assert reply.ending == "done"
    assert reply.arrays["g"].shape == (4, 4)


def test_garbage_of_a_run_is_looked_for(jail):
    """No start of a zygote looks for any."""
    assert run(jail, "import gc\ny = torch.tensor(gc.isenabled())", "y").arrays["y"]


def test_the_zygote_has_one_thread_and_no_environment(jail):
    process = Path(f"/proc/{jail.zygote_pid}")

    assert len(list((process / "task").iterdir())) == 1
    assert b"PATH" not in (process / "environ").read_bytes()


def test_a_bare_fork_can_be_measured(jail):
    assert 0 < jail.bare_fork() < SECONDS


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_runs_of_every_ending_leave_no_descriptor_behind(jail):
    sources = [HONEST, "1 / 0", "import os; os.fork()", "import os; os._exit(0)", "import ctypes; ctypes.string_at(0)"]
    assert jail.is_warm(SECONDS)
    before = descriptors()

    for source in sources * 5:
        run(jail, source, "y")

    assert jail.is_warm(SECONDS)
    assert descriptors() == before


def test_an_old_zygote_is_replaced_by_one_that_is_warm_already(own):
    assert is_honest(own)
    first = own.zygote_pid
    own._zygote._expires = 0.0

    assert is_honest(own)  # starts the next one, and does not wait for it
    assert own.zygote_pid == first
    assert own._spare.is_warm(SECONDS)

    assert is_honest(own)
    assert own.zygote_pid != first
    assert not Path(f"/proc/{first}").exists()


def test_zygotes_do_not_grow_old_at_the_same_time():
    zygotes = [process.Zygote(command=["true"]) for _ in range(20)]
    for zygote in zygotes:
        zygote.close()

    ends = [zygote._expires for zygote in zygotes]
    assert max(ends) - min(ends) > 60


@pytest.mark.prove
@pytest.mark.parametrize("kills", [6, 60])
def test_kills_at_random_end_in_a_fault_or_in_the_right_numbers(own, kills):
    assert own.is_warm(SECONDS)
    chance = random.Random(7)
    endings = []
    for _ in range(kills):
        victim = chance.choice(["zygote", "child", "nobody"])
        timer = threading.Timer(chance.uniform(0, 0.02), kill, [own, victim])
        timer.start()
        reply = run(own, "for _ in range(300): y = torch.tanh(x @ x)", "y", seconds=SECONDS)
        timer.join()
        endings.append(reply.ending)
        if reply.ending == "done":
            assert np.allclose(reply.arrays["y"], np.tanh(X @ X))

    assert set(endings) <= {"done", "fault"}
    until(lambda: is_honest(own))


def kill(jail: Jail, victim: str) -> None:
    zygote = jail.zygote_pid
    if victim == "nobody" or zygote is None:
        return
    pid = zygote
    if victim == "child":
        listed = Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split()
        if not listed:
            return
        pid = int(listed[-1])
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def test_a_jail_that_is_closed_leaves_nothing_behind(own, jail, before):
    """The last that is asked of it, after all that has befallen it."""
    assert is_honest(own)
    assert jail.is_warm(SECONDS)
    zygote = own.zygote_pid

    own.close()

    assert not Path(f"/proc/{zygote}").exists()
    assert descriptors() <= before
    assert run(own, HONEST).ending == "fault"


def test_the_memory_of_zygote_and_grader_is_hidden(any_jail):
    stat = Path(f"/proc/{any_jail.zygote_pid}/mem").stat()

    assert stat.st_uid == 0
    assert ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 0


def test_where_memory_ends_runs_go_first_then_zygotes_then_all_others(any_jail):
    """Also from a zygote that holds more than its run, as with a build of torch for graphics cards."""
    with running(any_jail) as child:
        run, own = (int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in (child, "self"))
        zygote = Path(f"/proc/{any_jail.zygote_pid}/oom_score_adj")
        until(lambda: run > int(zygote.read_text()) > own)  # while it forks a run, it counts as one


def test_a_job_of_megabytes_is_taken_and_given_back(jail):
    big = np.random.default_rng(0).random((1000, 1000))

    reply = jail.run(Job(driver="probe", header={"source": "y = x * 2", "names": ["y"]}, arrays={"x": big}))

    assert np.array_equal(reply.arrays["y"], big * 2)


def test_what_a_driver_prints_is_bounded(jail):
    assert run(jail, PRINTS, "y").arrays["y"].tolist() == [100, 901]


def test_a_driver_that_does_not_exist_is_reported_and_harmless(jail):
    reply = jail.run(Job(driver="no such driver", header={}))

    assert "KeyError" in reply.texts["escaped"]
    assert is_honest(jail)
