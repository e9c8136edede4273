"""The filter as a table: every call number is allowed, refused or deadly, exactly as written there."""

import platform
import struct

import numpy as np
import pytest

from app.sandbox import seccomp
from app.sandbox.wire import Job

ARCHITECTURE = seccomp.ARCHITECTURES[platform.machine()]
LISTED = {**ARCHITECTURE.allowed, **ARCHITECTURE.checked, **ARCHITECTURE.refused}
# uretprobe and uprobe: recent x86-64 kernels let them past every filter; called from a program they do nothing.
EXEMPT = {335, 336} if platform.machine() == "x86_64" else set()
DEADLY = sorted(set(range(480)) - set(LISTED.values()) - EXEMPT)
CALL = "import ctypes; ctypes.CDLL(None).syscall({number}, 0, 0, 0, 0, 0, 0)"

REFUSED = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
answers = [(libc.syscall(n, 0, 0, 0, 0, 0, 0), ctypes.get_errno()) for n in numbers.tolist()]
y = torch.tensor([answer == (-1, errno.EPERM) for answer in answers])
"""


@pytest.mark.parametrize("number", DEADLY)
def test_every_call_that_is_not_listed_kills(jail, number):
    reply = jail.run(Job(driver="probe", header={"source": CALL.format(number=number)}, seconds=5))

    assert reply.ending == "denied"


def test_every_refused_call_answers_eperm_and_the_program_goes_on(jail):
    numbers = np.array(sorted(ARCHITECTURE.refused.values()))

    reply = jail.run(Job(driver="probe", header={"source": REFUSED, "names": ["y"]}, arrays={"numbers": numbers}))

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
    assert verdict(machine, checked["madvise"], 0, 0, 100) == seccomp.REFUSE
    assert verdict(machine, checked["tgkill"], 1, 1, 9) == seccomp.KILL
