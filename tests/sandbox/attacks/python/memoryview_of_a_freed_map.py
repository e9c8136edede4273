# Read through a view after its memory was given back.
# outcome: crashed

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
place = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
view = memoryview((ctypes.c_char * 4096).from_address(place)).cast("B")
libc.munmap(ctypes.c_void_p(place), ctypes.c_size_t(4096))
view[0]
