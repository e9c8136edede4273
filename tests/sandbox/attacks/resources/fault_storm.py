# Give pages back and take them again, for ever.
# outcome: timeout

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
start = libc.mmap(None, ctypes.c_size_t(2**26), 3, 0x4022, -1, ctypes.c_long(0))
while True:
    ctypes.memset(start, 1, 2**26)
    libc.madvise(start, 2**26, 4)
