# Change protection by key.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(329, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
