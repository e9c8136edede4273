# Grow the heap without end.
# outcome: error|memory

import ctypes
libc = ctypes.CDLL(None)
libc.sbrk.restype = ctypes.c_void_p
for _ in range(4096):
    if libc.sbrk(2**20) == ctypes.c_void_p(-1).value:
        raise MemoryError
won = torch.ones(())
