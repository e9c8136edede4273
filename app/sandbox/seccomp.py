"""The system call filter of a jailed child: an allowlist in classic BPF, assembled by hand.

What the interpreter and torch need to compute is allowed, what a library merely tries answers EPERM, and everything
else kills the process. A new entry needs an honest program that fails without it.
"""

import ctypes
import struct
from dataclasses import dataclass

from app.sandbox import kernel

RESULT_FD = 3

ALLOW = 0x7FFF0000
KILL = 0x80000000
REFUSE = 0x00050000 | 1  # answer EPERM

_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

_SET_MODE_FILTER, _GET_ACTION_AVAILABLE = 1, 2
_X32_BIT = 0x40000000

_PROTECTION = 0x3  # read and write, never execute
_PRIVATE_ANONYMOUS = 0x22
_HARMLESS_MAP_FLAGS = 0x4000 | 0x20000 | 0x10  # NORESERVE, STACK, FIXED
_MAY_MOVE = 1
_CLOCKS = 16  # beyond are those of processes and threads, anybody's
_FUTEX_REALTIME = 0x100
# WAIT, WAKE and their bitset forms: no requeueing, no priority inheritance. Only PRIVATE ones: others meet whoever has
# the same page of the same library mapped, which is every other run.
_FUTEX_PLAIN = tuple(0x80 | operation for operation in (0, 1, 9, 10))
# NORMAL, WILLNEED, DONTNEED, FREE, NOHUGEPAGE; not HUGEPAGE: of a huge page of which all but 4 KB is given back, the
# kernel keeps 2 MB until memory is short, and no limit counts them.
_ADVICE = (0, 3, 4, 8, 15)
_ABORT = 6

Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Architecture:
    """*audit* is the kernel's name for the machine; the tables give the call numbers."""

    audit: int
    allowed: dict[str, int]
    checked: dict[str, int]
    refused: dict[str, int]


# fmt: off
ARCHITECTURES = {
    "x86_64": Architecture(
        audit=0xC000003E,
        allowed={
            "munmap": 11, "brk": 12, "exit_group": 231, "gettimeofday": 96, "getrandom": 318, "rt_sigreturn": 15,
            "rt_sigprocmask": 14,
        },
        checked={
            "write": 1, "mmap": 9, "mprotect": 10, "mremap": 25, "madvise": 28, "futex": 202, "clock_gettime": 228,
            "tgkill": 234, "rt_sigaction": 13,
        },
        refused={
            "read": 0, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "lseek": 8, "ioctl": 16,
            "pread64": 17, "access": 21, "sched_yield": 24, "getpid": 39, "uname": 63, "fcntl": 72, "getcwd": 79,
            "readlink": 89, "getrlimit": 97, "getrusage": 98, "sysinfo": 99, "times": 100, "getuid": 102,
            "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "getpgrp": 111, "statfs": 137,
            "fstatfs": 138, "gettid": 186, "time": 201, "sched_getaffinity": 204, "getdents64": 217,
            "clock_getres": 229, "openat": 257, "newfstatat": 262, "readlinkat": 267, "faccessat": 269,
            "prlimit64": 302, "getcpu": 309, "statx": 332, "openat2": 437, "faccessat2": 439,
        },
    ),
    "aarch64": Architecture(
        audit=0xC00000B7,
        allowed={
            "munmap": 215, "brk": 214, "exit_group": 94, "gettimeofday": 169, "getrandom": 278, "rt_sigreturn": 139,
            "rt_sigprocmask": 135,
        },
        checked={
            "write": 64, "mmap": 222, "mprotect": 226, "mremap": 216, "madvise": 233, "futex": 98, "clock_gettime": 113,
            "tgkill": 131, "rt_sigaction": 134,
        },
        refused={
            "read": 63, "close": 57, "fstat": 80, "lseek": 62, "ioctl": 29, "pread64": 67, "sched_yield": 124,
            "getpid": 172, "uname": 160, "fcntl": 25, "getcwd": 17, "getrlimit": 163, "getrusage": 165,
            "sysinfo": 179, "times": 153, "getuid": 174, "getgid": 176, "geteuid": 175, "getegid": 177,
            "getppid": 173, "statfs": 43, "fstatfs": 44, "gettid": 178, "sched_getaffinity": 123, "getdents64": 61,
            "clock_getres": 114, "openat": 56, "newfstatat": 79, "readlinkat": 78, "faccessat": 48,
            "prlimit64": 261, "getcpu": 168, "statx": 291, "openat2": 437, "faccessat2": 439,
        },
    ),
}
# fmt: on


def _argument(index: int) -> Instruction:
    """Load the low word of an argument: the kernel reads these arguments as 32-bit integers or flags."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * index)


def _upper_half(index: int) -> Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * index + 4)


def _one_of(values: tuple[int, ...], verdict: int, otherwise: int) -> list[Instruction]:
    tests = [(_JUMP_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [*tests, (_RETURN, 0, 0, otherwise), (_RETURN, 0, 0, verdict)]


def _no_bit_outside(mask: int) -> list[Instruction]:
    """Kill where the accumulator has a bit outside *mask*; otherwise go on."""
    return [(_JUMP_ANY_BIT, 0, 1, ~mask & 0xFFFFFFFF), (_RETURN, 0, 0, KILL)]


def _checks() -> dict[str, list[Instruction]]:
    flags = _PRIVATE_ANONYMOUS | _HARMLESS_MAP_FLAGS
    return {
        # The standard streams are closed to it, but a library that warns there must not die for it.
        "write": [
            _argument(0),
            (_JUMP_EQUAL, 0, 1, RESULT_FD),
            (_RETURN, 0, 0, ALLOW),
            *_one_of((1, 2), REFUSE, KILL),
        ],
        "mmap": [
            _argument(2),
            *_no_bit_outside(_PROTECTION),
            _argument(3),
            *_no_bit_outside(flags),
            (_AND, 0, 0, _PRIVATE_ANONYMOUS),
            (_JUMP_EQUAL, 1, 0, _PRIVATE_ANONYMOUS),
            (_RETURN, 0, 0, KILL),
            # Where is for the kernel to say: pages far apart need twice their size in tables, which no limit counts.
            _argument(0),
            (_JUMP_EQUAL, 1, 0, 0),
            (_RETURN, 0, 0, REFUSE),
            _upper_half(0),
            *_one_of((0,), ALLOW, REFUSE),
        ],
        "mprotect": [_argument(2), *_no_bit_outside(_PROTECTION), (_RETURN, 0, 0, ALLOW)],
        "mremap": [_argument(3), *_one_of((0, _MAY_MOVE), ALLOW, REFUSE)],
        "madvise": [_argument(2), *_one_of(_ADVICE, ALLOW, REFUSE)],
        "futex": [
            _argument(1),
            (_AND, 0, 0, ~_FUTEX_REALTIME & 0xFFFFFFFF),
            *_one_of(_FUTEX_PLAIN, ALLOW, KILL),
        ],
        "clock_gettime": [
            _argument(0),
            (_JUMP_GREATER_EQUAL, 0, 1, _CLOCKS),
            (_RETURN, 0, 0, REFUSE),
            (_RETURN, 0, 0, ALLOW),
        ],
        # abort() tries these two and then crashes, which is what it should be reported as.
        "tgkill": [_argument(2), *_one_of((_ABORT,), REFUSE, KILL)],
        "rt_sigaction": [_argument(0), *_one_of((_ABORT,), REFUSE, KILL)],
    }


def instructions(architecture: Architecture, *, x32: bool) -> list[Instruction]:
    """The whole filter. *x32* refuses the second numbering of calls that x86-64 kernels accept."""
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture.audit),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if x32:
        code += [(_JUMP_GREATER_EQUAL, 0, 1, _X32_BIT), (_RETURN, 0, 0, KILL)]
    checks = _checks()
    for name, number in architecture.checked.items():
        code += [(_JUMP_EQUAL, 0, len(checks[name]), number), *checks[name]]
    for number in architecture.allowed.values():
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, ALLOW)]
    for number in architecture.refused.values():
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, REFUSE)]
    return [*code, (_RETURN, 0, 0, KILL)]


def assemble(code: list[Instruction]) -> bytes:
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)


class Filter:
    """A filter in memory, ready to be installed by one call."""

    def __init__(self) -> None:
        code = instructions(ARCHITECTURES[kernel.MACHINE], x32=kernel.MACHINE == "x86_64")
        self._code = ctypes.create_string_buffer(assemble(code))
        self._program = struct.pack("@HP", len(code), ctypes.addressof(self._code))

    def install(self) -> None:
        """From here on this process, and for ever, may only do what the filter allows."""
        kernel.syscall("seccomp", kernel.NUMBERS["seccomp"], _SET_MODE_FILTER, 0, self._program)


def missing_seccomp() -> OSError | None:
    """Reason why this kernel cannot filter, or None. Changes nothing."""
    if not kernel.LINUX or kernel.MACHINE not in ARCHITECTURES:
        return OSError(38, f"no filter for {kernel.MACHINE}")
    try:
        kernel.syscall("seccomp", kernel.NUMBERS["seccomp"], _GET_ACTION_AVAILABLE, 0, struct.pack("<I", KILL))
    except OSError as error:
        return error
    return None
