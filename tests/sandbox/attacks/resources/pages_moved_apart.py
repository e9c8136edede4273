# Move a page to where it wants it, and keep what was there.
# outcome: done

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
page = libc.mmap(None, 4096, 3, 0x22, -1, 0)
move = [libc.mremap(ctypes.c_void_p(page), 4096, 4096, flags, ctypes.c_void_p(2**40)) for flags in (3, 5, 7)]
if any(place != 2**64 - 1 for place in move):
    won = torch.ones(())
