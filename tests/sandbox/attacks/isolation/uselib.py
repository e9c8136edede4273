# Load a library by the kernel.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(134, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
