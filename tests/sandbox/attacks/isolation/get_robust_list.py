# Read another thread's locks.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(274, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
