# Ask for a key.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(249, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
