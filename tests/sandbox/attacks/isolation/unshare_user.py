# Make a user namespace.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(272, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
