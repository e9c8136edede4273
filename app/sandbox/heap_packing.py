"""Fill the holes that warming up leaves in the heap, so that what a child allocates lies close together.

A child shares its parent's pages until it writes to them. New objects go into whatever is free, and after the start of
torch that is a few bytes in each of thousands of pages: every small object then costs the copy of a whole page. With
the holes filled, new objects follow each other in fresh pages, and a run takes a tenth to a fifth less of a processor.
It takes memory that was counted as used anyway.
"""

import contextlib
import ctypes
from typing import Any

_POOL_BYTES = 16 * 1024  # CPython's allocator of small objects hands out blocks of one size from such a pool
_POOL_HEAD = 48
_ARENA_POOLS = 62  # of 64, since an arena need not begin where a pool does
_STEP, _SMALLEST, _LARGEST = 16, 16, 512
_BYTES_HEAD = 40  # of a bytes object, rounded up to what keeps every size in its class
_MOST = 2**18  # of one size: where another allocator serves small objects there is no end to look for

_CHUNKS = (*range(65_536, 2048, -512), *range(2048, 0, -16))
_filling: list[Any] = []


def fill_heap() -> None:
    """Fill the holes of Python's allocator, then, where the C library tells about its own, those of `malloc`."""
    for size in range(_LARGEST, 0, -_STEP):
        _filling.append(_fill_pools(size))
        if len(_filling[-1]) == _MOST:
            return
    _filling.append(_fill_arenas())
    with contextlib.suppress(AttributeError, OSError):
        _fill_chunks()


def _fill_pools(size: int) -> list[object]:
    """Objects of *size* bytes, made until a whole fresh pool of them is full."""
    room = (_POOL_BYTES - _POOL_HEAD) // size
    objects: list[object] = []
    pool, in_a_row = -1, 0
    while in_a_row < room and len(objects) < _MOST:
        objects.append(_object(size))
        current_pool = id(objects[-1]) // _POOL_BYTES
        in_a_row = in_a_row + 1 if current_pool == pool else 1
        pool = current_pool
    return objects


def _fill_arenas() -> list[object]:
    """Objects, made until the pools of a whole fresh arena follow each other: no older one has a free pool left."""
    objects: list[object] = []
    pool, in_a_row = -1, 0
    while in_a_row < _ARENA_POOLS and len(objects) < _MOST:
        objects.append(_object(_LARGEST))
        current_pool = id(objects[-1]) // _POOL_BYTES
        if current_pool != pool:
            in_a_row = in_a_row + 1 if current_pool == pool + 1 else 1
            pool = current_pool
    return objects


def _object(size: int) -> object:
    if size == _SMALLEST:
        return object()
    return bytes(size - _BYTES_HEAD) if size > _BYTES_HEAD else float(size)


class _Mallinfo(ctypes.Structure):
    _fields_ = (("arena", ctypes.c_size_t), ("between", ctypes.c_size_t * 8), ("keepcost", ctypes.c_size_t))


def _fill_chunks() -> None:
    """Take chunks from `malloc`, large ones first, until none lies below the unused end of the heap."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    libc.free.restype, libc.free.argtypes = None, (ctypes.c_void_p,)
    libc.sbrk.restype, libc.sbrk.argtypes = ctypes.c_void_p, (ctypes.c_ssize_t,)
    libc.mallinfo2.restype = _Mallinfo
    info = libc.mallinfo2()
    end = libc.sbrk(0) - info.keepcost
    start = end - info.arena
    for size in _CHUNKS:
        for _ in range(_MOST):
            chunk = libc.malloc(size)
            if not start <= (chunk or 0) < end:
                libc.free(chunk)
                break
