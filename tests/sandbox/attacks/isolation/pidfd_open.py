# Take a handle on a process.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(434, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
