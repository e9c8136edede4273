# Turn on accounting.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(163, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
