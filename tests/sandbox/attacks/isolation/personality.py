# Change how memory may be executed.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(135, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
