# Map memory that can be executed.
# outcome: denied

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap(None, ctypes.c_size_t(4096), 7, 0x22, -1, 0)
won = torch.ones(())
