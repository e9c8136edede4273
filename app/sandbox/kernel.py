"""The few system calls that Python does not offer, each raising OSError with the step that failed.

Nothing here decides anything; `jail.py`, `seccomp.py` and `landlock.py` do.
"""

import contextlib
import ctypes
import os
import platform
import struct
from pathlib import Path

MACHINE = platform.machine()
LINUX = platform.system() == "Linux"
NEEDS_LINUX = "Running code needs Linux, which Docker or WSL gives you."

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_SET_THP_DISABLE = 41

CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000

CAP_KILL = 5
CAP_SETGID = 6
CAP_SETUID = 7
CAP_SETPCAP = 8

NUMBERS = {
    "x86_64": {"capset": 126, "seccomp": 317, "close_range": 436},
    "aarch64": {"capset": 91, "seccomp": 277, "close_range": 436},
}.get(MACHINE, {})
_MADV_COLLAPSE = 25

LANDLOCK_CREATE_RULESET = 444
LANDLOCK_RESTRICT_SELF = 446

_WORDS = 4  # more than any call here takes; a pointer's type takes numbers, bytes and None alike
_NOTHING = (0,) * _WORDS
if LINUX:  # nothing else calls what is below, and other systems have no such functions
    _libc = ctypes.CDLL(None, use_errno=True)
    _library = ctypes.PyDLL(None, use_errno=True)  # for calls that must not let go of the interpreter lock
    _libc.syscall.restype = ctypes.c_long
    _libc.syscall.argtypes = (ctypes.c_long, *(ctypes.c_void_p,) * _WORDS)
    _libc.prctl.restype = ctypes.c_int
    _libc.prctl.argtypes = (ctypes.c_int, *(ctypes.c_void_p,) * _WORDS)
    _libc.unshare.restype = ctypes.c_int
    _libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(what: str, number: int, *arguments: int | bytes | None) -> int:
    """Call *number*; *what* names it in the error."""
    return _check(_libc.syscall(number, *(*arguments, *_NOTHING)[:_WORDS]), what)


def prctl(what: str, option: int, *arguments: int) -> int:
    return _check(_libc.prctl(option, *(*arguments, *_NOTHING)[:_WORDS]), what)


def fork() -> int:
    """Fork a process of one thread, without Python's hooks for the locks and threads that it does not have.

    `os.fork` runs code of `threading`, `logging` and others in the child, which copies some 300 pages and takes half of
    the time of the whole fork. What is left to the caller: `random` still holds the parent's state. In a process that
    has more threads the child may wait forever for one of them.
    """
    return _check(_library.fork(), "fork")


def unshare(flags: int) -> None:
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def close_from(first: int) -> None:
    """Close every descriptor from *first* on."""
    syscall("close_range", NUMBERS["close_range"], first, 0xFFFFFFFF, 0)


def keep_capabilities(*keep: int) -> None:
    """Of the effective and permitted set keep those, as far as they are there; inherit nothing. Always allowed."""
    left = capabilities() & sum(1 << number for number in keep) if keep else 0
    header = (0x20080522).to_bytes(4, "little") + bytes(4)
    low, high = left & 0xFFFFFFFF, left >> 32
    syscall("capset", NUMBERS["capset"], header, struct.pack("<6I", low, low, 0, high, high, 0))


def bound_capabilities(*keep: int) -> None:
    """Take away every other capability that a program could still gain by exec, where this process may."""
    with contextlib.suppress(OSError):  # EINVAL after the last one, EPERM without CAP_SETPCAP
        for capability in range(64):
            if capability not in keep:
                prctl("PR_CAPBSET_DROP", PR_CAPBSET_DROP, capability)


def capabilities() -> int:
    """The effective set of this process as a bit mask."""
    return int(_status("CapEff"), 16)


def collapse(start: int, length: int) -> None:
    """Make huge pages of a range of private memory."""
    _check(_libc.madvise(start, length, _MADV_COLLAPSE), "madvise")


def vm_bytes() -> int:
    """The address space of this process."""
    return int(_status("VmSize").split()[0]) * 1024


def private_bytes() -> int:
    """Bytes of memory that this process may write to, and shares with no other."""
    return int(_status("VmData").split()[0]) * 1024


def threads() -> int:
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def _status(key: str) -> str:
    for line in Path("/proc/self/status").read_text("ascii", "replace").splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return value.strip()
    return "0"


def open_oom_score() -> int | None:
    """Descriptor for `set_oom_score` of this process, or None where the kernel has no such file.

    Comes before `hide_memory`: after that, the file belongs to root.
    """
    with contextlib.suppress(OSError):
        return os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    return None


def set_oom_score(score: int | None, thousandths: int) -> None:
    """Have the kernel, out of memory, count so much of all memory to what this process holds: it ends the largest.

    Children inherit it. What a platform has set higher may stay: to go below that takes rights.
    """
    if score is not None:
        with contextlib.suppress(OSError):
            os.write(score, str(thousandths).encode())


def hide_memory() -> None:
    """Make this process undumpable: without Yama, a process of the same user could otherwise open its memory."""
    if LINUX:
        prctl("PR_SET_DUMPABLE", PR_SET_DUMPABLE, 0)
