import contextlib
import math
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from app.sandbox import frames, process
from app.sandbox.process import Child, Interrupt, ResultPipe, RunCancelledError
from app.sandbox.wire import Job
from tests.waiting import SECONDS

START = frames.ARMED.pack(frames.ARMED_MARK, 63) + frames.BOXED


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that would go on for long."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]) as process:
        yield process
        process.kill()


@pytest.fixture
def child(sleeper: subprocess.Popen[bytes]) -> Iterator[Child]:
    ours, theirs = socket.socketpair()
    found = Child(sleeper.pid, os.pidfd_open(sleeper.pid), ours)
    yield found
    theirs.close()
    found.close()


def followed(
    child: Child,
    *pieces: bytes,
    seconds: float = 0.3,
    cpu_seconds: float = math.inf,
    most_bytes: int = 2**20,
    interrupt: Interrupt | None = None,
) -> tuple[str, ResultPipe]:
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    for piece in pieces:
        os.write(write_end, piece)
    with contextlib.closing(ResultPipe(read_end)) as pipe, contextlib.closing(os.fdopen(write_end, "wb")):
        job = Job(driver="", header={}, seconds=seconds, cpu_seconds=cpu_seconds, output_bytes=most_bytes)
        cut = pipe.follow(child, job, interrupt)
    return cut, pipe


def test_a_child_that_says_that_it_is_done_is_not_waited_for(child: Child, sleeper: subprocess.Popen[bytes]) -> None:
    cut, pipe = followed(child, START + frames.text_frame("report", "{}") + frames.END_DONE, seconds=SECONDS)

    assert cut == ""
    assert pipe.ended is not None
    assert list(pipe.ended.texts) == ["report"]
    assert sleeper.wait(SECONDS) == -9


def test_numbers_that_look_like_an_end_are_none(child: Child) -> None:
    cut, pipe = followed(child, START + frames.tensor_head("x", "uint8", (4,)) + b"..Zd")

    assert cut == "deadline"
    assert pipe.ended is None


@pytest.mark.parametrize("tail", [b"Zd more", b"?Zd", b"Zx"])
def test_what_is_no_whole_result_waits_for_the_deadline(child: Child, tail: bytes) -> None:
    cut, pipe = followed(child, START + tail)

    assert cut == "deadline"
    assert pipe.ended is None


class Asked:
    """An interrupt that can be read at once."""

    def __init__(self, stop: bool) -> None:
        self._socket, self._other = socket.socketpair()
        self._stop = stop
        self._other.send(b"x")

    def fileno(self) -> int:
        return self._socket.fileno()

    def asked(self) -> bool:
        self._socket.recv(1)
        return self._stop

    def close(self) -> None:
        self._socket.close()
        self._other.close()


def test_a_run_that_is_stopped_is_killed_long_before_its_deadline(
    child: Child, sleeper: subprocess.Popen[bytes]
) -> None:
    with contextlib.closing(Asked(stop=True)) as interrupt, pytest.raises(RunCancelledError):
        followed(child, START, seconds=SECONDS, interrupt=interrupt)

    assert sleeper.wait(SECONDS) == -9


def test_an_interrupt_about_something_else_changes_nothing(child: Child) -> None:
    with contextlib.closing(Asked(stop=False)) as interrupt:
        cut, _ = followed(child, START, interrupt=interrupt)

    assert cut == "deadline"


def test_a_flood_that_ends_well_is_a_flood(child: Child) -> None:
    text = frames.text_frame("long", "x" * 5000)

    cut, pipe = followed(child, START + text + frames.END_DONE, most_bytes=1000)

    assert cut == "flood"
    assert pipe.ended is None


DRIPPED = """
import os, resource
from app.sandbox.process import ResultPipe
read_end, write_end = os.pipe()
pipe = ResultPipe(read_end)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(20_000):
    os.write(write_end, b"x")
    pipe._read_once()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_bytes_that_come_one_by_one_take_no_page_each() -> None:
    taken = subprocess.run([sys.executable, "-c", DRIPPED], capture_output=True, timeout=SECONDS, check=True)

    assert int(taken.stdout) < 20_000


def test_a_child_out_of_processor_time_is_cut_before_wall_time(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    used = iter([5.0, 5.01, 5.04, 5.06])  # it was warmed up before
    monkeypatch.setattr(process, "processor_seconds", lambda _pid: next(used))

    cut, _ = followed(child, seconds=1000.0, cpu_seconds=0.05)

    assert cut == "deadline"
    assert not list(used)


def test_a_child_that_the_machine_lets_wait_has_all_the_time_of_the_wall(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "processor_seconds", lambda _pid: 1.0)
    began = time.monotonic()

    cut, _ = followed(child, seconds=0.3, cpu_seconds=0.001)

    assert cut == "deadline"
    assert time.monotonic() - began >= 0.3
