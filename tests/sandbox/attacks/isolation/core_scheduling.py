# Share a core's cookie with another process.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(157, 62, 3, 1, 0, 0, 0)
won = torch.ones(())
