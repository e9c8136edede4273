# Have the kernel move a large map to and fro.
# outcome: timeout

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
libc.mremap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)
place, size = libc.mmap(None, ctypes.c_size_t(2**25), 3, 0x4022, -1, ctypes.c_long(0)), 2**25
ctypes.memset(place, 1, 2**25)
while True:
    other = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
    place = libc.mremap(place, size, 2**25 + 2**26 - size, 1)
    size = 2**25 + 2**26 - size
