"""The filter as a table: every call number is allowed, refused or deadly, exactly as written here.

The numbers are written out and not read from the filter: one that is added there must be added here, with its reason.
"""

import platform
import struct

import numpy as np
import pytest

from app.sandbox import seccomp
from app.sandbox.wire import Job
from tests.waiting import SECONDS

# fmt: off
ALLOWED = {"x86_64": [11, 12, 14, 15, 96, 231, 318], "aarch64": [94, 135, 139, 169, 214, 215, 278]}
CHECKED = {"x86_64": [1, 9, 10, 13, 25, 28, 202, 228, 234], "aarch64": [64, 98, 113, 131, 134, 216, 222, 226, 233]}
REFUSED = {
    "x86_64": [
        0, 2, 3, 4, 5, 6, 8, 16, 17, 21, 24, 39, 63, 72, 79, 89, 97, 98, 99, 100, 102, 104, 107, 108, 110, 111, 137,
        138, 186, 201, 204, 217, 229, 257, 262, 267, 269, 302, 309, 332, 437, 439,
    ],
    "aarch64": [
        17, 25, 29, 43, 44, 48, 56, 57, 61, 62, 63, 67, 78, 79, 80, 114, 123, 124, 153, 160, 163, 165, 168, 172, 173,
        174, 175, 176, 177, 178, 179, 261, 291, 437, 439,
    ],
}
# fmt: on
MACHINE = platform.machine()
# uretprobe and uprobe: recent x86-64 kernels let them past every filter; called from a program they do nothing.
EXEMPT = {335, 336} if MACHINE == "x86_64" else set()
DEADLY = sorted(set(range(480)) - EXEMPT - {*ALLOWED[MACHINE], *CHECKED[MACHINE], *REFUSED[MACHINE]})
CALL = "import ctypes; ctypes.CDLL(None).syscall({number}, 0, 0, 0, 0, 0, 0)"

ASK_ALL = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
answers = [(libc.syscall(n, 0, 0, 0, 0, 0, 0), ctypes.get_errno()) for n in numbers.tolist()]
y = torch.tensor([answer == (-1, errno.EPERM) for answer in answers])
"""


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_the_filter_knows_the_calls_that_are_written_here_and_no_others(machine):
    table = seccomp.ARCHITECTURES[machine]

    assert sorted(table.allowed.values()) == ALLOWED[machine]
    assert sorted(table.checked.values()) == CHECKED[machine]
    assert sorted(table.refused.values()) == REFUSED[machine]


@pytest.mark.parametrize("number", DEADLY)
def test_every_call_that_is_not_listed_kills(jail, number):
    reply = jail.run(Job(driver="probe", header={"source": CALL.format(number=number)}, seconds=SECONDS))

    assert reply.ending == "denied"


def test_every_refused_call_answers_eperm_and_the_program_goes_on(jail):
    numbers = np.array(REFUSED[MACHINE])

    reply = jail.run(Job(driver="probe", header={"source": ASK_ALL, "names": ["y"]}, arrays={"numbers": numbers}))

    assert reply.ending == "done"
    assert reply.arrays["y"].all()


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_the_program_for_each_machine_is_well_formed(machine):
    code = seccomp.instructions(seccomp.ARCHITECTURES[machine], x32=machine == "x86_64")

    assert len(code) < 4096
    for place, (kind, yes, no, _) in enumerate(code):
        if kind & 7 == 5:
            assert place + 1 + max(yes, no) < len(code)
    assert len(seccomp.assemble(code)) == 8 * len(code)


def verdict(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """Run the filter on one call, as the kernel would."""
    architecture = seccomp.ARCHITECTURES[machine]
    data = struct.pack("<iIQ6Q", number, architecture.audit if audit is None else audit, 0, *(*arguments, *[0] * 6)[:6])
    code = seccomp.instructions(architecture, x32=machine == "x86_64")
    accumulator, place = 0, 0
    while True:
        kind, yes, no, operand = code[place]
        place += 1
        match kind:
            case 0x20:
                accumulator = struct.unpack_from("<I", data, operand)[0]
            case 0x54:
                accumulator &= operand
            case 0x15:
                place += yes if accumulator == operand else no
            case 0x35:
                place += yes if accumulator >= operand else no
            case 0x45:
                place += yes if accumulator & operand else no
            case 0x06:
                return operand


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_both_tables_give_the_same_answers(machine):
    table = seccomp.ARCHITECTURES[machine]
    checked = table.checked

    assert all(verdict(machine, number) == seccomp.ALLOW for number in table.allowed.values())
    assert all(verdict(machine, number) == seccomp.REFUSE for number in table.refused.values())
    assert verdict(machine, 0x40000000 | 1) == seccomp.KILL
    assert verdict(machine, checked["write"], 3, audit=0x40000003) == seccomp.KILL
    assert verdict(machine, checked["write"], 3) == seccomp.ALLOW
    assert verdict(machine, checked["write"], 2) == seccomp.REFUSE
    assert verdict(machine, checked["write"], 4) == seccomp.KILL
    assert verdict(machine, checked["mmap"], 0, 4096, 3, 0x22) == seccomp.ALLOW
    assert verdict(machine, checked["mmap"], 0, 4096, 3, 0x4022) == seccomp.ALLOW
    assert verdict(machine, checked["mmap"], 0, 4096, 7, 0x22) == seccomp.KILL
    assert verdict(machine, checked["mmap"], 0, 4096, 3, 0x21) == seccomp.KILL
    assert verdict(machine, checked["mmap"], 0, 4096, 3, 0x02) == seccomp.KILL
    assert verdict(machine, checked["mprotect"], 0, 4096, 1) == seccomp.ALLOW
    assert verdict(machine, checked["mprotect"], 0, 4096, 5) == seccomp.KILL
    assert verdict(machine, checked["mmap"], 4096, 4096, 3, 0x22) == seccomp.REFUSE
    assert verdict(machine, checked["mmap"], 1 << 32, 4096, 3, 0x22) == seccomp.REFUSE
    assert verdict(machine, checked["mmap"], 4096, 4096, 3, 0x32) == seccomp.REFUSE
    assert verdict(machine, checked["mremap"], 4096, 4096, 8192, 1) == seccomp.ALLOW
    assert verdict(machine, checked["mremap"], 4096, 4096, 8192, 3) == seccomp.REFUSE
    assert verdict(machine, checked["clock_gettime"], 1) == seccomp.ALLOW
    assert verdict(machine, checked["clock_gettime"], ~1 << 3 & 0xFFFFFFFF) == seccomp.REFUSE
    assert verdict(machine, checked["futex"], 0, 0x81) == seccomp.ALLOW
    assert verdict(machine, checked["futex"], 0, 0x189) == seccomp.ALLOW
    assert verdict(machine, checked["futex"], 0, 1) == seccomp.KILL
    assert verdict(machine, checked["futex"], 0, 6) == seccomp.KILL
    assert verdict(machine, checked["madvise"], 0, 0, 4) == seccomp.ALLOW
    assert {advice for advice in range(128) if verdict(machine, checked["madvise"], 0, 0, advice) == seccomp.ALLOW} == {
        0, 3, 4, 8, 15,
    }  # fmt: skip
    assert verdict(machine, checked["tgkill"], 1, 1, 9) == seccomp.KILL
