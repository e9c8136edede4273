# Read the kernel's messages.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(103, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
