"""The holes of the heap are filled in a process of its own: what is filled stays filled."""

import platform
import subprocess
import sys

import pytest

from tests.waiting import SECONDS

FRESH = """
import gc
scattered = [bytes(200) for _ in range(20_000)]
del scattered[::2]
gc.collect()
from app.sandbox import heap_packing
if {fill}:
    heap_packing.fill_heap()
later = [bytes(200) for _ in range(60)]
print(len({{id(one) // 16384 for one in later}}))
"""


def _answer(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=SECONDS, text=True
    ).stdout  # fmt: skip


def test_new_objects_lie_in_one_or_two_pools_and_fill_no_holes() -> None:
    assert int(_answer(FRESH.format(fill=True))) <= 2
    assert int(_answer(FRESH.format(fill=False))) > 2


ARENAS = """
import gc
scattered = [bytes(400) for _ in range(100_000)]
kept = scattered[::2000]
del scattered
gc.collect()
from app.sandbox import heap_packing
if {fill}:
    heap_packing.fill_heap()
later = [bytes(400) for _ in range(10_000)]
print(len({{id(one) >> 20 for one in later}}))
"""


def test_new_pools_do_not_lie_between_older_ones() -> None:
    megabytes = 10_000 * 432 / 2**20
    assert int(_answer(ARENAS.format(fill=True))) <= megabytes + 3
    assert int(_answer(ARENAS.format(fill=False))) > megabytes + 3


CHUNKS = """
import ctypes
from app.sandbox import heap_packing
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
libc.free.argtypes = (ctypes.c_void_p,)
taken = [libc.malloc(size) for size in range(8, 3000, 8) for _ in range(20)]
for chunk in taken[::2]:
    libc.free(chunk)
libc.mallinfo2.restype = heap_packing._Mallinfo
if {fill}:
    heap_packing.fill_heap()
print(libc.mallinfo2().between[0])
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library tells about its heap")
def test_malloc_has_nothing_free_but_the_end_of_its_heap() -> None:
    assert int(_answer(CHUNKS.format(fill=False))) > 500
    assert int(_answer(CHUNKS.format(fill=True))) <= 3


def test_filling_ends_where_the_c_library_serves_small_objects() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from app.sandbox import heap_packing as heap; heap._MOST = 2000; heap.fill_heap()"],
        env={"PYTHONMALLOC": "malloc"}, capture_output=True, check=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0
