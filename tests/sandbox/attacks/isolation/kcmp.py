# Compare with another process.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(312, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
