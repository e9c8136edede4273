# Attach shared memory.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(30, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
