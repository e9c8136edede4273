"""Loop of the zygote: it forks children for the grader and reports their ends.

The grader learns of each child (its pidfd and the socket on which it takes a job) and of each end over the control
socket, on which it asks for the next. A result never passes through here.
"""

import contextlib
import json
import os
import select
import socket
import time
from typing import NoReturn

from app.sandbox import frames, groups, harness, huge_pages, jail, kernel, namespaces, protection, warm
from app.sandbox.seccomp import RESULT_FD

DRIVERS = {
    "tape": "app.grading.forward.tape_driver",
    "attempt": "app.grading.judge.attempt_driver",
    "checker": "app.grading.judge.check_driver",
    "function": "app.grading.judge.function_driver",
    "train": "app.grading.train.train_driver",
    "nudge": "app.grading.nudge.nudge_driver",
}
RUN_OOM_SCORE, ZYGOTE_OOM_SCORE = 1000, 250
"""Where memory ends, a run goes first, then its zygote, which may hold more, and their neighbours last."""
REHEARSALS = 64
"""The interpreter fits code to what it meets while it runs it. Done before a fork, no child has to do it."""


def prepare() -> jail.ConfinementPlan:
    """Load and warm everything that a child may need, then decide how children are confined.

    Raises:
        RuntimeError: A thread is running: a fork would copy its locks but not the thread.
    """
    warm_process()
    return confine_process()


def warm_process() -> None:
    """Load and warm everything that a child may need.

    Raises:
        RuntimeError: A thread is running.
    """
    jail.settle()
    for name, module in DRIVERS.items():
        harness.register(name, module)
    warm.warm_up()
    for _ in range(REHEARSALS):
        harness.rehearse()
    huge_pages.use_huge_pages()
    if (threads := kernel.threads()) != 1:
        raise RuntimeError(f"the zygote has {threads} threads, not one")


def confine_process() -> jail.ConfinementPlan:
    """Give up what only the start needed; the plan by which children of this process are confined."""
    plan = protection.confinement_plan()
    kernel.hide_memory()
    with contextlib.suppress(OSError):  # `protection` says why
        namespaces.enter_namespaces(by_user=plan.uid is None)
    kernel.keep_capabilities(*(() if plan.uid is None else protection.TO_CHANGE_USER))
    return plan


def serve(control: socket.socket, plan: jail.ConfinementPlan, group: groups.ControlGroup | None = None) -> None:
    """Fork a child whenever the grader asks for one and report the end of each, until the grader closes its end.

    A child is never waited for: to take down its memory can take longer than the next run. *group* is the control group
    of this process, if it has one of its own.
    """
    control.send(json.dumps({"kind": "hello", "pid": plan.zygote, "vm_bytes": plan.address_space}).encode())
    children: dict[int, int] = {}
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor in children:
                poll.unregister(descriptor)
                os.close(descriptor)
                report(control, children.pop(descriptor), group)
            elif not (question := control.recv(64)):
                return
            elif question == frames.NEXT:
                pid, pidfd = start_child(control, plan)
                children[pidfd] = pid
                poll.register(pidfd, select.POLLIN)
            else:
                bare(control)


def report(control: socket.socket, pid: int, group: groups.ControlGroup | None) -> None:
    """Tell how *pid* ended."""
    _, status, usage = os.wait4(pid, 0)
    end = {"kind": "exit", "pid": pid, "status": status, "cpu_seconds": usage.ru_utime + usage.ru_stime}
    control.send(json.dumps({**end, "over_memory": group is not None and group.ran_out()}).encode())


def bare(control: socket.socket) -> None:
    """Fork and exit as any Python process does it: what the benchmarks compare a whole check with."""
    started = time.perf_counter_ns()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    control.send(json.dumps({"kind": "bare", "ns": time.perf_counter_ns() - started}).encode())


def start_child(control: socket.socket, plan: jail.ConfinementPlan) -> tuple[int, int]:
    """Fork a child that waits for its job on a socket of its own, and hand that to the grader; its pid and pidfd."""
    parent_end, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kernel.set_oom_score(plan.oom_score, RUN_OOM_SCORE)
    pid = kernel.fork()
    if pid == 0:
        try:
            parent_end.close()
            control.close()
            child(plan, child_end)
        finally:
            os._exit(1)
    kernel.set_oom_score(plan.oom_score, ZYGOTE_OOM_SCORE)
    child_end.close()
    pidfd = os.pidfd_open(pid)
    with parent_end:
        ready = json.dumps({"kind": "ready", "pid": pid}).encode()
        socket.send_fds(control, [ready], [pidfd, parent_end.fileno()])
    return pid, pidfd


def require_whole(read: int, length: int) -> None:
    """Half a job is never run."""
    if read != length:
        raise EOFError("the job is shorter than announced")


def child(plan: jail.ConfinementPlan, channel: socket.socket) -> NoReturn:
    """Wait for a job, give everything up, run it."""
    jail.die_with(plan.zygote)
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
        jail.confine(plan, jail.RunBudget(job_bytes=length, seconds=seconds))
    except Exception as error:
        jail.report_jail_fault(error)
    harness.serve(job)
