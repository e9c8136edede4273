"""Zygotes of tests are forked from one that is warm: to import torch and to warm it up takes two seconds.

The tests of the jail, and whatever is started as an operator starts it, begin as in life.
"""

import importlib
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Never

from app.engine.pool import grader_process
from app.sandbox import kernel, process
from app.sandbox.jail import die_with
from tests.waiting import SECONDS

NAME = "ZYGOTES_OF_TESTS"
"""The variable that tells workers the name of the server's socket."""
AS_IN_LIFE = process.start_process, grader_process.COMMAND


@contextmanager
def zygote_server() -> Iterator[None]:
    """A process that becomes the server when it is asked for the first time; it ends with this one."""
    if not kernel.LINUX:  # nowhere else is there a jail
        yield
        return
    name = os.environ[NAME] = f"backhand-zygotes-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"\0{name}")
        listener.listen(64)
        run, pid = os.getpid(), os.fork()
        if pid == 0:
            _become_server(listener, run)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)  # what it and its zygotes took is counted with what the run took


def _become_server(listener: socket.socket, run: int) -> Never:
    try:
        die_with(run)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        select.select([listener], [], [])
        listener.set_inheritable(True)
        command = [sys.executable, "-I", "-B", "-m", "tests.zygote_server", str(listener.fileno())]
        os.execve(sys.executable, command, process.ENVIRONMENT)
    finally:
        os._exit(1)


class Forked:
    """A zygote, with the part of the face of `Popen` that its grader needs."""

    def __init__(self, name: str, control: socket.socket) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
            asked.settimeout(SECONDS)
            asked.connect(f"\0{name}")
            socket.send_fds(asked, [b"fork"], [control.fileno()])
            pid, (self._pidfd,), _, _ = socket.recv_fds(asked, 64, 1)
        self.pid = int(pid)

    def wait(self, seconds: float | None = None) -> None:
        if self._pidfd < 0:
            return
        if not select.select([self._pidfd], [], [], seconds)[0]:
            raise subprocess.TimeoutExpired("a zygote", seconds or 0.0)
        os.close(self._pidfd)
        self._pidfd = -1

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)


def start_or_fork(name: str, command: Sequence[str], control: socket.socket) -> "subprocess.Popen[bytes] | Forked":
    """One with a command or a control group of its own begins as in life; so does what a grader starts later, alone in
    its network."""
    if command == process.COMMAND:
        with suppress(ConnectionRefusedError):
            return Forked(name, control)
    return AS_IN_LIFE[0](command, control)


def fork_zygotes() -> None:
    """From now on zygotes of this process, and of graders that it starts, are forked."""
    if NAME not in os.environ:
        return
    process.start_process = partial(start_or_fork, os.environ[NAME])
    grader_process.COMMAND = forking("app.engine.pool.worker")


def forking(module: str) -> tuple[str, ...]:
    """The command that runs *module* as a program whose zygotes are forked; what it is told comes behind."""
    return sys.executable, "-I", "-B", "-m", "tests.zygotes", os.environ[NAME], module


@contextmanager
def as_in_life() -> Iterator[None]:
    """Meanwhile, zygotes of this process, and of graders that it starts, are interpreters of their own."""
    before = process.start_process, grader_process.COMMAND
    process.start_process, grader_process.COMMAND = AS_IN_LIFE
    yield
    process.start_process, grader_process.COMMAND = before


def main() -> None:
    """`python -m tests.zygotes NAME MODULE WORDS...`"""
    os.environ[NAME], module = sys.argv[1:3]
    del sys.argv[1:3]
    fork_zygotes()
    importlib.import_module(module).main()


if __name__ == "__main__":
    main()
