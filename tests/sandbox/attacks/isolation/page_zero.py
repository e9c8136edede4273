# Map the page at address zero, for a kernel that trips over it.
# outcome: error

import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
assert libc.mmap(None, ctypes.c_size_t(4096), 3, 0x32, -1, ctypes.c_long(0)) in (None, 0)
won = torch.ones(())
