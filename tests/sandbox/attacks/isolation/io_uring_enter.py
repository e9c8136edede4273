# Submit to a ring that somebody else made.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(426, 3, 1, 0, 0, 0, 0)
won = torch.ones(())
