# Use the futex operations that had holes.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(202, 0, 11, 0, 0, 0, 0)
won = torch.ones(())
