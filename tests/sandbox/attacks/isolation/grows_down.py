# Map memory that grows by itself, below any limit that was asked.
# outcome: denied

import ctypes
ctypes.CDLL(None).mmap(None, ctypes.c_size_t(4096), 3, 0x122, -1, ctypes.c_long(0))
won = torch.ones(())
