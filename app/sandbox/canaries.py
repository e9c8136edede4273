"""Attacks that a grader runs on itself, through the real path, at its start and every few minutes.

One that succeeds means that a layer has gone missing since the tests ran: the grader must stop serving code.
"""

from dataclasses import dataclass
from typing import Protocol

from app.sandbox.wire import Job, Reply


class JobRunner(Protocol):
    def run(self, job: Job) -> Reply: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """One attack: it would send a tensor `won`, and it must end in one of *endings*.

    `error` is a run that was done and whose program raised, which is how a refused call shows.
    """

    name: str
    source: str
    endings: tuple[str, ...] = ("denied",)
    seconds: float = 2.0


_LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
_WON = "\nwon = torch.ones(())"

CANARIES = (
    Canary(name="read a file", source="open('/etc/passwd').read()" + _WON, endings=("error",)),
    Canary(name="write a file", source="open('/tmp/backhand-canary', 'w')" + _WON, endings=("error",)),
    Canary(name="list a folder", source="import os\nos.listdir('/')" + _WON, endings=("error",)),
    Canary(name="read its parent's memory", source="open('/proc/1/mem', 'rb')" + _WON, endings=("error",)),
    Canary(name="read its environment", source="open('/proc/self/environ').read()" + _WON, endings=("error",)),
    Canary(name="fork", source="import os\nos.fork()" + _WON),
    Canary(name="start a thread", source="import _thread\n_thread.start_new_thread(print, ())" + _WON),
    Canary(name="run a program", source="import os\nos.execv('/bin/true', ['true'])" + _WON),
    Canary(name="open an internet socket", source=_LIBC + "libc.socket(2, 1, 0)" + _WON),
    Canary(name="open a local socket", source=_LIBC + "libc.socket(1, 1, 0)" + _WON),
    Canary(name="signal its parent", source="import os\nos.kill(1, 0)" + _WON),
    Canary(name="trace a process", source=_LIBC + "libc.ptrace(16, 1, 0, 0)" + _WON),
    Canary(name="make a file in memory", source="import os\nos.memfd_create('x')" + _WON),
    Canary(name="make shared memory", source=_LIBC + "libc.shmget(0, 4096, 0o1600)" + _WON),
    Canary(name="map executable memory", source=_LIBC + "libc.mmap(None, 4096, 7, 0x22, -1, 0)" + _WON),
    Canary(name="enter a namespace", source=_LIBC + "libc.unshare(0x10000000)" + _WON),
    Canary(name="mount", source=_LIBC + "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)" + _WON),
    Canary(name="catch signals", source="import signal\nsignal.signal(15, print)" + _WON),
    Canary(name="sleep", source="import time\ntime.sleep(0.001)" + _WON),
    Canary(name="take all memory", source="y = bytearray(10**9)" + _WON, endings=("memory",)),
    Canary(name="compute for ever", source="while True: pass", endings=("timeout",), seconds=0.2),
    Canary(name="leave as if all were well", source="import os\nos._exit(0)", endings=("crashed",)),
)


def run_canaries(jail: JobRunner) -> tuple[str, ...]:
    """The names of the attacks that succeeded, empty when the jail holds.

    A run that could not be made at all (`fault`), or whose time was over, tells nothing about the walls: a machine may
    be that slow. What an attack wins it sends at once, and then no time is too short to be noticed.
    """
    return tuple(canary.name for canary in CANARIES if not _is_stopped(canary, jail))


def _is_stopped(canary: Canary, jail: JobRunner, *, again: bool = True) -> bool:
    header = {"source": canary.source, "names": ["won"]}
    reply = jail.run(Job(driver="probe", header=header, seconds=canary.seconds, output_bytes=2**16))
    if reply.ending in ("fault", "timeout"):
        return "won" not in reply.arrays
    ending = "error" if reply.ending == "done" and "error" in reply.texts else reply.ending
    if "won" in reply.arrays:
        return False
    # Something on the machine may have killed it, so an odd ending is looked at twice.
    return ending in canary.endings or (again and _is_stopped(canary, jail, again=False))
