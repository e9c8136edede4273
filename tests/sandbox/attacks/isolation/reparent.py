# Adopt the children of others.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(157, 36, 1, 0, 0, 0, 0)
won = torch.ones(())
