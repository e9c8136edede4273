# Cut its memory into as many pieces as the kernel counts.
# outcome: done|memory|error

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
start = libc.mmap(None, ctypes.c_size_t(2**27), 3, 0x4022, -1, ctypes.c_long(0))
for place in range(start, start + 2**27, 8192):
    if libc.mprotect(place, 4096, 1):
        break
