# Change its priority at the disk.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(251, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
