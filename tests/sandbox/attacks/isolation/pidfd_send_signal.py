# Signal by handle.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(424, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
