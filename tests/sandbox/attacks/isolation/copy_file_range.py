# Copy files inside of the kernel.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(326, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
