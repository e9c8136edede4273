# Say done while as much memory as may be must be taken down.
# outcome: done

import ctypes, os
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
size = 2**26
while size >= 2**16:
    place = libc.mmap(None, ctypes.c_size_t(size), 3, 0x22, -1, ctypes.c_long(0))
    if place == 2**64 - 1:
        size //= 2
    else:
        libc.madvise(ctypes.c_void_p(place), ctypes.c_size_t(size), 15)
        ctypes.memset(place, 1, size)
os.write(3, b"Zd")
while True:
    pass
