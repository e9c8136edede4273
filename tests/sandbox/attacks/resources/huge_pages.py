# Map huge pages.
# outcome: denied

import ctypes
libc = ctypes.CDLL(None)
libc.mmap(None, ctypes.c_size_t(2**21), 3, 0x22 | 0x40000, -1, 0)
won = torch.ones(())
