# Open a file by handle.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(304, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
