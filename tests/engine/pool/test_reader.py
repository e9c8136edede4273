"""A process that reads may end over a text; then the grader stands, and so does what was said until then."""

import os
import resource
import signal
import socket
import time
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.engine.grade.jail_runs import JailRunner
from app.engine.pool import memfd_messages, reader
from app.engine.pool.reader import Answer, ReaderDiedError, ReaderProcess, Say
from app.engine.pool.worker import handle_request
from app.engine.train.trainer import Trainer
from app.sandbox import frames
from app.sandbox.process import RunCancelledError
from app.sandbox.wire import Job, RawReply, memory_file
from tests.waiting import SECONDS, forked, until

CPUCLOCK_PROF = -8  # of this process


@pytest.mark.parametrize("length", [1, memfd_messages.LETTER - 2, memfd_messages.LETTER - 1, 10**6])
@pytest.mark.parametrize("file", [b"", b"a job"], ids=["alone", "with a file"])
def test_a_message_of_any_length_comes_as_it_was_sent(length: int, file: bytes) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, memory_file([file]) as sent:
        memfd_messages.send_message(ours, "x" * length, sent if file else None)
        found = memfd_messages.receive_message(theirs)
        ours.close()

        assert memfd_messages.receive_message(theirs) is None
    assert found is not None
    message, came = found
    assert message == "x" * length
    assert (b"" if came is None else memfd_messages.read_memory_file(came)) == file


class Jail:
    """Doubles what it is sent."""

    def __init__(self, stopped: bool = False) -> None:
        self.stopped = stopped
        self.pids: list[int] = []

    def run_raw(self, source: int, limits: Job) -> RawReply:
        self.pids.append(os.getpid())
        if self.stopped:
            raise RunCancelledError
        whole = bytearray(os.pread(source, os.fstat(source).st_size, 0))
        (driver, header, _), arrays = frames.split_job(whole)
        sent = b"".join(
            frames.tensor_head(key, dtype, shape) + (np.frombuffer(whole, dtype, prod(shape), at) * 2).tobytes()
            for key, dtype, shape, at in arrays
        )
        said = frames.text_frame("said", f"{driver} {header['source']} {limits.seconds} {limits.cpu_seconds}")
        return RawReply(ending="done", blob=frames.ARMED.pack(frames.ARMED_MARK, 63) + sent + said + frames.END_DONE)


def asked(jail: JailRunner, say: Say) -> Answer:
    def answer(question: dict[str, Any]) -> Any:
        return globals()[question["do"]](jail, say)

    return answer


def pid(_jail: JailRunner, _say: Say) -> int:
    return os.getpid()


def spin(_jail: JailRunner, say: Say) -> None:
    say("bare")
    while True:
        pass


def sleep(_jail: JailRunner, _say: Say) -> None:
    time.sleep(SECONDS)


def take_memory(_jail: JailRunner, _say: Say) -> int:
    try:
        return np.ones(reader.MEMORY_BYTES // 4).size
    except MemoryError:
        return 0


def crash(_jail: JailRunner, _say: Say) -> None:
    os._exit(3)


def overflow(_jail: JailRunner, say: Say) -> None:
    say("bare")
    signal.raise_signal(signal.SIGSEGV)


def want_memory(_jail: JailRunner, _say: Say) -> None:
    raise MemoryError


def descriptors(_jail: JailRunner, _say: Say) -> int:
    return sum(one.exists() for one in Path("/proc/self/fd").iterdir())


def time_left(_jail: JailRunner, _say: Say) -> float:
    return resource.getrlimit(resource.RLIMIT_CPU)[0] - time.clock_gettime(CPUCLOCK_PROF)


def double(jail: JailRunner, _say: Say) -> Any:
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(3), "none": np.zeros((0, 4), np.int64)}
    reply = jail.run(Job(driver="attempt", header={"source": "x"}, arrays=arrays, seconds=1.5))
    return [{key: one.tolist() for key, one in reply.arrays.items()}, dict(reply.texts)]


@pytest.fixture
def jail() -> Jail:
    return Jail()


@pytest.fixture
def begun(jail: Jail) -> Iterator[ReaderProcess]:
    one = ReaderProcess(jail, asked)
    yield one
    one.close()


def test_a_reader_answers_one_question_after_the_other(begun: ReaderProcess) -> None:
    first = begun.ask({"do": "pid"})

    assert first not in (0, os.getpid())
    assert begun.ask({"do": "pid"}) == first


def test_a_grader_answers_with_what_was_said_until_its_reader_ended(begun: ReaderProcess, jail: Jail) -> None:
    answer = handle_request(begun, Trainer(jail, None, asked), {"do": "overflow", "ask": "check"})

    assert answer == "bare"


def test_runs_are_done_by_the_grader(begun: ReaderProcess, jail: Jail) -> None:
    arrays, texts = begun.ask({"do": "double"})

    assert arrays == {"a": [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]], "b": 6, "none": []}
    assert texts == {"said": "attempt x 1.5 inf"}
    assert jail.pids == [os.getpid()]


@pytest.mark.parametrize(
    ("end", "seen"),
    [
        ("spin", EOFError),
        ("sleep", TimeoutError),
        ("overflow", EOFError),
        ("want_memory", EOFError),
        ("crash", EOFError),
    ],
)
def test_the_end_of_a_reader_ends_one_question_and_keeps_what_was_said(
    begun: ReaderProcess, end: str, seen: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "CPU_SECONDS", 1)  # 0 of a reader that has used none yet would be none at all
    monkeypatch.setattr(reader, "SILENT_SECONDS", 0.3 if end == "sleep" else SECONDS)

    with pytest.raises(ReaderDiedError) as ended:
        begun.ask({"do": end})

    assert ended.value.spent == (end != "crash")
    assert ended.value.said == ("bare" if end in ("spin", "overflow") else None)
    assert isinstance(ended.value.__cause__, seen)  # the kernel ends what spins, the grader what sleeps
    monkeypatch.setattr(reader, "SILENT_SECONDS", SECONDS)
    assert begun.ask({"do": "pid"}) > 0


def test_the_time_of_a_question_is_counted_by_the_kernels_own_clock(
    begun: ReaderProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "process_time", lambda: 40.0)  # in a reader that lives long the two lie seconds apart

    assert 2 < begun.ask({"do": "time_left"}) <= 4


def test_memory_has_an_end(begun: ReaderProcess) -> None:
    assert begun.ask({"do": "take_memory"}) == 0


def test_a_reader_holds_no_descriptor_of_its_grader(begun: ReaderProcess) -> None:
    assert begun.ask({"do": "descriptors"}) == 4  # standard input, output and error, and the way to the grader


def test_a_question_that_nobody_waits_for_is_given_up_and_the_reader_lives() -> None:
    stopped = Jail(stopped=True)
    begun = ReaderProcess(stopped, asked)
    try:
        before = begun.ask({"do": "pid"})
        with pytest.raises(RunCancelledError):
            begun.ask({"do": "double"})

        assert begun.ask({"do": "pid"}) == before
    finally:
        begun.close()


def test_a_reader_ends_with_its_grader() -> None:
    ours, theirs = os.pipe()

    def grade() -> None:
        begun = ReaderProcess(Jail(), asked)
        os.write(theirs, str(begun.ask({"do": "pid"})).encode())
        begun.ask({"do": "sleep"})

    grader = forked(grade)
    os.close(theirs)
    left = int(os.read(ours, 20))
    os.kill(grader, signal.SIGKILL)
    os.waitpid(grader, 0)
    os.close(ours)

    until(lambda: gone(left))


def gone(one: int) -> bool:
    """Whether the process *one* has ended; of a child nobody may have asked yet how."""
    try:
        return "State:\tZ" in Path(f"/proc/{one}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
