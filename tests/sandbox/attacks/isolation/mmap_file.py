# Map a descriptor.
# outcome: denied

import ctypes
ctypes.CDLL(None).mmap(None, 4096, 1, 2, 3, 0)
won = torch.ones(())
