# Have the kernel send a text whose second half is not there.
# outcome: crashed|done

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
page = libc.mmap(None, 8192, 3, 0x22, -1, 0)
libc.munmap(page + 4096, 4096)
ctypes.memmove(page + 4089, b"S\1\0\x40\0\0\0", 7)
libc.write(3, ctypes.c_void_p(page + 4089), 72)
