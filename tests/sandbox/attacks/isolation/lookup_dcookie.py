# Look up a cookie.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(212, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
