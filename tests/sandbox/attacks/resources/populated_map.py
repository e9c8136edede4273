# Map memory and have all of it made at once.
# outcome: denied

import ctypes
libc = ctypes.CDLL(None, use_errno=True)

libc.mmap(None, ctypes.c_size_t(2**40), 3, 0x8022, -1, 0)
won = torch.ones(())
