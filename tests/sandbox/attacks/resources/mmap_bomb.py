# Map anonymous memory without end.
# outcome: error|memory|denied

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
for _ in range(10000):
    if libc.mmap(None, ctypes.c_size_t(2**20), 3, 0x22, -1, 0) == ctypes.c_void_p(-1).value:
        raise MemoryError
won = torch.ones(())
