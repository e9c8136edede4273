# Write another process's memory.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(311, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
