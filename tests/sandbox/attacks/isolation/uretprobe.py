# Return from a probe that nobody set.
# outcome: crashed|denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(335, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
