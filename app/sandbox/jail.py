"""The confinement of one child, step by step, each checked: a step that fails is a sandbox fault, never a wrong answer.

The order matters. Limits come after the change of user (which would undo the death signal), no_new_privs before
Landlock (which an unprivileged process may not use without it), the limit on descriptors after Landlock (whose ruleset
is a descriptor), and the filter last, when nothing but computing is left to do. What children would only repeat (a
session without a terminal, the standard streams, an empty bounding set), the zygote does once: `settle`.
"""

import contextlib
import math
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from app.sandbox import frames, kernel, landlock
from app.sandbox.seccomp import RESULT_FD, Filter

MEMORY_BYTES = 256 * 2**20
STACK_BYTES = 8 * 2**20

ALONE, USER, LIMITS, HIDDEN, LANDLOCK, NO_NEW_PRIVS = (1 << bit for bit in range(6))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfinementPlan:
    """Confinement of all children of a zygote, found out once.

    Args:
        zygote: Process id of the parent.
        uid: The user and group to become; None where this process may not.
        ruleset: Landlock attribute; None where the kernel has no Landlock.
        filter: None only in unsafe mode on a kernel without seccomp.
        address_space: Bytes of the warmed zygote.
        private_bytes: Of these, what it may write to; a library's room, given back, must not become more of that.
        oom_score: Descriptor by which the zygote sets its own, and so that of its children; None without such a file.
    """

    zygote: int
    uid: int | None
    ruleset: bytes | None
    filter: Filter | None
    address_space: int
    private_bytes: int
    oom_score: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBudget:
    """Budget of one run, added to the plan. Its result pipe is descriptor 3 already."""

    job_bytes: int
    seconds: float


def settle() -> None:
    """In the zygote, for all its children. A session for each costs 2 ms where the kernel groups tasks by session."""
    with contextlib.suppress(PermissionError):  # it leads one already
        os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.close(null)
    kernel.bound_capabilities()


def stand_alone(_plan: ConfinementPlan, _run: RunBudget) -> int:
    os.setpgid(0, 0)
    kernel.close_from(RESULT_FD + 1)
    return ALONE


def drop_user(plan: ConfinementPlan, _run: RunBudget) -> int:
    if plan.uid is not None:
        os.setgroups([])
        os.setresgid(plan.uid, plan.uid, plan.uid)
        os.setresuid(plan.uid, plan.uid, plan.uid)
    kernel.keep_capabilities()
    return USER if plan.uid is not None else 0


def set_limits(plan: ConfinementPlan, run: RunBudget) -> int:
    limit(resource.RLIMIT_AS, plan.address_space + run.job_bytes + MEMORY_BYTES)
    limit(resource.RLIMIT_DATA, plan.private_bytes + run.job_bytes + MEMORY_BYTES)
    limit(resource.RLIMIT_CPU, max(1, math.ceil(run.seconds)))
    limit(resource.RLIMIT_NPROC, 0)
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_MEMLOCK, 0)
    limit(resource.RLIMIT_STACK, STACK_BYTES)
    kernel.prctl("PR_SET_THP_DISABLE", kernel.PR_SET_THP_DISABLE, 1)  # see `_ADVICE` in `seccomp`
    return LIMITS


def limit(which: int, wanted: int) -> None:
    """Soft and hard to *wanted*, or to what is left where a stricter limit is in force already."""
    hard = resource.getrlimit(which)[1]
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(which, (value, value))


def hide(plan: ConfinementPlan, _run: RunBudget) -> int:
    kernel.hide_memory()
    die_with(plan.zygote)
    return HIDDEN


def die_with(zygote: int) -> None:
    """Ask the kernel to kill this process when *zygote* dies, and do so at once if it is dead already."""
    kernel.prctl("PR_SET_PDEATHSIG", kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != zygote:
        os._exit(1)


def forbid_files(plan: ConfinementPlan, _run: RunBudget) -> int:
    kernel.prctl("PR_SET_NO_NEW_PRIVS", kernel.PR_SET_NO_NEW_PRIVS, 1)
    if plan.ruleset is not None:
        landlock.restrict(plan.ruleset)
    limit(resource.RLIMIT_NOFILE, 0)
    return NO_NEW_PRIVS | (LANDLOCK if plan.ruleset is not None else 0)


CONFINING_STEPS: list[Callable[[ConfinementPlan, RunBudget], int]] = [
    stand_alone,
    drop_user,
    set_limits,
    hide,
    forbid_files,
]


def confine(plan: ConfinementPlan, run: RunBudget) -> None:
    """Take every step, say so on the result pipe, and install the filter.

    Raises:
        OSError: A step failed. Nothing untrusted may run.
    """
    applied = 0
    for step in CONFINING_STEPS:
        applied |= step(plan, run)
    os.write(RESULT_FD, frames.ARMED.pack(frames.ARMED_MARK, applied))
    if plan.filter is not None:
        plan.filter.install()
        os.write(RESULT_FD, frames.BOXED)


def report_jail_fault(error: BaseException) -> NoReturn:
    """Report that the confinement failed, and end."""
    text = f"{type(error).__name__}: {error}"
    os.write(RESULT_FD, frames.FAULT + text.encode("utf-8", "backslashreplace")[:500])
    os._exit(1)
