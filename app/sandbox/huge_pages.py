"""Huge pages for the data that every child touches: a run takes a quarter less of a processor with them.

A fork copies an entry for each page of memory, and an exit frees one. A huge page takes the place of 512.
"""

import contextlib
import gc
import re
from pathlib import Path

from app.sandbox import heap_packing, kernel

HUGE = 2**21
_LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+ *(.*)")


def use_huge_pages() -> None:
    """Arrange the memory of this process for its children. No other thread may be running."""
    gc.collect()
    heap_packing.fill_heap()
    gc.freeze()
    gather()


def gather() -> None:
    """Gather the private memory of this process into huge pages, as far as the kernel can."""
    for first, last, access, file in _mappings():
        if access.startswith("rw") and file in ("", "[heap]"):
            start = -(-first // HUGE) * HUGE
            with contextlib.suppress(OSError):
                kernel.collapse(start, max(0, last - start) // HUGE * HUGE)


def _mappings() -> list[tuple[int, int, str, str]]:
    """First and last address, access and file of all memory of this process."""
    text = Path("/proc/self/maps").read_text("utf-8", "replace")
    return [(int(match[1], 16), int(match[2], 16), match[3], match[4]) for match in _LINE.finditer(text)]
