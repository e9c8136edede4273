# Lock all memory, now and later.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(151, 7, 0, 0, 0, 0, 0)
won = torch.ones(())
