# Copy a tree of mounts.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(428, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
