# Queue a signal.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(129, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
