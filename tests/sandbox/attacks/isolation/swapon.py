# Use a swap file.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(167, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
