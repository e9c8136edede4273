"""Huge pages for what every child touches: a fork, a short run and an exit cost much less with them.

A fork copies an entry for each page of memory, an exit frees one, and each child maps code that comes from a file anew,
sixteen pages at a time. A huge page takes the place of 512, and code in memory of our own is simply there.
"""

import contextlib
import gc
import mmap
import os
import re
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

from app.sandbox import holes, kernel

HUGE = 2**21
_PAGE = mmap.PAGESIZE
_LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+ *(.*)")
_PRESENT = 63  # the bit of an entry of pagemap
_ENTRY = array("Q").itemsize
_BUSY = 32  # of 512 pages: two of the pieces in which the kernel maps a file


def settle(work: Callable[[], object]) -> None:
    """Arrange the memory of this process for children that will do *work*. No other thread may be running."""
    gc.collect()
    holes.fill()
    gc.freeze()
    gather_data()
    gather_code(work)


def gather_data() -> None:
    """Gather the private memory of this process into huge pages, as far as the kernel can."""
    for first, last, access, file in _mappings():
        if access.startswith("rw") and file in ("", "[heap]"):
            whole = _whole(first, last)
            with contextlib.suppress(OSError):
                kernel.collapse(whole.start, len(whole) * HUGE)


def gather_code(work: Callable[[], object]) -> None:
    """Put huge pages in place of the code that *work* runs, with the same bytes; it is left where that fails."""
    if kernel.MACHINE != "x86_64":
        return  # elsewhere caches of instructions would have to be told; nobody has tried
    if found := _run_by(work):
        with contextlib.suppress(OSError):
            kernel.replace_code(found, HUGE)


def _run_by(work: Callable[[], object]) -> list[int]:
    """Where the huge pages' worth of code begin that a fresh child needs for *work*."""
    ours, theirs = os.pipe()
    pid = kernel.fork()
    if pid == 0:
        try:
            work()
            kernel.show_memory()
            os.write(theirs, array("Q", _busy()).tobytes())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as source:
        found = source.read()
    os.waitpid(pid, 0)
    return array("Q", found).tolist()


def _busy() -> Iterator[int]:
    """Huge pages' worth of code of which this process, a fresh fork, has mapped enough to be worth their memory."""
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
        for first, last, access, file in _mappings():
            if access.startswith("r-x") and file.startswith("/"):
                for start in _whole(first, last):
                    pages = array("Q", os.pread(pagemap.fileno(), HUGE // _PAGE * _ENTRY, start // _PAGE * _ENTRY))
                    if sum(page >> _PRESENT for page in pages) >= _BUSY:
                        yield start


def _mappings() -> list[tuple[int, int, str, str]]:
    """First and last address, access and file of all memory of this process."""
    text = Path("/proc/self/maps").read_text("utf-8", "replace")
    return [(int(one[1], 16), int(one[2], 16), one[3], one[4]) for one in _LINE.finditer(text)]


def _whole(first: int, last: int) -> range:
    return range(-(-first // HUGE) * HUGE, last - HUGE + 1, HUGE)
