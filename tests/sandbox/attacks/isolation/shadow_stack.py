# Make a shadow stack.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(453, 0, 4096, 1, 0, 0, 0)
won = torch.ones(())
