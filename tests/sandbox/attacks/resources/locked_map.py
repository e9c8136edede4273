# Map memory that stays in memory.
# outcome: denied

import ctypes
libc = ctypes.CDLL(None, use_errno=True)

libc.mmap(None, ctypes.c_size_t(2**26), 3, 0x2022, -1, 0)
won = torch.ones(())
