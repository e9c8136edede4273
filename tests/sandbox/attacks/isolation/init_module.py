# Load a module.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(175, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
