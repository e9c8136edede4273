"""What a fork inherits: data in huge pages, and programs that have run before."""

import ctypes
import json
import mmap
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.sandbox import huge_pages, kernel
from app.sandbox.runner import Jail
from tests.waiting import SECONDS


def _can_gather() -> bool:
    memory = mmap.mmap(-1, 2 * huge_pages.HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(bytes(len(memory)))
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    try:
        kernel.collapse(-(-first // huge_pages.HUGE) * huge_pages.HUGE, huge_pages.HUGE)
    except OSError:
        return False
    return True


gathers = pytest.mark.skipif(not _can_gather(), reason="this kernel makes no huge pages on request")

LIKE_A_ZYGOTE = """
import json, os, sys
from app.sandbox import zygote
zygote.keep_small()
from app.sandbox import harness, warm, zygote_loop
for name, module in zygote_loop.DRIVERS.items():
    harness.register(name, module)
import torch

for line in sys.stdin:
    if os.fork() == 0:
        exec(json.loads(line))
        sys.stdout.flush()
        os._exit(0)
    os.wait()
    print(flush=True)
"""

SMALL = """
warm.warm_up()
x = torch.ones(2, 3, requires_grad=True)
try:
    torch.autograd.grad(x * 2, x, torch.ones(3, 2))
except RuntimeError as error:
    print(error)
assert torch.equal(torch.autograd.grad(x * 2, x, torch.ones(2, 3))[0], torch.full((2, 3), 2.0))
print(sorted({"sympy", "mpmath", "numpy.linalg"} & set(sys.modules)))
"""

STUMBLED = """
from app.sandbox import rehearsal

def stumble(header, arrays, output):
    torch.set_default_dtype(torch.float64)
    raise ValueError

harness.DRIVERS[rehearsal.DRIVER] = stumble
try:
    harness.rehearse()
except ValueError:
    print(torch.ones(1).dtype)
"""

REHEARSED = """
import dis
from app.grading.judge import attempt_driver

def fitted(function):
    plain = [one.opname for one in dis.get_instructions(function)]
    return sum(a != b for a, b in zip(plain, [one.opname for one in dis.get_instructions(function, adaptive=True)]))

for count in (1, zygote_loop.REHEARSALS - 1):
    for _ in range(count):
        harness.rehearse()
    print(fitted(attempt_driver._Trial.run))
"""


Answer = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def answer() -> Iterator[Answer]:
    """Runs a program in a fork of a process that has loaded what a zygote loads, and gives the lines that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-c", LIKE_A_ZYGOTE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def run(program: str) -> list[str]:
        print(json.dumps(program), file=process.stdin, flush=True)
        return list(iter(lambda: process.stdout.readline().strip(), ""))

    with process:
        yield run


@gathers
def test_children_find_the_data_of_the_zygote_in_huge_pages(jail: Jail) -> None:
    assert jail.is_warm(SECONDS)
    smaps = Path(f"/proc/{jail.zygote_pid}/smaps").read_text()
    huge = sum(int(size) for size in re.findall(r"^AnonHugePages: *(\d+) kB", smaps, re.MULTILINE))
    assert huge >= 20 * 1024


def test_what_a_run_does_was_fitted_before_the_first_fork(answer: Answer) -> None:
    after_one, after_all = map(int, answer(REHEARSED))
    assert after_all > after_one


def test_a_zygote_without_numpy_and_sympy_still_compares_sizes(answer: Answer) -> None:
    words, loaded = answer(SMALL)
    assert words.startswith("Mismatch in shape: grad_output[0] has a shape of torch.Size([3, 2])")
    assert loaded == "[]"


def test_a_rehearsal_that_fails_leaves_nothing_behind_for_the_run(answer: Answer) -> None:
    assert answer(STUMBLED) == ["torch.float32"]
