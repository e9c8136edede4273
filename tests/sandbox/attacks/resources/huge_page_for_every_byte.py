# Have a huge page made for every byte that it writes.
# outcome: done|memory

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
start = libc.mmap(None, ctypes.c_size_t(240 * 2**20), 3, 0x4022, -1, ctypes.c_long(0))
libc.madvise(start, 240 * 2**20, 14)
for place in range(start, start + 240 * 2**20, 2**20):
    ctypes.memset(place, 1, 1)
