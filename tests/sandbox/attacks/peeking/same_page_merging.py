# Have equal pages of two processes merged, to learn from the time that a write takes.
# outcome: error

import ctypes
libc = ctypes.CDLL(None, use_errno=True)

page = (x.data_ptr() + 4096) & ~4095
assert libc.madvise(ctypes.c_void_p(page), 4096, 12) == 0
won = torch.ones(())
