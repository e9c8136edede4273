# Scatter single pages, so that the tables which find them take more memory than they do.
# outcome: done

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
fixed, hinted = (
    [libc.mmap(place, 4096, 3, flags, -1, 0) for place in range(2**40, 2**40 + 2**36, 2**30)]
    for flags in (0x32, 0x22)
)
if any(place != 2**64 - 1 for place in fixed) or any(place % 2**30 == 0 for place in hinted):
    won = torch.ones(())
