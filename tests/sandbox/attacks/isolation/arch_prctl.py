# Move the base of a segment.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(158, 0x1001, 0, 0, 0, 0, 0)
won = torch.ones(())
