"""What the zygote does: keep one child waiting, hand it to the grader, report its end.

The grader learns of each waiting child (its pidfd and the socket on which it takes a job) and of each end over the
control socket. A result never passes through here.
"""

import contextlib
import json
import os
import select
import socket
import time
from typing import Any, NoReturn

from app.sandbox import harness, huge_pages, jail, kernel, namespaces, protection, warm
from app.sandbox.seccomp import RESULT_FD

DRIVERS = {
    "tape": "app.grading.forward.tape_driver",
    "attempt": "app.grading.judge.attempt_driver",
    "checker": "app.grading.judge.check_driver",
    "train": "app.grading.train.train_driver",
    "nudge": "app.grading.nudge.nudge_driver",
}
IDLE_SECONDS = 0.003
REHEARSALS = 64
"""The interpreter fits code to what it meets while it runs it. Done before a fork, no child has to do it."""


def prepare() -> jail.Plan:
    """Load and warm everything that a child may need, then decide how children are confined.

    Raises:
        RuntimeError: A thread is running: a fork would copy its locks but not the thread.
    """
    kernel.offer_memory()
    kernel.hide_memory()
    jail.settle()
    for name, module in DRIVERS.items():
        harness.register(name, module)
    warm.everything()
    for _ in range(REHEARSALS):
        harness.rehearse()
    huge_pages.settle(harness.rehearse)
    if (threads := kernel.threads()) != 1:
        raise RuntimeError(f"the zygote has {threads} threads, not one")
    plan = protection.plan()
    with contextlib.suppress(OSError):  # `protection` says why
        namespaces.enter()
    return plan


def serve(control: socket.socket, plan: jail.Plan) -> None:
    """Keep one child waiting; go on until the grader closes its end."""
    control.send(json.dumps({"kind": "hello", "pid": plan.zygote, "vm_bytes": plan.address_space}).encode())
    while True:
        pid, pidfd, channel = start_child(control, plan)
        ready = json.dumps({"kind": "ready", "pid": pid}).encode()
        socket.send_fds(control, [ready], [pidfd, channel.fileno()])
        channel.close()
        if not wait(control, pid, pidfd):
            return
        os.close(pidfd)


def wait(control: socket.socket, pid: int, pidfd: int) -> bool:
    """Wait for the end of *pid* and report it; False when the grader is gone."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(pidfd, select.POLLIN)
    while True:
        ready = dict(poll.poll())
        if pidfd in ready:
            _, status, usage = os.wait4(pid, 0)
            report: dict[str, Any] = {"kind": "exit", "pid": pid, "status": status}
            report["cpu_seconds"] = usage.ru_utime + usage.ru_stime
            control.send(json.dumps(report).encode())
            return True
        if not control.recv(64):
            return False
        bare(control)


def bare(control: socket.socket) -> None:
    """Fork and exit as any Python process does it: what the benchmarks compare a whole check with."""
    started = time.perf_counter_ns()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    control.send(json.dumps({"kind": "bare", "ns": time.perf_counter_ns() - started}).encode())


def start_child(control: socket.socket, plan: jail.Plan) -> tuple[int, int, socket.socket]:
    """Fork a child that waits for its job on a socket of its own."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = kernel.fork()
    if pid == 0:
        try:
            ours.close()
            control.close()
            child(plan, theirs)
        finally:
            os._exit(1)
    theirs.close()
    return pid, os.pidfd_open(pid), ours


def require_whole(read: int, length: int) -> None:
    """Half a job is never run."""
    if read != length:
        raise EOFError("the job is shorter than announced")


def child(plan: jail.Plan, channel: socket.socket) -> NoReturn:
    """Wait for a job, give everything up, run it."""
    jail.die_with(plan.zygote)
    if not select.select([channel], [], [], IDLE_SECONDS)[0]:
        with contextlib.suppress(Exception):  # nobody waits for it, and a run works without it
            harness.rehearse()
    message, descriptors, _, _ = socket.recv_fds(channel, 256, 2)
    if len(descriptors) != 2:
        os._exit(0)
    source, result = descriptors
    length, seconds = json.loads(message.decode())
    job = bytearray(length)
    read = os.preadv(source, [job], 0)
    os.dup2(result, RESULT_FD)
    try:
        require_whole(read, length)
        harness.reseed()
        jail.confine(plan, jail.Run(job_bytes=length, seconds=seconds))
    except Exception as error:
        jail.fault(error)
    harness.serve(job)
