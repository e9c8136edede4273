# Change the root for itself.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(161, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
